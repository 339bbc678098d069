"""idle_time_breakdown and idle_gaps: drawn cases, and random ones against plain Python.

One letter or sign is one nanosecond; `[==)` is half-open.
"""

import random
from itertools import groupby, product

import pytest
from queries import brute_idle
from queries.small_tables import completed
from seeds import seeds

BREAKDOWN, GAPS = "idle_time_breakdown", "idle_gaps"

CAUSES = """
    event_id  start_ns  end_ns  launch_id  launch_start_ns
    1         0         10      101        -5
    2         14        20      102        8
    3         26        30      103        21
    4         50        60      104        30
    5         70        71      -          -
    6         101       102     -          -
"""
# 0         10        20        30        40        50        60        70  ...  101
# [1========)   [2====)     [3==)                   [4========)         [5)      [6)
#         |2           |3       |4     launches
#           kern  4     host  6  kernel or other  20  none: 10           none: 30


def test_causes(gpu):
    """A launch at the very end is in time; a gap of kernel_gap_ns is no kernel_wait."""
    gpu.expect(
        BREAKDOWN,
        f"""
        job  rank  device  stream  cause        gap_count  idle_ns  idle_frac
        j    0     0       7       other        2          50       {50 / 70}
        j    0     0       7       kernel_wait  2          14       {14 / 70}
        j    0     0       7       host_wait    1          6        {6 / 70}
    """,
        activities=CAUSES,
        kernel_gap_ns=20,
    )
    gpu.expect(
        GAPS,
        """
        job  rank  device  start_ns  gap_ns  cause        next_event_id
        j    0     0       10        4       kernel_wait  2
        j    0     0       20        6       host_wait    3
        j    0     0       30        20      other        4
        j    0     0       60        10      kernel_wait  5
        j    0     0       71        30      other        6
    """,
        activities=CAUSES,
        kernel_gap_ns=20,
    )


@pytest.mark.parametrize(("gap", "cause"), [(29_999, "kernel_wait"), (30_000, "other")])
def test_from_30_us_on_a_gap_is_not_between_kernels(gpu, gap, cause):
    activities = f"""
        start_ns    end_ns      launch_id  launch_start_ns
        0           1           1          -9
        {1 + gap}   {2 + gap}   2          1
    """
    gpu.expect(
        BREAKDOWN,
        f"""
        cause    idle_ns
        {cause}  {gap}
    """,
        activities=activities,
    )
    gpu.expect(
        GAPS,
        f"""
        cause    gap_ns
        {cause}  {gap}
    """,
        activities=activities,
    )


def test_statistics(gpu):
    # gaps 1, 2, 2 and 5: mean 2.5, median 2, at 95 % 2 + 0.85 · 3 = 4.55, variance 9 / 3
    gpu.expect(
        BREAKDOWN,
        """
        gap_count  idle_ns  idle_frac  mean_ns  min_ns  p50_ns  p95_ns  max_ns  stddev_ns
        4          10       1.0        3        1       2       5       5       2
    """,
        activities="""
        start_ns  end_ns
        0         10
        11        20
        22        30
        32        40
        45        50
    """,
    )


def test_one_gap_and_a_half(gpu):
    # stream 1: one gap of 7; stream 2: 2 and 3, mean and median 2.5, the deviation 0.7
    gpu.expect(
        BREAKDOWN,
        """
        stream  gap_count  mean_ns  p50_ns  p95_ns  stddev_ns
        1       1          7        7       7       0
        2       2          3        3       3       1
    """,
        activities="""
        stream  start_ns  end_ns
        1       0         1
        1       8         9
        2       0         1
        2       3         4
        2       7         8
    """,
    )


def test_the_latest_end_counts(gpu):
    # 0         10        20
    # [============)              1
    #   [==)                      2, in 1
    #         [==)                3, in 1: no gap after 2
    #                 [==)        4: a gap since the end of 1
    #              |              launch of 4: not after that end, though after 3's
    gpu.expect(
        BREAKDOWN,
        """
        cause        gap_count  idle_ns
        kernel_wait  1          3
    """,
        activities="""
        event_id  start_ns  end_ns  launch_id  launch_start_ns
        1         0         13      11         -1
        2         2         5       12         0
        3         8         11      13         6
        4         16        19      14         13
    """,
    )


def test_touching_is_no_gap_and_no_length_splits_one(gpu):
    # 0    5    10   15
    # [====)[===)                touch at 5, then at 9 a gap
    #              |             no length at 13
    #                   [)
    #           ....  .....
    activities = """
        event_id  start_ns  end_ns
        1         0         5
        2         5         9
        3         13        13
        4         18        19
    """
    gpu.expect(
        BREAKDOWN,
        """
        gap_count  idle_ns  min_ns  max_ns
        2          9        4       5
    """,
        activities=activities,
    )
    gpu.expect(
        GAPS,
        """
        start_ns  gap_ns  next_event_id
        9         4       3
        13        5       4
    """,
        activities=activities,
    )


def test_of_equal_starts_the_lower_id_ends_the_gap(gpu):
    # Launched in time is only 3, which is in the table first.
    gpu.expect(
        GAPS,
        """
        start_ns  gap_ns  cause      next_event_id  next_name  stream  step
        5         5       host_wait  2              b          8       -
    """,
        activities="""
        event_id  stream  name  start_ns  end_ns  launch_id  launch_start_ns  step
        3         7       c     10        12      13         1                4
        2         8       b     10        11      12         6                -
        1         7       a     0         5       11         0                4
    """,
    )


STREAMS = """
    device  stream  event_id  start_ns  end_ns
    0       7       1         0         5
    0       8       2         3         9
    0       7       3         12        14
    0       8       4         14        16
    0       -       5         20        21
    0       -       6         22        23
    1       7       7         1         2
    1       7       8         30        31
    -       7       9         0         1
    -       7       10        5         6
"""
# 0    5    10   15   20
# [====)      [=)             device 0, stream 7
#    [=====)    [=)           device 0, stream 8
#                     [)[)    device 0, no stream known
#          ...    ....  .     device 0: gaps at 9, 16 and 21


def test_streams_and_devices(gpu):
    gpu.expect(
        BREAKDOWN,
        """
        device  stream  gap_count  idle_ns  idle_frac
        0       7       1          7        1.0
        0       8       1          5        1.0
        0       -       1          1        1.0
        1       7       1          28       1.0
        -       7       1          4        1.0
    """,
        activities=STREAMS,
    )
    gpu.expect(
        GAPS,
        """
        job  rank  device  start_ns  gap_ns  stream  next_event_id
        j    0     0       9         3       7       3
        j    0     0       16        4       -       5
        j    0     0       21        1       -       6
        j    0     1       2         28      7       8
        j    0     -       1         4       7       10
    """,
        activities=STREAMS,
    )


def test_jobs_and_ranks_in_order(gpu):
    activities = """
        job  rank  start_ns  end_ns
        b    0     0         1
        b    0     3         4
        a    10    0         1
        a    10    5         6
        a    2     0         1
        a    2     9         10
        a    2     7         8
    """
    gpu.expect(
        BREAKDOWN,
        """
        job  rank  idle_ns
        a    2     7
        a    10    4
        b    0     2
    """,
        activities=activities,
    )
    gpu.expect(
        GAPS,
        """
        job  rank  start_ns  gap_ns
        a    2     1         6
        a    2     8         1
        a    10    1         4
        b    0     1         2
    """,
        activities=activities,
    )
    for query in (BREAKDOWN, GAPS):
        assert {(row["job"], row["rank"]) for row in gpu.run(query, only_jobs=["a"])} == {
            ("a", 2),
            ("a", 10),
        }
        assert {(row["job"], row["rank"]) for row in gpu.run(query, only_ranks=[0])} == {("b", 0)}


def test_steps_are_selected_before_measuring(gpu):
    # 0    5    10   15
    # [=)     [=)     [=)   steps 1, 2, 1
    activities = """
        step  start_ns  end_ns
        1     0         3
        2     8         11
        1     16        19
    """
    gpu.expect(
        BREAKDOWN,
        """
        gap_count  idle_ns
        1          13
    """,
        activities=activities,
        only_steps=[1],
    )
    gpu.expect(
        GAPS,
        """
        start_ns  gap_ns  step
        3         13      1
    """,
        activities=activities,
        only_steps=[1],
    )
    assert gpu.run(GAPS, only_steps=[2]) == gpu.run(BREAKDOWN, only_steps=[9]) == []


def test_short_gaps_are_not_shown(gpu):
    gpu.fill(CAUSES)
    assert [row["gap_ns"] for row in gpu.run(GAPS, min_gap_ns=10)] == [20, 10, 30]
    assert [row["gap_ns"] for row in gpu.run(GAPS, min_gap_ns=11)] == [20, 30]
    for none in (None, 0, -5):
        assert gpu.run(GAPS, min_gap_ns=none) == gpu.run(GAPS)


def test_nothing_at_all(gpu):
    gpu.fill()
    assert gpu.run(BREAKDOWN) == gpu.run(GAPS) == []
    gpu.fill("start_ns end_ns \n 0 5", "start_ns end_ns \n 0 5")
    assert gpu.run(BREAKDOWN) == gpu.run(GAPS) == []


def test_unix_nanoseconds_are_exact(gpu):
    activities = """
        start_ns             dur_ns  launch_id  launch_start_ns      launch_pid  launch_tid
        1712151111631234567  1       -          -                    -           -
        1712151111631234571  1       9          1712151111631234569  1           1
    """
    gpu.expect(
        GAPS,
        """
        start_ns             gap_ns  cause      host_event_id
        1712151111631234568  3       host_wait  2
    """,
        activities=activities,
        ops="""
        event_id  start_ns             end_ns               depth  parent_id
        1         1712151111631234568  1712151111631234571  0      -
        2         1712151111631234569  1712151111631234570  1      1
    """,
    )
    gpu.expect(
        BREAKDOWN,
        """
        cause      idle_ns
        host_wait  3
    """,
        activities=activities,
    )


def host_at(gpu, ops, instants, launch="9 0 1 1"):
    """event_id of what the host does at each instant: each is the middle of a device's gap."""
    gpu.fill(
        "\n".join(
            [
                "device start_ns end_ns launch_id launch_start_ns launch_pid launch_tid",
                *(
                    f"{device} {at - 100} {at - 2} - - - - \n {device} {at + 2} {at + 3} {launch}"
                    for device, at in enumerate(instants)
                ),
            ]
        ),
        ops,
    )
    rows = gpu.run(GAPS)
    assert [row["start_ns"] + row["gap_ns"] // 2 for row in rows] == list(instants)
    names = {op["event_id"]: op["name"] for op in ops} | {None: None}
    assert [row["host_name"] for row in rows] == [names[row["host_event_id"]] for row in rows]
    return [row["host_event_id"] for row in rows]


def placed(ops):
    """Host operations with their places in the stack of their thread, as the tables have them."""

    def thread(op):
        return str([op["job"], op["rank"], op["pid"], op["tid"]])

    for _, group in groupby(
        sorted(ops, key=lambda op: (thread(op), op["start_ns"], -op["end_ns"], op["event_id"])),
        thread,
    ):
        stack = []
        for op in group:
            op["cut_ns"] = None
            while stack and not around(stack[-1], op):
                if op["start_ns"] < stack[-1]["end_ns"]:
                    stack[-1]["cut_ns"] = op["start_ns"]
                stack.pop()
            op["depth"] = len(stack)
            op["parent_id"] = stack[-1]["event_id"] if stack else None
            stack.append(op)
    return ops


def around(outer, op):
    """Whether one that began before lies around another; two empty ones at one instant do."""
    both_empty = outer["start_ns"] == outer["end_ns"] == op["start_ns"] == op["end_ns"]
    return both_empty or op["start_ns"] < outer["end_ns"] >= op["end_ns"]


def drawn(text, scale=1, offset=0, **more):
    """Host operations of one thread: each line `name [==)` with its start and end as drawn."""
    ops = []
    for line in text.strip("\n").splitlines():
        start, end = line.index("["), line.index(")")
        ops.append(
            completed(
                "host_ops",
                {
                    "name": line[end + 1 :].strip(),
                    "start_ns": offset + scale * start,
                    "end_ns": offset + scale * end,
                }
                | more,
                len(ops),
            )
        )
    return placed(ops)


def answers(gpu, ops, until, scale=1, offset=0):
    """The innermost name at each instant drawn, `.` where nothing is open; one letter each.

    Asked for in three calls, so that some spans have no middle near in some of them.
    """
    names = {op["event_id"]: op["name"] for op in ops} | {None: "."}
    found = {}
    for first in range(3):
        instants = [offset + scale * at for at in range(first, until, 3)]
        found |= zip(instants, host_at(gpu, ops, instants), strict=True)
    return "".join(names[found[at]] for at in sorted(found))


# The query tells spans up to 2^16 ns long from others, and where 2^16 divides time.
SCALES = pytest.mark.parametrize(
    ("scale", "offset"), [(1, 0), (1, 65_530), (20_000, 3), (70_000, 1_712_151_111_631_234_567)]
)


@SCALES
def test_innermost(gpu, scale, offset):
    """Half-open; after a child's end it is the caller, not the child's child or neighbour."""
    ops = drawn(
        """
 [=============)  a
  [====)          b
   [==)           c
         [===)    d
""",
        scale,
        offset,
    )
    assert answers(gpu, ops, 17, scale, offset) == ".abcccbaaddddaa.."


@SCALES
def test_ends_and_begins_at_one_instant(gpu, scale, offset):
    """The outermost end and the innermost begin count, in whatever order the ids are."""
    ops = drawn(
        """
     [==)                    f
   [====)                    e
   [====)                    d
  [=========)                c
 [============)              b
[=============)              a
              [======)       g
                [====)       h
                 [===)       i
                     [=)     j
                     [===)   k
""",
        scale,
        offset,
    )
    assert answers(gpu, ops, 27, scale, offset) == "abcddfffccccbbgghiiiijjkk.."


@SCALES
def test_spans_that_cross(gpu, scale, offset):
    """x crosses b and c, y crosses x: who was crossed does not come back, nor its callers end."""
    ops = drawn(
        """
[=====================)     a
 [=======)                  b
  [=====)                   c
     [=======)              x
           [=======)        y
""",
        scale,
        offset,
    )
    assert [op["cut_ns"] is not None for op in ops] == [False, True, True, True, False]
    assert answers(gpu, ops, 24, scale, offset) == "abcccxxxxxxyyyyyyyyaaa.."


def test_of_no_length_is_never_open(gpu):
    ops = placed(
        [
            completed("host_ops", {"name": name, "start_ns": start, "dur_ns": dur}, at)
            for at, (name, start, dur) in enumerate([("a", 1, 4), ("b", 3, 0), ("c", 5, 0)])
        ]
    )
    assert answers(gpu, ops, 7) == ".aaaa.."


def test_only_the_launching_thread(gpu):
    ops = [
        op | {"event_id": at, "pid": pid, "tid": tid, "rank": rank, "job": job}
        for at, (pid, tid, rank, job) in enumerate(
            [
                ("1", "1", 0, "j"),
                ("1", "2", 0, "j"),
                ("2", "1", 0, "j"),
                (None, "1", 0, "j"),
                (None, None, 0, "j"),
                ("1", "1", 1, "j"),
                ("1", "1", 0, "other"),
            ]
        )
        for op in drawn("[====)  a")
    ]
    for at, launch in enumerate(["9 0 1 1", "9 0 1 2", "9 0 2 1", "9 0 - 1", "9 0 - -"]):
        assert host_at(gpu, ops, [3], launch=launch) == [at]
    assert host_at(gpu, ops, [3], launch="9 0 5 1") == [None]
    assert host_at(gpu, ops, [3], launch="- - - -") == [None]
    assert host_at(gpu, [], [3]) == [None]


def test_ids_of_other_ranks_give_no_names(gpu):
    ops = """
        job  rank  event_id  name  start_ns  end_ns  depth
        j    0     1         a     0         9       0
        j    1     1         b     0         9       0
        k    1     1         c     0         9       0
    """
    gpu.expect(
        GAPS,
        """
        job  rank  host_event_id  host_name
        j    0     1              a
        j    1     1              b
        k    1     1              c
    """,
        ops=ops,
        activities="""
        job  rank  event_id  start_ns  end_ns  launch_id  launch_start_ns  launch_pid  launch_tid
        j    0     8         0         1       -          -                -           -
        j    0     9         4         5       1          3                1           1
        j    1     8         0         1       -          -                -           -
        j    1     9         4         5       1          3                1           1
        k    1     8         0         1       -          -                -           -
        k    1     9         4         5       1          3                1           1
    """,
    )


def test_any_host_operation_and_the_middle_rounded_down(gpu):
    # gap from 3 to 8: the middle is 5
    # 0    5
    #     [)       cudaEventSynchronize
    #      [)      python
    gpu.expect(
        GAPS,
        """
        start_ns  gap_ns  host_event_id  host_name
        3         5       21             loader.py
    """,
        activities="""
        start_ns  end_ns  launch_id  launch_start_ns  launch_pid  launch_tid
        0         3       -          -                -           -
        8         9       9          1                1           1
    """,
        ops="""
        event_id  cat              name                  start_ns  end_ns  depth
        20        cuda_runtime     cudaEventSynchronize  4         5       0
        21        python_function  loader.py             5         6       0
    """,
    )


# Random jobs.

SEEDS = range(4)
JOBS = 30
UNIX = 1_712_151_111_631_234_567


def random_tables(rng):
    activities, ops = [], []
    for number in range(JOBS):
        base, scale = rng.choice([0, UNIX]), rng.choice([1, 1, 7, 9_000])
        ranks, devices = rng.choice([[0], [0, 1, 3]]), rng.choice([[0], [0, 1], [None, 7]])
        streams, longest = rng.choice([[7], [7, 8], [None, 0, 20]]), rng.choice([0, 2, 3, 9])
        pids, tids = rng.choice([["1"], ["1", None]]), rng.choice([["1"], ["1", "2"]])
        common = {"job": f"job{number}"}
        for _ in range(rng.choice([0, 1, 3, 9, 25])):
            start = rng.randint(0, 60)
            is_launched = rng.random() < 0.8
            launch = {
                "launch_id": rng.randint(0, 99),
                "launch_start_ns": base + scale * (start - rng.choice([-2, 0, 1, 2, 3, 5, 20])),
                "launch_pid": rng.choice(pids),
                "launch_tid": rng.choice(tids),
            }
            activities.append(
                common
                | {
                    "rank": rng.choice(ranks),
                    "device": rng.choice(devices),
                    "stream": rng.choice(streams),
                    "step": rng.choice([None, 1, 2]),
                    "name": rng.choice(["gemm", "relu", "add"]),
                    "start_ns": base + scale * start,
                    "dur_ns": scale * rng.randint(0, longest),
                }
                | (launch if is_launched else dict.fromkeys(launch))
            )
        for _ in range(rng.choice([0, 3, 20, 60])):
            ops.append(
                common
                | {
                    "rank": rng.choice(ranks),
                    "pid": rng.choice(pids),
                    "tid": rng.choice(tids),
                    "cat": rng.choice(["cpu_op", "user_annotation", "cuda_runtime"]),
                    "name": rng.choice(["aten::mm", "aten::add", "step", "cudaLaunchKernel"]),
                    "start_ns": base + scale * rng.randint(0, 60),
                    "dur_ns": scale * rng.choice([0, 1, 2, 3, 5, 8, 13, 40]),
                }
            )
    return (
        [completed("gpu_activities", row, i) for i, row in enumerate(activities)],
        placed([completed("host_ops", row, i) for i, row in enumerate(ops)]),
    )


def random_parameters(rng, query):
    parameters = {
        "only_jobs": [f"job{number}" for number in rng.sample(range(JOBS), 18)],
        "only_ranks": rng.choice([[0], [1, 3], [5]]),
        "only_steps": rng.choice([[1], [1, 2], []]),
        "kernel_gap_ns": rng.choice([2, 3, 20]),
    }
    if query == GAPS:
        parameters["min_gap_ns"] = rng.choice([2, 5, 100])
    return {name: value for name, value in parameters.items() if rng.random() < 0.5}


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_random_jobs(gpu, seed):
    rng = random.Random(seed)
    activities, ops = random_tables(rng)
    tables = {"gpu_activities": activities, "host_ops": ops}
    for query in (BREAKDOWN, GAPS):
        for given in ({}, {"kernel_gap_ns": 3}, random_parameters(rng, query)):
            wanted = list(getattr(brute_idle, query)(activities, ops, **given))
            gpu.compare(query, wanted, tables, seed, **given)


def test_random_jobs_are_worth_it():
    """Every case that the queries have to tell apart comes up, some often."""
    tables = [random_tables(random.Random(seed)) for seed in SEEDS]
    gaps = [row for pair in tables for row in brute_idle.idle_gaps(*pair, kernel_gap_ns=3)]
    assert {row["cause"] for row in gaps} == {"host_wait", "kernel_wait", "other"}
    assert {row["stream"] for row in gaps} == {None, 0, 7, 8, 20}
    assert {row["device"] for row in gaps} == {None, 0, 1, 7}
    assert sum(row["host_event_id"] is None for row in gaps) > 100
    found, told = 0, set()
    for activities, ops in tables:
        by_id = {op["event_id"]: op for op in ops}
        for row in brute_idle.idle_gaps(activities, ops):
            op = by_id.get(row["host_event_id"])
            if op:
                middle = row["start_ns"] + row["gap_ns"] // 2
                found += 1
                told.add(
                    (
                        "after a cut",
                        any(
                            other["cut_ns"] is not None
                            and other["cut_ns"] <= middle < other["end_ns"]
                            and all(other[c] == op[c] for c in ("job", "rank", "pid", "tid"))
                            for other in ops
                        ),
                    )
                )
                told.add(("in another", op["depth"] > 0))
                told.add(("long", op["end_ns"] - op["start_ns"] > 65_536))
                told.add(("at its start", op["start_ns"] == middle))
    assert found > 100
    assert told == set(
        product(["after a cut", "in another", "long", "at its start"], [True, False])
    )
    streams = [row for pair in tables for row in brute_idle.idle_time_breakdown(*pair)]
    assert max(row["gap_count"] for row in streams) > 5
    assert any(row["stddev_ns"] > 0 for row in streams)
