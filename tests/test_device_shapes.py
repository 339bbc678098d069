"""Traces of every kind of device and launch, written by hand, through ingest and the queries."""

import pytest
from hand_written import ingested, span, trace_text

from hta_sql.catalogue.catalog import Catalog

GPU_QUERIES = [query.name for query in Catalog.load().newest.values() if query.theme == "gpu"]
REQUIRED = {"kernel_sequences": {"operator": "aten::mm"}}


def launch(name, ts, correlation, dur=5, cat="cuda_runtime", tid=1) -> dict:
    return span(name, ts, dur, cat, tid=tid, correlation=correlation)


def activity(name, ts, dur, correlation=None, cat="kernel", device=0, stream=7, **args) -> dict:
    ids = {} if correlation is None else {"correlation": correlation}
    return span(name, ts, dur, cat, device, stream, device=device, stream=stream, **ids, **args)


def step(number, ts, dur) -> dict:
    return span(f"ProfilerStep#{number}", ts, dur, "user_annotation")


@pytest.fixture
def archive_of(tmp_path):
    return lambda events: ingested(tmp_path, trace_text(events))


def shown(archive, query, *columns, **parameters) -> list[tuple]:
    """These columns of a query's result, which also keeps its header's promises."""
    if query not in REQUIRED:
        assert archive.check(query) == []
    rows = archive.query(query, **(REQUIRED.get(query, {}) | parameters)).to_pylist()
    return [tuple(row[column] for column in columns) for row in rows]


def queue(archive) -> list[tuple]:
    """(device, stream, us, queue length)"""
    found = shown(archive, "queue_length_series", "device", "stream", "at_ns", "queue_length")
    return [(device, stream, at_ns // 1000, length) for device, stream, at_ns, length in found]


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
    # Launched while the device was busy, and yet 45 us late: neither of the two named causes.
    assert shown(archive, "idle_time_breakdown", "stream", "cause", "idle_ns") == [
        (102, "other", 45_000)
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


def test_missing_launches(archive_of):
    """No launch in the trace: in no figure of launches, and never blamed on the host."""
    archive = archive_of(
        [
            span("forward", 0, 100, "gpu_user_annotation", 0, 7),
            launch("cudaLaunchKernel", 1, 1),
            activity("known", 10, 10, 1),
            activity("lost", 25, 10, 99),
            activity("without id", 80, 10),
        ]
    )
    assert shown(archive, "launch_stats", "name") == [("known",)]
    assert shown(archive, "launch_summary", "launch_count", "activity_count") == [(1, 1)]
    assert queue(archive) == [(0, 7, 1, 1), (0, 7, 10, 0)]
    assert sorted(shown(archive, "idle_time_breakdown", "cause", "idle_ns")) == [
        ("kernel_wait", 5000),
        ("other", 45_000),
    ]
    assert shown(archive, "idle_gaps", "gap_ns", "next_name", "cause", "host_name") == [
        (5000, "lost", "kernel_wait", None),
        (45_000, "without id", "other", None),
    ]
    assert shown(archive, "annotated_kernels", "name", "annotation", "annotation_source") == [
        ("known", "forward", "gpu"),
        ("lost", "forward", "gpu"),
        ("without id", "forward", "gpu"),
    ]


def test_only_gpu_rows(archive_of):
    archive = archive_of([activity("a", 0, 5), activity("b", 10, 5, 3, stream=9)])
    for query in (
        "launch_stats",
        "launch_summary",
        "queue_length_series",
        "queue_length_summary",
        "queue_full_time",
        "op_launch_delay",
        "kernel_sequences",
    ):
        assert shown(archive, query, "rank") == [], query
    assert shown(archive, "idle_gaps", "gap_ns") == [(5000,)]
    assert shown(archive, "annotated_kernels", "annotation") == [(None,), (None,)]


def test_several_devices(archive_of):
    """One process, two GPUs, the same stream numbers on both."""
    bandwidth = {"memory bandwidth (GB/s)": 4.0}
    archive = archive_of(
        [
            launch("cudaLaunchKernel", 0, 1),
            launch("cudaLaunchKernel", 60, 2),
            launch("cudaMemcpyAsync", 2, 3),
            launch("cudaMemcpyAsync", 4, 4),
            activity("a", 10, 10, 1),
            activity("a", 70, 10, 2),
            activity("Memcpy DtoH (Device -> Pinned)", 12, 20, 3, "gpu_memcpy", 1, **bandwidth),
            activity("Memcpy DtoH (Device -> Pinned)", 40, 10, 4, "gpu_memcpy", 1, **bandwidth),
        ]
    )
    assert shown(archive, "idle_time_breakdown", "device", "stream", "cause", "idle_ns") == [
        (0, 7, "host_wait", 50_000),
        (1, 7, "kernel_wait", 8000),
    ]
    assert shown(archive, "idle_gaps", "device", "gap_ns", "cause") == [
        (0, 50_000, "host_wait"),
        (1, 8000, "kernel_wait"),
    ]
    assert queue(archive) == [
        (0, 7, 0, 1),
        (0, 7, 10, 0),
        (0, 7, 60, 1),
        (0, 7, 70, 0),
        (1, 7, 2, 1),
        (1, 7, 4, 2),
        (1, 7, 12, 1),
        (1, 7, 40, 0),
    ]
    assert shown(archive, "queue_full_time", "device", "full_ns", max_queue_length=1) == [
        (0, 20_000),
        (1, 38_000),
    ]
    assert shown(archive, "memory_bandwidth_summary", "device", "count", "mean", "time_ns") == [
        (1, 2, 4.0, 30_000)
    ]
    assert [device for (device,) in shown(archive, "gpu_efficiency", "device")][:1] == [0]


def test_duplicate_correlations(archive_of):
    """Two calls carry one id: the outer launched. Two activities carry one: both are its."""
    archive = archive_of(
        [
            launch("cudaLaunchKernel", 10, 1, dur=20),
            launch("cuLaunchKernel", 12, 1, dur=5, cat="cuda_driver"),
            activity("a", 50, 10, 1),
            launch("cudaMemcpyAsync", 70, 2),
            activity("Memcpy HtoD (Pageable -> Device)", 90, 10, 2, "gpu_memcpy"),
            activity("Memcpy HtoD (Pageable -> Device)", 110, 10, 2, "gpu_memcpy"),
        ]
    )
    assert shown(archive, "launch_stats", "correlation", "launch_name", "launch_delay_ns") == [
        (1, "cudaLaunchKernel", 20_000),
        (2, "cudaMemcpyAsync", 15_000),
        (2, "cudaMemcpyAsync", 35_000),
    ]
    assert shown(archive, "launch_summary", "launch_count", "activity_count") == [(2, 3)]
    assert queue(archive) == [
        (0, 7, 10, 1),
        (0, 7, 50, 0),
        (0, 7, 70, 1),
        (0, 7, 70, 2),
        (0, 7, 90, 1),
        (0, 7, 110, 0),
    ]


def test_kernels_before_their_launch(archive_of):
    """Only clocks that disagree make a queue negative, and then the result says so."""
    archive = archive_of(
        [
            launch("cudaLaunchKernel", 20, 1),
            activity("early", 15, 10, 1),
            launch("cudaLaunchKernel", 30, 2),
            activity("late", 50, 10, 2),
        ]
    )
    assert queue(archive) == [(0, 7, 15, -1), (0, 7, 20, 0), (0, 7, 30, 1), (0, 7, 50, 0)]
    assert shown(archive, "queue_length_summary", "min", "early_start_count") == [(-1, 1)]
    assert shown(archive, "launch_summary", "early_start_count") == [(1,)]
    assert shown(archive, "launch_stats", "launch_delay_ns") == [(0,), (15_000,)]


def test_all_ranks_at_once(tmp_path):
    """One call, without parameters, has every rank."""
    events = [
        span("note", 0, 50, "user_annotation"),
        span("note", 20, 60, "gpu_user_annotation", 0, 7),
        span("aten::mm", 5, 20),
        launch("cudaLaunchKernel", 10, 1, dur=2),
        launch("cudaMemcpyAsync", 14, 2, dur=2),
        launch("cudaLaunchKernel", 18, 3, dur=2),
        activity("gemm", 20, 10, 1),
        activity("Memcpy HtoD (Pinned -> Device)", 35, 10, 2, "gpu_memcpy", bytes=1000),
        activity("gemm", 50, 10, 3),
        span("gemm", 20, 10, "cuda_profiler_range", 0, 7, counter=5),
        step(1, 0, 100),
    ]
    files = {f"rank_{rank}.json": trace_text(events) for rank in range(3)}
    archive = ingested(tmp_path, files)
    for query in GPU_QUERIES:
        rows = archive.query(query, **REQUIRED.get(query, {})).to_pylist()
        per_rank = "rank" in rows[0]
        assert {row["rank"] for row in rows} == {0, 1, 2} if per_rank else len(rows) > 0, query


def test_typed_columns_without_a_gpu(tmp_path):
    """A CPU-only trace: no rows, the columns of any result."""
    events = [span("aten::mm", 0, 5), span("note", 0, 9, "user_annotation")]
    cpu = ingested(tmp_path, trace_text(events))
    for query in GPU_QUERIES:
        result = cpu.query(query, **REQUIRED.get(query, {}))
        assert result.num_rows == 0, query
        declared = [column.name for column in Catalog.load().find(query).columns]
        assert result.column_names == declared
        assert "null" not in {str(column.type) for column in result.schema}
