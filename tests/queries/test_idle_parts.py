"""Idle time cut at the launch, as drawn."""

import pytest

GAPS, BREAKDOWN = "idle_gaps", "idle_time_breakdown"


def test_cut_at_the_launch(gpu):
    # 0         10        20        30        40
    # [========)          [========)          [==)     stream 7
    #             [==)                                 launch of the second: 12 to 15
    #           hhlllqqqqq          qqqqqqqqqq         the third was launched at 25
    activities = """
        event_id  start_ns  end_ns  launch_id  launch_start_ns  launch_end_ns
        1         0         10      101        -5               -3
        2         20        30      102        12               15
        3         40        43      103        25               28
    """
    gpu.expect(
        GAPS,
        """
        start_ns  part_start_ns  part_ns  whole_gap_ns  cause      next_event_id
        10        10             2        10            host_wait  2
        10        12             3        10            launching  2
        10        15             5        10            queued     2
        30        30             10       10            queued     3
    """,
        activities=activities,
        kernel_gap_ns=5,
    )
    gpu.expect(
        BREAKDOWN,
        """
        cause      gap_count  idle_ns  idle_frac  mean_ns  min_ns  p50_ns  max_ns
        queued     2          15       0.75       8        5       8       10
        launching  1          3        0.15       3        3       3       3
        host_wait  1          2        0.1        2        2       2       2
    """,
        activities=activities,
        kernel_gap_ns=5,
    )


@pytest.mark.parametrize(
    ("launch", "parts"),
    [
        ("1 10", [("queued", 20, 10)]),
        ("1 20", [("queued", 20, 10)]),
        ("20 20", [("queued", 20, 10)]),
        ("1 24", [("launching", 20, 4), ("queued", 24, 6)]),
        ("20 24", [("launching", 20, 4), ("queued", 24, 6)]),
        ("21 21", [("host_wait", 20, 1), ("queued", 21, 9)]),
        ("21 26", [("host_wait", 20, 1), ("launching", 21, 5), ("kernel_wait", 26, 4)]),
        ("21 25", [("host_wait", 20, 1), ("launching", 21, 4), ("queued", 25, 5)]),
        ("1 30", [("launching", 20, 10)]),
        ("1 99", [("launching", 20, 10)]),
        ("24 99", [("host_wait", 20, 4), ("launching", 24, 6)]),
        ("30 31", [("host_wait", 20, 10)]),
        ("40 50", [("host_wait", 20, 10)]),
    ],
)
def test_a_launch_is_cut_to_the_gap(gpu, launch, parts):
    """The gap is from 20 to 30; a last part below 5 is a kernel_wait."""
    gpu.fill(f"""
        start_ns  end_ns  launch_id  launch_start_ns  launch_end_ns
        0         20      -          -                -
        30        31      9          {launch}
    """)
    rows = gpu.run(GAPS, kernel_gap_ns=5)
    assert [(row["cause"], row["part_start_ns"], row["part_ns"]) for row in rows] == parts
    assert {(row["start_ns"], row["whole_gap_ns"]) for row in rows} == {(20, 10)}
    streams = gpu.run(BREAKDOWN, kernel_gap_ns=5)
    assert {(row["cause"], row["idle_ns"]) for row in streams} == {
        (cause, time) for cause, _, time in parts
    }


def test_without_a_launch_the_cause_is_unknown(gpu):
    activities = """
        start_ns  end_ns
        0         20
        21        30
        90000     90001
    """
    gpu.expect(
        GAPS,
        """
        start_ns  part_start_ns  part_ns  whole_gap_ns  cause
        20        20             1        1             unknown
        30        30             89970    89970         unknown
    """,
        activities=activities,
    )
    gpu.expect(
        BREAKDOWN,
        """
        cause    gap_count  idle_ns
        unknown  2          89971
    """,
        activities=activities,
    )


@pytest.mark.parametrize(("gap", "cause"), [(29_999, "kernel_wait"), (30_000, "queued")])
def test_from_30_us_on_a_part_is_not_between_kernels(gpu, gap, cause):
    activities = f"""
        start_ns    end_ns      launch_id  launch_start_ns  launch_end_ns
        0           1           1          -9               -8
        {5 + gap}   {6 + gap}   2          2                5
    """
    for query in (GAPS, BREAKDOWN):
        gpu.fill(activities)
        assert {row["cause"] for row in gpu.run(query)} == {"host_wait", "launching", cause}


GRAPH = """
    event_id  stream  start_ns  end_ns  launch_id  launch_start_ns  launch_end_ns
    1         7       0         5       1          -9               -8
    4         7       40        45      2          10               60
    3         8       20        25      2          10               60
    2         7       30        35      2          10               60
    5         7       52        53      3          48               50
"""


def test_only_the_first_of_a_graph_waits_for_its_launch(gpu):
    # 0    5    10   15   20   25   30   35   40   45   50
    # [====)                        [====)    [====)      [)   stream 7: 1, 2, 4 and 5
    #                     [====)                               stream 8: 3
    #           [===============================...            launch of 2, 3 and 4, until 60
    #      hhhhhllllllllll     qqqqq     qqqqq     hhhllqq     device
    gpu.expect(
        GAPS,
        """
        part_start_ns  part_ns  cause      next_event_id
        5              5        host_wait  3
        10             10       launching  3
        25             5        queued     2
        35             5        queued     4
        45             3        host_wait  5
        48             2        launching  5
        50             2        queued     5
    """,
        activities=GRAPH,
        kernel_gap_ns=2,
    )


def test_the_first_of_a_graph_may_be_on_another_stream(gpu):
    """Before 2, stream 7 is queued from 5 to 30, and stream 8 is busy from 20 to 25."""
    gpu.expect(
        BREAKDOWN,
        """
        stream  cause       gap_count  idle_ns
        7       queued      3          27
        7       dependency  1          5
        7       host_wait   1          3
        7       launching   1          2
    """,
        activities=GRAPH,
        kernel_gap_ns=2,
    )


def test_dependency_on_other_streams(gpu):
    # 0    5    10   15   20   25   30   35   40
    # [====)                                  [)   stream 7, launched at 6 to 8
    #    [=====)    [=)     [==)         [======)  stream 8
    #                   [====)                     stream 9
    #      hll.....     ....               .....   stream 7: host_wait, launching, queued as drawn
    #       (dependency: 8-9, 13-15, 17-24, 34-40)
    # Before 20 and 34, stream 8 waits from 17 to 20 and from 23 to 24 while stream 9 is busy.
    activities = """
        stream  start_ns  end_ns  launch_id  launch_start_ns  launch_end_ns
        7       0         5       1          -2               -1
        7       40        41      2          6                8
        8       3         9       3          -2               -1
        8       13        15      4          -2               -1
        8       20        23      5          -2               -1
        9       17        24      6          -2               -1
        8       34        43      7          -2               -1
    """
    gpu.expect(
        BREAKDOWN,
        """
        stream  cause        gap_count  idle_ns
        7       dependency   1          16
        7       queued       1          16
        7       launching    1          2
        7       host_wait    1          1
        8       queued       2          12
        8       dependency   2          4
        8       kernel_wait  1          4
    """,
        activities=activities,
        kernel_gap_ns=5,
    )


def test_a_kernel_wait_is_not_divided(gpu):
    """Of a gap of 4, another stream is busy for 2."""
    gpu.expect(
        BREAKDOWN,
        """
        stream  cause        gap_count  idle_ns
        7       kernel_wait  1          4
    """,
        activities="""
        stream  start_ns  end_ns  launch_id  launch_start_ns  launch_end_ns
        7       0         5       1          0                1
        8       6         8       2          0                1
        7       9         10      3          0                1
    """,
        kernel_gap_ns=5,
    )


def test_other_devices_and_ranks_are_no_dependency(gpu):
    gpu.expect(
        BREAKDOWN,
        """
        job  rank  device  stream  cause       idle_ns
        j    0     0       7       queued      15
        j    0     -       7       queued      10
        j    0     -       7       dependency  5
    """,
        activities="""
        job  rank  device  stream  start_ns  end_ns  launch_id  launch_start_ns  launch_end_ns
        j    0     0       7       0         5       1          -2               -1
        j    0     0       7       20        25      2          -2               -1
        j    0     1       8       6         9       3          -2               -1
        j    1     0       8       6         9       3          -2               -1
        k    0     0       8       6         9       3          -2               -1
        j    0     -       7       0         5       4          -2               -1
        j    0     -       -       7         12      4          -2               -1
        j    0     -       7       20        25      5          -2               -1
    """,
        kernel_gap_ns=5,
    )


def test_steps_are_selected_before_measuring(gpu):
    """Of step 1 alone, stream 7 is idle from 3 to 16, and nobody is busy meanwhile."""
    activities = """
        stream  step  start_ns  end_ns  launch_id  launch_start_ns  launch_end_ns
        7       1     0         3       1          0                1
        8       2     8         11      2          0                1
        7       1     16        19      3          5                6
    """
    gpu.fill(activities)
    for query, time in ((GAPS, "part_ns"), (BREAKDOWN, "idle_ns")):
        rows = gpu.run(query, only_steps=[1], kernel_gap_ns=0)
        assert sorted((row["cause"], row[time]) for row in rows) == [
            ("host_wait", 2),
            ("launching", 1),
            ("queued", 10),
        ]
        assert gpu.run(query, only_steps=[9]) == []
    assert ("dependency", 3) in [
        (row["cause"], row["idle_ns"]) for row in gpu.run(BREAKDOWN, kernel_gap_ns=0)
    ]


def test_short_gaps_are_not_shown(gpu):
    """A gap counts whole, however it is cut."""
    gpu.fill("""
        start_ns  end_ns  launch_id  launch_start_ns  launch_end_ns
        0         10      1          0                1
        14        20      2          12               13
        26        30      3          23               25
    """)
    for least, gaps in ((None, {4, 6}), (4, {4, 6}), (5, {6}), (7, set())):
        rows = gpu.run(GAPS, min_gap_ns=least)
        assert {row["whole_gap_ns"] for row in rows} == gaps
        assert len(rows) == 3 * len(gaps)


def test_nothing_at_all(gpu):
    gpu.fill()
    for query in (BREAKDOWN, GAPS, "idle_reasons"):
        assert gpu.run(query) == []
    gpu.fill("start_ns end_ns \n 0 5", "start_ns end_ns \n 0 5")
    for query in (BREAKDOWN, GAPS, "idle_reasons"):
        assert gpu.run(query) == []
