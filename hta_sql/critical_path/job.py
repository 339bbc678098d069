"""The path of a job through its ranks, and how long its window would take in each what-if."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hta_sql.catalogue.header import comment_of
from hta_sql.catalogue.root import sql_root
from hta_sql.critical_path.graph import NEVER, NONE, Replay, without_circles
from hta_sql.database.sql_files import SqlFiles, set_variables

if TYPE_CHECKING:
    import duckdb

FILES = SqlFiles("critical_path")
# The what-ifs include this many kernels, those with the most time on the path, at this factor.
TOP_KERNELS = 3
KERNEL_FACTOR = 2.0


class Scenario(NamedTuple):
    """A what-if: the name of a file in sql/critical_path/what_if, and the values that it reads."""

    name: str
    subject: str | None = None
    factor: float | None = None
    rank: int | None = None


class JobGraph:
    """The nodes and edges of a job's window, with the edges in the order of table job_edges."""

    def __init__(self, con: duckdb.DuckDBPyConnection):
        """Reads the graph, and deletes from job_edges the edges that close circles."""
        nodes = con.execute(
            "SELECT at_ns, lane = 'window' AS window, lane = 'device' AS device, is_start, "
            f"coalesce(not_before_ns, {NEVER}) AS not_before_ns FROM job_graph_nodes ORDER BY node"
        ).fetchnumpy()
        self.at, is_start = nodes["at_ns"], nodes["is_start"]
        places = self._read_edges(con)
        self._ends = {of: np.flatnonzero(nodes[of] & ~is_start) for of in ("window", "device")}
        began = {
            "window": self.at[nodes["window"] & is_start],
            "device": nodes["not_before_ns"][nodes["device"] & is_start],
        }
        self._began_ns = {of: int(at.max()) for of, at in began.items() if len(at)}
        # In a replay, no activity begins before its rank's devices can work for the window. Nodes
        # that no edge leads to keep their time: where the window begins, and nodes whose edges all
        # closed a circle.
        unreached = np.bincount(self.target, minlength=len(self.at)) == 0
        earliest = np.where(unreached, self.at, nodes["not_before_ns"])
        self._replay = Replay(self.source, self.target, earliest, places)

    def _read_edges(self, con: duckdb.DuckDBPyConnection) -> np.ndarray:
        """The edges without those that close circles; returns the nodes' places in their order."""
        edges = con.execute(
            "SELECT number, source, target, delay_ns FROM job_edges ORDER BY number"
        ).fetchnumpy()
        keep, places = without_circles(edges["source"], edges["target"], self.at)
        self.left_out_count = int((~keep).sum())
        if self.left_out_count:  # else the arrays stay: copies take the memory of the whole graph
            leave_out(con, "job_edges", edges["number"][~keep])
            edges = {name: column[keep] for name, column in edges.items()}
        self.number, self.source, self.target, self.delay = edges.values()
        return places

    def last(self, at: np.ndarray) -> tuple[int, int, int]:
        """When the window begins and ends, and the node that ends it, if the nodes come at `at`.

        On the host, a window lasts from when the last rank begins it until the last rank ends it.
        On the devices, it lasts from when the devices of the last rank can work for it until all
        devices are done. The longer one counts: if the host is far ahead, steps follow each other
        on the devices. Both begin as in the trace, since earlier windows do not change.
        """
        spans = []
        for lane, ends in self._ends.items():
            if len(ends):
                end = int(ends[np.argmax(at[ends])])
                spans.append((self._began_ns[lane], int(at[end]), end))
        return max(spans, key=lambda span: span[1] - span[0])

    def lasts_ns(self, delay: np.ndarray) -> int:
        """How long the window lasts, with these delays."""
        began_ns, ended_ns, _ = self.last(self._replay.times(delay))
        return ended_ns - began_ns

    def path(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The edges of the path that ends the window, and when each begins and ends.

        The path goes back from the last node, always to the source that came last, with its delay
        added. If several sources are equal, it goes to the one that itself came last. So the path
        covers the window from its begin to its end without a gap, even if clocks disagree and a
        node comes before what it waited for.
        """
        chains = self._replay.chains
        edges = chains.to_heads  # all other nodes have one source
        target = self.target[edges]
        came = self.at[self.source[edges]]
        by_target = np.lexsort((came, came + self.delay[edges], target))
        last = by_target[np.flatnonzero(np.diff(target[by_target], append=NONE))]
        through = np.full(len(chains.heads), NONE)
        through[chains.chain[target[last]]] = edges[last]
        began_ns, _, end = self.last(self.at)
        way = chains.way_to(end, through)
        until = np.clip(np.maximum.accumulate(self.at[self.target[way]]), began_ns, self.at[end])
        since = np.concatenate([np.full(min(1, len(way)), began_ns), until[:-1]])
        shown = np.flatnonzero(self.at[self.target[way]] >= began_ns)
        return way[shown], since[shown], until[shown]


def leave_out(con: duckdb.DuckDBPyConnection, edges: str, numbers: np.ndarray) -> None:
    """Delete the edges with these numbers from a table."""
    if len(numbers):
        con.execute(f"DELETE FROM {edges} WHERE list_contains(?, number)", [numbers.tolist()])


def write_job_path(con: duckdb.DuckDBPyConnection, graph: JobGraph, file: Path) -> None:
    """Write the job's path to a file, and to the table job_path."""
    way, since, until = graph.path()
    positions = {
        "number": graph.number[way],
        "position": np.arange(1, len(way) + 1),
        "start_ns": since,
        "time_ns": until - since,
    }
    con.register("path_positions", positions)
    con.execute(f"CREATE OR REPLACE TEMP TABLE job_path AS {FILES.text('output/job_path_edges')}")
    con.unregister("path_positions")
    con.sql("FROM job_path").write_parquet(str(file), compression="zstd")


def write_what_ifs(
    con: duckdb.DuckDBPyConnection,
    graph: JobGraph,
    label: str,
    faster: Mapping[str, float],
    file: Path,
) -> None:
    """Write how long the window would last in each what-if."""
    step_ns = graph.lasts_ns(graph.delay)
    rows = []
    for scenario in scenarios(con, faster):
        set_variables(
            con,
            what_if_rank=scenario.rank,
            what_if_subject=scenario.subject,
            what_if_factor=scenario.factor,
        )
        changed = FILES.run(con, f"what_if/{scenario.name}").fetchnumpy()
        delay = graph.delay.copy()
        at = np.searchsorted(graph.number, changed["number"])
        delay[at] = np.minimum(delay[at], changed["delay_ns"])
        rows.append(
            {
                "path_window": label,
                "scenario": scenario.name,
                "subject": scenario.subject,
                "factor": scenario.factor,
                "edge_count": len(changed["number"]),
                "step_ns": step_ns,
                "new_step_ns": graph.lasts_ns(delay),
                "method": comment_of(sql_root() / "critical_path/what_if" / f"{scenario.name}.sql"),
            }
        )
    pq.write_table(pa.Table.from_pylist(rows, schema=WHAT_IFS), file)


def scenarios(con: duckdb.DuckDBPyConnection, faster: Mapping[str, float]) -> Iterator[Scenario]:
    """The what-ifs of every job, of this job's slowest rank and top kernels, and of the user."""
    yield Scenario("communication_at_median")
    yield Scenario("communication_hidden")
    yield Scenario("launch_overhead_gone")
    yield Scenario("data_loading_gone")
    ranks = con.execute(
        "SELECT rank, rank::VARCHAR FROM job_path WHERE bound_by <> 'gpu_communication_bound' "
        "AND (SELECT count(DISTINCT rank) FROM job_graph_nodes) > 1 "
        "GROUP BY rank ORDER BY sum(time_ns) DESC, rank LIMIT 1"
    ).fetchall()
    for rank, name in ranks:
        yield Scenario("rank_as_median", f"rank {name}", rank=rank)
    kernels = con.execute(
        "SELECT e.short_name FROM job_path AS p "
        "JOIN job_events AS e ON e.rank = p.rank AND e.event_id = p.event_id "
        "WHERE p.edge = 'operator' AND p.bound_by = 'gpu_compute_bound' "
        f"GROUP BY ALL ORDER BY sum(p.time_ns) DESC, e.short_name LIMIT {TOP_KERNELS}"
    ).fetchall()
    asked = {name: KERNEL_FACTOR for (name,) in kernels} | dict(faster)
    for name, factor in asked.items():
        yield Scenario("faster", name, float(factor))


WHAT_IFS = pa.schema(
    [
        ("path_window", pa.string()),
        ("scenario", pa.string()),
        ("subject", pa.string()),
        ("factor", pa.float64()),
        ("edge_count", pa.int64()),
        ("step_ns", pa.int64()),
        ("new_step_ns", pa.int64()),
        ("method", pa.string()),
    ]
)
