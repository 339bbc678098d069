"""Frames of the real traces, next to what HTA's own tests assert or HTA gives with its defaults."""

import pytest
from hta_cases import needs_hta_outputs
from real_files import TRACES

from hta_sql.compat import DeviceType, LabeledTrace, TraceAnalysis, TraceDiff

pytestmark = needs_hta_outputs


def analyzed(job: str) -> TraceAnalysis:
    return TraceAnalysis(trace_dir=TRACES / job, exact=False)


def test_two_ranks():
    """Without the last step, which HTA drops; see tests/test_hta_golden.py."""
    analyzer = analyzed("two_ranks")
    assert analyzer.get_profiler_steps() == [551]
    overlap = analyzer.get_comm_comp_overlap(visualize=False)
    assert overlap["comp_comm_overlap_pctg"].tolist() == [11.81, 20.05]
    times = analyzer.get_temporal_breakdown(visualize=False)
    assert times.iloc[:, :5].to_numpy().tolist() == [
        [0, 321378, 106252, 172428, 600058],
        [1, 328671, 135548, 136455, 600674],
    ]
    kinds, kernels = analyzer.get_gpu_kernel_breakdown(visualize=False)
    assert dict(zip(kinds["kernel_type"], kinds["sum"], strict=True)) == {
        "COMMUNICATION": 305584,
        "COMPUTATION": 185023,
        "COMPUTATION overlapping COMMUNICATION": 56747,
        "MEMORY": 2288,
        "COMMUNICATION overlapping MEMORY": 1011,
        "COMPUTATION overlapping MEMORY": 18,
        "COMPUTATION overlapping COMMUNICATION overlapping MEMORY": 12,
    }
    assert len(kernels) == 34
    idle, _ = analyzer.get_idle_time_breakdown(visualize=False)
    host_wait = idle[(idle["stream"] == 7) & (idle["idle_category"] == "host_wait")]
    assert host_wait["idle_time"].tolist() == [213825]


@pytest.mark.real
def test_nanoseconds():
    """ns_resolution: 16 digits of us and three more, in doubles."""
    analyzer = analyzed("ns_resolution")
    times = analyzer.get_temporal_breakdown(visualize=False)
    assert times["idle_time(us)"].tolist() == [10113]
    given = {"visualize": False, "use_gpu_annotation": False}
    assert len(analyzer.get_gpu_user_annotation_breakdown(visualize=False)) == 3
    assert len(analyzer.get_gpu_user_annotation_breakdown(**given)) == 12
    few = analyzer.get_gpu_user_annotation_breakdown(
        **given, num_kernels=5, allowlist_patterns=["Optimizer"]
    )
    assert len(few) == 8 and few["name"].str.contains("Optimizer").sum() == 2
    kernels = analyzer.get_gpu_kernels_with_user_annotations(0)
    assert len(kernels) == 4876
    [row] = kernels[kernels["correlation"] == 164926].to_dict("records")
    assert row["s_user_annotation"] == "Optimizer.step#SGD.step"
    [launches] = analyzer.get_cuda_kernel_launch_stats(visualize=False).values()
    assert len(launches) == 4876


def test_counters():
    [found] = analyzed("cupti_counters").get_cupti_counter_data_with_operators()
    assert len(found) == 77
    row = found.iloc[5]
    assert "fft2d_r2c_32x32" in row["name"] and row["cat"] == "cuda_profiler_range"
    assert row["smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"] == 86114304
    assert (row["top_level_op"], row["bottom_level_op"]) == (
        "aten::conv2d",
        "aten::cudnn_convolution",
    )


def test_a_path():
    analyzer = analyzed("simple_add")
    forward = "[param|pytorch.model.alex_net|0|0|0|measure|forward]"
    graph, _ = analyzer.critical_path_analysis(0, forward, 1)
    sizes = (len(graph.nodes), len(graph.edges), len(graph.critical_path_nodes))
    assert sizes == (414, 415, 315)
    assert len(graph.critical_path_events_set) == 159
    assert graph.summary().round(6).to_dict() == {
        "": 0,
        "cpu_bound": 99.779087,
        "gpu_compute_bound": 0.210157,
        "gpu_kernel_kernel_overhead": 0.003723,
        "gpu_kernel_launch_overhead": 0.007033,
    }
    assert len(analyzer.get_cuda_kernel_launch_stats(visualize=False)[0]) == 98


def test_a_comparison():
    base, test = (
        LabeledTrace(side, trace_dir=TRACES / "trace_compare" / side) for side in ("base", "test")
    )
    assert (base.ranks(), base.iterations()) == ([1], [1009, 1010])
    given = (base, test, 1, 1, 1010, 1010, DeviceType.CPU)
    found = TraceDiff.compare_traces(*given, use_short_name=True)
    assert found["counts_change_categories"].value_counts().to_dict() == {"=": 5, "+": 3, "-": 1}
    assert TraceDiff.ops_diff(*given) == {
        "added": ["AddmmBackward0", "All2All_Pooled_Req", "CatBackward0"],
        "deleted": ["nccl:all_reduce"],
        "increased": [],
        "decreased": [],
        "unchanged": [
            "ProfilerStep#1010",
            "aten::as_strided",
            "aten::empty",
            "cudaEventQuery",
            "cudaLaunchKernel",
        ],
    }


def test_no_gpu():
    analyzer = analyzed("no_gpu_events")
    assert analyzer.get_queue_length_time_series() == {}
    assert analyzer.get_queue_length_summary() is None
    assert analyzer.get_memory_bw_summary() is None
    assert analyzer.get_temporal_breakdown(visualize=False).empty
