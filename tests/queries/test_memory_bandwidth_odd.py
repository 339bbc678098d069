"""Bandwidth of copies: no length, no bandwidth, kinds, devices and selections."""

from queries.bandwidths import QUERIES


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
