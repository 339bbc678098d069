"""A job with graphs compared with the same job without: operators of replays are operators."""

import pytest
from hand_written import span, trace_text
from ingest.planted_graphs import CAPTURES, Graph, call, capture_events, replay_events, whole

import hta_sql

GRAPH = Graph(["gemm", "norm", "gemm", "relu"], "capture_8_FULL")
STEPS = 3


def eager_events(kernels: list[str]) -> list[dict]:
    """The operators of the graph, that launch their kernels in each step themselves."""
    events = []
    for step in range(STEPS):
        begin = 1_000_000 + 1000 * step
        events.append(span(f"ProfilerStep#{step}", begin, 900, "user_annotation"))
        for node, kernel in enumerate(kernels):
            at, correlation = begin + 100 * node, 1 + len(events)
            dims = {"Input Dims": [[1, node + 1]], "Input type": ["float"]}
            events.append(span(GRAPH.op(0, node), at, 80, **dims))
            events.append(call("cudaLaunchKernel", at + 10, 5, correlation=correlation))
            args = {"correlation": correlation, "device": 0, "stream": 7}
            events.append(span(kernel, at + 50, 8, "kernel", 0, 7, **args))
    return events


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    """Jobs `a_eager`, `b_graph`, and `c_other`, whose second operator launches another kernel."""
    folder = tmp_path_factory.mktemp("replays")
    replays = [whole(0, GRAPH, step=f"ProfilerStep#{step}") for step in range(STEPS)]
    texts = {
        "a_eager/rank_0.json": eager_events(GRAPH.kernels),
        "b_graph/rank_0.json": replay_events(replays),
        f"b_graph/{CAPTURES}": capture_events([GRAPH]),
        "c_other/rank_0.json": eager_events(["gemm", "fused_norm", "gemm", "relu"]),
    }
    for name, events in texts.items():
        (folder / "traces" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "traces" / name).write_text(trace_text(events))
    assert not hta_sql.ingest(folder / "traces", folder / "archive", workers=1).failed
    with hta_sql.open(folder / "archive") as run:
        yield run


def test_calls_pair_with_those_of_a_replay(jobs):
    rows = jobs.op_alignment(base_job="a_eager", test_job="b_graph").to_pylist()
    assert [(row["relation"], row["base_name"], row["kernel_change"]) for row in rows] == [
        ("matched", GRAPH.op(0, node), "same") for node in range(4)
    ]
    assert [row["test_kernel_ns"] for row in rows] == [8000] * 4
    assert all(row["test_event_id"] < 0 for row in rows)


def test_only_time_of_the_host_changes(jobs):
    """No kernel is without its operator, so no kernel seems to be new."""
    rows = jobs.diff_causes(base_job="a_eager", test_job="b_graph").to_pylist()
    found = {(row["cause"], row["name"], row["diff_per_step_ns"]) for row in rows}
    assert found == {("host_time", GRAPH.op(0, node), -75_000) for node in range(4)}


def test_a_kernel_of_a_replay_changes(jobs):
    """In each replay, the operator and not the launch of the graph has another kernel."""
    rows = jobs.diff_causes(base_job="b_graph", test_job="c_other").to_pylist()
    [row] = [row for row in rows if row["cause"] == "kernels"]
    assert (row["name"], row["base_detail"], row["test_detail"]) == (
        GRAPH.op(0, 1),
        "norm",
        "fused_norm",
    )
    assert (row["base_per_step_ns"], row["test_per_step_ns"]) == (8000, 8000)
