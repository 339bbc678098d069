"""module_stats: selected calls, names, order and depth; from a trace."""

from hand_written import ingested, span, trace_text


def test_calls_and_activities_of_steps(host):
    # Of step 2: the call 3, and what call 1 of step 1 launched so late; not what call 3 did later.
    ops = """
        event_id  cat              name          step  start_ns  end_ns  module_id
        1         python_function  nn.Module:~A  1     0         20      -
        2         python_function  nn.Module:~L  1     5         15      1
        3         python_function  nn.Module:~B  2     20        40      -
        4         python_function  nn.Module:~L  3     25        35      3
        6         cuda_runtime     launch        2     14        15      2
        7         cuda_runtime     launch        3     21        22      3
        8         cuda_runtime     launch        2     50        51      -
    """
    activities = """
        launch_id  step  start_ns  dur_ns
        6          2     0         1
        7          3     10        2
        8          2     20        4
        -          -     30        8
    """
    host.expect(
        "module_stats",
        """
        module  count  host_total_ns  host_self_ns  forward_kernel_ns  example_event_id
        A       0      0              0             1                  -
        A/L     0      0              0             1                  -
        B       1      20             10            0                  3
        -       0      0              0             4                  -
    """,
        ops=ops,
        activities=activities,
        only_steps=[2],
    )
    host.expect(
        "module_stats",
        """
        module  count  forward_kernel_ns
        B       0      2
        B/L     1      0
    """,
        ops=ops,
        activities=activities,
        only_steps=[3, 9],
    )
    host.expect(
        "module_stats",
        """
        module  count  forward_kernel_ns
        A       1      1
        A/L     1      1
        B       1      2
        B/L     1      0
        -       0      12
    """,
        ops=ops,
        activities=activities,
    )


def test_only_python_functions_of_modules_are(host):
    host.expect(
        "module_stats",
        """
        rank  name
        0     A
    """,
        ops="""
        rank  cat              name           start_ns  end_ns
        0     python_function  nn.Module:~A   0         20
        0     python_function  nn.Modules:~A  0         20
        0     python_function  -              0         20
        1     cpu_op           nn.Module:~A   0         20
        1     user_annotation  nn.Module:~A   0         20
        1     python_function  model.py(1)    0         20
    """,
    )


def test_ranks_without_modules_have_no_rows(host):
    host.fill(
        """
        launch_id  start_ns  dur_ns
        5          0         1
        -          1         2
    """,
        """
        event_id  cat           name    start_ns  end_ns
        5         cuda_runtime  launch  0         1
    """,
    )
    assert host.run("module_stats") == []
    host.fill()
    assert host.run("module_stats") == []


def test_same_ids_of_other_ranks_and_jobs(host):
    ops = """
        job  rank  event_id  cat              name          start_ns  end_ns  module_id  forward_id
        a    0     1         python_function  nn.Module:~X  0         9       -          -
        a    0     2         cuda_runtime     launch        1         2       1          -
        a    1     1         python_function  nn.Module:~Y  0         8       -          -
        a    1     2         python_function  nn.Module:~X  1         3       1          -
        a    1     3         cuda_runtime     launch        1         2       2          -
        b    0     1         python_function  nn.Module:~X  0         7       -          -
        b    0     2         cpu_op           op            0         7       1          -
        b    0     3         cuda_runtime     launch        10        11      -          2
    """
    activities = """
        job  rank  launch_id  start_ns  end_ns
        a    0     2          0         1
        a    1     3          0         2
        b    0     3          0         4
        c    0     2          0         8
    """
    host.expect(
        "module_stats",
        """
        job  rank  module  host_total_ns  forward_kernel_ns
        a    0     X       9              1
        a    1     Y       8              2
        a    1     Y/X     2              2
        b    0     X       7              0
        b    0     -       0              4
    """,
        ops=ops,
        activities=activities,
    )
    host.expect(
        "module_stats",
        """
        job  rank  module
        a    1     Y
        a    1     Y/X
    """,
        ops=ops,
        activities=activities,
        only_jobs=["a"],
        only_ranks=[1, 2],
    )


def test_modules_stand_in_the_order_of_their_first_calls(host):
    # Of equal spans, that with the lower event_id is the first.
    host.expect(
        "module_stats",
        """
        module
        Z
        Z/Layer_10
        Z/Layer_9
        Y
        X
    """,
        ops="""
        event_id  cat              name                 start_ns  end_ns  module_id
        9         python_function  nn.Module:~X         20        30      -
        8         python_function  nn.Module:~Y         20        30      -
        6         python_function  nn.Module:~Layer_9   10        12      1
        5         python_function  nn.Module:~Layer_10  8         10      1
        1         python_function  nn.Module:~Z         0         20      -
        4         python_function  nn.Module:~Layer_9   12        15      1
        7         python_function  nn.Module:~Layer_10  3         5       1
    """,
    )


def test_deep_modules(host):
    deep = 1_000
    rows = [
        {
            "event_id": i,
            "cat": "python_function",
            "name": f"nn.Module: M_{i % 3}",
            "start_ns": i,
            "end_ns": 10_000 - i,
            "module_id": i - 1 if i else None,
        }
        for i in range(deep)
    ]
    rows.append(
        {
            "event_id": deep,
            "cat": "cuda_runtime",
            "name": "launch",
            "start_ns": deep,
            "end_ns": deep + 1,
            "module_id": deep - 1,
        }
    )
    host.fill([{"launch_id": deep, "start_ns": 0, "dur_ns": 3}], rows)
    result = host.run("module_stats")
    assert [row["depth"] for row in result] == list(range(deep))
    assert {row["forward_kernel_ns"] for row in result} == {3}
    assert result[-1]["module"].count("/") == deep - 1
    assert result[-1]["forward_self_kernel_ns"] == 3


# From a trace: what ingest derives and the query reads, together.

MAIN_AND_AUTOGRAD = [
    span("ProfilerStep#1", 0, 100, "user_annotation"),
    span("nn.Module: Model_0", 5, 90, "python_function"),
    span("nn.Module: Linear_0", 10, 30, "python_function"),
    span("aten::mm", 15, 20, **{"Sequence number": 7}),
    span("cudaLaunchKernel", 20, 5, "cuda_runtime", correlation=1),
    # A checkpoint of Linear_1: its forward pass is run without gradients, so of no number.
    span("CheckpointFunction", 45, 30, **{"Sequence number": 8}),
    span("nn.Module: Linear_1", 50, 20, "python_function"),
    span("aten::mm", 55, 10),
    span("cudaLaunchKernel", 57, 5, "cuda_runtime", correlation=2),
    # Its backward pass: Linear_1 again, with gradients, and then the backward pass of that.
    span(
        "autograd::engine::evaluate_function: CheckpointFunctionBackward",
        110,
        60,
        tid=2,
        **{"Sequence number": 8, "Fwd thread id": 1},
    ),
    span("nn.Module: Linear_1", 112, 20, "python_function", tid=2),
    span("aten::mm", 115, 10, tid=2, **{"Sequence number": 9}),
    span("cudaLaunchKernel", 117, 5, "cuda_runtime", tid=2, correlation=3),
    span(
        "autograd::engine::evaluate_function: MmBackward0",
        140,
        20,
        tid=2,
        **{"Sequence number": 9, "Fwd thread id": 2},
    ),
    span("cudaLaunchKernel", 145, 5, "cuda_runtime", tid=2, correlation=4),
    # The backward pass of Linear_0, and what has no forward operator.
    span(
        "autograd::engine::evaluate_function: MmBackward0",
        180,
        20,
        tid=2,
        **{"Sequence number": 7, "Fwd thread id": 1},
    ),
    span("cudaLaunchKernel", 185, 5, "cuda_runtime", tid=2, correlation=5),
    span("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 210, 20, tid=2),
    span("cudaLaunchKernel", 215, 5, "cuda_runtime", tid=2, correlation=6),
    # After the step: an optimizer.
    span("cudaLaunchKernel", 240, 5, "cuda_runtime", correlation=7),
    *(
        span("kernel", 1000 * i, 1 << i, "kernel", pid=0, tid=7, correlation=i, stream=7, device=0)
        for i in range(1, 8)
    ),
]


def test_from_a_trace(tmp_path):
    with ingested(tmp_path, trace_text(MAIN_AND_AUTOGRAD)) as run:
        found = {
            row["module"]: (
                row["count"],
                row["forward_kernel_ns"] // 1000,
                row["backward_kernel_ns"] // 1000,
            )
            for row in run.module_stats().to_pylist()
        }
    assert found == {
        "Model_0": (1, 2 + 4, 8 + 16 + 32),
        "Model_0/Linear_0": (1, 2, 32),
        "Model_0/Linear_1": (2, 4, 8 + 16),
        None: (0, 128, 64),
    }
