"""HTA's graph of a critical path, from the table path_edges of the archive."""

from __future__ import annotations

import json
import zipfile
from collections import defaultdict
from dataclasses import asdict, dataclass
from enum import Enum
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hta_sql.critical_path.graph import longest_path

if TYPE_CHECKING:
    from hta_sql.compat.symbols import SymbolTable
    from hta_sql.compat.trace import Trace
    from hta_sql.compat.windows import Window

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
        t_full: The traces.
        rank: The rank.
        node_list: The CPNode of each number, in order of time. As in HTA, it also has the ends of
            synchronisations, which have no edges.
        nodes: The numbers of the nodes that have edges.
        edges: The edges.
        edge_to_event_map: The event that takes the time of an edge, by pair of nodes.
        critical_path_nodes: The nodes of the path, in order.
        critical_path_edges_set: The edges of the path.
        critical_path_events_set: The events whose start or end is on the path.
    """

    def __init__(self, t: Trace, window: Window, rows: pd.DataFrame) -> None:
        self.t_full, self.rank, self.window = t, window.rank, window
        self._all_rows = rows
        self._rows = rows[rows["edge"].notna()].astype({"source": "int64", "target": "int64"})
        self._fill_nodes()
        self.edges: dict[tuple[int, int], dict[str, Any]] = {}
        self.edge_to_event_map: dict[tuple[int, int], int] = {}
        for row in self._rows.itertuples():
            edge = CPEdge(row.source, row.target, row.us, CPEdgeType(f"critical_path_{row.edge}"))
            self.edges[row.source, row.target] = {"object": edge, "weight": row.us}
            if edge.type in TAKING and pd.notna(row.event_id):
                self.edge_to_event_map[row.source, row.target] = int(row.event_id)
        self.nodes = sorted({node for pair in self.edges for node in pair})
        on_path = self._rows[self._rows["position"] > 0].sort_values("position")
        self._take([tuple(pair) for pair in on_path[["source", "target"]].to_numpy().tolist()])

    @property
    def symbol_table(self) -> SymbolTable:
        """The names and categories of all spans."""
        return self.t_full.symbol_table

    @property
    def full_trace_df(self) -> pd.DataFrame:
        """The data frame of the rank."""
        return self.t_full.get_trace(self.rank)

    @cached_property
    def trace_df(self) -> pd.DataFrame:
        """The rows of the rank's data frame that are events of the graph."""
        rows = self.full_trace_df
        return rows[rows["index"].isin({node.ev_idx for node in self.node_list})].copy()

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
        file = Path(f"{out_dir}.zip").expanduser()
        file.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("window.json", json.dumps(asdict(self.window)))
            packed.writestr("edges.csv", self._all_rows.to_csv(index=False))
        return str(file)

    def _fill_nodes(self) -> None:
        found = self._all_rows.drop_duplicates("source").sort_values("source")
        names = self.symbol_table.decoded(
            self.full_trace_df["name"].reindex(found["source_event_id"])
        )
        self.node_list = [
            CPNode(row.source, int(row.source_event_id), row.source_us, row.is_source_start, wait)
            for row, wait in zip(found.itertuples(), names.isin(BLOCKING), strict=True)
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
