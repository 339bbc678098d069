"""A program that captures graphs and replays them, and a truth: the operator of each kernel.

Each launch of a graph is in an operator of its own, `op_<graph>_<node>`, inside `layer_<n>`.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path

from hand_written import rows, span, trace_text

import hta_sql

SPACE = 100
CAPTURES = "capture_traces/graph_capture_rank_0.pt.trace.json"


@dataclass
class Graph:
    """Kernels of a graph, in order; copies begin with `Memcpy`. `label` is its annotation."""

    kernels: list[str]
    label: str | None = None
    grids: list[list[int]] | None = None

    def op(self, number: int, node: int) -> str:
        return f"op_{number}_{node}"


@dataclass
class Replay:
    """A launch of graph `number`: its kernels, and the node of each."""

    number: int
    kernels: list[str]
    nodes: list[int]
    step: str | None = None
    wait_after: bool = False
    streams: list[int] | None = None
    node_ids: list[int] | None = None
    grids: list[list[int]] | None = None

    truth: list[str] = field(default_factory=list)


def layers(count: int, seed: int = 1, size: int = 12, names: int = 6) -> list[str]:
    """Kernels of a model: layers that are alike, between a head and a tail."""
    draw = random.Random(seed)
    layer = [f"kernel_{draw.randint(1, names)}" for _ in range(size)]
    return ["embed", "norm", *layer * count, "norm", "head"]


def whole(number: int, graph: Graph, **options) -> Replay:
    return Replay(number, list(graph.kernels), list(range(len(graph.kernels))), **options)


def changed(replay: Replay, what: str, draw: random.Random, times: int = 1) -> Replay:
    """The same replay with kernels that are lost, renamed, or swapped with the next one."""
    kernels, nodes = list(replay.kernels), list(replay.nodes)
    for _ in range(times):
        at = draw.randrange(1, len(kernels) - 2)
        if what == "lost":
            del kernels[at], nodes[at]
        elif what == "renamed":
            kernels[at] = f"other_{draw.randint(1, 3)}"
        else:
            while kernels[at] == kernels[at + 1]:
                at = draw.randrange(1, len(kernels) - 2)
            kernels[at : at + 2] = kernels[at + 1], kernels[at]
            nodes[at : at + 2] = nodes[at + 1], nodes[at]
    replay.kernels, replay.nodes = kernels, nodes
    return replay


def call(name: str, ts: int, dur: int, **args) -> dict:
    return span(name, ts, dur, "cuda_runtime", 1, 1, **args)


def capture_events(graphs: list[Graph], named: bool = True, lost: tuple = ()) -> list[dict]:
    """The host's events of the captures. `named`: launches have the kernel's name, as on ROCm.
    `lost`: (graph, node) of launches that are not in the trace."""
    events = []
    at = 0
    for number, graph in enumerate(graphs):
        begin = at
        events.append(call("cudaStreamBeginCapture", at + 1, 2))
        at += SPACE
        for node, kernel in enumerate(graph.kernels):
            is_copy = kernel.startswith("Mem")
            name = f"cuda{kernel.split()[0]}Async" if is_copy else "cudaLaunchKernel"
            args = {"kernel": kernel} if named and not is_copy else {}
            if graph.grids:
                args["grid"] = graph.grids[node]
            events.append(
                span(
                    f"nn.Module: Layer_{node // 12}", at, 90, "python_function", **{"Python id": 1}
                )
            )
            dims = {"Input Dims": [[number + 1, node + 1]], "Input type": ["float"]}
            events.append(span(graph.op(number, node), at + 5, 80, **dims))
            if (number, node) not in lost:
                events.append(call(name, at + 10, 5, correlation=10_000 + len(events), **args))
            at += SPACE
        events.append(call("cudaStreamEndCapture", at, 2))
        at += SPACE
        if graph.label:
            events.append(span(graph.label, begin, at - begin - 1, "user_annotation"))
    return events


def replay_events(replays: list[Replay]) -> list[dict]:
    events = []
    host, gpu = 1_000_000, 1_000_500
    step, begin = None, host
    for number, replay in enumerate(replays):
        if replay.step != step:
            if step:
                events.append(span(step, begin, host - begin - 1, "user_annotation"))
            step, begin = replay.step, host
        events.append(call("cudaGraphLaunch", host + 5, 10, correlation=number + 1))
        gpu = max(gpu, host + 20)
        for at, kernel in enumerate(replay.kernels):
            args = {"correlation": number + 1, "device": 0}
            args["stream"] = replay.streams[at] if replay.streams else 7
            if replay.node_ids:
                args |= {"graph node id": replay.node_ids[at], "graph id": replay.number + 1}
            if replay.grids:
                args["grid"] = replay.grids[at]
            cat = "gpu_memcpy" if kernel.startswith("Memcpy") else "kernel"
            cat = "gpu_memset" if kernel.startswith("Memset") else cat
            events.append(span(kernel, gpu, 8, cat, 0, args["stream"], **args))
            gpu += 10
        host += 100
        if replay.wait_after:
            events.append(call("cudaStreamSynchronize", host, 5))
            host += 10
    if step:
        events.append(span(step, begin, host - begin - 1, "user_annotation"))
    return events


def truth_of(graphs: list[Graph], replays: list[Replay]) -> list[str]:
    """The operator of each kernel, in the order of the events."""
    return [graphs[r.number].op(r.number, node) for r in replays for node in r.nodes]


def operators(archive) -> list[str | None]:
    """The operator of each activity as the archive has it, in the order of the events."""
    with hta_sql.open(archive) as run:
        found = rows(
            run,
            "SELECT h.name FROM gpu_activities AS a LEFT JOIN host_calls AS h "
            "ON h.job = a.job AND h.rank = a.rank AND h.event_id = a.op_id ORDER BY a.event_id",
        )
    return [name for (name,) in found]


def ingested_replays(folder: Path, graphs: list[Graph], replays: list[Replay], **capture) -> Path:
    """An archive of the replays, with the captures beside them."""
    traces = folder / "traces"
    (traces / "capture_traces").mkdir(parents=True)
    (traces / "rank_0.json").write_text(trace_text(replay_events(replays)))
    (traces / CAPTURES).write_text(trace_text(capture_events(graphs, **capture)))
    [outcome] = hta_sql.ingest(traces, folder / "archive", workers=1).outcomes
    assert outcome.status == "ingested", outcome
    return folder / "archive"
