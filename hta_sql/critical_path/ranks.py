"""The graphs and paths of a job's ranks, computed for several ranks at once."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hta_sql.critical_path.graph import longest_path, without_circles
from hta_sql.critical_path.job import FILES, leave_out
from hta_sql.critical_path.store import Draft
from hta_sql.critical_path.windows import Window
from hta_sql.database.sql_files import set_variables

if TYPE_CHECKING:
    import duckdb

# Planning takes the most time of a small rank, so ranks share statements. Beyond this many events,
# planning no longer matters, but memory does.
MOST_EVENTS = 500_000


def batches(windows: list[Window]) -> Iterator[list[Window]]:
    """The windows in order, as many at once as have few events together, but at least one."""
    batch, count = [], 0
    for window in windows:
        count += window.event_count or 0
        if batch and count > MOST_EVENTS:
            yield batch
            batch, count = [], window.event_count or 0
        batch.append(window)
    yield batch


def write_ranks(con: duckdb.DuckDBPyConnection, new: Draft, windows: list[Window]) -> int:
    """Write the graphs and paths of these ranks, and add the graphs to the job's.

    Returns how many edges were left out, since they close circles.
    """
    set_variables(
        con,
        path_ranks=[window.rank for window in windows],
        path_start_ns=min(window.start_ns for window in windows),
        path_end_ns=max(window.end_ns for window in windows),
    )
    FILES.run_all(con, "rank")
    FILES.run(con, "output/add_ranks")
    FILES.drop_tables(con, "rank")
    paths = list(_find_paths(con))
    wrong = np.concatenate([path.left_out for path in paths])
    leave_out(con, "job_rank_edges", wrong)
    for path in paths:
        _write_path(con, path, new.file("path_edges", path.rank))
    return len(wrong)


class _Path(NamedTuple):
    """The path of a rank: the numbers of its edges, and of the edges that were left out."""

    rank: int
    first_node: int
    edges: np.ndarray
    left_out: np.ndarray


def _find_paths(con: duckdb.DuckDBPyConnection) -> Iterator[_Path]:
    """The path of each rank. The nodes of a rank, and the edges to them, follow each other."""
    of_ranks = "list_contains(getvariable('path_ranks'), rank)"
    nodes = con.execute(
        f"SELECT node, rank, at_ns FROM job_nodes WHERE {of_ranks} ORDER BY node"
    ).fetchnumpy()
    edges = con.execute(
        "SELECT source, target, number, time_ns, edge <> 'order' AS may_be_on_path "
        f"FROM job_rank_edges WHERE {of_ranks} ORDER BY number"
    ).fetchnumpy()
    ranks, first = np.unique(nodes["rank"], return_index=True)
    node_slices = _slices(first, len(nodes["node"]))
    edge_slices = _slices(
        np.searchsorted(edges["target"], nodes["node"][first]), len(edges["number"])
    )
    for rank, of_rank, to_rank in zip(ranks.tolist(), node_slices, edge_slices, strict=True):
        at, first_node = nodes["at_ns"][of_rank], nodes["node"][of_rank][0]
        source, target, number, taken, may_be_on_path = (c[to_rank] for c in edges.values())
        source, target = source - first_node, target - first_node
        keep, places = without_circles(source, target, at)
        usable = np.flatnonzero(keep & may_be_on_path)
        way = longest_path(source[usable], target[usable], taken[usable], at, places)
        yield _Path(rank, int(first_node), number[usable[way]], number[~keep])


def _slices(first: np.ndarray, count: int) -> list[slice]:
    """The parts of an array with this length, by where they begin."""
    return [slice(*ends) for ends in pairwise([*first.tolist(), count])]


def _write_path(con: duckdb.DuckDBPyConnection, path: _Path, file: Path) -> None:
    """Write a rank's graph, with its path."""
    set_variables(con, path_rank=path.rank, path_first_node=path.first_node)
    positions = {"number": path.edges, "position": np.arange(1, len(path.edges) + 1)}
    con.register("path_positions", positions)
    con.sql(FILES.text("output/path_edges")).write_parquet(str(file), compression="zstd")
    con.unregister("path_positions")
