"""Lengths of queues: early starts, missing launches, streams, selections."""

from queries.queues import QUERIES

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
