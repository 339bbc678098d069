"""Operators of kernels in graph replays, from planted captures."""

import random

import pytest
from hand_written import rows, trace_text
from ingest.planted_graphs import (
    CAPTURES,
    Graph,
    capture_events,
    changed,
    ingested_replays,
    layers,
    operators,
    replay_events,
    truth_of,
    whole,
)

import hta_sql

MODEL = Graph(layers(20), "capture_32_FULL")


def shares(found: list[str | None], truth: list[str]) -> tuple[float, int]:
    """The share of kernels with the right operator, and how many have a wrong one."""
    pairs = list(zip(found, truth, strict=True))
    right = sum(a == b for a, b in pairs)
    return right / len(pairs), sum(a not in (None, b) for a, b in pairs)


@pytest.mark.parametrize("named", [True, False], ids=["with names", "without names"])
def test_the_same_kernels(tmp_path, named):
    replays = [whole(0, MODEL), whole(0, MODEL)]
    archive = ingested_replays(tmp_path, [MODEL], replays, named=named)
    assert operators(archive) == truth_of([MODEL], replays)


@pytest.mark.parametrize("what", ["lost", "renamed", "swapped"])
@pytest.mark.parametrize("seed", range(4))
def test_changes(tmp_path, what, seed):
    """At least 99 % right; the others have no operator, since two launches could be theirs."""
    draw = random.Random(seed)
    replays = [changed(whole(0, MODEL), what, draw) for _ in range(5)]
    found = operators(ingested_replays(tmp_path, [MODEL], replays))
    right, wrong = shares(found, truth_of([MODEL], replays))
    assert (right >= 0.99, wrong) == (True, 0)


@pytest.mark.parametrize("node", [0, 1, 7, 60, 133, 200, 243])
def test_launches_that_the_capture_lost(tmp_path, node):
    """Only the kernel of the lost launch has no operator, with its neighbours of the same name: any
    of them could be the one that was lost."""
    replays = [whole(0, MODEL)]
    found = operators(ingested_replays(tmp_path, [MODEL], replays, lost=((0, node),)))
    first, last = node, node
    while first and MODEL.kernels[first - 1] == MODEL.kernels[node]:
        first -= 1
    while last + 1 < len(MODEL.kernels) and MODEL.kernels[last + 1] == MODEL.kernels[node]:
        last += 1
    wanted = truth_of([MODEL], replays)
    wanted[first : last + 1] = [None] * (last + 1 - first)
    assert found == wanted


def test_a_launch_lost_without_names(tmp_path):
    """Nothing shows which one is lost, so no kernel has an operator."""
    replays = [whole(0, MODEL)]
    archive = ingested_replays(tmp_path, [MODEL], replays, named=False, lost=((0, 7),))
    assert set(operators(archive)) == {None}


def test_names_of_inductor_are_enough_of_an_anchor(tmp_path):
    """Without names of kernels, operators that Inductor names like their kernel show the place."""
    kernels = ["a", "b", "triton_poi_fused_add_0", "c", "c", "triton_red_fused_sum_1", "d"]
    graph = Graph(kernels)
    graph.op = lambda number, node: kernels[node] if "triton" in kernels[node] else f"op_{node}"
    replays = [whole(0, graph)]
    archive = ingested_replays(tmp_path, [graph], replays, named=False, lost=((0, 0),))
    # Between the anchors all is as captured; before the first, one launch of two is lost.
    assert operators(archive) == [None, None, *truth_of([graph], replays)[2:]]


def test_a_memset_that_runs_as_a_kernel(tmp_path):
    graph = Graph(["a", "Memset (Device)", "b", "Memcpy DtoD (Device -> Device)", "c"])
    replay = whole(0, graph)
    replay.kernels[1] = "fill_kernel"
    found = operators(ingested_replays(tmp_path, [graph], [replay]))
    assert found == truth_of([graph], [replay])


def test_another_graph(tmp_path):
    other = Graph(layers(20, seed=2, names=50))
    replays = [whole(0, other)]
    assert set(operators(ingested_replays(tmp_path, [MODEL], replays))) == {None}


def test_a_capture_in_the_trace_itself(tmp_path):
    replays = [whole(0, MODEL)]
    folder = tmp_path / "traces"
    folder.mkdir()
    events = [*capture_events([MODEL]), *replay_events(replays)]
    (folder / "rank_0.json").write_text(trace_text(events))
    hta_sql.ingest(folder, tmp_path / "archive", workers=1)
    assert operators(tmp_path / "archive") == truth_of([MODEL], replays)


def test_sums_by_operator_are_those_of_kernels(tmp_path):
    draw = random.Random(7)
    replays = [changed(whole(0, MODEL), "lost", draw, 3) for _ in range(4)]
    archive = ingested_replays(tmp_path, [MODEL], replays)
    with hta_sql.open(archive) as run:
        [(of_ops, of_kernels)] = rows(
            run,
            "SELECT (SELECT sum(self_kernel_ns) FROM op_stats()), sum(dur_ns) "
            "FROM gpu_activities WHERE op_id IS NOT NULL",
        )
        assert of_ops == of_kernels
        counts = "SELECT DISTINCT count, kernel_count <= count, host_total_ns FROM op_stats()"
        assert rows(run, counts) == [(4, True, 0)]
        [(launched, folded)] = rows(
            run,
            "SELECT (SELECT sum(dur_ns) FROM gpu_activities), sum(weight_ns) FROM folded_stacks()",
        )
        assert launched == folded


def test_modules_stacks_and_calls(tmp_path):
    graph = Graph(["a", "b"], "capture_1_FULL")
    archive = ingested_replays(tmp_path, [graph], [whole(0, graph), whole(0, graph)])
    with hta_sql.open(archive) as run:
        modules = run.module_stats().select(["module", "count", "forward_kernel_ns"])
        assert [tuple(row.values()) for row in modules.to_pylist()] == [("Layer_0", 4, 32_000)]
        stacks = {row["stack"]: row["weight_ns"] for row in run.folded_stacks().to_pylist()}
        assert stacks == {
            f"cudaGraphLaunch;nn.Module: Layer_0;op_0_{node};cudaLaunchKernel;{name}": 16_000
            for node, name in enumerate("ab")
        }
        [(kernel,)] = rows(
            run, "SELECT event_id FROM gpu_activities WHERE name = 'b' ORDER BY start_ns LIMIT 1"
        )
        stack = run.call_stack(of_event=kernel)
        assert stack["name"].to_pylist() == [
            "cudaGraphLaunch",
            "nn.Module: Layer_0",
            "op_0_1",
            "cudaLaunchKernel",
            "b",
        ]
        calls = run.op_calls(min_kernels=1).select(["name", "num_kernels", "input_dims"])
        assert [tuple(row.values()) for row in calls.to_pylist()] == [
            (f"op_0_{node}", 1, f"[[1,{node + 1}]]") for node in (0, 1, 0, 1)
        ]


def test_a_capture_is_no_job(tmp_path):
    replays = [whole(0, MODEL)]
    archive = ingested_replays(tmp_path, [MODEL], replays)
    with hta_sql.open(archive) as run:
        assert rows(run, "SELECT job, rank FROM traces") == [("traces", 0)]
    # With the same files, nothing is read again; with another capture, the trace is.
    again = hta_sql.ingest(tmp_path / "traces", archive, workers=1)
    assert [outcome.status for outcome in again.outcomes] == ["unchanged"]
    other = Graph(layers(20), "capture_64_FULL")
    (tmp_path / "traces" / CAPTURES).write_text(trace_text(capture_events([other, MODEL])))
    again = hta_sql.ingest(tmp_path / "traces", archive, workers=1)
    assert [outcome.status for outcome in again.outcomes] == ["replaced"]


def test_a_capture_without_a_trace_is_a_trace(tmp_path):
    folder = tmp_path / "traces" / "capture_traces"
    folder.mkdir(parents=True)
    (folder / "graph_capture_rank_0.json").write_text(trace_text(capture_events([MODEL])))
    [outcome] = hta_sql.ingest(tmp_path / "traces", tmp_path / "archive", workers=1).outcomes
    assert (outcome.job, outcome.status) == ("capture_traces", "ingested")


def test_captures_named_by_the_user(tmp_path):
    replays = [whole(0, MODEL)]
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "rank_0.json").write_text(trace_text(replay_events(replays)))
    (tmp_path / "recorded.json").write_text(trace_text(capture_events([MODEL])))
    archive = tmp_path / "archive"
    hta_sql.ingest(tmp_path / "run", archive, workers=1)
    assert set(operators(archive)) == {None}
    named = {"graph_captures": [tmp_path / "recorded.json"]}
    hta_sql.ingest(tmp_path / "run", archive, workers=1, **named)
    assert operators(archive) == truth_of([MODEL], replays)
    hta_sql.compact(archive)
    hta_sql.refresh(archive, workers=1)
    assert operators(archive) == truth_of([MODEL], replays)


def test_a_capture_among_named_files(tmp_path):
    """As a pattern of the shell gives them: the trace and its capture."""
    replays = [whole(0, MODEL)]
    files = {
        "rank_0.json": replay_events(replays),
        "graph_capture_rank_0.json": capture_events([MODEL]),
    }
    for name, events in files.items():
        (tmp_path / name).write_text(trace_text(events))
    archive = tmp_path / "archive"
    hta_sql.ingest([tmp_path / name for name in files], archive, workers=1)
    assert operators(archive) == truth_of([MODEL], replays)
