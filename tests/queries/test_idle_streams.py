"""Idle time of several streams, devices, ranks and steps."""

from queries.idle import BREAKDOWN, CAUSES, GAPS

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
