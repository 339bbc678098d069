"""The path of a job through its ranks, and what its window would take if something changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hta_sql.catalogue.header import comment_of
from hta_sql.catalogue.root import sql_root
from hta_sql.critical_path.graph import NONE, Replay, way_to
from hta_sql.database.sql_files import SqlFiles, set_variables

if TYPE_CHECKING:
    import duckdb

FILES = SqlFiles("critical_path")
# The kernels that take most of the path are asked about, each so many times faster.
TOP_KERNELS = 3
KERNEL_FACTOR = 2.0


class Scenario(NamedTuple):
    """A file of sql/critical_path/what_if, with what it changes where it needs to be told."""

    name: str
    subject: str | None = None
    factor: float | None = None
    rank: int | None = None


class JobGraph:
    """The nodes and edges of a job's window; those of the table job_edges, in its order."""

    def __init__(self, con: duckdb.DuckDBPyConnection):
        nodes = con.execute("FROM job_graph_nodes ORDER BY node").fetchnumpy()
        edges = con.execute(
            "SELECT number, source, target, delay_ns FROM job_edges ORDER BY number"
        ).fetchnumpy()
        self.at, self.source, self.target = nodes["at_ns"], edges["source"], edges["target"]
        self.delay, self.number = edges["delay_ns"], edges["number"]
        lane, is_start = nodes["lane"], nodes["is_start"]
        self._ends = {of: np.flatnonzero((lane == of) & ~is_start) for of in ("window", "device")}
        starts = np.flatnonzero((lane == "window") & is_start)
        devices = np.flatnonzero((lane == "device") & is_start)
        ranks = nodes["rank"].filled(NONE) if np.ma.isMaskedArray(nodes["rank"]) else nodes["rank"]
        by_rank = np.lexsort((self.at[devices], ranks[devices]))
        first_of_rank = np.unique(ranks[devices][by_rank], return_index=True)[1]
        began = {"window": starts, "device": devices[by_rank][first_of_rank]}
        self._began_ns = {
            of: int(self.at[nodes].max()) for of, nodes in began.items() if len(nodes)
        }
        # Windows begin when they began; so does a node whose edges all closed a circle.
        unreached = np.setdiff1d(np.arange(len(self.at)), self.target)
        self._replay = Replay(
            self.source,
            self.target,
            {int(node): int(self.at[node]) for node in unreached},
            len(self.at),
        )

    def last(self, at: np.ndarray) -> tuple[int, int]:
        """When the window begins, and the node that ends it, if nodes come `at` then.

        It lasts on the host, from when the last rank began it until the last one has ended it. If
        that is longer, on the devices, from when the last rank's began until all is done: where
        the host is far ahead, steps follow each other there. Both began when they did in the
        trace, since earlier windows are as they were.
        """
        spans = []
        for lane, ends in self._ends.items():
            if len(ends):
                end = int(ends[np.argmax(at[ends])])
                spans.append((self._began_ns[lane], end))
        return max(spans, key=lambda span: at[span[1]] - span[0])

    def lasts_ns(self, delay: np.ndarray) -> int:
        """How long the window lasts, with other delays."""
        at = self._replay.times(delay)
        began_ns, end = self.last(at)
        return int(at[end]) - began_ns

    def path(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The edges by which the last node came when it did, and when each begins and ends.

        Back through what each node waited for: the source which, with its delay, came last; of
        several the last to come itself. So it goes from when the window begins to its end, without
        a gap, also where clocks that disagree make a node come before what it waited for.
        """
        came = self.at[self.source]
        by_target = np.lexsort((came, came + self.delay, self.target))
        ends = np.flatnonzero(np.diff(self.target[by_target], append=NONE))
        through = np.full(len(self.at), NONE)
        through[self.target[by_target[ends]]] = by_target[ends]
        began_ns, end = self.last(self.at)
        way = way_to(end, self.source, through)
        until = np.clip(np.maximum.accumulate(self.at[self.target[way]]), began_ns, self.at[end])
        since = np.concatenate([np.full(min(1, len(way)), began_ns), until[:-1]])
        shown = np.flatnonzero(self.at[self.target[way]] >= began_ns)
        return way[shown], since[shown], until[shown]


def write_job_path(con: duckdb.DuckDBPyConnection, graph: JobGraph, file: Path) -> None:
    """Write the job's path, and keep it as the table job_path."""
    way, since, until = graph.path()
    positions = pa.table(
        {
            "number": graph.number[way],
            "position": np.arange(1, len(way) + 1),
            "start_ns": since,
            "time_ns": until - since,
        }
    )
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
    """Write how long the window would last under each assumption."""
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
    """What is asked of every job, what of this one, and what the user asks."""
    yield Scenario("communication_at_median")
    yield Scenario("communication_hidden")
    yield Scenario("launch_overhead_gone")
    yield Scenario("data_loading_gone")
    ranks = con.execute(
        "SELECT rank, rank::VARCHAR FROM job_path WHERE bound_by <> 'gpu_communication_bound' "
        "AND (SELECT count(DISTINCT rank) FROM job_nodes) > 1 "
        "GROUP BY rank ORDER BY sum(time_ns) DESC, rank LIMIT 1"
    ).fetchall()
    for rank, name in ranks:
        yield Scenario("rank_as_median", f"rank {name}", rank=rank)
    kernels = con.execute(
        "SELECT e.short_name FROM job_path AS p "
        "JOIN job_edges AS e ON e.rank = p.rank AND e.event_id = p.event_id AND e.edge = p.edge "
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
