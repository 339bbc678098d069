"""Cases of kernel_stats and kernel_distribution."""

import pytest

FOUR_NAMES = """
    rank  kind           name    start_ns  dur_ns
    0     computation    gemm    0         10
    0     computation    gemm    20        30
    0     computation    relu    60        7
    0     computation    relu    70        7
    0     computation    relu    80        6
    0     computation    add     90        5
    0     communication  nccl    0         80
    1     computation    add     0         50
"""


def test_calls_of_each_name(gpu):
    # gemm: 10 and 30; the sample's deviation is the root of (10² + 10²) / 1, 14.1
    # relu: 6, 7 and 7; the 95th percentile is 0.9 of the way from the second 7 to the third
    gpu.expect(
        "kernel_stats",
        f"""
        job  rank  kind           name  count  total_ns  mean_ns  total_frac  position
        j    0     communication  nccl  1      80        80       1.0         1
        j    0     computation    gemm  2      40        20       {40 / 65}   1
        j    0     computation    relu  3      20        7        {20 / 65}   2
        j    0     computation    add   1      5         5        {5 / 65}    3
        j    1     computation    add   1      50        50       1.0         1
    """,
        activities=FOUR_NAMES,
    )
    gpu.expect(
        "kernel_stats",
        """
        rank  name  min_ns  p50_ns  p95_ns  max_ns  stddev_ns
        0     nccl  80      80      80      80      0
        0     gemm  10      20      29      30      14
        0     relu  6       7       7       7       1
        0     add   5       5       5       5       0
        1     add   50      50      50      50      0
    """,
        activities=FOUR_NAMES,
    )


def test_the_rest_in_one_row(gpu):
    # others of rank 0: 7, 7, 6 and 5, the calls of relu and add
    gpu.expect(
        "kernel_stats",
        f"""
        rank  kind           name    count  total_ns  p50_ns  min_ns  total_frac  position
        0     communication  nccl    1      80        80      80      1.0         1
        0     computation    gemm    2      40        20      10      {40 / 65}   1
        0     computation    others  4      25        7       5       {25 / 65}   2
        1     computation    add     1      50        50      50      1.0         1
    """,
        activities=FOUR_NAMES,
        top_k=1,
    )


@pytest.mark.parametrize("top_k", [3, 4, 2**31 - 1, None])
def test_no_others_where_all_names_are_kept(gpu, top_k):
    gpu.fill(FOUR_NAMES)
    assert gpu.run("kernel_stats", top_k=top_k) == gpu.run("kernel_stats")


def test_nothing_but_others(gpu):
    gpu.expect(
        "kernel_stats",
        """
        rank  kind           name    count  total_ns  position
        0     communication  others  1      80        1
        0     computation    others  6      65        1
        1     computation    others  1      50        1
    """,
        activities=FOUR_NAMES,
        top_k=0,
    )


def test_equal_totals_stand_by_name(gpu):
    activities = """
        name  start_ns  dur_ns
        b     0         3
        c     5         6
        a     20        2
        a     30        1
        d     40        0
    """
    gpu.expect(
        "kernel_stats",
        """
        name    count  total_ns  position
        c       1      6         1
        a       2      3         2
        others  2      3         3
    """,
        activities=activities,
        top_k=2,
    )
    gpu.expect(
        "kernel_distribution",
        """
        name    count  total_ns  position
        c       1      6         1
        a       2      3         2
        others  2      3         3
    """,
        activities=activities,
        top_k=2,
    )


def test_calls_of_no_length(gpu):
    activities = """
        kind         name  start_ns  dur_ns
        computation  a     0         0
        computation  a     3         0
    """
    gpu.expect(
        "kernel_stats",
        """
        name  count  total_ns  mean_ns  max_ns  stddev_ns  total_frac
        a     2      0         0        0       0          -
    """,
        activities=activities,
    )
    gpu.expect(
        "kernel_distribution",
        """
        name  rank_count  count  slowest_rank  fastest_rank  mean_ns  imbalance
        a     1           2      0             0             0        -
    """,
        activities=activities,
    )


def test_halves_are_rounded_up(gpu):
    # four: the mean of 0, 0, 0 and 1 is 1/4, the deviation 1/2
    # half: mean and median of 0 and 1 are 1/2
    # last: of 0, 0 and 5 the 95th percentile is 9/10 of the way to 5, so 4 1/2; in doubles less
    gpu.expect(
        "kernel_stats",
        """
        name  mean_ns  p50_ns  p95_ns  stddev_ns
        last  2        0       5       3
        four  0        0       1       1
        half  1        1       1       1
    """,
        activities="""
        name  start_ns  dur_ns
        four  0         0
        four  0         1
        four  0         0
        four  0         0
        half  0         0
        half  0         1
        last  0         0
        last  0         5
        last  0         0
    """,
    )


LONG_NAMES = [
    {"name": "void gemm<float>(int)", "short_name": "gemm", "start_ns": 0, "dur_ns": 4},
    {"name": "void gemm<half>(int)", "short_name": "gemm", "start_ns": 9, "dur_ns": 2},
    {"name": "relu<float>()", "short_name": "relu", "start_ns": 19, "dur_ns": 5},
]


@pytest.mark.parametrize("query", ["kernel_stats", "kernel_distribution"])
def test_short_names(gpu, query):
    gpu.fill(LONG_NAMES)

    def names(**parameters):
        return [(row["name"], row["count"]) for row in gpu.run(query, **parameters)]

    assert names() == [
        ("relu<float>()", 1),
        ("void gemm<float>(int)", 1),
        ("void gemm<half>(int)", 1),
    ]
    assert names(short_names=True) == [("gemm", 2), ("relu", 1)]
    assert names(name_contains="float") == [("relu<float>()", 1), ("void gemm<float>(int)", 1)]
    assert names(name_contains="float", short_names=True) == [("relu", 1), ("gemm", 1)]
    assert names(name_contains="gemm", short_names=True, top_k=1) == [("gemm", 2)]
    assert names(name_contains="GEMM") == names(name_contains="%") == []


def test_selection_comes_first(gpu):
    gpu.expect(
        "kernel_stats",
        """
        name  count  total_ns  total_frac  position
        gemm  1      3         0.6         1
        relu  2      2         0.4         2
    """,
        activities="""
        step  name  start_ns  dur_ns
        1     gemm  0         3
        2     gemm  0         90
        -     add   0         50
        1     relu  0         1
        1     relu  0         1
    """,
        only_steps=[1],
    )


def test_across_ranks(gpu):
    # gemm: rank 0 has 10 and 20, rank 1 has 30, rank 3 has 15; means 15, 30, 15, theirs is 20
    activities = """
        rank  kind           name  start_ns  dur_ns
        0     computation    gemm  0         10
        0     computation    gemm  20        20
        1     computation    gemm  0         30
        3     computation    gemm  0         15
        3     communication  nccl  0         8
    """
    gpu.expect(
        "kernel_distribution",
        """
        job  kind           name  rank_count  count  total_ns  mean_ns  imbalance
        j    communication  nccl  1           1      8         8        1.0
        j    computation    gemm  3           4      75        19       1.5
    """,
        activities=activities,
    )
    gpu.expect(
        "kernel_distribution",
        """
        name  slowest_rank  slowest_mean_ns  fastest_rank  fastest_mean_ns  min_ns  max_ns
        nccl  3             8                3             8                8       8
        gemm  1             30               0             15               10      30
    """,
        activities=activities,
    )
    gpu.expect(
        "kernel_distribution",
        """
        name  rank_count  slowest_rank  fastest_rank  imbalance
        gemm  2           0             0             1.0
    """,
        activities=activities,
        only_ranks=[3, 0],
        name_contains="gemm",
    )


def test_others_across_ranks(gpu):
    # a 9 + 1, b 8, c 3: others are b and c, of which rank 0 has b, rank 1 both
    gpu.expect(
        "kernel_distribution",
        f"""
        name    rank_count  count  mean_ns  slowest_rank  slowest_mean_ns  imbalance    position
        a       2           2      5        0             9                1.8          1
        others  2           3      4        0             4                {16 / 15}    2
    """,
        activities="""
        rank  name  start_ns  dur_ns
        0     a     0         9
        1     a     0         1
        0     b     0         4
        1     b     0         4
        1     c     0         3
    """,
        top_k=1,
    )


@pytest.mark.parametrize("query", ["kernel_stats", "kernel_distribution"])
def test_nothing_at_all(gpu, query):
    gpu.fill()
    assert gpu.run(query) == gpu.run(query, top_k=1) == []


@pytest.mark.parametrize("query", ["kernel_stats", "kernel_distribution"])
def test_fewer_than_no_names_are_none(gpu, query):
    gpu.fill(FOUR_NAMES)
    assert gpu.run(query, top_k=-3) == gpu.run(query, top_k=0) != []
