"""Cases of op_stats and op_calls; then both on random rows, in plain Python."""

import random

import pytest
from queries import brute_ops, brute_sequences
from queries.brute_force import grouped
from queries.brute_ops import key, with_all_around
from queries.small_tables import completed
from seeds import seeds

# 0         10        20        30        40
# [=======================================)          1 aten::linear
#     [=================)                            2 aten::mm
#            [==)              [==)                  3 and 5, launches
#                  [=======)         [===)           101 and 102, on the GPU
LINEAR = """
    event_id  cat           name          start_ns  end_ns  parent_id  op_id  depth
    1         cpu_op        aten::linear  0         40      -          -      0
    2         cpu_op        aten::mm      4         22      1          1      1
    3         cuda_runtime  launch        11        14      2          2      2
    5         cuda_runtime  launch        30        33      1          1      1
"""
OF_LINEAR = """
    event_id  launch_id  op_id  start_ns  end_ns
    101       3          2      18        26
    102       5          1      36        40
"""
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


def kernels(host, **parameters):
    """num_kernels of each call by its event_id."""
    return {row["event_id"]: row["num_kernels"] for row in host.run("op_calls", **parameters)}


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


def test_without_activities_or_their_time(host):
    host.expect(
        "op_stats",
        """
        name  kernel_count  kernel_ns  kernel_busy_ns  kernel_span_ns  gpu_utilization_frac
        one   1             0          0               0               -
        none  0             0          0               0               -
    """,
        activities="""
        op_id  start_ns  end_ns
        1      5         5
        -      0         9
    """,
        ops="""
        event_id  name  start_ns  end_ns
        1         one   0         5
        2         none  0         2
    """,
    )
    host.expect(
        "op_calls",
        """
        event_id  num_kernels  kernel_dur_sum_ns  kernel_span_ns  gpu_utilization_frac
        1         1            0                  0               -
        2         0            0                  0               -
    """,
        activities="op_id  start_ns  end_ns\n1  5  5\n-  0  9",
        ops="""
        event_id  name  start_ns  end_ns
        1         one   0         5
        2         none  0         2
    """,
    )


def test_a_crossed_call_takes_time_from_its_caller_until_it_is_crossed(host):
    # [==================)    1 outer
    #   [=======)             2, crossed by 3 at 6
    #       [========)        3
    host.expect(
        "op_stats",
        """
        name   host_total_ns  host_self_ns
        outer  19             6
        in     17             17
    """,
        ops="""
        event_id  name   start_ns  end_ns  parent_id  cut_ns
        1         outer  0         19      -          -
        2         in     2         10      1          6
        3         in     6         15      1          -
    """,
    )


def test_by_shape(host):
    ops = """
        event_id  name  start_ns  dur_ns  input_dims     input_types
        1         mm    0         1       [[2,3],[3,4]]  ["float","float"]
        2         mm    10        2       [[2,3],[3,4]]  ["half","half"]
        3         mm    20        4       [[2,3],[3,4]]  ["float","float"]
        4         mm    30        8       [[9,3],[3,4]]  ["float","float"]
        5         mm    40        16      -              -
        6         mm    50        32      -              -
        7         add   60        64      -              -
    """
    activities = "op_id  start_ns  dur_ns\n1  0  3\n4  5  5"
    host.expect(
        "op_stats",
        """
        name  input_dims     input_types        count  host_total_ns  kernel_ns  example_event_id
        mm    [[9,3],[3,4]]  ["float","float"]  1      8              5          4
        mm    [[2,3],[3,4]]  ["float","float"]  2      5              3          1
        add   -              -                  1      64             0          7
        mm    -              -                  2      48             0          5
        mm    [[2,3],[3,4]]  ["half","half"]    1      2              0          2
    """,
        ops=ops,
        activities=activities,
        by_shape=True,
    )
    host.expect(
        "op_stats",
        """
        name  input_dims  input_types  count  host_total_ns  kernel_ns
        mm    -           -            6      63             8
        add   -           -            1      64             0
    """,
        ops=ops,
        activities=activities,
    )


def test_order_of_operators(host):
    """By time on the GPU, then on the host, then name, shapes and types, none of them last."""
    host.expect(
        "op_stats",
        """
        job  rank  name  input_dims  input_types
        i    0     z     -           -
        j    0     z     [1]         -
        j    0     y     [1]         -
        j    0     x     [1]         t
        j    0     x     [1]         u
        j    0     x     [2]         t
        j    0     x     [2]         -
        j    0     x     -           -
        j    0     -     [1]         -
        j    1     a     -           -
    """,
        by_shape=True,
        activities="op_id  start_ns  dur_ns\n20  0  9",
        ops="""
        job  rank  event_id  name  start_ns  dur_ns  input_dims  input_types
        j    1     11        a     0         90      -           -
        j    0     12        -     0         1       [1]         -
        j    0     13        x     0         1       -           -
        j    0     14        x     0         1       [2]         -
        j    0     15        x     0         1       [2]         t
        j    0     16        x     0         1       [1]         u
        j    0     17        x     0         1       [1]         t
        i    0     18        z     0         1       -           -
        j    0     19        y     0         2       [1]         -
        j    0     20        z     0         1       [1]         -
    """,
    )


def test_event_ids_are_of_their_rank(host):
    """Equal ones of other ranks and jobs are other calls."""
    ops = """
        job  rank  event_id  name  start_ns  end_ns  parent_id  op_id
        i    0     1         a     0         9       -          -
        i    0     2         b     0         4       1          1
        i    1     1         b     0         9       -          -
        i    1     2         a     0         2       1          1
        j    0     2         a     0         9       -          -
    """
    activities = """
        job  rank  op_id  start_ns  end_ns
        i    0     2      0         5
        i    1     2      0         50
        j    0     2      0         500
        j    1     2      0         999
    """
    host.expect(
        "op_calls",
        """
        job  rank  event_id  name  kernel_dur_sum_ns
        i    0     1         a     5
        i    0     2         b     5
        i    1     1         b     50
        i    1     2         a     50
        j    0     2         a     500
    """,
        activities=activities,
        ops=ops,
    )
    host.expect(
        "op_stats",
        """
        job  rank  name  kernel_ns  self_kernel_ns  host_self_ns
        i    0     a     5          0               5
        i    0     b     5          5               4
        i    1     b     50         0               7
        i    1     a     50         50              2
        j    0     a     500        500             9
    """,
        activities=activities,
        ops=ops,
    )
    assert [row["job"] for row in host.run("op_stats", only_jobs=["j"])] == ["j"]
    assert [row["rank"] for row in host.run("op_calls", only_ranks=[1])] == [1, 1]


def test_parameters_of_calls(host):
    host.fill(OF_LINEAR, LINEAR)
    assert kernels(host, min_kernels=1) == {1: 2, 2: 1}
    assert kernels(host, min_kernels=2) == {1: 2}
    assert kernels(host, min_kernels=3) == {}
    assert kernels(host, name_contains="mm") == {2: 1}
    assert kernels(host, name_contains="MM") == {}
    assert [row["name"] for row in host.run("op_stats", name_contains="::m")] == ["aten::mm"]
    assert host.run("op_stats", name_contains="MM") == []
    assert host.run("op_stats", only_jobs=["i"]) == host.run("op_calls", only_ranks=[7]) == []
    assert host.run("op_stats", only_steps=[]) == host.run("op_calls", only_steps=[]) == []


def test_what_ingest_knows_of_a_call(host):
    host.expect(
        "op_calls",
        """
        event_id  step  depth  parent_id  input_dims  input_types  is_backward  forward_event_id
        7         3     2      99         [[1]]       ["int"]      true         5
        8         -     0      -          -           -            false        -
    """,
        ops="""
        event_id  step  depth  parent_id  input_dims  input_types  is_backward  forward_id  start_ns  end_ns
        7         3     2      99         [[1]]       ["int"]      true         5           0         9
        8         -     0      -          -           -            false        -           9         9
    """,  # noqa: E501
    )


@pytest.mark.parametrize("names", ["same", "different"])
def test_a_chain_5000_deep(host, names):
    """One activity at every 500th level."""
    depth, every = 5000, 500
    host.fill(
        [{"op_id": at, "start_ns": 10 * at, "dur_ns": 4} for at in range(every - 1, depth, every)],
        [
            {
                "event_id": at,
                "name": "a" if names == "same" else f"a{at:04}",
                "start_ns": at,
                "end_ns": 20_000 - at,
                "parent_id": at - 1 if at else None,
                "op_id": at - 1 if at else None,
                "depth": at,
            }
            for at in range(depth)
        ],
    )
    wanted = {at: depth // every - at // every for at in range(depth)}
    assert kernels(host) == wanted
    rows = host.run("op_stats")
    if names == "same":
        assert [
            (
                row["count"],
                row["kernel_count"],
                row["kernel_ns"],
                row["self_kernel_ns"],
                row["kernel_span_ns"],
            )
            for row in rows
        ] == [(5000, 10, 40, 40, 45_004)]
    else:
        assert {row["example_event_id"]: row["kernel_count"] for row in rows} == wanted
    # Each is 2 ns longer than the one in it, but for the last.
    assert sum(row["host_self_ns"] for row in rows) == 20_000


def test_nothing_at_all(host):
    host.fill()
    assert host.run("op_stats") == host.run("op_calls") == host.run("op_stats", by_shape=True) == []
    host.fill(OF_LINEAR)
    assert host.run("op_stats") == host.run("op_calls") == []


# Random rows

SEEDS = range(5)
JOBS = 20
UNIX = 1_712_151_111_631_234_567  # more digits than a double holds
NAMES = ("aten::mm", "aten::mm", "aten::linear", "aten::add", None)
CATS = (
    "cpu_op",
    "cpu_op",
    "cpu_op",
    "Operator",
    "user_annotation",
    "python_function",
    "cuda_runtime",
    "cuda_runtime",
    "cuda_driver",
    "Runtime",
)
SHAPES = (None, "[[2,3]]", "[[4]]")


def random_tables(rng):
    activities, ops = [], []
    for number in range(JOBS):
        base, longest = rng.choice([0, UNIX]), rng.choice([2, 6, 20, 40])
        threads = rng.choice([[("1", "1")], [("1", "1"), ("1", "2")], [("1", "1"), (None, None)]])
        for rank in rng.choice([[0], [0, 1, 3]]):
            common = {"job": f"job{number}", "rank": rank}
            ids = rng.sample(range(200), 200)
            rows = []
            for _ in range(rng.choice([0, 2, 6, 15, 40])):
                pid, tid = rng.choice(threads)
                start_ns, dur_ns = base + rng.randint(0, 30), rng.randint(0, longest)
                if rows and rng.random() < 0.7:  # in another one
                    outer = rng.choice(rows[-3:])
                    pid, tid = outer["pid"], outer["tid"]
                    start_ns = rng.randint(outer["start_ns"], outer["end_ns"])
                    dur_ns = rng.randint(0, outer["end_ns"] - start_ns)
                rows.append(
                    completed(
                        "host_ops",
                        common
                        | {
                            "cat": rng.choice(CATS),
                            "name": rng.choice(NAMES),
                            "pid": pid,
                            "tid": tid,
                            "step": rng.choice([None, 1, 2]),
                            "cut_ns": None,
                            "input_dims": rng.choice(SHAPES),
                            "input_types": rng.choice([None, '["int"]']),
                            "is_backward": rng.random() < 0.5,
                            "forward_id": rng.choice([None, 7]),
                            "start_ns": start_ns,
                            "dur_ns": dur_ns,
                        },
                        ids.pop(),
                    )
                )
            brute_sequences.place(rows)
            place_ops(rows)
            ops += rows
            for _ in range(rng.choice([0, 3, 30])):
                launch = rng.choice(rows) if rows and rng.random() < 0.9 else None
                soon = launch["start_ns"] if launch and rng.random() < 0.5 else base
                activities.append(
                    completed(
                        "gpu_activities",
                        common
                        | {
                            "device": rng.choice([0, 1, None]),
                            "stream": rng.choice([0, 7, None]),
                            "short_name": None,
                            "step": rng.choice([None, 1, 2]),
                            "start_ns": soon + rng.randint(0, 30),
                            "dur_ns": rng.randint(0, 9),
                            "launch_id": launch and launch["event_id"],
                            "op_id": launch and launch["op_id"],
                        },
                        ids.pop(),
                    )
                )
    return activities, ops


def place_ops(ops) -> None:
    """Fill in depth and, where spans cross, the operator: the last to begin that is around."""
    by_id = {row["event_id"]: row for row in ops}
    for _, thread in grouped(ops, "pid", "tid"):
        thread.sort(key=brute_sequences.in_stack_order)
        for at, row in enumerate(thread):
            caller = by_id.get(row["parent_id"])
            row["depth"] = caller["depth"] + 1 if caller else 0
            around = [
                one["event_id"]
                for one in thread[:at]
                if brute_sequences.is_op(one) and brute_sequences.holds(one, row)
            ]
            row["op_id"] = around[-1] if around else None


def random_parameters(rng):
    parameters = {
        "only_jobs": [f"job{number}" for number in rng.sample(range(JOBS), 18)],
        "only_ranks": rng.choice([[0], [1, 3], [5]]),
        "only_steps": rng.choice([[1], [1, 2], []]),
        "name_contains": rng.choice(["mm", "aten::", "x"]),
    }
    return {name: value for name, value in parameters.items() if rng.random() < 0.4}


@pytest.mark.parametrize("deep_level", [512, 0, 3], ids=["shallow", "deep", "both"])
@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_random_rows(host, seed, deep_level):
    """Climbing from call to caller, and in the order in which operators begin."""
    rng = random.Random(seed)
    activities, ops = random_tables(rng)
    with host.replaced("deep_level", deep_level):
        compare_all(host, rng, activities, ops, seed)


def compare_all(host, rng, activities, ops, seed):
    tables = {"gpu_activities": activities, "host_ops": ops}
    for query, own in [
        ("op_stats", {}),
        ("op_stats", {"by_shape": True}),
        ("op_calls", {}),
        ("op_calls", {"min_kernels": rng.choice([1, 2, 5])}),
    ]:
        for given in (own, own | random_parameters(rng)):
            wanted = list(getattr(brute_ops, query)(activities, ops, **given))
            host.compare(query, wanted, tables, seed, **given)


def test_random_rows_are_worth_it():
    """Every case that the queries have to tell apart comes up, and often."""
    found = dict.fromkeys(
        (
            "deep",
            "in its own name",
            "and not directly",
            "not in its step",
            "cut",
            "around, not on the stack",
            "no length",
            "called nothing",
            "at once",
            "more than the span",
            "launched by no operator",
        ),
        0,
    )
    for seed in SEEDS:
        activities, ops = random_tables(random.Random(seed))
        calls = brute_ops.operators(ops)
        for row in calls.values():
            around = with_all_around(calls, row)
            names = [one["name"] for one in around]
            found["deep"] += len(around) > 3
            found["in its own name"] += row["name"] in names
            found["and not directly"] += row["name"] in names and row["name"] != names[0]
            found["not in its step"] += any(one["step"] != row["step"] for one in around)
            found["cut"] += row["cut_ns"] is not None
            found["no length"] += row["dur_ns"] == 0
        stacks = brute_sequences.Stacks(ops)
        for row in ops:
            on_stack = {one["event_id"] for one in stacks.around(*key(row))}
            found["around, not on the stack"] += (
                row["op_id"] is not None and row["op_id"] not in on_stack
            )
        for row in brute_ops.op_stats(activities, ops):
            found["called nothing"] += row["host_self_ns"] == row["host_total_ns"]
            found["at once"] += row["kernel_busy_ns"] < row["kernel_ns"]
            found["more than the span"] += (row["gpu_utilization_frac"] or 0) > 1
        found["launched by no operator"] += sum(row["op_id"] is None for row in activities)
    assert min(found.values()) > 20, found
