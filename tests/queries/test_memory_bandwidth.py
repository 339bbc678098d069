"""Bandwidth of copies, as drawn."""

import math
import statistics

import pytest
from queries.bandwidths import COPY_KINDS


@pytest.mark.parametrize(("name", "kind"), COPY_KINDS)
def test_copy_kind(gpu, name, kind):
    assert gpu.con.execute("SELECT copy_kind($1)", [name]).fetchall() == [(kind,)]


@pytest.mark.parametrize(
    ("said_gbps", "bytes_moved", "dur_ns", "gbps"),
    [
        (2.5, 1000, 10, 2.5),  # the profiler's word before one's own reckoning
        (0.0, 1000, 10, 0.0),
        (None, 1000, 8, 125.0),
        (None, 0, 8, 0.0),
        (None, 1, 3, 0.333333333333333),
        (-1.0, 1000, 8, 125.0),
        (math.nan, 1000, 8, 125.0),
        (math.inf, 1000, 8, 125.0),
        (1e9, 1000, 8, 125.0),
        (1e300, None, 8, None),
        (None, -1000, 8, None),
        (None, 2**63 - 1, 1, None),
        (None, None, 8, None),
        (2.5, 1000, 0, None),
        (2.5, 1000, -1, None),
        (1e-16, None, 8, 0.0),
        (999_999_999.5, None, 8, 999_999_999.5),
    ],
)
def test_bandwidth_of_a_copy(gpu, said_gbps, bytes_moved, dur_ns, gbps):
    found = gpu.con.execute(
        "SELECT copy_bandwidth($1::DOUBLE, $2::BIGINT, $3::BIGINT)::DOUBLE",
        [said_gbps, bytes_moved, dur_ns],
    ).fetchall()
    assert found == [(gbps,)]


OVERLAPS = """
    name         kind    start_ns  end_ns  bytes  bandwidth_gbps
    Memcpy~HtoD  memory  0         8       16     2
    Memcpy~HtoD  memory  4         12      24     3
    Memcpy~HtoD  memory  17        25      16     2
    Memcpy~HtoD  memory  25        29      12     3
"""


# 0         10        20        30
# [=======)        [=======)          2 GB/s
#     [=======)            [===)      3 GB/s
# 2   5   3   0    2       3   0


def test_copies_that_overlap_add_up(gpu):
    gpu.expect(
        "memory_bandwidth_series",
        """
        job  rank  device  copy_kind    at_ns  bandwidth_gbps
        j    0     0       Memcpy~HtoD  0      2
        j    0     0       Memcpy~HtoD  4      5
        j    0     0       Memcpy~HtoD  8      3
        j    0     0       Memcpy~HtoD  12     0
        j    0     0       Memcpy~HtoD  17     2
        j    0     0       Memcpy~HtoD  25     3
        j    0     0       Memcpy~HtoD  29     0
    """,
        activities=OVERLAPS,
    )


def test_summary_of_points(gpu):
    # of 2 2 3 3 5: mean 3, squares of differences 1 1 0 0 4
    gpu.expect(
        "memory_bandwidth_summary",
        f"""
        job  rank  device  copy_kind    count  mean  stddev            min  p25  p50  p75  max
        j    0     0       Memcpy~HtoD  5      3     {math.sqrt(6 / 4)}  2    2    3    3    5
    """,
        activities=OVERLAPS,
    )
    gpu.expect(
        "memory_bandwidth_summary",
        """
        bytes  copy_count  time_ns
        68     4           24
    """,
        activities=OVERLAPS,
    )


def test_quartiles_interpolate(gpu):
    gpu.expect(
        "memory_bandwidth_summary",
        """
        count  mean  min  p25   p50  p75   max
        4      5.25  1    1.75  4.5  8     11
    """,
        activities="""
        name    kind    start_ns  end_ns  bandwidth_gbps
        Memset  memory  0         1       11
        Memset  memory  2         3       1
        Memset  memory  4         5       7
        Memset  memory  6         9       2
    """,
    )


def test_one_point(gpu):
    gpu.expect(
        "memory_bandwidth_summary",
        """
        count  mean  stddev  min  p25  p50  p75  max  bytes  copy_count  time_ns
        1      2.5   0       2.5  2.5  2.5  2.5  2.5  10     1           4
    """,
        activities="""
        name         kind    start_ns  end_ns  bytes
        Memcpy~DtoH  memory  3         7       10
    """,
    )


def test_deviation_does_not_depend_on_the_order_of_points(gpu):
    gbps = [7_654_321.25, *(0.1 * i for i in range(1, 40)), 1 / 3, 98_765.4321]
    deviations = set()
    for values in (gbps, gbps[::-1], gbps[20:] + gbps[:20]):
        gpu.fill(
            [
                {
                    "kind": "memory",
                    "name": "Memset",
                    "start_ns": at,
                    "dur_ns": 1,
                    "bandwidth_gbps": value,
                }
                for at, value in enumerate(values)
            ]
        )
        [row] = gpu.run("memory_bandwidth_summary")
        deviations.add(row["stddev"])
    [deviation] = deviations
    assert math.isclose(deviation, statistics.stdev(gbps), rel_tol=1e-12)


def test_nothing_is_left_when_all_have_ended(gpu):
    # 0    5    10
    # [=========)      0.1, of which as double 0.1 + 0.2 - 0.1 - 0.2 leaves 2.8e-17
    #    [====)        0.2
    #         [=====)  0.7
    gpu.expect(
        "memory_bandwidth_series",
        """
        at_ns  bandwidth_gbps
        0      0.1
        3      0.3
        8      0.8
        10     0.7
        14     0
    """,
        activities="""
        name         kind    start_ns  end_ns  bandwidth_gbps
        Memcpy~DtoD  memory  0         10      0.1
        Memcpy~DtoD  memory  3         8       0.2
        Memcpy~DtoD  memory  8         14      0.7
    """,
    )


def test_several_at_one_instant_are_one_point(gpu):
    # 0    5
    # [====)       2 and 3 begin together; at 5 both end, one of 4 begins
    # [====)
    #      [==)
    activities = """
        name    kind    start_ns  end_ns  bandwidth_gbps
        Memset  memory  0         5       2
        Memset  memory  0         5       3
        Memset  memory  5         8       4
    """
    gpu.expect(
        "memory_bandwidth_series",
        """
        at_ns  bandwidth_gbps
        0      5
        5      4
        8      0
    """,
        activities=activities,
    )
    gpu.expect(
        "memory_bandwidth_summary",
        """
        count  max  time_ns
        2      5    8
    """,
        activities=activities,
    )


def test_a_step_of_nothing_is_a_point(gpu):
    # 0    5    10
    # [====)        2 GB/s; the next goes on as fast
    #      [====)
    gpu.expect(
        "memory_bandwidth_series",
        """
        at_ns  bandwidth_gbps
        0      2
        5      2
        10     0
    """,
        activities="""
        name    kind    start_ns  end_ns  bandwidth_gbps
        Memset  memory  0         5       2
        Memset  memory  5         10      2
    """,
    )
