"""Which graph, and in which order: replays of several graphs and on several streams."""

import random

import pytest
from hand_written import rows
from ingest.planted_graphs import (
    Graph,
    Replay,
    ingested_replays,
    layers,
    operators,
    truth_of,
    whole,
)

import hta_sql

MODEL = Graph(layers(20), "capture_32_FULL")
STEP = "execute_{0}_context_0(sq0sk0sqsq0sqsk0)_generation_{0}(sq{0}sk99sqsq{0}sqsk99)"


@pytest.mark.parametrize("named", [True, False], ids=["with names", "without names"])
def test_two_batch_sizes(tmp_path, named):
    """The same kernels for 16 and 32 requests; a step of 20 runs the graph for 32."""
    graphs = [Graph(layers(3), "capture_32_FULL"), Graph(layers(3), "capture_16_FULL")]
    replays = [
        whole(0, graphs[0], step=STEP.format(20)),
        whole(1, graphs[1], step=STEP.format(16)),
        whole(0, graphs[0], step=STEP.format(32)),
    ]
    archive = ingested_replays(tmp_path, graphs, replays, named=named)
    assert operators(archive) == truth_of(graphs, replays)


def test_two_batch_sizes_and_a_lost_kernel(tmp_path):
    """The graph for the step's batch counts, also if another one lacks nothing."""
    graphs = [Graph(layers(3), "capture_32_FULL"), Graph(layers(3), "capture_16_FULL")]
    replays = [whole(0, graphs[0], step=STEP.format(32))]
    archive = ingested_replays(tmp_path, graphs, replays, lost=((0, 0),))
    assert operators(archive) == [None, *truth_of(graphs, replays)[1:]]


def test_grids_tell_batch_sizes_apart(tmp_path):
    kernels = layers(2)
    grids = [[[size * node, 1, 1] for node in range(len(kernels))] for size in (1, 2)]
    graphs = [Graph(kernels, grids=grids[0]), Graph(kernels, grids=grids[1])]
    replays = [whole(1, graphs[1], grids=grids[1]), whole(0, graphs[0], grids=grids[0])]
    archive = ingested_replays(tmp_path, graphs, replays)
    assert operators(archive) == truth_of(graphs, replays)


def test_graphs_that_nothing_tells_apart(tmp_path):
    graphs = [Graph(layers(2)), Graph(layers(2))]
    replays = [whole(at, graphs[at], step=STEP.format(5 + at)) for at in (0, 1, 0)]
    archive = ingested_replays(tmp_path, graphs, replays)
    assert set(operators(archive)) == {None}
    with hta_sql.open(archive) as run:
        kinds = "SELECT DISTINCT attributed_by, attribution_confidence FROM gpu_activities"
        assert rows(run, kinds) == [("replay", None)]


def pieces(label: str) -> list[Graph]:
    """A model in pieces: its first and last one differ, the others are alike."""
    layer = layers(1)[2:-2]
    return [
        Graph(["embed"], label),
        *[Graph(layer, label) for _ in range(6)],
        Graph(["norm", "head"], label),
    ]


@pytest.mark.parametrize("named", [True, False], ids=["with names", "without names"])
def test_pieces_in_the_order_of_layers(tmp_path, named):
    graphs = [*pieces("capture_8_PIECEWISE"), *pieces("capture_4_PIECEWISE")]
    count = len(graphs) // 2
    replays = []
    for step, first in ((8, 0), (4, count), (7, 0)):
        replays += [
            whole(first + at, graphs[first + at], step=STEP.format(step)) for at in range(count)
        ]
    archive = ingested_replays(tmp_path, graphs, replays, named=named)
    assert operators(archive) == truth_of(graphs, replays)


def test_pieces_of_a_step_that_the_trace_has_only_in_part(tmp_path):
    """One of six launches that are alike is missing: which one is not known."""
    graphs = pieces("capture_8_PIECEWISE")
    replays = [whole(at, graphs[at], step=STEP.format(8)) for at in (0, 1, 2, 4, 5, 6, 7)]
    found = operators(ingested_replays(tmp_path, graphs, replays))
    truth = truth_of(graphs, replays)
    assert (found[0], found[-2:]) == (truth[0], truth[-2:])
    assert set(found[1:-2]) == {None}


def test_pieces_outside_of_steps(tmp_path):
    """Two launches outside of the steps, as many as graphs, but nothing says that they follow each
    other."""
    graphs = [Graph(layers(1)), Graph(layers(1))]
    replays = [
        whole(0, graphs[0]),
        *(whole(at, graphs[at], step=STEP.format(8)) for at in (0, 1)),
        whole(0, graphs[0]),
    ]
    found = operators(ingested_replays(tmp_path, graphs, replays))
    size = len(graphs[0].kernels)
    assert found[size:-size] == truth_of(graphs, replays)[size:-size]
    assert set(found[:size] + found[-size:]) == {None}


def test_streams_without_names(tmp_path):
    """Kernels on two streams may run in any order, unless their nodes are recorded."""
    replays = [whole(0, MODEL, streams=[7 + at % 2 for at in range(len(MODEL.kernels))])]
    archive = ingested_replays(tmp_path, [MODEL], replays, named=False)
    assert set(operators(archive)) == {None}


def test_streams_with_the_same_kernels(tmp_path):
    """Which of two equal kernels of two streams was recorded first, no name shows. Of other kernels
    it does, also far from each other and on one stream."""
    kernels = ["a", "b", "gemm", "gemm", "c", "c", *[f"k{n}" for n in range(12)], "a", "d"]
    streams = [7, 7, 7, 20, 20, 20, *[7] * 12, 20, 7]
    graph = Graph(kernels)
    replays = [whole(0, graph, streams=streams), whole(0, graph, streams=[7] * len(kernels))]
    found = operators(ingested_replays(tmp_path, [graph], replays))
    wanted = truth_of([graph], replays)
    wanted[2:4] = [None, None]
    assert found == wanted


def test_node_ids_give_the_order(tmp_path):
    order = list(range(len(MODEL.kernels)))
    random.Random(3).shuffle(order)
    replay = Replay(
        0,
        [MODEL.kernels[node] for node in order],
        order,
        streams=[7 + node % 2 for node in order],
        node_ids=[5_000 + node for node in order],
    )
    archive = ingested_replays(tmp_path, [MODEL], [replay], named=False)
    assert operators(archive) == truth_of([MODEL], [replay])
    with hta_sql.open(archive) as run:
        assert rows(run, "SELECT DISTINCT attributed_by FROM gpu_activities") == [("graph node",)]
