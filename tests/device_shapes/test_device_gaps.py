"""Traces in which launches, hosts or ranks are missing."""

from device_shapes.events import GPU_QUERIES, REQUIRED, activity, launch, queue, shown, step
from hand_written import ingested, span, trace_text

from hta_sql.catalogue.catalog import Catalog


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
    assert shown(archive, "idle_time_breakdown", "cause", "idle_ns") == [("unknown", 50_000)]
    assert shown(archive, "idle_gaps", "part_ns", "next_name", "cause", "host_name") == [
        (5000, "lost", "unknown", None),
        (45_000, "without id", "unknown", None),
    ]
    assert shown(archive, "idle_reasons", "cause", "name", "idle_ns") == [("unknown", None, 50_000)]
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
    assert shown(archive, "idle_gaps", "part_ns", "cause") == [(5000, "unknown")]
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
        (0, 7, "host_wait", 40_000),
        (0, 7, "kernel_wait", 5000),
        (0, 7, "launching", 5000),
        (1, 7, "kernel_wait", 8000),
    ]
    assert shown(archive, "idle_gaps", "device", "part_ns", "cause") == [
        (0, 40_000, "host_wait"),
        (0, 5000, "launching"),
        (0, 5000, "kernel_wait"),
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
        step(2, 100, 100),
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
