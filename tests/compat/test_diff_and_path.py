"""TraceDiff and critical paths, for the trace in conftest.py."""

import json
from pathlib import Path

import pytest
from compat.conftest import SPANS, activity, launch
from hand_written import span, trace_text

from hta_sql.compat import (
    CPEdge,
    CPEdgeType,
    DeviceType,
    LabeledTrace,
    TraceAnalysis,
    TraceDiff,
    restore_cpgraph,
)
from hta_sql.errors import BadParameter, HtaSqlError


@pytest.fixture(scope="module")
def labeled(traces) -> LabeledTrace:
    return LabeledTrace("One", trace_dir=traces)


@pytest.fixture(scope="module")
def graph(loaded):
    found, success = loaded().critical_path_analysis(0, "ProfilerStep", 0)
    assert success
    return found


def test_steps_are_compared(labeled):
    assert (labeled.ranks(), labeled.iterations()) == ([0], [1, 2])
    found = TraceDiff.compare_traces(
        labeled, labeled.t, control_iteration=1, test_iteration=2, device_type=DeviceType.GPU
    )
    assert found.index.name == "name"
    assert found.columns.tolist() == [
        "One_counts",
        "One_total_duration",
        "Test_counts",
        "Test_total_duration",
        "diff_counts",
        "diff_duration",
        "counts_change_categories",
    ]
    assert {name: row.tolist() for name, row in found.iterrows()} == {
        "Memcpy HtoD (Pageable -> Device)": [1, 10, 0, 0, -1, -10, "-"],
        "gemm<float>(int)": [1, 20.5, 1, 10, 0, -10.5, "="],
        "ncclDevKernel_AllReduce": [1, 20, 0, 0, -1, -20, "-"],
    }
    short = TraceDiff.compare_traces(
        labeled, labeled.t, test_iteration=[2], device_type=DeviceType.GPU, use_short_name=True
    )
    assert short.index.name == "short_name" and "gemm" in short.index


def test_names_are_sorted_by_what_happened_to_them(labeled):
    assert TraceDiff.ops_diff(
        labeled, labeled.t, control_iteration=2, test_iteration=1, device_type=DeviceType.CPU
    ) == {
        "added": ["ProfilerStep#1", "aten::mm", "cudaMemcpyAsync"],
        "deleted": ["ProfilerStep#2"],
        "increased": ["cudaLaunchKernel"],
        "decreased": [],
        "unchanged": [],
    }


def test_ops_of_a_step(labeled):
    ops = labeled.extract_ops(iteration=1, device_type=DeviceType.CPU)
    found = labeled.get_ops_summary(ops).set_index("name")
    assert found["counts"].to_dict() == {
        "ProfilerStep#1": 1,
        "aten::mm": 1,
        "cudaLaunchKernel": 2,
        "cudaMemcpyAsync": 1,
    }
    assert found.loc["cudaLaunchKernel", "total_duration"] == pytest.approx(6.8)
    with pytest.raises(BadParameter, match=r"iteration is 5; the trace has \[1, 2\]"):
        labeled.extract_ops(iteration=5)


def test_the_path_of_a_step(graph):
    """The host, from the start of aten::mm to its second launch; then AllReduce."""
    gemm, all_reduce = graph.get_nodes_for_event(7), graph.get_nodes_for_event(8)
    assert [node.ts for node in (*gemm, *all_reduce)] == [30.25, 50.75, 40.5, 60.5]
    edge = CPEdge(gemm[0].idx, gemm[1].idx, 20.5, CPEdgeType.OPERATOR_KERNEL)
    assert graph.edges[edge.begin, edge.end]["object"] == edge
    assert graph.get_event_attribution_for_edge(edge) == 7
    assert graph.get_events_for_edge(edge) == (7, 7)
    assert edge in graph.get_edges_attributed_to_event(7)

    found = graph.get_critical_path_breakdown()
    assert found[["s_name", "duration", "bound_by"]].to_numpy().tolist() == [
        ["aten::mm", 10.4, "cpu_bound"],
        ["cudaLaunchKernel", 4.8, "cpu_bound"],
        ["aten::mm", 0.8, "cpu_bound"],
        ["ncclDevKernel_AllReduce", 14.5, "gpu_kernel_launch_overhead"],
        ["ncclDevKernel_AllReduce", 20, "gpu_communication_bound"],
    ]
    assert len(graph.critical_path_edges_set) == 5 == len(graph.critical_path_nodes) - 1
    assert graph.critical_path_events_set == {2, 3, 4, 8}
    assert graph.summary().round(6).to_dict() == {
        "cpu_bound": round(1600 / 50.5, 6),
        "gpu_communication_bound": round(2000 / 50.5, 6),
        "gpu_kernel_launch_overhead": round(1450 / 50.5, 6),
    }


def test_the_path_is_found_again_after_a_change(graph):
    """A gemm that takes a second more is on the path."""
    before = graph.critical_path_nodes
    assert graph.critical_path() and graph.critical_path_nodes == before
    start, end = (node.idx for node in graph.get_nodes_for_event(7))
    graph.edges[start, end]["weight"] += 1_000_000
    graph.critical_path()
    path = graph.critical_path_nodes
    assert (start, end) in zip(path, path[1:], strict=False)
    graph.edges[start, end]["weight"] -= 1_000_000
    graph.critical_path()
    assert graph.critical_path_nodes == before


def test_a_graph_is_saved_and_restored(graph, tmp_path):
    file = graph.save(tmp_path / "graph")
    restored = restore_cpgraph(file, graph.t_full, 0)
    assert restored.edges == graph.edges and restored.node_list == graph.node_list
    assert restored.critical_path_nodes == graph.critical_path_nodes
    with pytest.raises(HtaSqlError, match="no saved graph can be read here"):
        restore_cpgraph(tmp_path / "none.zip", graph.t_full, 0)


def test_the_path_is_written_into_the_trace(loaded, graph, tmp_path):
    file = loaded().overlay_critical_path_analysis(0, graph, tmp_path / "out")
    assert file == str(tmp_path / "out" / "overlaid_critical_path_rank_0.json")
    events = json.loads((tmp_path / "out" / "overlaid_critical_path_rank_0.json").read_text())
    marked = [e for e in events["traceEvents"] if e.get("args", {}).get("critical")]
    names = {event["name"] for event in marked if event["ph"] == "X"}
    found = graph.get_critical_path_breakdown()
    assert names and names >= set(found["s_name"].dropna()) - {"gemm"}


def test_all_edges_are_drawn(loaded, graph, tmp_path):
    """Both ends of each edge, with the event's time; of the path, all five edges are marked."""
    file = loaded().overlay_critical_path_analysis(
        0, graph, tmp_path, only_show_critical_events=False, show_all_edges=True
    )
    events = json.loads(Path(file).read_text())["traceEvents"]
    spans = [event["name"] for event in events if event["ph"] == "X"]
    assert spans == [span["name"] for span in SPANS]
    edges = [edge["object"] for edge in graph.edges.values()]
    for phase in ("s", "f"):
        arrows = [event for event in events if event["ph"] == phase]
        drawn = [(arrow["cat"], arrow["args"]["weight"]) for arrow in arrows]
        assert sorted(drawn) == sorted((edge.type.value, edge.weight) for edge in edges)
        assert sum(arrow["args"]["critical"] for arrow in arrows) == 5


def test_several_instances_are_one_window(loaded):
    """From the start of step 1 to the end of step 2: all spans but the steps and the waiting."""
    found, _ = loaded().critical_path_analysis(0, "ProfilerStep", (0, 1))
    one, _ = loaded().critical_path_analysis(0, "ProfilerStep#2", 0)
    assert {node.ev_idx for node in found.node_list} == set(range(2, 11))
    assert {node.ev_idx for node in one.node_list} == {6, 10}
    assert found.trace_df["index"].tolist() == [2, 3, 4, 5, 7, 8, 9]
    assert found.window.name == "ProfilerStep #0 to #1"


def test_a_launch_that_delays_nothing_has_an_edge_if_hta_is_told_so(tmp_path, monkeypatch):
    """The second gemm waits for the first one, not for its launch: HTA's edge takes no time."""
    spans = [
        span("aten::mm", 10, 30),
        launch(12, 2, 7),
        launch(20, 2, 8),
        activity("gemm", 30, 20, 7, 7),
        activity("gemm", 51, 20, 7, 8),
    ]
    (tmp_path / "rank_0.json").write_text(trace_text(spans))
    analyzer = TraceAnalysis(trace_dir=tmp_path)
    before, _ = analyzer.critical_path_analysis(0, "", None)
    monkeypatch.setenv("CRITICAL_PATH_ADD_ZERO_WEIGHT_LAUNCH_EDGE", "1")
    after, _ = analyzer.critical_path_analysis(0, "", None)
    [pair] = after.edges.keys() - before.edges.keys()
    edge = after.edges[pair]["object"]
    assert (edge.type, edge.weight) == (CPEdgeType.KERNEL_LAUNCH_DELAY, 0)
    assert after.get_events_for_edge(edge) == (2, 4)
    assert after.node_list == before.node_list


def test_errors_of_paths(loaded):
    with pytest.raises(HtaSqlError, match="no annotation with 'nothing' in its name"):
        loaded().critical_path_analysis(0, "nothing", 0)
    with pytest.raises(HtaSqlError, match="no instance 2 of 'ProfilerStep'; a rank has at most 2"):
        loaded().critical_path_analysis(0, "ProfilerStep", (2, 3))
