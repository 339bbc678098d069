"""The frames of TraceAnalysis for a trace that can be added up by hand: see conftest.py."""

import pandas as pd
import pytest
from hand_written import span, trace_text

from hta_sql.compat import TraceAnalysis
from hta_sql.errors import BadParameter


def same(found: pd.DataFrame, columns: dict[str, list]) -> None:
    """The frame has these columns in this order, with these values and kinds of values."""
    pd.testing.assert_frame_equal(found, pd.DataFrame(columns), check_index_type=False)


@pytest.mark.parametrize(
    ("exact", "idle", "compute", "other", "span_us", "percentages"),
    [
        (True, 19.5, 20.5, 19.75, 59.75, [1950 / 59.75, 2050 / 59.75, 1975 / 59.75]),
        # gemm is [31, 50), AllReduce [41, 60), the copy [80, 90)
        (False, 20.0, 19.0, 20.0, 59.0, [33.9, 32.2, 33.9]),
    ],
)
def test_temporal_breakdown(loaded, exact, idle, compute, other, span_us, percentages):
    same(
        loaded(exact).get_temporal_breakdown(visualize=False),
        {
            "rank": [0],
            "idle_time(us)": [idle],
            "compute_time(us)": [compute],
            "non_compute_time(us)": [other],
            "kernel_time(us)": [span_us],
            "idle_time_pctg": percentages[:1],
            "compute_time_pctg": percentages[1:2],
            "non_compute_time_pctg": percentages[2:],
        },
    )


def test_the_last_step_counts_if_asked_for(loaded):
    found = loaded(last_step=True).get_temporal_breakdown(visualize=False)
    assert found["kernel_time(us)"].tolist() == [99.75]
    assert loaded().get_profiler_steps() == [1]
    assert loaded(last_step=True).get_profiler_steps() == [1, 2]


@pytest.mark.parametrize(("exact", "percentage"), [(True, 51.25), (False, 47.37)])
def test_overlap(loaded, exact, percentage):
    """10.25 of 20 us; rounded, 9 of 19 us."""
    found = loaded(exact).get_comm_comp_overlap(visualize=False)
    same(found, {"rank": [0], "comp_comm_overlap_pctg": [percentage]})


def test_kernel_breakdown(loaded):
    kinds, kernels = loaded().get_gpu_kernel_breakdown(visualize=False)
    both = "COMPUTATION overlapping COMMUNICATION"
    sums = [10.25, 10.25, 10.0, 9.75]
    same(
        kinds,
        {
            "kernel_type": ["COMPUTATION", both, "MEMORY", "COMMUNICATION"],
            "sum": sums,
            "percentage": [100 * us / 40.25 for us in sums],
        },
    )
    times = [20.0, 20.5, 10.0]
    same(
        kernels,
        {
            "name": [
                "ncclDevKernel_AllReduce",
                "gemm<float>(int)",
                "Memcpy HtoD (Pageable -> Device)",
            ],
            "sum (us)": times,
            "max (us)": times,
            "min (us)": times,
            "stddev": [0.0, 0.0, 0.0],
            "mean (us)": times,
            "kernel_type": ["COMMUNICATION", "COMPUTATION", "MEMORY"],
            "rank": [0, 0, 0],
        },
    )
    kinds, kernels = loaded(False).get_gpu_kernel_breakdown(False, include_memory_kernels=False)
    same(
        kinds,
        {
            "kernel_type": ["COMMUNICATION", "COMPUTATION", both],
            "sum": [10, 10, 9],
            "percentage": [34.5, 34.5, 31.0],
        },
    )
    assert kernels["kernel_type"].tolist() == ["COMMUNICATION", "COMPUTATION"]


def test_rare_kernels_become_others(tmp_path):
    """Four names take 40, 30, 20 and 10 us; two calls of the last but one take 8 and 12."""
    calls = [("a", 40), ("b", 30), ("c", 8), ("c", 12), ("d", 10)]
    spans = [
        span(name, 100 * at, dur, "kernel", pid=0, tid=7) | {"args": {"device": 0, "stream": 7}}
        for at, (name, dur) in enumerate(calls)
    ]
    (tmp_path / "rank_0.json").write_text(trace_text(spans))
    analyzer = TraceAnalysis(trace_dir=tmp_path)

    def kept(**given) -> dict[str, tuple]:
        _, found = analyzer.get_gpu_kernel_breakdown(visualize=False, **given)
        figures = found[["sum (us)", "max (us)", "min (us)", "mean (us)"]]
        return dict(zip(found["name"], map(tuple, figures.to_numpy()), strict=True))

    assert list(kept()) == ["a", "b", "c", "d"]
    # Of four names, 0.8 are the positions 0 to 2.4.
    assert list(kept(num_kernels=3)) == ["a", "b", "c", "others"]
    found = kept(num_kernels=3, duration_ratio=0.5)
    assert list(found) == ["a", "b", "others"]
    assert found["others"] == (30, 12, 8, 10)


def test_devices_of_a_rank_add_up(tmp_path):
    """Two kernels of 10 us, the second 5 us later on another device."""
    spans = [
        span("a", 5 * device, 10, "kernel", device, 7, device=device, stream=7) for device in (0, 1)
    ]
    (tmp_path / "rank_0.json").write_text(trace_text(spans))
    found = TraceAnalysis(trace_dir=tmp_path).get_temporal_breakdown(visualize=False)
    assert found.iloc[:, :5].to_numpy().tolist() == [[0, 0, 20, 0, 20]]


def test_idle_time(loaded):
    """The copy is launched at 70, and gemm ends at 50.75."""
    idle, intervals = loaded().get_idle_time_breakdown(
        visualize=False, show_idle_interval_stats=True
    )
    same(
        idle,
        {
            "rank": [0, 0, 0],
            "stream": [7, 7, 20],
            "idle_category": ["host_wait", "other", "other"],
            "idle_time": [29.25, 0, 0],
            "idle_time_ratio": [1, 0, float("nan")],
        },
    )
    assert intervals.index.tolist() == ["host_wait"]
    assert intervals[["stream", "count", "mean", "25%", "max"]].to_numpy().tolist() == [
        [7, 1, 29.25, 29.25, 29.25]
    ]
    found, none = loaded(False).get_idle_time_breakdown(streams=[7], visualize=False)
    assert (found["idle_time"].tolist(), none) == ([30, 0], None)


def test_launches(loaded):
    [found] = loaded().get_cuda_kernel_launch_stats(visualize=False).values()
    same(
        found.round(6),
        {
            "correlation": [7, 8, 9],
            "cpu_duration": [4.8, 2.0, 1.0],
            "gpu_duration": [20.5, 20.0, 10.0],
            "launch_delay": [5.05, 12.5, 9.0],
        },
    )
    given = {"include_memory_events": False, "visualize": False}
    [found] = loaded(False).get_cuda_kernel_launch_stats(**given).values()
    assert found.to_numpy().tolist() == [[7, 4, 19, 6], [8, 2, 19, 13]]


def test_queues(loaded):
    series = loaded().get_queue_length_time_series()
    found = series[0]
    assert found.columns.tolist() == ["ts", "pid", "tid", "stream", "queue_length"]
    # The index is the launch or the activity.
    assert found.reset_index()[["index", "ts", "stream", "queue_length"]].to_numpy().tolist() == [
        [3, 20.4, 7, 1],
        [7, 30.25, 7, 0],
        [5, 70, 7, 1],
        [9, 80, 7, 0],
        [4, 26, 20, 1],
        [8, 40.5, 20, 0],
    ]
    summary = loaded().get_queue_length_summary()
    assert summary.index.tolist() == [(0, 7), (0, 20)]
    assert summary["queue_length"]["mean"].tolist() == [0.5, 0.5]
    full = loaded().get_time_spent_blocked_on_full_queue(series, max_queue_length=1)
    same(
        full.round(6),
        {
            "rank": [0, 0],
            "stream": [7, 20],
            "duration_at_max_queue_length": [19.85, 14.5],
            # the last span of what is kept begins at 80
            "relative_duration_at_max_queue_length": [round(19.85 / 80, 6), round(14.5 / 80, 6)],
        },
    )


def test_bandwidths(loaded):
    found = loaded().get_memory_bw_time_series()[0]
    same(
        found,
        {
            "ts": [80.0, 90.0],
            "pid": [0, 0],
            "name": ["Memcpy HtoD", "Memcpy HtoD"],
            "memory_bw_gbps": [1.0, 0.0],
        },
    )
    summary = loaded().get_memory_bw_summary()
    assert summary.index.tolist() == [(0, "Memcpy HtoD")]
    assert summary["memory_bw_gbps"][["count", "mean", "max"]].to_numpy().tolist() == [[1, 1, 1]]


def test_operators_and_sequences(loaded, tmp_path):
    found = loaded().get_aten_op_kernels_and_delay()[0]
    same(
        found,
        {
            "aten_op_name": ["aten::mm"],
            "kernel_sequence": ["gemm<float>(int) -> ncclDevKernel_AllReduce"],
            "occurrence_count": [1],
            "avg_aten_op_launch_delay": [10.4],
            "avg_runtime_delay": [9.85],
        },
    )
    found = loaded().get_frequent_cuda_kernel_sequences("aten::mm", tmp_path, min_pattern_len=2)
    same(
        found,
        {
            "pattern": ["aten::mm|gemm<float>(int)|ncclDevKernel_AllReduce"],
            "count": [1],
            "GPU kernel duration (us)": [40.5],
            "CPU op duration (us)": [30.0],
        },
    )
    assert "Patterns" in (tmp_path / "overlaid_rank_0.json").read_text()
    assert loaded().get_frequent_cuda_kernel_sequences("aten::conv2d", tmp_path).empty


def test_the_index_of_operators_is_their_place_before_the_sort(tmp_path):
    """aten::a launches one kernel once, and aten::b two times: b comes first, with index 1."""
    spans = []
    for at, name in enumerate(["aten::b", "aten::a", "aten::b"], 1):
        spans += [
            span(name, 100 * at, 50),
            span("cudaLaunchKernel", 100 * at + 10, 5, "cuda_runtime", correlation=at),
            span("gemm", 100 * at + 20, 10, "kernel", 0, 7, device=0, stream=7, correlation=at),
        ]
    (tmp_path / "rank_0.json").write_text(trace_text(spans))
    analyzer = TraceAnalysis(trace_dir=tmp_path)
    with pytest.raises(BadParameter, match="the traces have no profiler steps"):
        analyzer.get_potential_stragglers()
    found = analyzer.get_aten_op_kernels_and_delay()[0]
    assert found["aten_op_name"].to_dict() == {1: "aten::b", 0: "aten::a"}
    assert found.index.tolist() == [1, 0]


def test_kinds_of_numbers_without_exactness(loaded):
    """As in HTA: the duration is whole, and the instants of bandwidths are not."""
    duration = loaded(False).t.get_trace_duration(0)
    assert (type(duration), duration) == (int, 80)
    assert loaded(False).get_memory_bw_time_series()[0]["ts"].dtype == "float64"


def test_annotations(loaded):
    found = loaded().get_gpu_user_annotation_breakdown(use_gpu_annotation=False, visualize=False)
    same(
        found,
        {
            "name": ["ProfilerStep#1"],
            "sum (us)": [100.0],
            "max (us)": [100.0],
            "min (us)": [100.0],
            "stddev": [0.0],
            "mean (us)": [100.0],
            "rank": [0],
        },
    )
    assert loaded().get_gpu_user_annotation_breakdown(visualize=False) is None
    assert loaded().get_gpu_kernels_with_user_annotations(0) is None
