"""Cases of profiler_steps and of the view steps."""

OPS = """
    cat              name            step  start_ns  end_ns
    user_annotation  ProfilerStep#3  3     0         20
    cpu_op           aten::mm        3     2         4
    cuda_runtime     cudaLaunch      3     3         4
    Operator         aten::add       3     19        25
    user_annotation  ProfilerStep#4  4     20        33
    python_function  forward         4     21        30
    cpu_op           aten::mm        -     40        41
"""


def test_host_and_devices(gpu):
    # 0         10        20        30        40
    # [ProfilerStep#3     )[ProfilerStep#4 )        host
    #     [====)  [=====)                           step 3, device 0: 4 to 9, 12 to 18
    #                [======)                       step 3, device 1: 15 to 22
    #                                [==)           step 4, after its end on the host
    #   [===)                                       outside steps
    gpu.expect(
        "profiler_steps",
        """
        job  rank  step  start_ns  dur_ns  gpu_busy_ns  gpu_span_ns  kernel_count  op_count
        j    0     3     0         20      15           18           3             2
        j    0     4     20        13      3            3            2             0
    """,
        activities="""
        step  device  kind           start_ns  end_ns
        3     0       computation    4         9
        3     0       communication  12        18
        3     1       memory         15        22
        4     0       computation    35        38
        4     0       computation    36        36
        -     0       computation    2         6
    """,
        ops=OPS,
    )


def test_no_gpu_activity(gpu):
    gpu.expect(
        "profiler_steps",
        """
        step  dur_ns  gpu_busy_ns  gpu_span_ns  kernel_count  op_count
        3     20      0            0            0             2
        4     13      0            0            0             0
    """,
        ops=OPS,
    )


def test_selected(gpu):
    gpu.expect(
        "profiler_steps",
        """
        step  op_count
        4     0
    """,
        ops=OPS,
        only_steps=[4, 5],
    )
    gpu.expect("profiler_steps", "\nstep", ops=OPS, only_ranks=[1])
    gpu.expect("profiler_steps", "\nstep", ops=OPS, only_jobs=["k"])


def test_one_step_of_several_annotations(gpu):
    # 0         10        20
    # [Profiler Step#7)             thread 1
    #     [ProfilerStep#7    )      thread 2
    # rank 1 has its own
    gpu.fill(
        host_ops=[
            {"name": "ProfilerStep#7", "tid": "1", "step": 7, "start_ns": 0, "end_ns": 16},
            {"name": "ProfilerStep#7", "tid": "2", "step": 7, "start_ns": 4, "end_ns": 23},
            {"name": "ProfilerStep#7", "rank": 1, "step": 7, "start_ns": 5, "end_ns": 6},
        ]
    )
    assert [
        (row["rank"], row["step"], row["start_ns"], row["dur_ns"])
        for row in gpu.run("profiler_steps")
    ] == [(0, 7, 0, 23), (1, 7, 5, 1)]


def test_what_is_a_step(gpu):
    names = {
        "ProfilerStep#0": 0,
        "ProfilerStep# 12": 12,
        "ProfilerStep #13": 13,
        "ProfilerStep#14 (warm up)": 14,
        "ProfilerStep*": None,
        "ProfilerStep#": None,
        "ProfilerStep#99999999999999999999": None,
        "profilerstep#5": None,
        "my ProfilerStep#6": None,
        "ProfilerStep": None,
    }
    rows = [{"cat": "user_annotation", "name": name, "start_ns": 0, "dur_ns": 1} for name in names]
    rows.append({"cat": "python_function", "name": "ProfilerStep#8", "start_ns": 0, "dur_ns": 1})
    rows.append({"cat": "cpu_op", "name": "ProfilerStep#9", "start_ns": 0, "dur_ns": 1})
    gpu.fill(host_ops=rows)
    wanted = sorted(step for step in [*names.values(), 9] if step is not None)
    assert [row["step"] for row in gpu.run("profiler_steps")] == wanted
    assert [row["step"] for row in gpu.run("profiler_steps", only_steps=[0, 8, 13])] == [0, 13]


def test_steps_of_jobs_and_ranks_in_order(gpu):
    gpu.fill(
        host_ops=[
            {"job": job, "rank": rank, "name": f"ProfilerStep#{n}", "start_ns": n, "dur_ns": 1}
            for job in "ba"
            for rank in (10, 2)
            for n in (10, 9)
        ]
    )
    assert [(row["job"], row["rank"], row["step"]) for row in gpu.run("profiler_steps")] == [
        (job, rank, n) for job in "ab" for rank in (2, 10) for n in (9, 10)
    ]
