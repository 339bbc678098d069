"""Cases of baseline and regressions; then both on random runs, in plain Python, and on noise."""

import math
import random
from fractions import Fraction
from functools import cache
from statistics import median

import pytest
from queries.brute_force import breakdown, grouped, rounded
from queries.small_tables import completed, parsed, value_of
from seeds import seeds

# Cases. Runs are columns, in the order in which they began; a row has a kernel's time in each.

RUNS = """
    name      a     b     c     newest
    slower    1000  1002  1004  1200
    faster    500   500   500   400
    noisy     100   110   120   150
    close     1000  1000  1000  1009
    far       1000  1000  1000  1010
    new       -     -     -     7
    gone      50    50    50    -
    rare      -     8     -     -
    same      40    40    40    40
"""


def fill(compare, text, host_ops=(), **traces):
    """One activity in each run for each kernel, outside of steps. `traces` are columns of all."""
    names, *rows = [line.split() for line in text.splitlines() if line.strip()]
    jobs = [job for job in names if job != "name"]
    activities = []
    for at, job in enumerate(jobs, start=1):
        start_ns = 0
        for row in rows:
            if (dur_ns := value_of(row[at], "BIGINT")) is not None:
                activities.append(
                    {"job": job, "name": row[0], "start_ns": start_ns, "dur_ns": dur_ns}
                )
                start_ns += dur_ns
    told = [{"job": job, "start_ns": 100 * at} | traces.get(job, {}) for at, job in enumerate(jobs)]
    compare.fill(gpu_activities=activities, traces=told, host_ops=list(host_ops))


def rows_of(compare, query, kind="kernel", **parameters):
    assert compare.broken_promises(query, **parameters) == []
    return [row for row in compare.run(query, **parameters) if row["kind"] == kind]


def expect(compare, query, text, kind="kernel", **parameters):
    """Compare the columns that `text` names, in the rows of a kind."""
    columns = {column.name: column.type for column in compare.query(query).columns}
    wanted = parsed(text, columns)
    rows = rows_of(compare, query, kind, **parameters)
    shown = text.split("\n")[1].split()
    assert [{name: row[name] for name in shown} for row in rows] == wanted


def changes(compare, **parameters):
    return {row["name"]: row["change"] for row in rows_of(compare, "regressions", **parameters)}


def earlier(compare, **parameters):
    """The first and the last run before the newest, and how many, by both queries."""
    of_baseline = {
        (row["first_job"], row["last_job"], row["run_count"])
        for row in rows_of(compare, "baseline", **parameters)
    }
    of_newest = {row["run_count"] for row in rows_of(compare, "regressions", **parameters)}
    [(first, last, count)] = of_baseline
    assert of_newest == {count}
    return first, last, count


def test_three_runs_and_a_newest(compare):
    fill(compare, RUNS)
    # t of two degrees of freedom is 31.6: slower has 31.6 * 2 * sqrt(4/3) = 73 to either side.
    expect(
        compare,
        "regressions",
        """
        name    change     test_ns  mean_ns  diff_ns  low_ns  high_ns  run_count  job
        slower  increased  1200     1002     198      929     1075     3          newest
        faster  decreased  400      500      -100     500     500      3          newest
        gone    deleted    0        50       -50      50      50       3          newest
        far     increased  1010     1000     10       1000    1000     3          newest
        new     added      7        0        7        0       0        3          newest
        noisy   unchanged  150      110      40       -255    475      3          newest
        close   unchanged  1009     1000     9        1000    1000     3          newest
        rare    unchanged  0        3        -3       -166    171      3          newest
        same    unchanged  40       40       0        40      40       3          newest
    """,
    )
    ratios = {row["name"]: row["diff_ratio"] for row in rows_of(compare, "regressions")}
    assert (ratios["faster"], ratios["far"], ratios["gone"]) == (-0.2, 0.01, -1.0)
    assert ratios["new"] is None


def test_what_to_expect(compare):
    fill(compare, RUNS)
    # No row for what only the newest has. rare: 0, 0, 8.
    expect(
        compare,
        "baseline",
        """
        name    run_count  mean_ns  median_ns  mad_ns  low_ns  high_ns  min_ns  max_ns
        slower  3          1002     1002       2       929     1075     1000    1004
        close   3          1000     1000       0       1000    1000     1000    1000
        far     3          1000     1000       0       1000    1000     1000    1000
        faster  3          500      500        0       500     500      500     500
        noisy   3          110      110        10      -255    475      100     120
        gone    3          50       50         0       50      50       50      50
        same    3          40       40         0       40      40       40      40
        rare    3          3        0          0       -166    171      0       8
    """,
    )
    assert earlier(compare) == ("a", "c", 3)


def test_positions_are_of_all_kinds(compare):
    """What changed is first, the largest difference of that; then all else, likewise."""
    fill(compare, RUNS)
    rows = compare.run("regressions")
    assert [row["position"] for row in rows] == list(range(1, len(rows) + 1))
    assert {row["kind"] for row in rows} == {"step", "kernel"}
    order = [(row["change"] == "unchanged", -abs(row["diff_ns"])) for row in rows]
    assert order == sorted(order)


def test_a_fifth_at_either_end_does_not_count(compare):
    fill(
        compare,
        """
        name  a    b    c    d     newest
        k     100  102  104  9000  5000
    """,
    )
    assert changes(compare) == {"k": "unchanged"}  # of four, all count
    fill(
        compare,
        """
        name  a    b    c    d    e     newest
        k     100  102  104  106  9000  5000
        once  -    7    -    -    -     -
    """,
    )
    # 102, 104 and 106 count; with the ends drawn in there are two of 102 and of 106, the squares
    # about the mean 16 in sum: 31.6 * sqrt(16 / 2) * sqrt(4/3) = 103.2
    expect(
        compare,
        "regressions",
        """
        name  change     mean_ns  low_ns  high_ns  run_count
        k     increased  104      1       207      5
        once  unchanged  0        0       0        5
    """,
    )
    expect(
        compare,
        "baseline",
        """
        name  mean_ns  median_ns  mad_ns  min_ns  max_ns
        k     104      104        2       100     9000
        once  0        0          0       0       7
    """,
    )


def test_one_run_before(compare):
    fill(
        compare,
        """
        name  a     newest
        more  1000  2000
        same  40    40
    """,
    )
    expect(
        compare,
        "regressions",
        """
        name  change     test_ns  mean_ns  diff_ns  low_ns  high_ns  run_count
        more  -          2000     1000     1000     -       -        1
        same  unchanged  40       40       0        -       -        1
    """,
    )
    expect(
        compare,
        "baseline",
        """
        name  run_count  mean_ns  low_ns  high_ns  first_job  last_job
        more  1          1000     -       -        a          a
        same  1          40       -       -        a          a
    """,
    )


def test_no_run_before(compare):
    fill(
        compare,
        """
        name  newest
        k     10
    """,
    )
    for query in ("baseline", "regressions"):
        assert compare.run(query) == compare.run(query, newest_job="newest") == []


def test_two_runs_before(compare):
    fill(
        compare,
        """
        name  a     b     newest
        k     1000  1001  1800
        l     1000  1000  1800
    """,
    )
    # 636.62 * sqrt(1/2) * sqrt(3/2) = 551.3
    expect(
        compare,
        "regressions",
        """
        name  change     mean_ns  low_ns  high_ns
        l     increased  1000     1000    1000
        k     increased  1001     449     1552
    """,
    )


def test_other_gpus_and_numbers_of_ranks_are_left_out(compare):
    h100, a100 = {"device_name": "H100", "world_size": 8}, {"device_name": "A100", "world_size": 8}
    runs = """
        name  a  b  c  d  newest
        k     1  1  5  1  1
    """
    fill(compare, runs, a=h100, b=h100, c=a100, d=h100, newest=h100)
    assert earlier(compare) == ("a", "d", 3)
    assert changes(compare) == {"k": "unchanged"}
    fill(compare, runs, a=h100, b=h100, c=h100 | {"world_size": 16}, d=h100, newest=h100)
    assert earlier(compare) == ("a", "d", 3)
    # What is not known is not known to be the same.
    fill(compare, runs, a=h100, b={}, c=a100, d=h100 | {"world_size": None}, newest=h100)
    assert earlier(compare) == ("a", "a", 1)
    fill(compare, runs, a=h100, b={}, c=a100, d={}, newest={})
    assert earlier(compare) == ("b", "d", 2)
    assert earlier(compare, newest_job="d") == ("b", "b", 1)
    fill(compare, runs, a=h100, b=h100, c=a100, d=h100, newest=a100)
    assert earlier(compare) == ("c", "c", 1)


def test_gpus_of_all_ranks(compare):
    gpus = {
        "a": ["H100", "A100"],
        "b": ["A100", "H100"],
        "c": ["H100", "H100"],
        "newest": ["A100", "H100"],
    }
    compare.fill(
        gpu_activities=[{"job": job, "name": "k", "start_ns": 0, "dur_ns": 4} for job in gpus],
        traces=[
            {
                "job": job,
                "rank": rank,
                "device_name": gpus[job][rank],
                "start_ns": 100 * at - 99 * rank,
            }
            for at, job in enumerate(gpus)
            for rank in (0, 1)
        ],
    )
    assert earlier(compare) == ("a", "b", 2)


def test_job_contains(compare):
    fill(
        compare,
        """
        name  train-1  eval-1  train-2  eval-2  train-3  eval-3
        k     10       90      10       90      20       91
    """,
    )
    expect(
        compare,
        "regressions",
        """
        name  change     test_ns  mean_ns  run_count  job
        k     increased  20       10       2          train-3
    """,
        job_contains="train",
    )
    expect(
        compare,
        "regressions",
        """
        name  change     test_ns  mean_ns  run_count  job
        k     increased  91       90       2          eval-3
    """,
        job_contains="eval-",
    )
    assert earlier(compare, job_contains="train") == ("train-1", "train-2", 2)
    assert earlier(compare, job_contains="1", newest_job="eval-1") == ("train-1", "train-1", 1)
    assert earlier(compare, newest_job="eval-2") == ("train-1", "train-2", 3)
    for missing in ({"job_contains": "Train"}, {"job_contains": "train", "newest_job": "eval-3"}):
        assert compare.run("baseline", **missing) == compare.run("regressions", **missing) == []


def test_run_limit_takes_the_last_ones(compare):
    fill(compare, "name " + " ".join(f"r{at:02}" for at in range(13)) + "\nk " + "1 " * 13)
    assert earlier(compare) == ("r02", "r11", 10)
    assert earlier(compare, run_limit=100) == ("r00", "r11", 12)
    assert earlier(compare, run_limit=2) == ("r10", "r11", 2)
    assert earlier(compare, run_limit=1, newest_job="r05") == ("r04", "r04", 1)
    assert earlier(compare, newest_job="r05") == ("r00", "r04", 5)
    for none in (0, -1):
        assert compare.run("baseline", run_limit=none) == []
        assert compare.run("regressions", run_limit=none) == []


def test_runs_after_the_newest_do_not_count(compare):
    fill(
        compare,
        """
        name  a    b    c    d    e    f
        k     100  100  100  120  900  900
        new   -    -    -    -    5    5
    """,
    )
    # Nor does a kernel that only they have.
    expect(
        compare,
        "regressions",
        """
        name  change     test_ns  mean_ns  run_count  job
        k     increased  120      100      3          d
    """,
        newest_job="d",
    )
    assert earlier(compare, newest_job="d") == ("a", "c", 3)


def test_order_is_that_of_the_beginnings(compare):
    """Not of the names, but for those that began at once."""
    fill(
        compare,
        """
        name  d  c  b  a
        k     1  2  3  4
    """,
    )
    assert earlier(compare) == ("d", "b", 3)
    assert earlier(compare, newest_job="b") == ("d", "c", 2)
    assert compare.run("regressions")[0]["job"] == "a"
    fill(
        compare,
        """
        name  a  b  c  d
        k     1  2  3  4
    """,
        c={"start_ns": 5},
        d={"start_ns": 5},
        b={"start_ns": 5},
    )
    assert earlier(compare) == ("a", "c", 3)
    assert compare.run("regressions")[0]["job"] == "d"


def test_runs_of_unknown_beginnings(compare):
    """They go by their names, and first."""
    fill(
        compare,
        """
        name  z  a  b  m
        k     1  2  3  4
    """,
        a={"start_ns": None},
        b={"start_ns": None},
    )
    assert earlier(compare) == ("a", "z", 3)
    assert earlier(compare, run_limit=2) == ("b", "z", 2)
    assert earlier(compare, newest_job="b") == ("a", "a", 1)


def test_short_names(compare):
    runs = [("a", 10), ("b", 10), ("c", 12)]
    compare.fill(
        gpu_activities=[
            {
                "job": job,
                "name": f"gemm<{kind}>(int)",
                "short_name": "gemm",
                "start_ns": at,
                "dur_ns": dur_ns,
            }
            for job, dur_ns in runs
            for at, kind in enumerate(["float", "half"])
        ],
        traces=[{"job": job, "start_ns": at} for at, (job, _) in enumerate(runs)],
    )
    expect(
        compare,
        "regressions",
        """
        name  change     test_ns  mean_ns
        gemm  increased  24       20
    """,
    )
    expect(
        compare,
        "regressions",
        """
        name              change     test_ns  mean_ns
        gemm<float>(int)  increased  12       10
        gemm<half>(int)   increased  12       10
    """,
        short_names=False,
    )
    expect(
        compare,
        "baseline",
        """
        name              mean_ns
        gemm<float>(int)  10
        gemm<half>(int)   10
    """,
        short_names=False,
    )


def test_a_kernel_without_a_name(compare):
    """It is one as any other."""
    compare.fill(
        gpu_activities=[{"job": job, "name": None, "start_ns": 0, "dur_ns": 10} for job in "abc"],
        traces=[{"job": job, "start_ns": at} for at, job in enumerate("abc")],
    )
    for short_names in (False, True):
        expect(
            compare,
            "regressions",
            """
            name  change     test_ns  mean_ns
            -     unchanged  10       10
        """,
            short_names=short_names,
        )
        expect(
            compare,
            "baseline",
            """
            name  mean_ns  min_ns
            -     10       10
        """,
            short_names=short_names,
        )


def steps_of(job, rank, *lengths):
    """One after another, from 1000 on."""
    start_ns, rows = 1000, []
    for step, dur_ns in enumerate(lengths, start=1):
        rows.append(
            {
                "job": job,
                "rank": rank,
                "cat": "user_annotation",
                "step": step,
                "name": f"ProfilerStep#{step}",
                "start_ns": start_ns,
                "dur_ns": dur_ns,
            }
        )
        start_ns += dur_ns
    return rows


def test_a_step_is_the_mean_over_its_ranks_and_a_run_the_median_over_its_steps(compare):
    # a: (20 + 22)/2, (30 + 32)/2, (90 + 10)/2; b: 41, 31, and 99 of rank 0 alone
    compare.fill(
        host_ops=[
            *steps_of("a", 0, 20, 30, 90),
            *steps_of("a", 1, 22, 32, 10),
            *steps_of("b", 0, 40, 30, 99),
            *steps_of("b", 1, 42, 32),
            *steps_of("c", 0, 60),
            *steps_of("c", 1, 71),
        ],
        traces=[
            {"job": job, "rank": rank, "start_ns": at}
            for at, job in enumerate("abc")
            for rank in (0, 1)
        ],
    )
    for query, wanted in (("baseline", [(36, 31, 41)]), ("regressions", [(36, 66)])):
        found = [
            tuple(row[name] for name in ("mean_ns", "min_ns", "max_ns", "test_ns") if name in row)
            for row in compare.run(query)
            if row["name"] == "step_time"
        ]
        assert found == wanted


def test_kernels_in_steps(compare):
    # a: (10 + 20 + 3)/3 steps of ranks; its warm-up is in no step, nor is outside
    compare.fill(
        """
        job  rank  step  name     start_ns  dur_ns
        a    0     -     k        0         900
        a    0     1     k        1000      10
        a    0     2     k        1100      20
        a    1     1     k        1000      3
        a    0     -     outside  1900      50
        b    0     1     k        1000      22
        b    0     -     outside  1900      50
        c    0     1     k        1000      300
        c    0     1     outside  1300      5
    """,
        host_ops=[
            *steps_of("a", 0, 100, 100),
            *steps_of("a", 1, 100),
            *steps_of("b", 0, 100, 99),
            *steps_of("c", 0, 400),
        ],
        traces="""
        job  rank  start_ns
        a    0     1
        a    1     2
        b    0     3
        c    0     4
    """,
    )
    expect(
        compare,
        "baseline",
        """
        name     mean_ns  min_ns  max_ns
        k        11       11      11
        outside  0        0       0
    """,
    )
    expect(
        compare,
        "regressions",
        """
        name     change     test_ns  mean_ns
        k        increased  300      11
        outside  increased  5        0
    """,
    )


def test_what_a_step_spends_time_with(compare):
    # 1000      1010      1020      1030      1040
    # [ProfilerStep#1                            )    45
    #   [gemm===========)                             1002 to 1018
    #           [nccl=============)                   1010 to 1028, of it 8 hidden
    #                                 [copy=)         1032 to 1038
    ops, traces, activities = [], [], []
    for at, (job, late_ns) in enumerate([("a", 0), ("b", 0), ("c", 4)]):
        ops += steps_of(job, 0, 45 + late_ns)
        traces.append({"job": job, "start_ns": at})
        for name, kind, start_ns, end_ns in [
            ("gemm", "computation", 1002, 1018),
            ("nccl", "communication", 1010, 1028 + late_ns),
            ("copy", "memory", 1032 + late_ns, 1038 + late_ns),
        ]:
            activities.append(
                {
                    "job": job,
                    "name": name,
                    "kind": kind,
                    "step": 1,
                    "start_ns": start_ns,
                    "end_ns": end_ns,
                }
            )
    compare.fill(activities, ops, traces=traces)
    expect(
        compare,
        "regressions",
        """
        name                   change     test_ns  mean_ns  low_ns  high_ns
        communication          increased  22       18       18      18
        exposed_communication  increased  14       10       10      10
        gpu_busy               increased  36       32       32      32
        gpu_span               increased  40       36       36      36
        kernel_sum             increased  44       40       40      40
        step_time              increased  49       45       45      45
        compute                unchanged  16       16       16      16
        exposed_memory         unchanged  6        6        6       6
        idle                   unchanged  4        4        4       4
        memory                 unchanged  6        6        6       6
    """,
        kind="step",
    )
    found = [row["name"] for row in compare.run("baseline")]
    assert found == [
        "step_time",
        "kernel_sum",
        "gpu_span",
        "gpu_busy",
        "communication",
        "compute",
        "exposed_communication",
        "exposed_memory",
        "memory",
        "idle",
        "nccl",
        "gemm",
        "copy",
    ]


def test_runs_without_steps(compare):
    """They count as a whole, and have no step_time."""
    runs = """
        name  a   b   c   newest
        k     10  10  10  12
    """
    fill(compare, runs)
    assert "step_time" not in {row["name"] for row in compare.run("regressions")}
    expect(
        compare,
        "regressions",
        """
        name  change     test_ns  mean_ns
        k     increased  12       10
    """,
    )
    # Of the two before, one has steps and nothing in them.
    fill(compare, runs, host_ops=[*steps_of("b", 0, 30), *steps_of("newest", 0, 40)])
    step_times = [
        row
        for query in ("baseline", "regressions")
        for row in compare.run(query)
        if row["name"] == "step_time"
    ]
    assert [(row["run_count"], row["mean_ns"], row["low_ns"]) for row in step_times] == [
        (1, 30, None)
    ] * 2
    expect(
        compare,
        "baseline",
        """
        name  run_count  mean_ns  median_ns  min_ns  max_ns
        k     3          7        10         0       10
    """,
    )
    # Of a newest run without steps there is no step_time to judge.
    fill(compare, runs, host_ops=steps_of("b", 0, 30))
    assert "step_time" not in {row["name"] for row in compare.run("regressions")}


def test_nothing_at_all(compare):
    compare.fill()
    assert compare.run("baseline") == compare.run("regressions") == []
    fill(compare, "name a b c")
    assert rows_of(compare, "baseline") == rows_of(compare, "regressions") == []


# Student's t

# As the query has them, so that whole nanoseconds can be compared; by degrees of freedom.
QUANTILES = dict(
    enumerate(
        [636.62, 31.6, 12.925, 8.611, 6.869, 5.959, 5.408, 5.042, 4.781, 4.587, 4.437, 4.318],
        start=1,
    )
)


@cache
def exceeded_by_chance(freedom: int, chance: float = 0.001) -> float:
    """t that |t| of so many degrees of freedom exceeds with this chance.

    With t = sqrt(freedom) * tan(angle), its density is that of cos(angle) ** (freedom - 1).
    """

    def area(start, end, pieces=600):
        width = (end - start) / pieces
        heights = [math.cos(start + at * width) ** (freedom - 1) for at in range(pieces + 1)]
        return (
            width
            / 3
            * (heights[0] + heights[-1] + 4 * sum(heights[1:-1:2]) + 2 * sum(heights[2:-1:2]))
        )

    whole, low, high = area(0, math.pi / 2), 0.0, math.pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        if area(middle, math.pi / 2) > chance * whole:
            low = middle
        else:
            high = middle
    return math.sqrt(freedom) * math.tan(low)


def test_quantiles(compare):
    # From printed tables, so that this integration can be trusted.
    for freedom, printed in ((1, 636.619), (2, 31.599), (5, 6.869), (10, 4.587), (30, 3.646)):
        assert abs(exceeded_by_chance(freedom) - printed) < 0.0006

    def of_query(freedom):
        return compare.con.execute(f"SELECT student_t({freedom})").fetchall()[0][0]

    for freedom in range(1, 31):
        assert 0 <= of_query(freedom) - exceeded_by_chance(freedom) < 0.0011
    for freedom, t in QUANTILES.items():
        assert 0 <= t - exceeded_by_chance(freedom) < 0.0011
    for freedom in (31, 35, 60, 200):
        assert exceeded_by_chance(freedom) <= of_query(freedom) < 1.01 * exceeded_by_chance(freedom)


# In plain Python

OF_BREAKDOWN = {
    "gpu_span": "span_ns",
    "gpu_busy": "busy_ns",
    "idle": "idle_ns",
    "compute": "compute_ns",
    "communication": "communication_ns",
    "memory": "memory_ns",
    "exposed_communication": "exposed_communication_ns",
    "exposed_memory": "exposed_memory_ns",
}


def in_order(start_ns, job):
    """Of runs: unknown beginnings first."""
    return (start_ns is not None, start_ns or 0, job)


def comparable(traces, newest_job, job_contains, run_limit):
    """The newest run and those before it, first ones first."""
    jobs = {}
    for (job,), rows in grouped(traces, "job"):
        if job_contains is None or job_contains in job:
            starts = [row["start_ns"] for row in rows if row["start_ns"] is not None]
            sizes = [row["world_size"] for row in rows if row["world_size"] is not None]
            jobs[job] = (
                min(starts, default=None),
                ({row["device_name"] for row in rows} - {None}, max(sizes, default=None)),
            )
    if newest_job is None:
        newest_job = max(jobs, key=lambda job: in_order(jobs[job][0], job), default=None)
    if newest_job not in jobs:
        return None, []
    newest_start, ran_on = jobs[newest_job]

    def is_before(start, job):
        if start is None or newest_start is None:
            return job < newest_job
        return (start, job) < (newest_start, newest_job)

    before = [
        job
        for job, (start, other) in jobs.items()
        if other == ran_on and job != newest_job and is_before(start, job)
    ]
    before.sort(key=lambda job: in_order(jobs[job][0], job))
    return newest_job, before[max(0, len(before) - run_limit) :]


def values_of(job, gpu_activities, host_ops, traces, short_names):
    """What is compared of a run: its value by kind and name."""
    activities = [row for row in gpu_activities if row["job"] == job]
    spans = [
        row
        for row in host_ops
        if row["job"] == job
        and row["name"].startswith("ProfilerStep#")
        and row["cat"] == "user_annotation"
    ]
    # Ranks' steps, and what was launched in each; without any, the ranks, and all of them.
    marked = dict(grouped(spans, "rank", "step"))
    if not marked:
        marked = {(row["rank"], None): [] for row in traces if row["job"] == job}
    in_steps = {
        key: [row for row in activities if (row["rank"], row["step"]) == key] for key in marked
    }

    of_steps = {}  # by name and step, of each rank
    for (rank, step), rows in in_steps.items():
        found = dict.fromkeys(OF_BREAKDOWN, 0)
        for of_device in breakdown(rows, "device"):
            for name, column in OF_BREAKDOWN.items():
                found[name] += of_device[column]
        found["kernel_sum"] = sum(row["dur_ns"] for row in rows)
        if spans:
            own = marked[rank, step]
            found["step_time"] = max(row["end_ns"] for row in own) - min(
                row["start_ns"] for row in own
            )
        for name, value in found.items():
            of_steps.setdefault(name, {}).setdefault(step, []).append(value)
    values = {
        ("step", name): rounded(
            median(rounded(Fraction(sum(ranks), len(ranks))) for ranks in by_step.values())
            + Fraction(0)
        )
        for name, by_step in of_steps.items()
    }
    for (name,), rows in grouped(activities, "short_name" if short_names else "name"):
        total_ns = sum(row["dur_ns"] for row in rows if not spans or row["step"] is not None)
        values["kernel", name] = rounded(Fraction(total_ns, len(in_steps)))
    return values


def expected_of(values):
    """Mean, and the lower and upper end of where one more is expected."""
    values, out = sorted(values), len(values) // 5
    kept = values[out : len(values) - out]
    mean = Fraction(sum(kept), len(kept))
    if len(kept) < 2:
        return rounded(mean), None, None
    drawn_in = [kept[0]] * out + kept + [kept[-1]] * out
    middle = Fraction(sum(drawn_in), len(drawn_in))
    variance = sum((value - middle) ** 2 for value in drawn_in) / (len(kept) - 1)
    noise = QUANTILES[len(kept) - 1] * math.sqrt(variance * (1 + Fraction(1, len(kept))))
    return rounded(mean), math.floor(mean - noise + 0.5), math.floor(mean + noise + 0.5)


def runs_and_values(tables, newest_job, job_contains, run_limit, short_names):
    """The newest run, those before it, and what each has; then all that any of some has."""
    newest, before = comparable(tables["traces"], newest_job, job_contains, run_limit)
    values = {
        job: values_of(job, **tables, short_names=short_names)
        for job in ([newest, *before] if newest else [])
    }

    def of_runs(kind, name):
        """Kernels that are not there take no time; steps' times that are not there are none."""
        have = [values[job].get((kind, name), 0 if kind == "kernel" else None) for job in before]
        return [value for value in have if value is not None]

    return newest, before, values, of_runs


def by_name(name):
    return (name is None, name or "")


def baseline(tables, newest_job=None, job_contains=None, run_limit=10, short_names=True):
    _, before, values, of_runs = runs_and_values(
        tables, newest_job, job_contains, run_limit, short_names
    )
    rows = []
    for kind, name in {key for job in before for key in values[job]}:
        have = of_runs(kind, name)
        middle = Fraction(median(have))
        mean, low, high = expected_of(have)
        rows.append(
            {
                "kind": kind,
                "name": name,
                "run_count": len(have),
                "mean_ns": mean,
                "median_ns": rounded(middle),
                "mad_ns": rounded(Fraction(median(abs(value - middle) for value in have))),
                "low_ns": low,
                "high_ns": high,
                "min_ns": min(have),
                "max_ns": max(have),
                "first_job": before[0],
                "last_job": before[-1],
            }
        )
    return sorted(
        rows, key=lambda row: (row["kind"] == "kernel", -row["mean_ns"], by_name(row["name"]))
    )


def regressions(tables, newest_job=None, job_contains=None, run_limit=10, short_names=True):
    newest, before, values, of_runs = runs_and_values(
        tables, newest_job, job_contains, run_limit, short_names
    )
    rows = []
    for kind, name in {key for of_job in values.values() for key in of_job}:
        have = of_runs(kind, name)
        test = values[newest].get((kind, name), 0 if kind == "kernel" else None)
        if not have or test is None:
            continue
        mean, low, high = expected_of(have)
        rows.append(
            {
                "kind": kind,
                "name": name,
                "position": None,
                "change": change_of(
                    test,
                    mean,
                    low,
                    high,
                    was_there=any((kind, name) in values[job] for job in before),
                    is_there=(kind, name) in values[newest],
                ),
                "test_ns": test,
                "mean_ns": mean,
                "diff_ns": test - mean,
                "diff_ratio": (test - mean) / mean if mean else None,
                "low_ns": low,
                "high_ns": high,
                "run_count": len(have),
                "job": newest,
            }
        )
    rows.sort(
        key=lambda row: (
            row["change"] in (None, "unchanged"),
            -abs(row["diff_ns"]),
            row["kind"] == "kernel",
            by_name(row["name"]),
        )
    )
    for position, row in enumerate(rows, start=1):
        row["position"] = position
    return rows


def change_of(test, mean, low, high, was_there, is_there):
    if not was_there:
        return "added"
    if low is None:
        return "unchanged" if test == mean else None
    if not is_there and low > 0:
        return "deleted"
    if 100 * abs(test - mean) < mean or low <= test <= high:
        return "unchanged"
    return "increased" if test > mean else "decreased"


# Random runs

SEEDS = range(4)
UNIX = 1_712_151_111_631_234_567  # more digits than a double holds
KERNELS = {  # kind and usual time
    ("gemm<1>", "gemm"): ("computation", 30),
    ("gemm<2>", "gemm"): ("computation", 5),
    ("long", "long"): ("computation", 230),
    ("nccl", "nccl"): ("communication", 40),
    ("copy", "copy"): ("memory", 12),
    (None, None): ("computation", 7),
}


def random_tables(rng):
    """Runs of a program or two; some do other things, some are of other machines."""
    tables = {"gpu_activities": [], "host_ops": [], "traces": []}
    noise_ns = rng.choice([0, 0, 0, 1, 4])
    has_steps = rng.choice([True, True, False, None])
    usual = dict.fromkeys(KERNELS, 0) | {
        kernel: rng.randint(1, 2) for kernel in rng.sample(list(KERNELS), 4)
    }
    devices = {kernel: rng.choice([0, 0, 0, 1, None]) for kernel in KERNELS}
    job_count = rng.choice([4, 6, 8, 14])
    starts = rng.sample(range(100), job_count)
    if rng.random() < 0.7:
        starts.sort()
    for number in range(job_count):
        is_last = starts[number] == max(starts)
        job = f"{'eval' if rng.random() < 0.2 and not is_last else 'train'}-{number}"
        base = rng.choice([0, UNIX])
        began = None if rng.random() < 0.03 else starts[number if rng.random() < 0.9 else 0]
        machine = {
            "device_name": rng.choice(["H100"] * 16 + ["A100", None]),
            "world_size": rng.choice([8] * 16 + [4, None]),
        }
        ranks = rng.choice([[0], [0], [0, 3]])
        steps = rng.choice([1, 2, 4])
        if has_steps is False or (has_steps is None and rng.random() < 0.3):
            steps = 0
        times = dict(usual)  # in each step
        longer = dict.fromkeys(KERNELS, 0)
        for _ in range(3 if is_last else rng.random() < 0.1):
            kernel = rng.choice(list(KERNELS))
            times[kernel] = rng.choice([0, usual[kernel] + 1])
            longer[rng.choice(list(KERNELS))] = rng.choice([-3, 25])
            longer["long", "long"] = rng.choice([0, 1, 1, 3])
        for rank in ranks:
            common = {"job": job, "rank": rank}
            start_ns = began and began + rng.choice([0, 0, 30]) * rank
            tables["traces"].append(common | machine | {"status": "complete", "start_ns": start_ns})
            own_steps = [*range(1, steps + 1)]
            if len(own_steps) > 1 and rng.random() < 0.2:
                own_steps.pop()  # this rank's recording was the shorter one
            for step in [None, *own_steps]:
                at_ns = base + 2000 * (step or 0)
                if step:
                    tables["host_ops"] += random_step(rng, common, step, at_ns, noise_ns)
                elif steps and rng.random() < 0.7:
                    continue
                tables["gpu_activities"] += [
                    common
                    | {
                        "name": name,
                        "short_name": short_name,
                        "kind": kind,
                        "step": step,
                        "device": devices[name, short_name],
                        "start_ns": at_ns + 50 * place + rng.randint(0, noise_ns),
                        "dur_ns": max(
                            0, dur_ns + longer[name, short_name] + rng.randint(-noise_ns, noise_ns)
                        ),
                    }
                    for place, ((name, short_name), (kind, dur_ns)) in enumerate(KERNELS.items())
                    for _ in range(times[name, short_name])
                ]
    return {
        table: [completed(table, row, at) for at, row in enumerate(rows)]
        for table, rows in tables.items()
    }


def random_step(rng, common, step, start_ns, noise_ns):
    """Its annotation, perhaps on two threads; and an operator, which is none."""
    dur_ns = 800 + rng.randint(-noise_ns, noise_ns)
    row = common | {
        "cat": "user_annotation",
        "name": f"ProfilerStep#{step}",
        "step": step,
        "start_ns": start_ns,
        "dur_ns": dur_ns,
    }
    yield row
    if rng.random() < 0.2:
        yield row | {"tid": "2", "start_ns": start_ns + 30}
    yield row | {"cat": "cpu_op", "name": "aten::mm", "dur_ns": 9000}


def random_parameters(rng, tables):
    parameters = {
        "newest_job": rng.choice(tables["traces"])["job"],
        "job_contains": rng.choice(["train", "train", "-1", "eval"]),
        "run_limit": rng.choice([0, 1, 2, 5, 6, 20]),
        "short_names": rng.choice([False, True]),
    }
    return {name: value for name, value in parameters.items() if rng.random() < 0.3}


def random_cases(seed):
    """Tables and the parameters to ask with; each seed has several of both."""
    for number in range(5):
        rng = random.Random(f"{seed} {number}")
        tables = random_tables(rng)
        for given in ({}, random_parameters(rng, tables)):
            yield tables, given


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_random_rows(compare, seed):
    for tables, given in random_cases(seed):
        compare.compare("baseline", baseline(tables, **given), tables, seed, **given)
        compare.compare("regressions", regressions(tables, **given), tables, seed, **given)


def test_random_rows_are_worth_it():
    """Every case that the queries have to tell apart comes up, and more than once."""
    found = dict.fromkeys(
        (
            "added",
            "deleted",
            "increased",
            "decreased",
            "unchanged",
            None,
            "less than 1 %",
            "noisy",
            "some do not count",
            "a kernel that a run has not",
            "no step_time",
            "nothing",
            "step",
            "kernel",
        ),
        0,
    )
    for seed in SEEDS:
        for tables, given in random_cases(seed):
            rows = regressions(tables, **given)
            found["nothing"] += not rows
            found["no step_time"] += "step_time" not in {row["name"] for row in rows}
            for row in rows:
                found[row["change"]] += 1
                if row["change"] == "unchanged" and row["low_ns"] is not None:
                    is_within = row["low_ns"] <= row["test_ns"] <= row["high_ns"]
                    found["noisy" if is_within else "less than 1 %"] += row["diff_ns"] != 0
                found["some do not count"] += row["run_count"] >= 5
                if row["change"] not in (None, "unchanged"):
                    found[row["kind"]] += 1
            found["a kernel that a run has not"] += sum(
                row["kind"] == "kernel" and row["min_ns"] == 0 < row["max_ns"]
                for row in baseline(tables, **given)
            )
    assert min(found.values()) >= 5, found


# Noise

USUAL_NS = {f"kernel{number}": 100_000 * (number + 1) for number in range(10)}
SLOW = "kernel6"


def rows_of_programs(compare, noise, slower=1, programs=60):
    """Of each program, the newest run after 8, in which a kernel takes so many times as long."""
    traces, activities = [], []
    for program in range(programs):
        rng = random.Random(f"noise {program}")
        for run in range(9):
            job, start_ns = f"program{program:02}-run{run}", 0
            traces.append({"job": job, "start_ns": run})
            for name, usual_ns in USUAL_NS.items():
                dur_ns = round(usual_ns * rng.gauss(1, noise))
                if run == 8 and name == SLOW:
                    dur_ns = round(dur_ns * slower)
                activities.append(
                    {"job": job, "name": name, "start_ns": start_ns, "dur_ns": dur_ns}
                )
                start_ns += dur_ns
    compare.fill(activities, traces=traces)
    return [
        compare.run("regressions", job_contains=f"program{program:02}-")
        for program in range(programs)
    ]


def test_noise_is_no_change(compare):
    rows = [row for rows in rows_of_programs(compare, noise=0.03) for row in rows]
    assert {row["run_count"] for row in rows} == {8}
    assert len(rows) > 1000
    assert sum(row["change"] != "unchanged" for row in rows) <= 5


def test_a_slower_kernel_is_the_first_of_the_kernels(compare):
    """Before it may be what it makes longer, as gpu_busy; the others' noise adds to that."""
    for rows in rows_of_programs(compare, noise=0.01, slower=1.2, programs=20):
        first, *others = [row for row in rows if row["kind"] == "kernel"]
        assert (first["name"], first["change"]) == (SLOW, "increased")
        assert 0.14 < first["diff_ratio"] < 0.26
        assert all(
            row["kind"] == "step" and row["change"] == "increased"
            for row in rows[: first["position"] - 1]
        )
        assert sum(row["change"] != "unchanged" for row in others) <= 1
