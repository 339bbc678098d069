"""Drawn and random cases of memory_bandwidth_series and memory_bandwidth_summary.

One letter or sign is one nanosecond; `[==)` is half-open.
"""

import math
import random
import statistics

import pytest
from queries import brute_memory_bandwidth as brute
from queries.small_tables import completed
from seeds import seeds

SEEDS = range(6)
JOBS = 25  # in one table, so that a few hundred small cases cost a few dozen calls
UNIX = 1_712_151_111_631_234_567  # more digits than a double holds
QUERIES = ("memory_bandwidth_series", "memory_bandwidth_summary")

# Each rule of copy_kind with its names, and names next to it.
COPY_KINDS = [
    ("Memcpy HtoD (Pinned -> Device)", "Memcpy HtoD"),
    ("Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD"),
    ("Memcpy DtoH (Device -> Pageable)", "Memcpy DtoH"),
    ("Memcpy DtoD (Device -> Device)", "Memcpy DtoD"),
    ("Memcpy PtoP (Device -> Device)", "Memcpy PtoP"),
    ("Memcpy HtoH (Pageable -> Pinned)", "Memcpy HtoH"),
    ("Memcpy AtoD (Array -> Device)", "Memcpy AtoD"),
    ("Memcpy DtoD", "Memcpy DtoD"),
    ("Memcpy Peer (Device -> Device)", "Memcpy Peer"),
    ("Memcpy Unknown", "Memcpy Unknown"),
    ("Memcpy <unknown> (Pageable -> Device)", "Memcpy Unknown"),
    ("Memcpy (Pageable -> Device)", "Memcpy Unknown"),
    ("Memcpy", "Memcpy Unknown"),
    ("Memset (Device)", "Memset"),
    ("Memset (Unknown)", "Memset"),
    ("hipMemset", "Memset"),
    ("hipMemsetAsync", "Memset"),
    ("__amd_rocclr_fillBufferAligned", "Memset"),
    ("__amd_rocclr_fillBufferAligned.kd", "Memset"),
    ("FillBuffer", "Memset"),
    ("__amd_rocclr_copyBuffer", "Memcpy Unknown"),
    ("__amd_rocclr_copyBufferRect", "Memcpy Unknown"),
    ("CopyDeviceToDevice", "Memcpy DtoD"),
    ("CopyHostToDevice", "Memcpy HtoD"),
    ("CopyDeviceToHost", "Memcpy DtoH"),
    ("CopyHostToHost", "Memcpy HtoH"),
    ("CopyDeviceToDeviceAsync", "Memcpy DtoD"),
    ("hipMemcpyDtoHAsync", "Memcpy DtoH"),
    ("hipMemcpyHtoD", "Memcpy HtoD"),
    ("hipMemcpyAsync", "Memcpy Unknown"),
    ("hipMemcpyWithStream", "Memcpy Unknown"),
    ("zeCommandListAppendMemoryCopy(M2D)", "Memcpy HtoD"),
    ("zeCommandListAppendMemoryCopy(D2M)", "Memcpy DtoH"),
    ("zeCommandListAppendMemoryCopy(H2D)", "Memcpy HtoD"),
    ("zeCommandListAppendMemoryCopy(D2D)", "Memcpy DtoD"),
    ("zeCommandListAppendMemoryCopy", "Memcpy Unknown"),
    ("zeCommandListAppendMemoryFill", "Memset"),
    ("dma_request", "Memcpy Unknown"),
    ("", "Memcpy Unknown"),
    (None, "Memcpy Unknown"),
]


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


def test_no_length_is_never_under_way(gpu):
    # 0    5    10
    # [====)   |
    #   |           inside the first
    activities = """
        name    kind    start_ns  end_ns  bytes  bandwidth_gbps
        Memset  memory  0         5       7      2
        Memset  memory  2         2       8      30
        Memset  memory  9         9       9      40
    """
    gpu.expect(
        "memory_bandwidth_series",
        """
        at_ns  bandwidth_gbps
        0      2
        5      0
    """,
        activities=activities,
    )
    gpu.expect(
        "memory_bandwidth_summary",
        """
        count  mean  max  bytes  copy_count  time_ns
        1      2     2    24     3           5
    """,
        activities=activities,
    )


def test_nothing_but_no_length(gpu):
    activities = """
        name    kind    start_ns  end_ns  bandwidth_gbps
        Memset  memory  2         2       30
    """
    gpu.expect("memory_bandwidth_series", "\n at_ns \n", activities=activities)
    gpu.expect(
        "memory_bandwidth_summary",
        """
        count  mean  stddev  min  p25  p50  p75  max  bytes  copy_count  time_ns
        0      -     -       -    -    -    -    -    -      1           0
    """,
        activities=activities,
    )


def test_unknown_bandwidth_takes_time_but_has_no_points(gpu):
    # 0    5    10
    # [=======)      known
    #      [====)    unknown: no point at 5, nor at 10
    activities = """
        name    kind    start_ns  end_ns  bytes  bandwidth_gbps
        Memset  memory  0         8       -      2
        Memset  memory  5         10      -      -
        dma     memory  0         4       -      -
    """
    gpu.expect(
        "memory_bandwidth_series",
        """
        copy_kind  at_ns  bandwidth_gbps
        Memset     0      2
        Memset     8      0
    """,
        activities=activities,
    )
    gpu.expect(
        "memory_bandwidth_summary",
        """
        copy_kind       count  mean  bytes  copy_count  time_ns
        Memcpy~Unknown  0      -     -      1           4
        Memset          1      2     -      2           10
    """,
        activities=activities,
    )


def test_bandwidth_of_nothing_is_a_point_of_the_series_only(gpu):
    activities = """
        name    kind    start_ns  end_ns  bytes  bandwidth_gbps
        Memset  memory  0         8       0      -
    """
    gpu.expect(
        "memory_bandwidth_series",
        """
        at_ns  bandwidth_gbps
        0      0
        8      0
    """,
        activities=activities,
    )
    gpu.expect(
        "memory_bandwidth_summary",
        """
        count  mean  bytes  copy_count  time_ns
        0      -     0      1           8
    """,
        activities=activities,
    )


def test_each_kind_and_device_by_itself_on_all_streams(gpu):
    # 0    5
    # [====)       HtoD, device 0, stream 7
    #   [====)     HtoD, device 0, stream 8
    #   [====)     DtoH, device 0
    #   [====)     HtoD, device 1
    #   [====)     HtoD, no device known, no stream known
    #   [====)     a kernel
    gpu.expect(
        "memory_bandwidth_series",
        """
        job  rank  device  copy_kind    at_ns  bandwidth_gbps
        j    0     0       Memcpy~DtoH  2      3
        j    0     0       Memcpy~DtoH  7      0
        j    0     0       Memcpy~HtoD  0      1
        j    0     0       Memcpy~HtoD  2      3
        j    0     0       Memcpy~HtoD  5      2
        j    0     0       Memcpy~HtoD  7      0
        j    0     1       Memcpy~HtoD  2      4
        j    0     1       Memcpy~HtoD  7      0
        j    0     -       Memcpy~HtoD  2      5
        j    0     -       Memcpy~HtoD  7      0
    """,
        activities="""
        device  stream  name                  kind         start_ns  end_ns  bandwidth_gbps
        0       7       Memcpy~HtoD~(Pinned)  memory       0         5       1
        0       8       Memcpy~HtoD~(Pageab)  memory       2         7       2
        0       7       Memcpy~DtoH           memory       2         7       3
        1       7       Memcpy~HtoD           memory       2         7       4
        -       -       Memcpy~HtoD           memory       2         7       5
        0       7       Memcpy~HtoD~kernel    computation  2         7       6
    """,
    )


SELECTION = """
    job  rank  step  name    kind    start_ns  end_ns  bandwidth_gbps
    b    0     1     Memset  memory  0         4       1
    a    10    1     Memset  memory  0         4       2
    a    2     1     Memset  memory  0         4       3
    a    2     2     Memset  memory  2         6       4
    a    2     -     Memset  memory  5         9       5
"""


def test_selection_comes_before_the_measuring(gpu):
    gpu.expect(
        "memory_bandwidth_summary",
        """
        job  rank  count  max  time_ns
        a    2     5      9    9
        a    10    1      2    4
        b    0     1      1    4
    """,
        activities=SELECTION,
    )
    only = {"only_jobs": ["a"], "only_ranks": [2, 3], "only_steps": [1, 7]}
    gpu.expect(
        "memory_bandwidth_series",
        """
        job  rank  at_ns  bandwidth_gbps
        a    2     0      3
        a    2     4      0
    """,
        activities=SELECTION,
        **only,
    )
    gpu.expect(
        "memory_bandwidth_summary",
        """
        job  rank  count  max  time_ns
        a    2     1      3    4
    """,
        activities=SELECTION,
        **only,
    )


def test_nothing_at_all(gpu):
    for query in QUERIES:
        gpu.fill()
        assert gpu.run(query) == []
        gpu.fill("""
            kind         start_ns  end_ns
            computation  0         4
        """)
        assert gpu.run(query) == []


def test_odd_figures_are_no_error(gpu):
    largest = 2**63 - 1
    gpu.fill(f"""
        name    kind    start_ns  end_ns  bytes      bandwidth_gbps
        Memset  memory  0         4       {largest}  1e308
        Memset  memory  0         4       {largest}  -inf
        Memset  memory  0         4       -5         nan
        Memset  memory  0         9       8          2
    """)
    assert [row["bandwidth_gbps"] for row in gpu.run("memory_bandwidth_series")] == [2, 0]
    [row] = gpu.run("memory_bandwidth_summary")
    assert (row["bytes"], row["copy_count"], row["count"]) == (None, 4, 1)


def random_activities(rng):
    rows = []
    for number in range(JOBS):
        base = rng.choice([0, UNIX])
        ranks, devices = rng.choice([[0], [0, 1, 3]]), rng.choice([[0], [0, 1], [None, 7]])
        names = rng.sample([name for name, _ in COPY_KINDS if name], rng.choice([1, 2, 5]))
        bandwidths = rng.choice([[0.1, 0.2, 0.3, 0.7], [None], [2.5, None, 0.0, 671.25, -1.0]])
        longest = rng.choice([0, 3, 8, 30])
        for _ in range(rng.choice([0, 1, 2, 6, 15, 40])):
            rows.append(
                {
                    "job": f"job{number}",
                    "rank": rng.choice(ranks),
                    "device": rng.choice(devices),
                    "stream": rng.choice([None, 0, 7, 20]),
                    "step": rng.choice([None, 1, 2, 12]),
                    "kind": rng.choice(["memory", "memory", "memory", "computation"]),
                    "name": rng.choice(names),
                    "start_ns": base + rng.randint(0, 40),
                    "dur_ns": rng.randint(0, longest),
                    "bytes": rng.choice([None, 0, 1, 1000, 123_456_789_012]),
                    "bandwidth_gbps": rng.choice(bandwidths),
                }
            )
    return [completed("gpu_activities", row, i) for i, row in enumerate(rows)]


def random_parameters(rng):
    parameters = {
        "only_jobs": [f"job{number}" for number in rng.sample(range(JOBS), 18)],
        "only_ranks": rng.choice([[0], [1, 3], [5]]),
        "only_steps": rng.choice([[1], [2, 12], []]),
    }
    return {name: value for name, value in parameters.items() if rng.random() < 0.4}


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_random_copies(gpu, seed):
    rng = random.Random(seed)
    activities = random_activities(rng)
    for query in QUERIES:
        for given in ({}, random_parameters(rng)):
            wanted = list(getattr(brute, query)(activities, **given))
            gpu.compare(query, wanted, {"gpu_activities": activities}, seed, **given)


def test_random_copies_are_worth_it():
    """Every case that the queries have to tell apart comes up."""
    activities = [row for seed in SEEDS for row in random_activities(random.Random(seed))]
    groups = [rows for _, rows in brute.copies(activities)]
    series = [brute.points(rows) for rows in groups]
    known = [[row for row in rows if brute.bandwidth(row) is not None] for rows in groups]
    kinds = {kind for _, kind in COPY_KINDS}
    assert {key[3] for key, _ in brute.copies(activities)} == kinds
    assert any(not rows for rows in known)
    assert any(0 < len(few) < len(rows) for few, rows in zip(known, groups, strict=True))
    assert any(row["dur_ns"] == 0 for rows in groups for row in rows)
    # Ends and beginnings at one instant, copies that overlap, and points that are none.
    assert any(len(points) < 2 * len(rows) for points, rows in zip(series, known, strict=True))
    assert any(brute.time_of(rows) < sum(r["dur_ns"] for r in rows) for rows in groups)
    assert any(value == 0 for points in series for _, value in points[:-1])
    # Doubles would leave a residue.
    assert any(
        sum([float(brute.bandwidth(r)) for r in rows] + [-float(brute.bandwidth(r)) for r in rows])
        for rows in known
    )


def test_bytes_below_zero_are_not_known(gpu):
    gpu.expect(
        "memory_bandwidth_summary",
        """
        count  mean  bytes  copy_count
        1      10    100    2
    """,
        activities="""
        name         kind    start_ns  end_ns  bytes
        Memcpy~HtoD  memory  0         10      100
        Memcpy~HtoD  memory  20        30      -5
    """,
    )
