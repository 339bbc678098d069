"""Critical paths: what bounds a step, on each rank and across ranks, and what if that changed.

The graph of each rank is SQL (sql/critical_path/rank), as is what joins the ranks (…/job) and each
"what if" (…/what_if). Only the longest paths are sought here, in `graph`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from hta_sql.catalogue.catalog import Catalog
from hta_sql.critical_path.graph import against_time, longest_path
from hta_sql.critical_path.job import JobGraph, write_job_path, write_what_ifs
from hta_sql.critical_path.sql import drop_tables, run_folder, set_variables, text
from hta_sql.critical_path.store import Draft, draft
from hta_sql.critical_path.windows import Window, find_windows, path_window
from hta_sql.errors import BadParameter
from hta_sql.version import __version__

if TYPE_CHECKING:
    import duckdb

    from hta_sql.archive import Archive

# How PyTorch names the annotation of its own loader.
DATA_LOADING = ("enumerate(DataLoader)",)


class ComputedPath(NamedTuple):
    """A job's window whose paths are now in the archive."""

    job: str
    path_window: str
    ranks: list[int]
    node_count: int
    edge_count: int
    left_out_count: int


def compute_critical_path(
    run: Archive,
    *,
    step: int | None,
    annotation: str | None,
    instance: int,
    only_jobs: Iterable[str] | None,
    only_ranks: Iterable[int] | None,
    data_loading: Iterable[str],
    faster: Mapping[str, float],
    progress: Callable[[str, int, int], None],
) -> list[ComputedPath]:
    """See Archive.compute_critical_path."""
    label = path_window(step, annotation, instance)
    loading = [*DATA_LOADING, *_names("data_loading", data_loading)]
    _check_faster(faster)
    # Of the same types, and in the same words, as those of the queries.
    _, chosen = (
        Catalog.load()
        .find("critical_path")
        .call({"only_jobs": only_jobs, "only_ranks": only_ranks})
    )
    jobs = find_windows(
        run, step, annotation, instance, chosen.get("only_jobs"), chosen.get("only_ranks")
    )
    set_variables(run._con, path_window=label, path_loading=loading)
    try:
        run_folder(run._con, "archive")
        return [
            _compute_job(run, job, windows, label, loading, faster, progress)
            for job, windows in jobs.items()
        ]
    finally:
        drop_tables(run._con)
        run.reload()


def _names(what: str, given: Iterable[str]) -> list[str]:
    names = [given] if isinstance(given, str) else list(given)
    if not all(isinstance(name, str) and name for name in names):
        raise BadParameter(f"{what} is {given!r}; it is a list of parts of names")
    return names


def _check_faster(faster: Mapping[str, float]) -> None:
    """BadParameter unless it maps names to how many times faster they shall be."""
    is_mapping = isinstance(faster, Mapping)
    if is_mapping:
        _names("faster", faster)
    if not is_mapping or not all(
        isinstance(times, int | float) and 1 < times < float("inf") for times in faster.values()
    ):
        raise BadParameter(
            f"faster is {faster!r}; it maps names to how many times faster, more than 1"
        )


def _compute_job(
    run: Archive,
    job: str,
    windows: list[Window],
    label: str,
    loading: list[str],
    faster: Mapping[str, float],
    progress: Callable[[str, int, int], None],
) -> ComputedPath:
    """Find and publish the paths of a job's window."""
    run._look_anew(run._sources)  # the paths of the job before may have taken the place of others
    run._load()
    set_variables(run._con, path_job=job)
    row = {
        "path_window": label,
        "ranks": [window.rank for window in windows],
        "trace_ids": [window.trace_id for window in windows],
        "data_loading": loading,
        "hta_sql_version": __version__,
        "computed_at": datetime.now(UTC).replace(tzinfo=None),
    }
    with draft(run.root_of(job), job) as new:
        with run._unmoved():
            row |= _write_job(run._con, new, windows, label, faster, progress)
        new.publish(row)
    return ComputedPath(job, *(row[name] for name in ComputedPath._fields[1:]))


def _write_job(
    con: duckdb.DuckDBPyConnection,
    new: Draft,
    windows: list[Window],
    label: str,
    faster: Mapping[str, float],
    progress: Callable[[str, int, int], None],
) -> dict[str, int]:
    """Write the graphs and paths of a window's ranks, and of the job; the graph's size."""
    con.execute(text("output/begin_job"))
    node_count = edge_count = left_out_count = 0
    for done, window in enumerate(windows):
        progress(new.job, done, len(windows))
        set_variables(
            con,
            path_rank=window.rank,
            path_start_ns=window.start_ns,
            path_end_ns=window.end_ns,
            path_pid=window.pid,
            path_tid=window.tid,
            path_first_node=node_count,
        )
        run_folder(con, "rank")
        left_out_count += leave_out_circles(con, "path_edge_rows", "path_nodes")
        _write_path(con, new.file("path_edges", window.rank))
        con.execute(text("output/add_rank"))
        [(nodes, edges)] = con.execute(
            "SELECT (SELECT count(*) FROM path_nodes), (SELECT count(*) FROM path_edge_rows)"
        ).fetchall()
        node_count, edge_count = node_count + nodes, edge_count + edges
    progress(new.job, len(windows), len(windows))
    run_folder(con, "job")
    left_out_count += leave_out_circles(con, "job_edges", "job_graph_nodes")
    first = windows[0].rank
    graph = JobGraph(con)
    write_job_path(con, graph, new.file("job_path_edges", first))
    write_what_ifs(con, graph, label, faster, new.file("what_if_times", first))
    return {"node_count": node_count, "edge_count": edge_count, "left_out_count": left_out_count}


def leave_out_circles(con: duckdb.DuckDBPyConnection, edges: str, nodes: str) -> int:
    """Delete edges that close circles, which a graph of causes has none of; how many."""
    at = con.execute(f"SELECT at_ns FROM {nodes} ORDER BY node").fetchnumpy()["at_ns"]
    of = con.execute(f"SELECT number, source, target FROM {edges} ORDER BY number").fetchnumpy()
    wrong = of["number"][against_time(of["source"], of["target"], at)]
    if len(wrong):
        con.execute(f"DELETE FROM {edges} WHERE list_contains(?, number)", [wrong.tolist()])
    return len(wrong)


def _write_path(con: duckdb.DuckDBPyConnection, file: Path) -> None:
    """Find a rank's path, and write it with its graph."""
    at = con.execute("SELECT at_ns FROM path_nodes ORDER BY node").fetchnumpy()["at_ns"]
    edges = con.execute(
        "SELECT number, source, target, time_ns FROM path_edge_rows WHERE edge <> 'order' "
        "ORDER BY number"
    ).fetchnumpy()
    way = longest_path(edges["source"], edges["target"], edges["time_ns"], at)
    positions = {"number": edges["number"][way], "position": np.arange(1, len(way) + 1)}
    con.register("path_positions", pa.table(positions))
    con.sql(text("output/path_edges")).write_parquet(str(file), compression="zstd")
    con.unregister("path_positions")
