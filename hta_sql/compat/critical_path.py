"""HTA's graph of a critical path, from the table path_edges of the archive."""

from __future__ import annotations

import json
import zipfile
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import Enum
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hta_sql.compat.given import number
from hta_sql.compat.trace import FILES
from hta_sql.critical_path.graph import longest_path
from hta_sql.critical_path.windows import path_window
from hta_sql.errors import BadParameter, HtaSqlError
from hta_sql.export.critical_path import export_critical_path

if TYPE_CHECKING:
    from hta_sql.compat.trace import Trace

# Calls that wait for the device.
BLOCKING = {
    "cudaDeviceSynchronize",
    "cudaStreamSynchronize",
    "cudaEventQuery",
    "cudaEventSynchronize",
    "cudaMemcpy",
    "cudaMemcpyAsync",
}


class CPEdgeType(Enum):
    """What an edge of the graph stands for."""

    OPERATOR_KERNEL = "critical_path_operator"
    DEPENDENCY = "critical_path_dependency"
    KERNEL_LAUNCH_DELAY = "critical_path_kernel_launch_delay"
    KERNEL_KERNEL_DELAY = "critical_path_kernel_kernel_delay"
    SYNC_DEPENDENCY = "critical_path_sync_dependency"


# The edges whose time an event takes.
TAKING = (CPEdgeType.OPERATOR_KERNEL, CPEdgeType.KERNEL_KERNEL_DELAY)


@dataclass(frozen=True)
class CPEdge:
    """An edge between two nodes; `weight` is the time that it takes on a path, in µs."""

    begin: int
    end: int
    weight: float = 0
    type: CPEdgeType = CPEdgeType.OPERATOR_KERNEL


@dataclass(frozen=True)
class CPNode:
    """The start or the end of an event; `ts` is in µs."""

    idx: int
    ev_idx: int
    ts: float
    is_start: bool
    is_blocking: bool = False


class CPGraph:
    """The graph of a rank and window, with its critical path.

    It has the methods of HTA's CPGraph. It is no networkx graph: `nodes` is a list of numbers, and
    `edges` maps pairs of nodes to {"object": CPEdge, "weight": µs}.

    Attributes:
        node_list: The CPNode of each node.
        edges: The edges.
        edge_to_event_map: The event that takes the time of an edge, by pair of nodes.
        critical_path_nodes: The nodes of the path, in order.
        critical_path_edges_set: The edges of the path.
        critical_path_events_set: The events whose start or end is on the path.
    """

    def __init__(self, t: Trace, window: Window, rows: pd.DataFrame) -> None:
        self.t_full, self.rank, self.window = t, window.rank, window
        self._rows = rows
        self._fill_nodes()
        self.edges: dict[tuple[int, int], dict[str, Any]] = {}
        self.edge_to_event_map: dict[tuple[int, int], int] = {}
        for row in rows.itertuples():
            edge = CPEdge(row.source, row.target, row.us, CPEdgeType(f"critical_path_{row.edge}"))
            self.edges[row.source, row.target] = {"object": edge, "weight": row.us}
            if edge.type in TAKING and pd.notna(row.event_id):
                self.edge_to_event_map[row.source, row.target] = int(row.event_id)
        on_path = rows[rows["position"] > 0].sort_values("position")
        self._take([tuple(pair) for pair in on_path[["source", "target"]].to_numpy().tolist()])

    @property
    def nodes(self) -> list[int]:
        """The numbers of all nodes."""
        return list(range(len(self.node_list)))

    def get_nodes_for_event(self, ev_id: int) -> tuple[CPNode | None, CPNode | None]:
        """The nodes of an event's start and end."""
        return self._of_event.get((ev_id, True)), self._of_event.get((ev_id, False))

    def get_events_for_edge(self, edge: CPEdge) -> tuple[int, int]:
        """The events at the two ends of an edge."""
        return self.node_list[edge.begin].ev_idx, self.node_list[edge.end].ev_idx

    def get_event_attribution_for_edge(self, edge: CPEdge) -> int | None:
        """The event that takes the time of an edge, if the edge is of an operator or kernel."""
        return self.edge_to_event_map.get((edge.begin, edge.end))

    def get_edges_attributed_to_event(self, ev_idx: int) -> list[CPEdge]:
        """The edges whose time an event takes."""
        return self._edges_of_event[ev_idx]

    def critical_path(self) -> bool:
        """Find the path again, by the weights in `edges`; returns True."""
        pairs = np.array(list(self.edges), dtype=np.int64).reshape(-1, 2)
        taken = [round(1000 * edge["weight"]) for edge in self.edges.values()]
        at = np.array([round(1000 * node.ts) for node in self.node_list], dtype=np.int64)
        way = longest_path(pairs[:, 0], pairs[:, 1], np.array(taken, dtype=np.int64), at)
        self._take([tuple(pair) for pair in pairs[way].tolist()])
        return True

    def get_critical_path_breakdown(self) -> pd.DataFrame:
        """One row per edge of the path, in order, with the event that takes its time, in µs."""
        rows = self._rows.set_index(["source", "target"]).loc[self._path].reset_index()
        found = pd.DataFrame({"event_idx": rows["event_id"], "duration": rows["us"]})
        found["type"] = "critical_path_" + rows["edge"]
        events = self.t_full.get_trace(self.rank)
        events = events.reindex(found["event_idx"].fillna(-1).astype("int64"))
        self.t_full.decode(events)
        for column in ("s_name", "cat", "pid", "tid", "stream", "index"):
            found[column] = events[column].to_numpy()
        found["bound_by"] = rows["bound_by"].fillna("")
        return found

    def summary(self) -> pd.Series:
        """The percentage of the path's time by what bounds it."""
        rows = self.get_critical_path_breakdown()
        print("Critical Path broken down by boundedness = (in % of duration)")
        return rows.groupby("bound_by")["duration"].sum() / rows["duration"].sum() * 100

    def show_critical_path(self) -> None:
        """Print the events of the path."""
        print(self.get_critical_path_breakdown().to_string())

    def save(self, out_dir: str | PathLike[str]) -> str:
        """Write the graph to the file `out_dir`.zip; returns its path."""
        file = Path(f"{out_dir}.zip")
        file.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("window.json", json.dumps(asdict(self.window)))
            packed.writestr("edges.csv", self._rows.to_csv(index=False))
        return str(file)

    def _fill_nodes(self) -> None:
        ends = []
        for end in ("source", "target"):
            part = self._rows[[end, f"{end}_event_id", f"is_{end}_start", f"{end}_us"]]
            ends.append(part.set_axis(["node", "ev_idx", "is_start", "ts"], axis=1))
        found = pd.concat(ends).drop_duplicates("node").sort_values("node")
        names = self.t_full.symbol_table.decoded(
            self.t_full.get_trace(self.rank)["name"].reindex(found["ev_idx"])
        )
        self.node_list = [
            CPNode(node, int(ev_idx), ts, bool(is_start), name in BLOCKING)
            for (node, ev_idx, is_start, ts), name in zip(
                found.itertuples(index=False), names, strict=True
            )
        ]
        self._of_event = {(node.ev_idx, node.is_start): node for node in self.node_list}

    def _take(self, path: list[tuple[int, int]]) -> None:
        self._path = path
        self.critical_path_nodes = [path[0][0], *(end for _, end in path)] if path else []
        self.critical_path_edges_set = {self.edges[pair]["object"] for pair in path}
        self.critical_path_events_set = {
            self.node_list[node].ev_idx for node in self.critical_path_nodes
        }

    @cached_property
    def _edges_of_event(self) -> dict[int, list[CPEdge]]:
        found = defaultdict(list)
        for pair, event in self.edge_to_event_map.items():
            found[event].append(self.edges[pair]["object"])
        return found


@dataclass(frozen=True)
class Window:
    """What a graph was asked for: as the arguments of compute_critical_path."""

    rank: int
    annotation: str | None
    instance: int
    data_loading: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the window in the archive."""
        return path_window(None, self.annotation, self.instance)

    def compute(self, t: Trace) -> None:
        """Compute the path, and store it in the archive."""
        t.recorded.compute_critical_path(
            annotation=self.annotation,
            instance=self.instance,
            only_ranks=[self.rank],
            data_loading=self.data_loading,
        )


def compute_path(
    t: Trace, rank: int, annotation: str, instance: int | None, data_loading: Iterable[str]
) -> CPGraph:
    """Compute the critical path of a window of a rank.

    Raises HtaSqlError if there is no such annotation, and BadParameter for a range of instances.
    """
    if isinstance(instance, tuple):
        raise BadParameter(f"instance_id is {instance!r}; give one number, not a range")
    at = 0 if instance is None else number("instance_id", instance)
    window = Window(t.rank(rank), annotation or None, at if annotation else 0, tuple(data_loading))
    window.compute(t)
    given = {
        "rank": window.rank,
        "window": window.name,
        "first_ns": t.frame("first")["first_ns"].item(),
    }
    return CPGraph(t, window, t.recorded.sql(FILES.text("frames/path"), given).to_pandas())


def overlay_path(
    t: Trace, graph: CPGraph, output_dir: str | PathLike[str], only_critical: bool
) -> str:
    """Write the rank's trace with the path; returns the path of the file."""
    window = graph.window
    stored = "SELECT 1 FROM critical_paths WHERE path_window = $window AND $rank IN ranks"
    if not t.recorded.sql(stored, {"window": window.name, "rank": window.rank}).num_rows:
        window.compute(t)  # another rank's path has taken its place
    folder = Path(output_dir)
    folder.mkdir(parents=True, exist_ok=True)
    out = folder / f"overlaid_critical_path_{t.trace_files[window.rank].name}"
    export_critical_path(
        t.recorded,
        out,
        only_ranks=[window.rank],
        only_windows=[window.name],
        only_critical=only_critical,
    )
    return str(out)


def restore_cpgraph(zip_filename: str | PathLike[str], t_full: Trace, rank: int) -> CPGraph:
    """The graph of a rank that CPGraph.save wrote."""
    try:
        with zipfile.ZipFile(zip_filename) as packed:
            asked = json.loads(packed.read("window.json"))
            with packed.open("edges.csv") as file:
                rows = pd.read_csv(file)
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise HtaSqlError(f"{zip_filename}: no saved graph can be read here: {error}") from error
    asked["data_loading"] = tuple(asked["data_loading"])
    return CPGraph(t_full, Window(**asked | {"rank": t_full.rank(rank)}), rows)
