"""launch_stats and launch_summary over drawn launches."""

# 0         10        20        30        40        50
# [==== 11 ====)                                         kernel launch, 14
#                 [= 12 =)                               copy launch, 8
#                           [======== 13 ========)       graph launch, 22
#                 [== 1 =)                               delay 16 - 14, 8 long
#                     [== 2 ==)                          copy, before the launch's end
#                                       [3)              before the graph launch's end, too
#                                                   [======= 4 =======)   delay 3
#                [= 5 ==)                                without a launch
LAUNCHES = """
    event_id  kind         name    stream  step  start_ns  end_ns  correlation  launch_id  launch_name       launch_start_ns  launch_end_ns
    1         computation  relu    7       3     16        24      21           11         cudaLaunchKernel  0                14
    2         memory       Memcpy  -       3     20        29      22           12         hipMemcpyAsync    16               24
    3         memory       Memset  7       -     38        41      23           13         cudaGraphLaunch   26               48
    4         computation  gemm    20      -     51        69      23           13         cudaGraphLaunch   26               48
    5         computation  relu    20      -     15        23      -            -          -                 -                -
"""  # noqa: E501


def test_each_activity_with_a_launch(gpu):
    gpu.expect(
        "launch_stats",
        """
        job  rank  event_id  launch_id  correlation  launch_name       name    device  stream  step
        j    0     1         11         21           cudaLaunchKernel  relu    0       7       3
        j    0     2         12         22           hipMemcpyAsync    Memcpy  0       -       3
        j    0     3         13         23           cudaGraphLaunch   Memset  0       7       -
        j    0     4         13         23           cudaGraphLaunch   gemm    0       20      -
    """,
        activities=LAUNCHES,
    )


def test_times_of_a_launch(gpu):
    gpu.expect(
        "launch_stats",
        """
        event_id  cpu_ns  gpu_ns  launch_delay_ns  is_short  is_runtime_outlier  is_delay_outlier
        1         14      8       2                true      false               false
        2         8       9       0                false     false               false
        3         22      3       0                true      false               false
        4         22      18      3                true      false               false
    """,
        activities=LAUNCHES,
    )


def test_cutoffs_are_not_yet_outliers(gpu):
    gpu.expect(
        "launch_stats",
        """
        event_id  is_runtime_outlier  is_delay_outlier
        1         false               false
        2         false               false
        3         true                false
        4         true                true
    """,
        activities=LAUNCHES,
        runtime_cutoff_ns=14,
        launch_delay_cutoff_ns=2,
    )
    for longer, outlying in [(0, "false"), (1, "true")]:
        gpu.expect(
            "launch_stats",
            f"""
            is_runtime_outlier  is_delay_outlier
            {outlying}          {outlying}
        """,
            activities=f"""
            start_ns           dur_ns  launch_id  launch_start_ns  launch_end_ns
            {150000 + 2 * longer}  5       1          0                {50000 + longer}
        """,
        )


def test_as_long_as_its_launch_is_not_short(gpu):
    for gpu_ns, short in [(4, "true"), (5, "false")]:
        gpu.expect(
            "launch_stats",
            f"""
            is_short
            {short}
        """,
            activities=f"""
            start_ns  dur_ns    launch_id  launch_start_ns  launch_end_ns
            10        {gpu_ns}  1          0                5
        """,
        )


def test_a_launch_counts_once(gpu):
    # 11: cpu 14, gpu 8, delay 2; 12: cpu 8, gpu 9, delay 0; 13: cpu 22, gpu 3 + 18, delay 0
    gpu.expect(
        "launch_summary",
        """
        job  rank  launch_count  activity_count  short_count  mean_cpu_ns  mean_gpu_ns
        j    0     3             4               2            15           13
    """,
        activities=LAUNCHES,
    )
    gpu.expect(
        "launch_summary",
        """
        p50_launch_delay_ns  p95_launch_delay_ns  max_launch_delay_ns
        0                    2                    2
    """,
        activities=LAUNCHES,
    )
    gpu.expect(
        "launch_summary",
        """
        runtime_outlier_count  delay_outlier_count  early_start_count
        1                      1                    0
    """,
        activities=LAUNCHES,
        runtime_cutoff_ns=14,
        launch_delay_cutoff_ns=1,
    )


def test_without_memory(gpu):
    gpu.expect(
        "launch_stats",
        """
        event_id
        1
        4
    """,
        activities=LAUNCHES,
        include_memory=False,
    )
    # Of the graph, only the kernel: it is shorter than the launch, and the first to start.
    gpu.expect(
        "launch_summary",
        """
        launch_count  activity_count  short_count  mean_cpu_ns  mean_gpu_ns  max_launch_delay_ns
        2             2               2            18           13           3
    """,
        activities=LAUNCHES,
        include_memory=False,
    )


def test_selected_launches(gpu):
    gpu.expect(
        "launch_stats",
        """
        event_id
        1
        2
    """,
        activities=LAUNCHES,
        only_steps=[3],
    )
    gpu.expect(
        "launch_summary",
        """
        launch_count  mean_cpu_ns
        2             11
    """,
        activities=LAUNCHES,
        only_steps=[3, 4],
    )
    for query in ("launch_stats", "launch_summary"):
        for nothing in ({"only_steps": [4]}, {"only_ranks": [1]}, {"only_jobs": ["k"]}):
            gpu.expect(query, "\nrank", activities=LAUNCHES, **nothing)
        gpu.expect(
            query,
            "\nrank",
            activities="""
            start_ns  dur_ns
            0         5
        """,
        )


def test_clocks_that_disagree(gpu):
    # 0         10        20
    #           [launch)          both launches
    #     [==)                    6 before the launch begins
    #               [===)         while it is being made
    gpu.expect(
        "launch_stats",
        """
        launch_id  launch_delay_ns
        1          0
        2          0
    """,
        activities=(
            early := """
        start_ns  end_ns  launch_id  launch_start_ns  launch_end_ns
        4         7       1          10               18
        14        18      2          10               18
    """
        ),
    )
    gpu.expect(
        "launch_summary",
        """
        launch_count  early_start_count  max_launch_delay_ns
        2             1                  0
    """,
        activities=early,
    )


def test_launches_of_jobs_and_ranks(gpu):
    """Ids are those of a rank."""
    gpu.fill(
        [
            {
                "job": job,
                "rank": rank,
                "event_id": event_id,
                "start_ns": 10 * rank,
                "dur_ns": 5,
                "launch_id": 1,
                "launch_start_ns": 0,
                "launch_end_ns": 4,
            }
            for job in "ba"
            for rank in (10, 2)
            for event_id in (8, 7)
        ]
    )
    assert [
        (row["job"], row["rank"], row["event_id"], row["launch_delay_ns"])
        for row in gpu.run("launch_stats")
    ] == [
        (job, rank, event_id, 10 * rank - 4)
        for job in "ab"
        for rank in (2, 10)
        for event_id in (7, 8)
    ]
    assert [
        (row["job"], row["rank"], row["launch_count"], row["max_launch_delay_ns"])
        for row in gpu.run("launch_summary")
    ] == [(job, rank, 1, 10 * rank - 4) for job in "ab" for rank in (2, 10)]
