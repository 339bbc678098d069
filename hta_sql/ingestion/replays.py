"""Gives the kernels of graph replays the launches that were recorded into the graph.

A replay is of the graph with the same kernels. If several graphs have them, the size of the step's
batch decides, then the grids of the kernels, then the order of the launches in the step: the layers
of a model are often captured as graphs of their own. If that does not decide, no graph counts.
Replays that ran the same kernels are aligned once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np
import pyarrow as pa

from hta_sql.catalogue.root import sql_root
from hta_sql.database.sql_files import SqlFiles
from hta_sql.ingestion.graph_alignment import BY_ORDER, NEARBY, NOBODY, Kernels, Match, align
from hta_sql.ingestion.graph_launches import Graph, numbered, read_graphs
from hta_sql.ingestion.temporary import make_table
from hta_sql.store.row_groups import table_writer

FILES = SqlFiles("ingest")
MACROS = ("steps/annotated_load", "graphs/replayed_id")
# A replay is of a graph only if at least this share of its activities has a launch in the graph.
LEAST_SHARE = 0.5
# The graph for the size of the step's batch counts before others if it has at least this share.
LIKELY_SHARE = 0.9
# Graphs whose launches are compared with a replay that ran something else than any graph.
MOST_COMPARED = 4
# As in replayed_id. Replays and captured operations beyond these numbers have no ids.
CAPTURED_BITS, REPLAY_BITS = 24, 22
FIRST_ID = -(1 << (CAPTURED_BITS + REPLAY_BITS))
REPLAYED = pa.schema(
    [
        ("event_id", pa.int64()),
        ("recorded_id", pa.int64()),
        ("op_id", pa.int64()),
        ("attributed_by", pa.string()),
        ("confidence", pa.float64()),
    ]
)


class Replay(NamedTuple):
    """A graph launch with its activities, in the order of the graph's nodes if it is recorded, else
    in the order in which they ran."""

    row: dict
    event_ids: np.ndarray
    activities: Kernels
    grids: list[str | None]
    by_node: bool
    is_ordered: bool  # on one stream, or by node
    may_swap: np.ndarray  # whether one of the same name runs nearby on another stream

    @property
    def signature(self) -> tuple:
        names, kinds = self.activities
        return names.tobytes(), kinds.tobytes(), self.is_ordered, self.may_swap.tobytes()


def attribute_replays(con: duckdb.DuckDBPyConnection, captured: Path | None, target: Path) -> bool:
    """Make the table `replayed`, with the launch of each activity of a replay, and write the table
    graph_replays; returns whether there is one.

    `captured` is the file of captured_ops; None if there are no graphs.
    """
    make_table(con, "replayed", REPLAYED.empty_table())
    if captured is None:
        return False
    for name in MACROS:
        con.execute((sql_root() / "relations" / f"{name}.sql").read_text())
    names: dict[str, int] = {}
    replays = read_replays(con, names)
    graphs = read_graphs(con, captured, names)
    chosen = choose(replays, graphs)[: 1 << REPLAY_BITS]
    if not chosen:
        return False
    make_table(con, "replayed", pa.concat_tables([rows_of(*item) for item in enumerate(chosen)]))
    rows = [
        replay.row
        | {
            "replay": number,
            "graph": graph.number,
            "activity_count": len(replay.event_ids),
            "attributed_count": match.count,
        }
        for number, (replay, graph, match) in enumerate(chosen)
    ]
    table = pa.Table.from_pylist(rows, GRAPH_REPLAYS)
    with table_writer(target, table.schema) as writer:
        writer.write_table(table)
    return True


GRAPH_REPLAYS = pa.schema(
    [
        *((name, pa.int64()) for name in ("replay", "graph", "activity_count")),
        *((name, pa.int64()) for name in ("attributed_count", "launch_id")),
        ("pid", pa.string()),
        ("tid", pa.string()),
        ("start_ns", pa.int64()),
        ("step", pa.int64()),
        ("depth", pa.int32()),
        *((name, pa.int64()) for name in ("root_id", "op_id", "annotation_id", "module_id")),
    ]
)


def read_replays(con: duckdb.DuckDBPyConnection, names: dict[str, int]) -> list[Replay]:
    rows = con.sql(FILES.text("graphs/replays")).to_arrow_table().to_pylist()
    found = con.sql(FILES.text("graphs/replayed_activities")).to_arrow_table()
    of_launch = found["launch_id"].to_numpy()
    begins = np.flatnonzero(np.diff(of_launch, prepend=-1))
    parts = {
        int(of_launch[begin]): found.slice(begin, end - begin)
        for begin, end in zip(begins, [*begins[1:], len(found)], strict=True)
    }
    return [replay_of(row, parts[row["launch_id"]], names) for row in rows]


def replay_of(row: dict, activities: pa.Table, names: dict[str, int]) -> Replay:
    nodes = activities["graph_node_id"].fill_null(0).to_numpy()
    by_node = bool((nodes > 0).all()) and len(set(nodes.tolist())) == len(nodes)
    if by_node:
        activities = activities.take(pa.array(np.argsort(nodes, kind="stable")))
    of_names = numbered(activities["name"].to_pylist(), names)
    streams = activities["stream"].to_numpy()
    is_ordered = by_node or len(np.unique(streams)) == 1
    return Replay(
        row,
        activities["event_id"].to_numpy(),
        Kernels(of_names, activities["node_kind"].to_numpy(zero_copy_only=False).astype("U6")),
        activities["grid"].to_pylist(),
        by_node,
        is_ordered,
        np.zeros(len(of_names), bool) if is_ordered else may_swap(of_names, streams),
    )


def may_swap(names: np.ndarray, streams: np.ndarray) -> np.ndarray:
    """Whether one of the same name runs nearby on another stream: their order may differ from that
    of the capture, and their names do not show it."""
    found = np.zeros(len(names), bool)
    for distance in range(1, NEARBY + 1):
        same = names[distance:] == names[:-distance]
        same &= streams[distance:] != streams[:-distance]
        found[distance:] |= same
        found[:-distance] |= same
    return found


def choose(replays: list[Replay], graphs: list[Graph]) -> list[tuple[Replay, Graph, Match]]:
    """The graph of each replay whose graph is clear, and how its activities match."""
    sizes = sorted({graph.batch_size for graph in graphs if graph.batch_size is not None})
    fitting: dict[tuple, dict[int, Match]] = {}
    open_choices: dict[tuple, list[tuple[Replay, dict[int, Match]]]] = defaultdict(list)
    chosen: dict[int, tuple[Replay, Graph, Match]] = {}
    for replay in replays:
        size = next((s for s in sizes if s >= (replay.row["batch_size"] or np.inf)), None)
        key = (*replay.signature, size)
        if key not in fitting:
            fitting[key] = fitting_graphs(replay, graphs, size)
        fits = by_grids(replay, fitting[key], graphs)
        if len(fits) == 1:
            [(at, match)] = fits.items()
            chosen[replay.row["launch_id"]] = replay, graphs[at], match
        elif fits and replay.row["step"] is not None:
            open_choices[replay.row["step"], tuple(fits)].append((replay, fits))
    for (_, among), waiting in open_choices.items():
        # As many launches as graphs, perhaps several times: they come in the order of the capture.
        if len(waiting) % len(among) == 0:
            for at, (replay, fits) in enumerate(waiting):
                graph = among[at % len(among)]
                chosen[replay.row["launch_id"]] = replay, graphs[graph], fits[graph]
    return [chosen[r.row["launch_id"]] for r in replays if r.row["launch_id"] in chosen]


def fitting_graphs(replay: Replay, graphs: list[Graph], size: int | None) -> dict[int, Match]:
    """The graphs that fit a replay best, by their place in the list. If those for the size of the
    step's batch fit well or best, they count alone."""
    of_size = [at for at, graph in enumerate(graphs) if graph.batch_size == size is not None]
    best = best_of(replay, graphs, of_size)
    if best and next(iter(best.values())).count >= LIKELY_SHARE * len(replay.event_ids):
        return best
    best = best_of(replay, graphs, range(len(graphs)))
    return {at: best[at] for at in of_size if at in best} or best


def best_of(replay: Replay, graphs: list[Graph], among: Iterable[int]) -> dict[int, Match]:
    """Those among these graphs that match most activities."""
    counts = Counter(replay.activities.names.tolist())
    matches: dict[tuple, Match | None] = {}
    found: dict[int, Match] = {}
    alike = sorted(among, key=lambda at: -likeness(counts, replay, graphs[at].launches))
    for at in alike:
        launches = graphs[at].launches
        key = launches.names.tobytes(), launches.kinds.tobytes()
        if key not in matches:
            if len(matches) == MOST_COMPARED:
                break
            matches[key] = checked(align(replay.activities, launches), replay)
        if match := matches[key]:
            found[at] = match
    most = max((match.count for match in found.values()), default=0)
    return {at: found[at] for at in sorted(found) if found[at].count == most}


def likeness(counts: Counter, replay: Replay, launches: Kernels) -> float:
    """How many launches of a graph have the name of an activity, less those that are too many; of
    launches without a name, how close their number is."""
    known = Counter(launches.names[launches.names != NOBODY].tolist())
    common = (counts & known).total()
    return common - abs(len(launches.names) - len(replay.event_ids))


def checked(match: Match | None, replay: Replay) -> Match | None:
    """The match, if it is of this graph: with enough of its activities. If the activities ran on
    several streams, their order is not known. Matches by order do not count then."""
    if match and not replay.is_ordered:
        is_by_order = (match.confidence == BY_ORDER) | replay.may_swap
        match = match._replace(nodes=np.where(is_by_order, NOBODY, match.nodes))
    return match if match and match.count >= LEAST_SHARE * len(replay.event_ids) else None


def by_grids(replay: Replay, fits: dict[int, Match], graphs: list[Graph]) -> dict[int, Match]:
    """Those with the grids of the replay, if grids are recorded on both sides and any agrees."""
    if len(fits) < 2 or None in replay.grids:
        return fits
    agree = {
        at: match
        for at, match in fits.items()
        if all(
            node == NOBODY or graphs[at].grids[node] in (None, grid)
            for node, grid in zip(match.nodes.tolist(), replay.grids, strict=True)
        )
    }
    return agree or fits


def rows_of(number: int, item: tuple[Replay, Graph, Match]) -> pa.Table:
    """The activities of a replay whose launch is known."""
    replay, graph, match = item
    at = np.flatnonzero(match.nodes != NOBODY)
    nodes = match.nodes[at]
    first = FIRST_ID + (number << CAPTURED_BITS)
    op_ids = graph.op_ids[nodes]
    return pa.table(
        [
            pa.array(replay.event_ids[at]),
            pa.array(first + graph.ids[nodes]),
            pa.array(first + op_ids, mask=op_ids == NOBODY),
            pa.array(["graph node" if replay.by_node else "capture"] * len(at)),
            pa.array(match.confidence[at]),
        ],
        schema=REPLAYED,
    )
