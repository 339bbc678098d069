"""kernel_sequences: operators and their activities."""

import pytest

# 0         1         2         3         4         5
# 012345678901234567890123456789012345678901234567890
# [linear=====================)   [linear======)        id 10, id 20
#   [linear=======)                                     id 11, part of 10
#    [c1)  [c2)      [c3)          [c4)                 id 1 to 4, c2 launches a graph of two
OPS = """
    event_id  cat           name              start_ns  end_ns
    10        cpu_op        aten::linear      0         28
    11        cpu_op        aten::linear      2         17
    1         cuda_runtime  cudaLaunchKernel  3         7
    2         cuda_runtime  cudaGraphLaunch   10        14
    3         cuda_runtime  cudaMemcpyAsync   20        24
    20        cpu_op        aten::linear      32        46
    4         cuda_runtime  cudaLaunchKernel  34        38
    30        cpu_op        aten::relu        60        70
"""


ACTIVITIES = """
    event_id  name   start_ns  dur_ns  launch_id  launch_start_ns  launch_end_ns  launch_pid  launch_tid
    101       gemm   40        5       1          3                7              1           1
    102       add    20        6       2          10               14             1           1
    103       relu   30        7       2          10               14             1           1
    104       copy   15        8       3          20               24             1           1
    105       gemm   50        9       4          34               38             1           1
"""  # noqa: E501


def test_activities_of_outermost_operators_by_start(gpu):
    # The copy is launched last but runs first; the inner operator is no row.
    gpu.expect(
        "kernel_sequences",
        """
        job  rank  operator      sequence                        count  kernel_count  gpu_ns  host_ns
        j    0     aten::linear  copy~|~add~|~relu~|~gemm        1      4             26      28
        j    0     aten::linear  gemm                            1      1             9       14
    """,  # noqa: E501
        activities=ACTIVITIES,
        ops=OPS,
        operator="linear",
        min_length=1,
    )


@pytest.mark.parametrize(
    ("min_length", "lengths"), [(-1, [4, 1]), (0, [4, 1]), (1, [4, 1]), (2, [4]), (4, [4]), (5, [])]
)
def test_min_length(gpu, min_length, lengths):
    gpu.fill(ACTIVITIES, OPS)
    rows = gpu.run("kernel_sequences", operator="aten::linear", min_length=min_length)
    assert [row["kernel_count"] for row in rows] == lengths


def test_of_three_activities_unless_told(gpu):
    gpu.fill(ACTIVITIES, OPS)
    assert [row["kernel_count"] for row in gpu.run("kernel_sequences", operator="lin")] == [4]


@pytest.mark.parametrize("min_length", [0, -1])
def test_operators_that_launch_nothing(gpu, min_length):
    gpu.fill(ACTIVITIES, OPS)
    [row] = gpu.run("kernel_sequences", operator="relu", min_length=min_length)
    assert row == {
        "job": "j",
        "rank": 0,
        "operator": "aten::relu",
        "sequence": "",
        "count": 1,
        "kernel_count": 0,
        "gpu_ns": 0,
        "host_ns": 10,
        "example_event_id": 30,
    }


@pytest.mark.parametrize("operator", ["", None, "LINEAR", "aten::linear ", "cudaLaunch", "%"])
def test_text_that_no_operator_has(gpu, operator):
    gpu.fill(ACTIVITIES, OPS)
    assert gpu.run("kernel_sequences", operator=operator, min_length=0) == []


def test_an_operator_is_whole_where_what_is_around_it_does_not_match(gpu):
    # What aten::relu launches is aten::mm's too.
    ops = """
        event_id  cat           name              start_ns  end_ns
        10        Operator      aten::mm          0         30
        11        cpu_op        aten::relu        5         20
        1         Runtime       cudaLaunchKernel  6         8
    """
    activities = """
        name  start_ns  dur_ns  launch_id  launch_start_ns  launch_end_ns  launch_pid  launch_tid
        k     10        5       1          6                8              1           1
    """
    for operator, found in [("relu", "aten::relu"), ("mm", "aten::mm"), ("aten", "aten::mm")]:
        gpu.expect(
            "kernel_sequences",
            f"""
            operator  sequence  count
            {found}   k         1
        """,
            activities=activities,
            ops=ops,
            operator=operator,
            min_length=1,
        )


def test_only_operators(gpu):
    """Annotations and Python functions of that name are none, and hide none."""
    gpu.expect(
        "kernel_sequences",
        """
        operator  sequence  count  host_ns  example_event_id
        linear    k         1      10       3
    """,
        activities="""
        name  start_ns  dur_ns  launch_id  launch_start_ns  launch_end_ns  launch_pid  launch_tid
        k     10        5       9          4                6              1           1
    """,
        ops="""
        event_id  cat              name    start_ns  end_ns
        1         user_annotation  linear  0         50
        2         python_function  linear  1         40
        3         cpu_op           linear  2         12
        4         cuda_runtime     linear  4         6
    """,
        operator="linear",
        min_length=1,
    )


@pytest.mark.parametrize(
    ("launch_id", "start_ns", "end_ns", "is_inside"),
    [
        (5, 10, 20, False),  # the same span with a lower id: the launch is around
        (15, 10, 20, True),  # with a higher one
        (15, 9, 12, False),
        (5, 10, 12, True),  # of equal starts the longer is the outer
        (15, 10, 21, False),
        (15, 18, 20, True),
        (15, 18, 21, False),  # outlives it
        (5, 10, 10, True),
        (5, 20, 20, False),  # half-open: what is empty at the end lies behind it
        (15, 20, 22, False),
    ],
)
def test_which_launches_lie_in_an_operator(gpu, launch_id, start_ns, end_ns, is_inside):
    activities = f"""
        event_id  name  start_ns  dur_ns  launch_id    launch_start_ns  launch_end_ns  launch_pid  launch_tid
        100       k     30        5       {launch_id}  {start_ns}       {end_ns}       1           1
    """  # noqa: E501
    gpu.fill(
        activities,
        """
        event_id  name    start_ns  end_ns
        10        linear  10        20
    """,
    )
    found = gpu.run("kernel_sequences", operator="linear", min_length=1)
    assert len(found) == is_inside


@pytest.mark.parametrize(("op_id", "launch_id", "is_inside"), [(1, 2, True), (2, 1, False)])
def test_a_launch_and_an_operator_of_no_length(gpu, op_id, launch_id, is_inside):
    gpu.fill(
        f"""
        event_id  name  start_ns  dur_ns  launch_id    launch_start_ns  launch_end_ns  launch_pid  launch_tid
        100       k     30        5       {launch_id}  10               10             1           1
    """,  # noqa: E501
        f"""
        event_id  name    start_ns  end_ns
        {op_id}   linear  10        10
    """,
    )
    found = gpu.run("kernel_sequences", operator="linear", min_length=1)
    assert len(found) == is_inside


def test_crossed_operators(gpu):
    # a [=======|....)         left the stack where b began
    # b         [==========)
    #       [1)  [2)   [3)     1 in a, 2 and 3 in b
    gpu.expect(
        "kernel_sequences",
        """
        operator  sequence  count  gpu_ns  host_ns
        aten::a   k1        1      1       13
        aten::b   k2~|~k3   1      5       12
    """,
        activities="""
        name  start_ns  dur_ns  launch_id  launch_start_ns  launch_end_ns  launch_pid  launch_tid
        k1    30        1       1          4                6              1           1
        k2    40        2       2          9                11             1           1
        k3    50        3       3          15               17             1           1
    """,
        ops="""
        event_id  name     start_ns  end_ns  cut_ns
        10        aten::a  0         13      8
        20        aten::b  8         20      -
    """,
        operator="aten",
        min_length=1,
    )
