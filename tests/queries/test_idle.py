"""Idle time of streams and its causes, as drawn."""

import pytest
from queries.idle import BREAKDOWN, CAUSES, GAPS


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
