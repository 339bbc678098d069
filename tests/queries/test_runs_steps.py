"""Runs by what their steps spend time with."""

from queries.runs import expect, fill, rows_of


def steps_of(job, rank, *lengths):
    """One after another, from 1000 on."""
    start_ns, rows = 1000, []
    for step, dur_ns in enumerate(lengths, start=1):
        rows.append(
            {
                "job": job,
                "rank": rank,
                "cat": "user_annotation",
                "step": step,
                "name": f"ProfilerStep#{step}",
                "start_ns": start_ns,
                "dur_ns": dur_ns,
            }
        )
        start_ns += dur_ns
    return rows


def test_a_step_is_the_mean_over_its_ranks_and_a_run_the_median_over_its_steps(compare):
    # a: (20 + 22)/2, (30 + 32)/2, (90 + 10)/2; b: 41, 31, and 99 of rank 0 alone
    compare.fill(
        host_ops=[
            *steps_of("a", 0, 20, 30, 90),
            *steps_of("a", 1, 22, 32, 10),
            *steps_of("b", 0, 40, 30, 99),
            *steps_of("b", 1, 42, 32),
            *steps_of("c", 0, 60),
            *steps_of("c", 1, 71),
        ],
        traces=[
            {"job": job, "rank": rank, "start_ns": at}
            for at, job in enumerate("abc")
            for rank in (0, 1)
        ],
    )
    for query, wanted in (("baseline", [(36, 31, 41)]), ("regressions", [(36, 66)])):
        found = [
            tuple(row[name] for name in ("mean_ns", "min_ns", "max_ns", "test_ns") if name in row)
            for row in compare.run(query)
            if row["name"] == "step_time"
        ]
        assert found == wanted


def test_kernels_in_steps(compare):
    # a: (10 + 20 + 3)/3 steps of ranks; its warm-up is in no step, nor is outside
    compare.fill(
        """
        job  rank  step  name     start_ns  dur_ns
        a    0     -     k        0         900
        a    0     1     k        1000      10
        a    0     2     k        1100      20
        a    1     1     k        1000      3
        a    0     -     outside  1900      50
        b    0     1     k        1000      22
        b    0     -     outside  1900      50
        c    0     1     k        1000      300
        c    0     1     outside  1300      5
    """,
        host_ops=[
            *steps_of("a", 0, 100, 100),
            *steps_of("a", 1, 100),
            *steps_of("b", 0, 100, 99),
            *steps_of("c", 0, 400),
        ],
        traces="""
        job  rank  start_ns
        a    0     1
        a    1     2
        b    0     3
        c    0     4
    """,
    )
    expect(
        compare,
        "baseline",
        """
        name     mean_ns  min_ns  max_ns
        k        11       11      11
        outside  0        0       0
    """,
    )
    expect(
        compare,
        "regressions",
        """
        name     change     test_ns  mean_ns
        k        increased  300      11
        outside  increased  5        0
    """,
    )


def test_what_a_step_spends_time_with(compare):
    # 1000      1010      1020      1030      1040
    # [ProfilerStep#1                            )    45
    #   [gemm===========)                             1002 to 1018
    #           [nccl=============)                   1010 to 1028, of it 8 hidden
    #                                 [copy=)         1032 to 1038
    ops, traces, activities = [], [], []
    for at, (job, late_ns) in enumerate([("a", 0), ("b", 0), ("c", 4)]):
        ops += steps_of(job, 0, 45 + late_ns)
        traces.append({"job": job, "start_ns": at})
        for name, kind, start_ns, end_ns in [
            ("gemm", "computation", 1002, 1018),
            ("nccl", "communication", 1010, 1028 + late_ns),
            ("copy", "memory", 1032 + late_ns, 1038 + late_ns),
        ]:
            activities.append(
                {
                    "job": job,
                    "name": name,
                    "kind": kind,
                    "step": 1,
                    "start_ns": start_ns,
                    "end_ns": end_ns,
                }
            )
    compare.fill(activities, ops, traces=traces)
    expect(
        compare,
        "regressions",
        """
        name                   change     test_ns  mean_ns  low_ns  high_ns
        communication          increased  22       18       18      18
        exposed_communication  increased  14       10       10      10
        gpu_busy               increased  36       32       32      32
        gpu_span               increased  40       36       36      36
        kernel_sum             increased  44       40       40      40
        step_time              increased  49       45       45      45
        compute                unchanged  16       16       16      16
        exposed_memory         unchanged  6        6        6       6
        idle                   unchanged  4        4        4       4
        memory                 unchanged  6        6        6       6
    """,
        kind="step",
    )
    found = [row["name"] for row in compare.run("baseline")]
    assert found == [
        "step_time",
        "kernel_sum",
        "gpu_span",
        "gpu_busy",
        "communication",
        "compute",
        "exposed_communication",
        "exposed_memory",
        "memory",
        "idle",
        "nccl",
        "gemm",
        "copy",
    ]


def test_runs_without_steps(compare):
    """They count as a whole, and have no step_time."""
    runs = """
        name  a   b   c   newest
        k     10  10  10  12
    """
    fill(compare, runs)
    assert "step_time" not in {row["name"] for row in compare.run("regressions")}
    expect(
        compare,
        "regressions",
        """
        name  change     test_ns  mean_ns
        k     increased  12       10
    """,
    )
    # Of the two before, one has steps and nothing in them.
    fill(compare, runs, host_ops=[*steps_of("b", 0, 30), *steps_of("newest", 0, 40)])
    step_times = [
        row
        for query in ("baseline", "regressions")
        for row in compare.run(query)
        if row["name"] == "step_time"
    ]
    assert [(row["run_count"], row["mean_ns"], row["low_ns"]) for row in step_times] == [
        (1, 30, None)
    ] * 2
    expect(
        compare,
        "baseline",
        """
        name  run_count  mean_ns  median_ns  min_ns  max_ns
        k     3          7        10         0       10
    """,
    )
    # Of a newest run without steps there is no step_time to judge.
    fill(compare, runs, host_ops=steps_of("b", 0, 30))
    assert "step_time" not in {row["name"] for row in compare.run("regressions")}


def test_nothing_at_all(compare):
    compare.fill()
    assert compare.run("baseline") == compare.run("regressions") == []
    fill(compare, "name a b c")
    assert rows_of(compare, "baseline") == rows_of(compare, "regressions") == []
