"""queue_length_series, queue_length_summary and queue_full_time, drawn and on random small jobs.

A letter where a launch begins stands for the activity that it launches.
"""

import random

import pytest
from queries import brute_queue_lengths as brute_force
from queries.brute_force import grouped
from queries.small_tables import completed
from seeds import seeds

QUERIES = ("queue_length_series", "queue_length_summary", "queue_full_time")

QUEUE = """
    event_id  launch_id  launch_start_ns  start_ns  dur_ns
    5         10         0                4         6
    6         11         3                11        3
    7         12         6                15        6
    8         13         17               22        2
"""
# 0         10        20
# 5  6  7          8        launches
#     [= 5 =)[6=)[= 7 =)[8) activities
# 1  21 2    1   0 1    0   queue_length


def test_series(gpu):
    gpu.expect(
        "queue_length_series",
        """
        job  rank  device  stream  at_ns  event_id  change  queue_length  launch_id  is_early_start
        j    0     0       7       0      5         1       1             10         false
        j    0     0       7       3      6         1       2             11         false
        j    0     0       7       4      5         -1      1             10         false
        j    0     0       7       6      7         1       2             12         false
        j    0     0       7       11     6         -1      1             11         false
        j    0     0       7       15     7         -1      0             12         false
        j    0     0       7       17     8         1       1             13         false
        j    0     0       7       22     8         -1      0             13         false
    """,
        activities=QUEUE,
    )


BURST = """
    launch_id  launch_start_ns  start_ns  dur_ns
    10         0                4         3
    11         1                16        3
    12         2                26        3
"""
# 0         10        20
# abc                            launches
#     [a=)        [b=)      [c=) activities
# 123 2           1         0    queue_length


def test_summary(gpu):
    gpu.expect(
        "queue_length_summary",
        f"""
        job  rank  device  stream  count  mean  stddev        min  p25  p50  p75
        j    0     0       7       6      1.5   {1.1**0.5}  0    1.0  1.5  2.0
    """,
        activities=BURST,
    )
    weighted = 1 * 1 + 2 * 1 + 3 * 2 + 2 * 12 + 1 * 10
    gpu.expect(
        "queue_length_summary",
        f"""
        max  time_weighted_mean  early_start_count
        3    {weighted / 26}     0
    """,
        activities=BURST,
    )


@pytest.mark.parametrize(
    ("limit", "full_ns"), [(0, 26), (1, 26), (2, 15), (3, 2), (4, 0), (1024, 0), (-1, 26)]
)
def test_full_time(gpu, limit, full_ns):
    gpu.expect(
        "queue_full_time",
        f"""
        job  rank  device  stream  full_ns     full_frac
        j    0     0       7       {full_ns}   {full_ns / 50}
    """,
        activities=BURST,
        traces="""
        start_ns  end_ns
        -10       40
    """,
        max_queue_length=limit,
    )


def test_full_at_1024_unless_told(gpu):
    """1025 launches, one each nanosecond, then as many starts."""
    gpu.fill(
        gpu_activities=[
            {"launch_id": 5000 + i, "launch_start_ns": i, "start_ns": 1025 + i, "dur_ns": 1}
            for i in range(1025)
        ]
    )
    # at            1022  1023  1024  1025  1026
    # queue_length  1023  1024  1025  1024  1023
    [row] = gpu.run("queue_full_time")
    assert (row["full_ns"], row["full_frac"]) == (3, None)


def test_full_twice(gpu):
    # 0         10
    # ab      cd            launches
    #    [a=)   [b=[c=[d=)  activities
    # 12 1    232  1  0     full from 1 to 3 and from 8 to 13
    gpu.expect(
        "queue_full_time",
        """
        full_ns
        7
    """,
        activities="""
        launch_id  launch_start_ns  start_ns  dur_ns
        10         0                3         3
        11         1                10        3
        12         8                13        3
        13         9                16        3
    """,
        max_queue_length=2,
    )


@pytest.mark.parametrize(
    ("start_ns", "end_ns", "full_frac"),
    [("0", "8", "0.25"), ("0", "-", "-"), ("-", "8", "-"), ("2", "2", "-")],
)
def test_fraction_of_the_trace(gpu, start_ns, end_ns, full_frac):
    gpu.expect(
        "queue_full_time",
        f"""
        full_ns  full_frac
        2        {full_frac}
    """,
        activities="""
        launch_id  launch_start_ns  start_ns  dur_ns
        10         0                2         3
    """,
        traces=f"""
        start_ns    end_ns
        {start_ns}  {end_ns}
    """,
        max_queue_length=1,
    )


def test_trace_of_the_same_rank_of_the_same_job(gpu):
    gpu.expect(
        "queue_full_time",
        """
        job  rank  full_ns  full_frac
        a    0     2        0.5
        a    1     2        0.25
        b    0     2        0.2
        b    1     2        -
    """,
        activities="""
        job  rank  launch_id  launch_start_ns  start_ns  dur_ns
        b    1     10         0                2         1
        b    0     10         0                2         1
        a    1     10         0                2         1
        a    0     10         0                2         1
    """,
        traces="""
        job  rank  start_ns  end_ns
        a    0     0         4
        a    1     0         8
        b    0     0         10
        c    1     0         3
    """,
        max_queue_length=1,
    )


def test_launch_comes_before_start_at_one_instant(gpu):
    # 0
    # a          launch and start at once; the queue is never below 0
    # [= a ==)
    activities = """
        event_id  launch_id  launch_start_ns  start_ns  dur_ns
        5         10         0                0         7
    """
    gpu.expect(
        "queue_length_series",
        """
        at_ns  event_id  change  queue_length  is_early_start
        0      5         1       1             false
        0      5         -1      0             false
    """,
        activities=activities,
    )
    gpu.expect(
        "queue_length_summary",
        f"""
        count  mean  stddev        min  p25   p50  p75   max  time_weighted_mean  early_start_count
        2      0.5   {0.5**0.5}  0    0.25  0.5  0.75  1    -                   0
    """,
        activities=activities,
    )
    gpu.expect(
        "queue_full_time",
        """
        full_ns  full_frac
        0        0.0
    """,
        activities=activities,
        traces="""
        start_ns  end_ns
        0         7
    """,
        max_queue_length=1,
    )


def test_then_the_lower_event_id(gpu):
    # 0     6
    # 68    95       launches
    #       86       starts
    gpu.expect(
        "queue_length_series",
        """
        at_ns  event_id  change  queue_length
        0      6         1       1
        0      8         1       2
        6      5         1       3
        6      9         1       4
        6      6         -1      3
        6      8         -1      2
        8      5         -1      1
        8      9         -1      0
    """,
        activities="""
        event_id  launch_id  launch_start_ns  start_ns  dur_ns
        9         3          6                8         1
        8         4          0                6         1
        6         2          0                6         1
        5         1          6                8         1
    """,
    )


def test_one_launch_of_several(gpu):
    """A CUDA graph: all of its activities enter at once."""
    # 0         10
    # g                 launch of all three
    #    [==)[==)[==)
    # 3  2   1   0
    graph = """
        event_id  launch_id  launch_name       launch_start_ns  start_ns  dur_ns
        1         10         cudaGraphLaunch   0                3         3
        2         10         cudaGraphLaunch   0                7         3
        3         10         cudaGraphLaunch   0                11        3
    """
    gpu.expect(
        "queue_length_series",
        """
        at_ns  event_id  change  queue_length  launch_id
        0      1         1       1             10
        0      2         1       2             10
        0      3         1       3             10
        3      1         -1      2             10
        7      2         -1      1             10
        11     3         -1      0             10
    """,
        activities=graph,
    )
    gpu.expect(
        "queue_length_summary",
        f"""
        count  max  time_weighted_mean
        6      3    {(3 * 3 + 2 * 4 + 1 * 4) / 11}
    """,
        activities=graph,
    )


EARLY = """
    event_id  launch_id  launch_start_ns  start_ns  dur_ns
    5         10         6                2         8
    6         11         8                12        3
"""
# 0         10
#       5 6          launches
#   [== 5 ==) [6=)   5 starts before its launch begins
#   m   0 1   0      queue_length, m for -1


def test_start_before_launch(gpu):
    """The only way to a queue below 0; it is counted."""
    gpu.expect(
        "queue_length_series",
        """
        at_ns  event_id  change  queue_length  is_early_start
        2      5         -1      -1            true
        6      5         1       0             true
        8      6         1       1             false
        12     6         -1      0             false
    """,
        activities=EARLY,
    )
    gpu.expect(
        "queue_length_summary",
        """
        count  mean  min  p25    p50  p75   max  time_weighted_mean  early_start_count
        4      0.0   -1   -0.25  0.0  0.25  1    0.0                 1
    """,
        activities=EARLY,
    )
    gpu.expect(
        "queue_full_time",
        """
        full_ns
        4
    """,
        activities=EARLY,
        max_queue_length=1,
    )


def test_start_before_launch_hidden_by_others(gpu):
    # 0    5    10
    # 5     6         launches
    #     [6==[5=)    6 starts before its launch, 5 waits: never below 0
    # 1   0 1 0
    gpu.expect(
        "queue_length_summary",
        """
        count  min  max  early_start_count
        4      0    1    1
    """,
        activities="""
        event_id  launch_id  launch_start_ns  start_ns  dur_ns
        5         10         0                8         3
        6         11         6                4         4
    """,
    )


def test_without_launch_counts_nowhere(gpu):
    # 0    5
    # a            launch
    #   [=)        without one, on two streams
    #      [a)
    activities = """
        stream  launch_id  launch_start_ns  start_ns  dur_ns
        7       10         0                5         2
        7       -          -                2         2
        8       -          -                2         2
    """
    gpu.expect(
        "queue_length_series",
        """
        stream  at_ns  change  queue_length
        7       0      1       1
        7       5      -1      0
    """,
        activities=activities,
    )
    for query in QUERIES[1:]:
        gpu.expect(
            query,
            """
            stream
            7
        """,
            activities=activities,
        )


def test_each_stream_by_itself(gpu):
    """The same stream number of another device, rank or job is another stream; so is none."""
    activities = """
        job  rank  device  stream  event_id  launch_id  launch_start_ns  start_ns  dur_ns
        b    0     0       7       1         10         0                9         1
        a    10    0       7       1         10         1                9         1
        a    2     1       7       1         10         2                9         1
        a    2     0       7       1         10         3                9         1
        a    2     0       0       2         11         4                9         1
        a    2     -       7       3         12         5                9         1
        a    2     0       -       4         13         6                9         1
        a    2     -       -       5         14         7                9         1
        a    2     -       -       6         15         8                9         1
    """
    gpu.expect(
        "queue_length_summary",
        """
        job  rank  device  stream  count  max  time_weighted_mean
        a    2     0       0       2      1    1.0
        a    2     0       7       2      1    1.0
        a    2     0       -       2      1    1.0
        a    2     1       7       2      1    1.0
        a    2     -       7       2      1    1.0
        a    2     -       -       4      2    1.5
        a    10    0       7       2      1    1.0
        b    0     0       7       2      1    1.0
    """,
        activities=activities,
    )
    gpu.expect(
        "queue_full_time",
        """
        job  rank  device  stream  full_ns
        a    2     0       0       5
        a    2     0       7       6
        a    2     0       -       3
        a    2     1       7       7
        a    2     -       7       4
        a    2     -       -       2
        a    10    0       7       8
        b    0     0       7       9
    """,
        activities=activities,
        max_queue_length=1,
    )
    gpu.expect(
        "queue_length_series",
        """
        job  rank  device  stream  at_ns  change  queue_length
        a    2     0       0       4      1       1
        a    2     0       0       9      -1      0
        a    2     0       7       3      1       1
        a    2     0       7       9      -1      0
        a    2     0       -       6      1       1
        a    2     0       -       9      -1      0
        a    2     1       7       2      1       1
        a    2     1       7       9      -1      0
        a    2     -       7       5      1       1
        a    2     -       7       9      -1      0
        a    2     -       -       7      1       1
        a    2     -       -       8      1       2
        a    2     -       -       9      -1      1
        a    2     -       -       9      -1      0
    """,
        activities=activities,
        only_jobs=["a"],
        only_ranks=[2, 3],
    )


def test_selected_before_measured(gpu):
    """What step 1 left in the queue is not there for step 2."""
    # 0         10
    # a b    c             launches: a and b of step 1, c of step 2
    #   [= a)    [b=[c=)
    # 1 2    2   1  0      queue_length of both; at 2 b is in and a out again
    activities = """
        step  launch_id  launch_start_ns  start_ns  dur_ns
        1     10         0                2         5
        1     11         2                11        3
        2     12         7                14        3
        -     13         20               30        3
    """
    for steps, longest, mean in [
        ([2], 1, 1.0),
        ([1], 2, 1.0),
        ([1, 2], 2, (11 + 7) / 14),
        (None, 2, (11 + 7 + 10) / 30),
    ]:
        gpu.expect(
            "queue_length_summary",
            f"""
            max        time_weighted_mean
            {longest}  {mean}
        """,
            activities=activities,
            only_steps=steps,
        )
    gpu.expect(
        "queue_length_series",
        """
        at_ns  queue_length
        7      1
        14     0
    """,
        activities=activities,
        only_steps=[2],
    )
    gpu.expect(
        "queue_full_time",
        """
        full_ns  full_frac
        7        0.07
    """,
        activities=activities,
        only_steps=[2],
        max_queue_length=1,
        traces="""
        start_ns  end_ns
        0         100
    """,
    )


def test_nothing_at_all(gpu):
    gpu.fill(traces=[{"start_ns": 0, "end_ns": 10}])
    for query in QUERIES:
        assert gpu.run(query) == []


def test_unix_nanoseconds_and_long_queues_are_exact(gpu):
    """The time-weighted sum is beyond 64 bits: 3000 that wait for ten years."""
    now, ten_years = 1_712_151_111_631_234_567, 10 * 365 * 86_400 * 10**9
    gpu.fill(
        gpu_activities=[
            {"launch_id": 5000, "launch_start_ns": now - ten_years, "start_ns": now, "dur_ns": 1}
        ]
        * 3000
    )
    [row] = gpu.run("queue_length_summary")
    assert (row["max"], row["time_weighted_mean"]) == (3000, 3000.0)
    [row] = gpu.run("queue_full_time")
    assert row["full_ns"] == ten_years


JOBS = 30  # in one table, so that a few hundred small cases cost a few dozen calls
SEEDS = range(8)
UNIX = 1_712_151_111_631_234_567


def random_tables(rng):
    activities, traces = [], []
    for number in range(JOBS):
        job, base = f"job{number}", rng.choice([0, UNIX])
        ranks, devices = rng.choice([[0], [0, 1, 3]]), rng.choice([[0], [0, 1], [None, 7]])
        streams = rng.choice([[7], [7, 20, 0], [None, 13]])
        longest_wait, earliest = rng.choice([0, 2, 10, 60]), rng.choice([0, 0, 0, 5])
        launches = [base + rng.randint(0, 40) for _ in range(10)]
        has_launch = rng.choice([1, 0.7])
        for _ in range(rng.choice([0, 1, 2, 6, 15, 40])):
            launch = rng.randrange(10)  # also of several activities
            start_ns = launches[launch] + rng.randint(-earliest, longest_wait)
            row = {"start_ns": start_ns, "launch_id": None, "launch_start_ns": None}
            if rng.random() < has_launch:
                row |= {"launch_id": 1000 + launch, "launch_start_ns": launches[launch]}
            activities.append(
                row
                | {
                    "job": job,
                    "rank": rng.choice(ranks),
                    "device": rng.choice(devices),
                    "stream": rng.choice(streams),
                    "step": rng.choice([None, 1, 2, 12]),
                    "dur_ns": rng.randint(0, 8),
                }
            )
        traces += [
            {
                "job": job,
                "rank": rank,
                "start_ns": base - 5,
                "end_ns": rng.choice([None, base + 200]),
            }
            for rank in ranks
            if rng.random() < 0.9
        ]
    return {
        "gpu_activities": [completed("gpu_activities", row, i) for i, row in enumerate(activities)],
        "traces": traces,
    }


def random_parameters(rng, query):
    parameters = {
        "only_jobs": [f"job{number}" for number in rng.sample(range(JOBS), 18)],
        "only_ranks": rng.choice([[0], [1, 3], [5]]),
        "only_steps": rng.choice([[1], [2, 12], []]),
    }
    parameters = {name: value for name, value in parameters.items() if rng.random() < 0.4}
    if query == "queue_full_time":
        parameters["max_queue_length"] = rng.choice([-1, 0, 1, 2, 5])
    return parameters


def wanted_of(query, tables, given):
    rows = [tables["gpu_activities"]] + [tables["traces"]] * (query == "queue_full_time")
    return list(getattr(brute_force, query)(*rows, **given))


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_random_jobs(gpu, seed):
    rng = random.Random(seed)
    tables = random_tables(rng)
    for query in QUERIES:
        for given in ({}, random_parameters(rng, query)):
            gpu.compare(query, wanted_of(query, tables, given), tables, seed, **given)


def test_random_jobs_are_worth_it():
    """Every case that the queries have to tell apart comes up."""
    all_tables = [random_tables(random.Random(seed)) for seed in SEEDS]

    def rows_of(query, **given):
        return [row for tables in all_tables for row in wanted_of(query, tables, given)]

    summaries = rows_of("queue_length_summary")
    assert len(summaries) > 500
    assert any(row["time_weighted_mean"] is None for row in summaries)
    assert any(row["min"] < -1 for row in summaries)
    assert any(row["min"] == 0 and row["early_start_count"] > 0 for row in summaries)
    assert any(row["device"] is None and row["stream"] is None for row in summaries)
    fracs = [row["full_frac"] for row in rows_of("queue_full_time", max_queue_length=2)]
    assert None in fracs and 0 in fracs and any(fracs)
    by_instant = [
        {(row["at_ns"], row["change"]) for row in rows}
        for _, rows in grouped(rows_of("queue_length_series"), *brute_force.STREAM)
    ]
    assert any(
        (at_ns, -change) in of_stream for of_stream in by_instant for at_ns, change in of_stream
    )
    launched = [row for tables in all_tables for row in tables["gpu_activities"]]
    assert any(row["launch_id"] is None for row in launched)
    of_launches = grouped(
        [row for row in launched if row["launch_id"]], *brute_force.STREAM, "launch_id"
    )
    assert any(len(rows) > 1 for _, rows in of_launches)
