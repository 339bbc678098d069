"""temporal_breakdown and comm_comp_overlap, as drawn."""

OVERLAPS = """
    kind           start_ns  end_ns
    computation    0         12
    memory         4         8
    communication  6         19
    memory         16        24
    computation    30        37
"""


# 0         10        20        30
# [===========)                 [======)    computation    19
#       [============)                      communication  13
#     [===)       [=======)                 memory         12
# cccccccccccckkkkkkkmmmmm......ccccccc     compute 19, exposed 7 and 5, idle 6


def test_hidden_and_exposed(gpu):
    gpu.expect(
        "temporal_breakdown",
        """
        job  rank  device  span_ns  busy_ns  idle_ns  compute_ns  non_compute_ns
        j    0     0       37       31       6        19          12
    """,
        activities=OVERLAPS,
    )
    gpu.expect(
        "temporal_breakdown",
        """
        communication_ns  memory_ns  exposed_communication_ns  exposed_memory_ns
        13                12         7                         5
    """,
        activities=OVERLAPS,
    )


def test_overlap(gpu):
    gpu.expect(
        "comm_comp_overlap",
        f"""
        job  rank  device  communication_ns  overlap_ns  overlap_frac
        j    0     0       13                6           {6 / 13}
    """,
        activities=OVERLAPS,
    )


def test_kinds_alone_and_together(gpu):
    # 0   4 6 8   12  16 19   24    30
    # C   CMCACK   K   KMM     .     C        A all three
    gpu.expect(
        "kernel_kind_breakdown",
        f"""
        job  rank  device  kinds                             time_ns  time_frac
        j    0     0       computation                       11       {11 / 31}
        j    0     0       memory                            5        {5 / 31}
        j    0     0       communication                     4        {4 / 31}
        j    0     0       communication+computation         4        {4 / 31}
        j    0     0       communication+memory              3        {3 / 31}
        j    0     0       communication+computation+memory  2        {2 / 31}
        j    0     0       computation+memory                2        {2 / 31}
    """,
        activities=OVERLAPS,
    )


def test_touching_is_neither_idle_nor_overlap(gpu):
    # 0    5    10
    # [====)          computation
    #      [====)     communication
    activities = """
        kind           start_ns  end_ns
        computation    0         5
        communication  5         10
    """
    gpu.expect(
        "temporal_breakdown",
        """
        span_ns  busy_ns  idle_ns  compute_ns  exposed_communication_ns  idle_frac
        10       10       0        5           5                         0.0
    """,
        activities=activities,
    )
    gpu.expect(
        "comm_comp_overlap",
        """
        overlap_ns  overlap_frac
        0           0.0
    """,
        activities=activities,
    )


def test_same_kind_twice_counts_once(gpu):
    # 0    5    10   15   20
    # [=========)               stream 7
    #      [=========)          stream 8
    #        [==)               stream 9, inside both
    #                     [)   last
    gpu.expect(
        "temporal_breakdown",
        f"""
        span_ns  busy_ns  idle_ns  compute_ns  idle_frac
        21       16       5        16          {5 / 21}
    """,
        activities="""
        stream  start_ns  end_ns
        7       0         10
        8       5         15
        9       7         10
        7       20        21
    """,
    )


def test_long_one_reaches_over_shorter_later_ones(gpu):
    # 0    5    10   15   20
    # [==================)      communication
    #   [=)                     computation
    #         [=)               computation
    #                [========) memory
    gpu.expect(
        "temporal_breakdown",
        """
        busy_ns  compute_ns  communication_ns  exposed_communication_ns  exposed_memory_ns
        25       4           19                15                        6
    """,
        activities="""
        kind           start_ns  end_ns
        communication  0         19
        computation    2         4
        computation    8         10
        memory         15        25
    """,
    )


def test_no_length_lengthens_the_span_only(gpu):
    # 0    5    10
    # |    [==)  |     | has no length
    activities = """
        kind           start_ns  end_ns
        communication  0         0
        computation    5         8
        memory         11        11
    """
    gpu.expect(
        "temporal_breakdown",
        f"""
        span_ns  busy_ns  idle_ns  communication_ns  memory_ns  compute_frac
        11       3        8        0                 0          {3 / 11}
    """,
        activities=activities,
    )
    gpu.expect(
        "kernel_kind_breakdown",
        """
        kinds        time_ns  time_frac
        computation  3        1.0
    """,
        activities=activities,
    )
    gpu.expect(
        "comm_comp_overlap",
        """
        communication_ns  overlap_ns  overlap_frac
        0                 0           -
    """,
        activities=activities,
    )


def test_nothing_but_no_length(gpu):
    activities = """
        start_ns  end_ns
        4         4
    """
    gpu.expect(
        "temporal_breakdown",
        """
        span_ns  busy_ns  idle_ns  idle_frac  compute_frac  non_compute_frac
        0        0        0        -          -             -
    """,
        activities=activities,
    )
    gpu.expect(
        "kernel_kind_breakdown",
        """
        kinds  time_ns
    """,
        activities=activities,
    )


def test_each_device_by_itself(gpu):
    # 0    5    10
    # [====)             device 0
    #    [=====)         device 1, no overlap with device 0
    #         [==)       no device known
    gpu.expect(
        "comm_comp_overlap",
        """
        job  rank  device  communication_ns  overlap_ns  overlap_frac
        j    0     0       0                 0           -
        j    0     1       6                 0           0.0
        j    0     -       3                 0           0.0
    """,
        activities="""
        device  kind           start_ns  end_ns
        1       communication  3         9
        0       computation    0         5
        -       communication  8         11
    """,
    )


def test_jobs_and_ranks_in_order(gpu):
    activities = """
        job  rank  start_ns  end_ns
        b    0     0         1
        a    10    0         2
        a    2     0         3
    """
    gpu.expect(
        "temporal_breakdown",
        """
        job  rank  busy_ns
        a    2     3
        a    10    2
        b    0     1
    """,
        activities=activities,
    )
    gpu.expect(
        "temporal_breakdown",
        """
        job  rank  busy_ns
        a    2     3
    """,
        activities=activities,
        only_jobs=["a"],
        only_ranks=[0, 2],
    )


def test_nothing_at_all(gpu):
    for name in (
        "temporal_breakdown",
        "step_breakdown",
        "kernel_kind_breakdown",
        "comm_comp_overlap",
    ):
        gpu.fill()
        assert gpu.run(name) == []


def test_unix_nanoseconds_are_exact(gpu):
    gpu.expect(
        "temporal_breakdown",
        """
        span_ns  busy_ns  idle_ns
        5        4        1
    """,
        activities="""
        start_ns             end_ns
        1712151111631234567  1712151111631234568
        1712151111631234569  1712151111631234572
    """,
    )
