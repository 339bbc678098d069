"""op_stats and op_calls over drawn operators."""

from queries.ops import LINEAR, OF_LINEAR, kernels

# A call of the same name inside another, and beside it one more.
# 0         10        20        30        40
# [== a =======================)        [a=)         1, 4
#     [b============)                                2, in it
#        [a=====)                                    3, in that
NESTED = """
    event_id  name  start_ns  end_ns  parent_id  op_id  depth
    1         a     0         30      -          -      0
    2         b     4         19      1          1      1
    3         a     7         15      2          2      2
    4         a     39        43      -          -      0
"""


def test_activities_are_of_every_operator_around_their_launch(host):
    host.expect(
        "op_stats",
        """
        job  rank  name          input_dims  input_types  count  example_event_id
        j    0     aten::linear  -           -            1      1
        j    0     aten::mm      -           -            1      2
    """,
        activities=OF_LINEAR,
        ops=LINEAR,
    )
    host.expect(
        "op_stats",
        """
        kernel_count  kernel_ns  kernel_busy_ns  kernel_span_ns  self_kernel_ns
        2             12         12              22              4
        1             8          8               8               8
    """,
        activities=OF_LINEAR,
        ops=LINEAR,
    )
    host.expect(
        "op_calls",
        """
        job  rank  event_id  name          start_ns  dur_ns  depth  parent_id
        j    0     1         aten::linear  0         40      0      -
        j    0     2         aten::mm      4         18      1      1
    """,
        activities=OF_LINEAR,
        ops=LINEAR,
    )
    host.expect(
        "op_calls",
        """
        num_kernels  kernel_dur_sum_ns  kernel_span_ns  gpu_utilization_frac
        2            12                 22              0.5454545454545454
        1            8                  8               1.0
    """,
        activities=OF_LINEAR,
        ops=LINEAR,
    )


def test_host_time_of_a_call_is_without_what_it_called(host):
    # linear: 40 without 18 of mm and 3 of its launch; mm: 18 without 3
    host.expect(
        "op_stats",
        """
        name          host_total_ns  host_self_ns
        aten::linear  40             19
        aten::mm      18             15
    """,
        ops=LINEAR,
    )


def test_all_kinds_of_calls_take_from_the_time_of_their_caller(host):
    # What these call in turn, as 7, is not called by the operator.
    host.expect(
        "op_stats",
        """
        name  count  host_total_ns  host_self_ns
        op    1      100            53
    """,
        ops="""
        event_id  cat              name  start_ns  end_ns  parent_id
        1         Operator         op    0         100     -
        2         user_annotation  x     1         21      1
        3         python_function  x     30        40      1
        4         cuda_runtime     x     40        50      1
        5         cuda_driver      x     50        55      1
        6         Runtime          x     60        62      1
        7         cpu_op           op    2         3       2
        8         cpu_op           op    60        60      1
    """.replace("cpu_op           op", "python_function  op"),
    )


def test_only_operators_are_listed(host):
    host.expect(
        "op_calls",
        """
        event_id  name
        1         op
        6         op
    """,
        ops="""
        event_id  cat              name  start_ns  end_ns
        1         Operator         op    0         9
        2         user_annotation  op    0         9
        3         python_function  op    0         9
        4         cuda_runtime     op    0         9
        5         -                op    0         9
        6         cpu_op           op    0         9
    """,
    )


def test_a_call_inside_another_of_its_name(host):
    # 0         10        20        30        40        50
    #     [101)   [102=)             [103)                        in 3, in 3, in 2
    #                     [104====)                  [105=)      in 1, in 4
    activities = """
        event_id  op_id  start_ns  end_ns
        101       3      4         8
        102       3      12        17
        103       2      31        35
        104       1      20        28
        105       4      51        56
    """
    # Spans are of 1 and 4, which are in no other a: 31 and 5. What 3 launches is a's own, too.
    host.expect(
        "op_stats",
        """
        name  count  host_total_ns  host_self_ns  kernel_count  kernel_ns  kernel_span_ns
        a     3      42             27            5             26         36
        b     1      15             7             3             13         31
    """,
        activities=activities,
        ops=NESTED,
    )
    host.expect(
        "op_stats",
        """
        name  kernel_busy_ns  self_kernel_ns  gpu_utilization_frac  example_event_id
        a     26              22              0.7222222222222222    1
        b     13              4               0.41935483870967744   2
    """,
        activities=activities,
        ops=NESTED,
    )
    host.expect(
        "op_calls",
        """
        event_id  num_kernels  kernel_dur_sum_ns  kernel_span_ns
        1         4            21                 31
        2         3            13                 31
        3         2            9                  13
        4         1            5                  5
    """,
        activities=activities,
        ops=NESTED,
    )


def test_the_outermost_of_those_selected(host):
    """A call outside the selection is around nothing; what it launches itself is nobody's."""
    ops = """
        event_id  name  step  start_ns  end_ns  parent_id  op_id  depth  input_dims
        1         a     1     0         30      -          -      0      [1]
        2         b     1     4         19      1          1      1      -
        3         a     2     7         15      2          2      2      [2]
        4         a     2     8         9       3          3      3      [2]
    """
    activities = """
        event_id  op_id  step  start_ns  end_ns
        101       1      1     0         10
        102       3      2     20        25
        103       4      2     30        31
    """
    host.expect(
        "op_stats",
        """
        name  count  kernel_count  kernel_ns  kernel_span_ns  self_kernel_ns  example_event_id
        a     2      2             6          11              6               3
    """,
        activities=activities,
        ops=ops,
        only_steps=[2],
    )
    host.expect(
        "op_stats",
        """
        name  input_dims  count  kernel_count  kernel_ns  kernel_span_ns  self_kernel_ns
        a     [1]         1      3             16         31              10
        b     -           1      2             6          11              0
        a     [2]         2      2             6          11              6
    """,
        activities=activities,
        ops=ops,
        by_shape=True,
    )


def test_what_is_in_a_call_counts_whatever_step_it_is_in(host):
    ops = """
        event_id  cat           name          step  start_ns  end_ns  parent_id  op_id
        1         cpu_op        aten::linear  1     0         40      -          -
        2         cpu_op        aten::mm      2     4         22      1          1
        3         cuda_runtime  launch        2     11        14      2          2
        5         cuda_runtime  launch        2     30        33      1          1
    """
    host.fill(OF_LINEAR, ops)
    assert {row["event_id"]: row["step"] for row in host.run("op_calls")} == {1: 1, 2: 2}
    assert kernels(host, only_steps=[1]) == {1: 2}
    assert kernels(host, only_steps=[2]) == {2: 1}
    assert kernels(host, only_steps=[]) == {}
    [row] = host.run("op_stats", only_steps=[1])
    assert (row["name"], row["host_self_ns"], row["kernel_ns"]) == ("aten::linear", 19, 12)


def test_activities_that_run_at_once(host):
    # 0         10        20
    # [=======)                 device 0, stream 7
    #     [=========)           device 0, stream 8
    #    [===)                  device 1
    #                  [==)     none known
    #      |                    no length
    activities = """
        device  stream  op_id  start_ns  end_ns
        0       7       1      0         8
        0       8       1      4         14
        1       7       1      3         7
        -       -       1      18        21
        0       7       1      5         5
    """
    host.expect(
        "op_stats",
        """
        kernel_count  kernel_ns  kernel_busy_ns  kernel_span_ns  gpu_utilization_frac
        5             25         17              21              1.1904761904761905
    """,
        activities=activities,
        ops=LINEAR.replace("aten::mm", "-"),
        name_contains="linear",
    )
    host.expect(
        "op_calls",
        """
        num_kernels  kernel_dur_sum_ns  kernel_span_ns  gpu_utilization_frac
        5            25                 21              1.1904761904761905
    """,
        activities=activities,
        ops=LINEAR,
        name_contains="linear",
    )


def test_busy_time_of_several_calls_is_of_all_of_them(host):
    # 0         10
    # [====)          of 1
    #    [====)       of 2
    activities = "op_id  start_ns  end_ns\n1  0  5\n2  3  8"
    ops = "event_id  name  start_ns  end_ns\n1  a  0  1\n2  a  1  2"
    host.expect(
        "op_stats",
        """
        count  kernel_count  kernel_ns  kernel_busy_ns  kernel_span_ns
        2      2             10         8               10
    """,
        activities=activities,
        ops=ops,
    )
