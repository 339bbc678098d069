"""Critical paths, drawn."""

import json

from paths.conftest import call, kernel, op, path_of


def sync(event_id, of, name, stream, wait_on=None, record=None):
    args = {
        "stream": stream,
        "wait_on_stream": wait_on,
        "wait_on_cuda_event_record_corr_id": record and record["correlation"],
    }
    return {
        "event_id": event_id,
        "ph": "X",
        "cat": "cuda_sync",
        "name": name,
        "pid": "0",
        "tid": str(stream),
        "device": 0,
        "stream": stream,
        "correlation": of["correlation"],
        "start": of["start"],
        "dur": of["dur"],
        "args": json.dumps(args),
    }


def test_operators_and_what_is_in_them(paths_of):
    """Each stretch is the innermost one's; between outermost ones nothing is taken.

    linear   [====================)           0 to 100
    addmm       [=========)                   20 to 60
    relu                              [====)  150 to 180
    """
    run = paths_of([op(1, "linear", 0, 100), op(2, "addmm", 20, 40), op(3, "relu", 150, 30)])
    assert path_of(run) == [
        ("operator", 1, 20),
        ("operator", 2, 40),
        ("operator", 1, 40),
        ("dependency", None, 0),
        ("operator", 3, 30),
    ]
    [row] = run.critical_path_summary().to_pylist()
    assert (row["bound_by"], row["time_ns"], row["time_frac"]) == ("cpu_bound", 130_000, 1.0)
    [row] = run.critical_path_ranks().to_pylist()  # every instant, and the window's last ns
    assert (row["bound_by"], row["time_ns"]) == ("cpu_bound", 180_001)


def test_gpu_bound(paths_of):
    """The host waits: what it waits for is on the path, its own call takes nothing.

    host       [launch a][launch b][cudaStreamSynchronize =========================)
    stream 7        [== a, 10 to 60 =)[== b, 62 to 162 ===========================)
    """
    a, b = call(1, "cudaLaunchKernel", 0, 4), call(2, "cudaLaunchKernel", 5, 4)
    wait = call(3, "cudaStreamSynchronize", 10, 155)
    activities = [kernel(11, 10, 50, a), kernel(12, 62, 100, b)]
    for events in ([sync(20, wait, "Stream Sync", 7)], []):  # told, and found out
        run = paths_of([a, b, wait], activities, events)
        assert path_of(run) == [
            ("kernel_launch_delay", 11, 10),
            ("operator", 11, 50),
            ("kernel_kernel_delay", 11, 2),
            ("operator", 12, 100),
        ]
        bounds = {
            row["bound_by"]: (row["time_ns"] // 1000, row["edge_count"])
            for row in run.critical_path_summary().to_pylist()
        }
        assert bounds == {
            "gpu_compute_bound": (150, 2),
            "gpu_kernel_launch_overhead": (10, 1),
            "gpu_kernel_kernel_overhead": (2, 1),
        }


def test_launch_bound(paths_of):
    """Each kernel is over before the next is launched."""
    calls = [call(i, "cudaLaunchKernel", 50 * i, 45) for i in range(4)]
    run = paths_of(calls, [kernel(10 + i, 50 * i + 8, 5, c) for i, c in enumerate(calls)])
    assert [edge for edge in path_of(run) if edge[2]] == [("operator", i, 45) for i in range(4)]


def test_host_that_waited_for_nothing(paths_of):
    """The kernel was over before the host began to wait: the host is the path."""
    launch = call(1, "cudaLaunchKernel", 0, 10)
    wait = call(3, "cudaDeviceSynchronize", 60, 4)
    run = paths_of([launch, op(2, "aten::add", 12, 40), wait], [kernel(11, 15, 5, launch)])
    assert path_of(run) == [("operator", 1, 10), ("dependency", None, 0), ("operator", 2, 40)]


def test_stream_waits(paths_of):
    """c, on stream 20, waits for a, recorded on stream 7; b was launched after the record."""
    a, record = call(1, "cudaLaunchKernel", 0, 4), call(2, "cudaEventRecord", 5, 2)
    wait, b = call(3, "cudaStreamWaitEvent", 8, 2), call(4, "cudaLaunchKernel", 11, 4)
    c = call(5, "cudaLaunchKernel", 16, 4)
    run = paths_of(
        [a, record, wait, b, c],
        [kernel(11, 10, 60, a), kernel(12, 70, 20, b), kernel(13, 73, 50, c, stream=20)],
        [sync(20, wait, "Stream Wait Event", 20, wait_on=7, record=record)],
    )
    assert path_of(run) == [
        ("kernel_launch_delay", 11, 10),
        ("operator", 11, 60),
        ("sync_dependency", None, 0),
        ("operator", 13, 50),
    ]


def test_waits_that_nobody_tells(paths_of):
    """Stream 20 began 2 us after a, and 110 us after its launch, on an idle stream."""
    a, c = call(1, "cudaLaunchKernel", 0, 4), call(5, "cudaLaunchKernel", 5, 4)
    activities = [kernel(11, 10, 108, a), kernel(13, 120, 50, c, stream=20)]
    assert ("sync_dependency", None, 0) in path_of(paths_of([a, c], activities))
    # 40 us are no reason to think so, and a launch that took long is one itself.
    soon = [kernel(11, 10, 33, a), kernel(13, 45, 50, c, stream=20)]
    assert ("kernel_launch_delay", 13, 40) in path_of(paths_of([a, c], soon))
    slow = call(5, "cudaLaunchKernel", 5, 112)
    activities = [kernel(11, 10, 108, a), kernel(13, 120, 50, slow, stream=20)]
    assert ("kernel_launch_delay", 13, 115) in path_of(paths_of([a, slow], activities))


def test_all_kernels_of_a_graph_launch(paths_of):
    """Two branches: the last one waits for both, though they are on other streams."""
    launch = call(1, "cudaGraphLaunch", 0, 20)
    wait = call(2, "cudaStreamSynchronize", 30, 400)
    run = paths_of(
        [launch, wait],
        [
            kernel(11, 25, 100, launch),
            kernel(12, 126, 50, launch, stream=8),
            kernel(13, 126, 200, launch, stream=9),
            kernel(14, 327, 90, launch),
        ],
    )
    assert path_of(run) == [
        ("kernel_launch_delay", 11, 25),
        ("operator", 11, 100),
        ("sync_dependency", None, 0),
        ("operator", 13, 200),
        ("sync_dependency", None, 0),
        ("operator", 14, 90),
    ]


def test_rocm_and_mtia_launches(paths_of):
    for name, category in (
        ("hipLaunchKernel", "cuda_runtime"),
        ("hipExtModuleLaunchKernel", "hip_runtime"),
        ("runFunction - job_prep_and_submit_for_execution", "mtia_runtime"),
    ):
        launch = call(1, name, 0, 5) | {"cat": category}
        run = paths_of([launch], [kernel(11, 9, 50, launch, cat="mtia_ccp_events")])
        assert path_of(run) == [("kernel_launch_delay", 11, 9), ("operator", 11, 50)]


def test_blocking_copies(paths_of):
    """A copy to pageable memory keeps its call waiting for all that its stream was given before."""
    launch, copy = call(1, "cudaLaunchKernel", 0, 4), call(2, "cudaMemcpyAsync", 5, 110)
    memcpy = {"cat": "gpu_memcpy", "kind": "memory", "name": "Memcpy DtoH (Device -> Pageable)"}
    behind = [kernel(11, 10, 100, launch), kernel(12, 111, 2, copy, **memcpy)]
    after = op(3, "aten::item", 120, 30)
    assert path_of(paths_of([launch, copy, after], behind)) == [
        ("kernel_launch_delay", 11, 10),
        ("operator", 11, 100),
        ("kernel_kernel_delay", 11, 1),
        ("operator", 12, 2),
        ("sync_dependency", None, 0),
        ("dependency", None, 0),
        ("operator", 3, 30),
    ]
    # Behind nothing, the time of its call is its own.
    alone = [kernel(12, 111, 2, copy, **memcpy)]
    assert path_of(paths_of([copy, after], alone)) == [
        ("operator", 2, 110),
        ("dependency", None, 0),
        ("operator", 3, 30),
    ]


def test_backward_passes_of_autograds_thread(paths_of):
    """The training thread waits for autograd's: one path through both."""
    backward = op(2, "AddmmBackward0", 60, 100) | {"tid": "2", "is_backward": True}
    ops = [op(1, "forward", 0, 50), backward, op(3, "optimizer", 170, 20)]
    assert path_of(paths_of(ops)) == [
        ("operator", 1, 50),
        ("dependency", None, 0),
        ("operator", 2, 100),
        ("dependency", None, 0),
        ("operator", 3, 20),
    ]
    other = backward | {"is_backward": False}  # a thread of its own business
    assert path_of(paths_of([ops[0], other, ops[2]])) == [("operator", 2, 100)]


def test_data_loading(paths_of):
    """What PyTorch's loader takes, with what is in it; and what the user calls loading."""
    loader = op(
        1,
        "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
        0,
        100,
        cat="user_annotation",
    )
    own = op(3, "fetch batch", 200, 40, cat="user_annotation")
    ops = [loader, op(2, "aten::stack", 20, 30, annotation_id=1), own, op(4, "aten::mm", 250, 5)]

    def bounds(run):
        return {
            row["bound_by"]: row["time_ns"] // 1000
            for row in run.critical_path_summary().to_pylist()
        }

    assert bounds(paths_of(ops)) == {"data_loading": 100, "cpu_bound": 5}
    assert bounds(paths_of(ops, data_loading=["fetch"])) == {"data_loading": 140, "cpu_bound": 5}
