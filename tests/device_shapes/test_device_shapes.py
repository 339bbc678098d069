"""Traces of several kinds of devices and profilers."""

import pytest
from device_shapes.events import activity, launch, queue, shown, step
from hand_written import span


def test_amd(archive_of):
    """ROCm: everything on stream 0, hip calls, copies without a bandwidth argument."""
    archive = archive_of(
        [
            step(3, 0, 100),
            span("aten::mm", 10, 20),
            launch("hipLaunchKernel", 12, 1),
            launch("hipExtModuleLaunchKernel", 20, 2),
            launch("hipMemcpyWithStream", 40, 3),
            activity("Cijk_Ailk_Bljk_HHS_BH_MI16x16x16x1", 30, 10, 1, stream=0),
            activity("void vectorized<4>(int)", 45, 5, 2, stream=0),
            activity("CopyHostToDevice", 60, 4, 3, "gpu_memcpy", stream=0, bytes=8000),
        ]
    )
    assert shown(
        archive, "launch_stats", "launch_name", "stream", "cpu_ns", "gpu_ns", "launch_delay_ns"
    ) == [
        ("hipLaunchKernel", 0, 5000, 10_000, 13_000),
        ("hipExtModuleLaunchKernel", 0, 5000, 5000, 20_000),
        ("hipMemcpyWithStream", 0, 5000, 4000, 15_000),
    ]
    assert shown(archive, "launch_summary", "launch_count", "p50_launch_delay_ns") == [(3, 15_000)]
    assert queue(archive) == [
        (0, 0, 12, 1),
        (0, 0, 20, 2),
        (0, 0, 30, 1),
        (0, 0, 40, 2),
        (0, 0, 45, 1),
        (0, 0, 60, 0),
    ]
    # Both gaps end with work that was launched before they began.
    assert shown(archive, "idle_time_breakdown", "stream", "cause", "idle_ns") == [
        (0, "kernel_wait", 15_000)
    ]
    assert shown(
        archive, "memory_bandwidth_summary", "copy_kind", "max", "bytes", "copy_count", "time_ns"
    ) == [("Memcpy HtoD", 2.0, 8000, 1, 4000)]
    assert shown(archive, "kernel_sequences", "sequence", "count", "gpu_ns", min_length=2) == [
        ("Cijk_Ailk_Bljk_HHS_BH_MI16x16x16x1 | void vectorized<4>(int)", 1, 15_000)
    ]
    assert shown(
        archive,
        "op_launch_delay",
        "operator",
        "count",
        "mean_op_to_launch_ns",
        "mean_launch_to_kernel_ns",
    ) == [("aten::mm", 1, 2000, 18_000)]
    annotations = shown(archive, "annotated_kernels", "annotation", only_steps=[3])
    assert annotations == [("ProfilerStep#3",)] * 3
    assert shown(archive, "gpu_efficiency", "tensor_core_frac") == [(10 / 15,)]


def test_mtia(archive_of):
    """Another accelerator: its own categories, its own launch call, copies named dma."""
    submit = "runFunction - job_prep_and_submit_for_execution"
    archive = archive_of(
        [
            span("aten::mul", 0, 20),
            launch(submit, 5, 1, dur=10, cat="mtia_runtime"),
            launch(submit, 30, 2, dur=10, cat="mtia_runtime"),
            activity("job_exe_mul", 25, 10, 1, "mtia_ccp_events", stream=102),
            activity("dma_in", 80, 5, 2, "mtia_ccp_events", stream=102, bytes=1000),
        ]
    )
    assert shown(archive, "launch_stats", "launch_name", "name", "launch_delay_ns") == [
        (submit, "job_exe_mul", 10_000),
        (submit, "dma_in", 40_000),
    ]
    assert queue(archive) == [(0, 102, 5, 1), (0, 102, 25, 0), (0, 102, 30, 1), (0, 102, 80, 0)]
    # Launched while the device was busy, and yet 45 us late.
    assert shown(archive, "idle_time_breakdown", "stream", "cause", "idle_ns") == [
        (102, "queued", 40_000),
        (102, "launching", 5000),
    ]
    assert shown(archive, "memory_bandwidth_summary", "copy_kind", "max") == [
        ("Memcpy Unknown", 0.2)
    ]
    assert shown(archive, "op_launch_delay", "operator", "sequence") == [
        ("aten::mul", "job_exe_mul")
    ]


def test_cuda_graph(archive_of):
    """One launch, many kernels: each is annotated and queued, the launch counts once."""
    archive = archive_of(
        [
            span("decode", 0, 50, "user_annotation"),
            launch("cudaGraphLaunch", 10, 1, dur=20),
            activity("a", 40, 10, 1),
            activity("b", 52, 10, 1),
            activity("c", 45, 30, 1, stream=9),
        ]
    )
    assert shown(archive, "launch_stats", "name", "cpu_ns", "launch_delay_ns") == [
        ("a", 20_000, 10_000),
        ("b", 20_000, 22_000),
        ("c", 20_000, 15_000),
    ]
    assert shown(
        archive, "launch_summary", "launch_count", "mean_gpu_ns", "max_launch_delay_ns"
    ) == [(1, 50_000, 10_000)]
    assert queue(archive) == [
        (0, 7, 10, 1),
        (0, 7, 10, 2),
        (0, 7, 40, 1),
        (0, 7, 52, 0),
        (0, 9, 10, 1),
        (0, 9, 45, 0),
    ]
    assert sorted(shown(archive, "annotated_kernels", "name", "annotation")) == [
        ("a", "decode"),
        ("b", "decode"),
        ("c", "decode"),
    ]
    [(busy_ns,)] = shown(archive, "annotation_stats", "gpu_busy_ns", source="host")
    assert busy_ns == 35_000
    # The graph had been launched when it paused between a and b.
    assert shown(archive, "idle_time_breakdown", "stream", "cause", "idle_ns") == [
        (7, "kernel_wait", 2000)
    ]


@pytest.mark.parametrize("name", ["cuLaunchKernelEx", "cuLaunchKernel", "cudaLaunchKernelExC"])
def test_every_launch_call_counts(archive_of, name):
    category = "cuda_driver" if name.startswith("cuL") else "cuda_runtime"
    archive = archive_of(
        [
            span("aten::mm", 0, 30),
            launch(name, 10, 1, cat=category),
            activity("nvjet_hsh_128x64", 40, 10, 1),
        ]
    )
    assert shown(archive, "launch_stats", "launch_name", "launch_delay_ns") == [(name, 25_000)]
    assert queue(archive) == [(0, 7, 10, 1), (0, 7, 40, 0)]
    assert shown(archive, "op_launch_delay", "sequence", "mean_op_to_launch_ns") == [
        ("nvjet_hsh_128x64", 10_000)
    ]
    assert shown(archive, "kernel_sequences", "sequence", min_length=1) == [("nvjet_hsh_128x64",)]


def test_triton(archive_of):
    """Triton's host operator carries a stream and is none the less no kernel."""
    archive = archive_of(
        [
            span("triton_poi_fused_add_0", 0, 94, "cpu_op", stream=0, device=0),
            launch("cuLaunchKernel", 20, 1, cat="cuda_driver"),
            activity("triton_poi_fused_add_0", 100, 1, 1),
        ]
    )
    assert shown(archive, "temporal_breakdown", "span_ns", "compute_ns") == [(1000, 1000)]
    assert shown(archive, "launch_stats", "name", "gpu_ns") == [("triton_poi_fused_add_0", 1000)]
    assert queue(archive) == [(0, 7, 20, 1), (0, 7, 100, 0)]
    assert shown(archive, "idle_time_breakdown", "stream") == []


@pytest.mark.parametrize(
    ("call", "name", "kind"),
    [
        ("cudaMemcpy2DAsync", "Memcpy HtoD (Pinned -> Device)", "Memcpy HtoD"),
        ("cudaMemcpy3DAsync", "Memcpy DtoD (Device -> Device)", "Memcpy DtoD"),
        ("cudaMemcpyPeerAsync", "Memcpy PtoP (Device -> Device)", "Memcpy PtoP"),
        ("cuMemcpyHtoDAsync_v2", "Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD"),
    ],
)
def test_copies_of_every_call(archive_of, call, name, kind):
    archive = archive_of(
        [
            launch(call, 0, 1),
            activity(
                name, 20, 10, 1, "gpu_memcpy", bytes=50_000, **{"memory bandwidth (GB/s)": 5.0}
            ),
        ]
    )
    assert shown(archive, "launch_stats", "launch_name", "name") == [(call, name)]
    assert shown(archive, "launch_stats", "name", include_memory=False) == []
    assert queue(archive) == [(0, 7, 0, 1), (0, 7, 20, 0)]
    assert shown(archive, "memory_bandwidth_series", "copy_kind", "at_ns", "bandwidth_gbps") == [
        (kind, 20_000, 5.0),
        (kind, 30_000, 0.0),
    ]
