"""Lengths of queues, as drawn: a series, its summary, full queues."""

import pytest

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
