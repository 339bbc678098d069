"""Writes a rank's trace with its critical path, in Chrome's trace format, for Perfetto."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from hta_sql.critical_path.job import FILES
from hta_sql.database.selection import check_selection
from hta_sql.database.sql_files import set_variables
from hta_sql.errors import HtaSqlError
from hta_sql.export.file import check_name, head_of, write_trace
from hta_sql.export.sql import lines, lines_of_events, tables

if TYPE_CHECKING:
    import duckdb

    from hta_sql.archive import Archive


def export_critical_path(
    run: Archive,
    out: Path,
    only_jobs: Iterable[str] | None = None,
    only_ranks: Iterable[int] | None = None,
    only_windows: Iterable[str] | None = None,
    only_critical: bool = False,
    all_edges: bool = False,
    has_track: bool = True,
) -> int:
    """Write the trace of one rank with the path of one window; returns the number of events.

    `all_edges` draws all edges of the graph as arrows. `has_track` draws the path as a track of its
    own. The file is compressed if its name ends in .gz. Raises HtaSqlError if no critical path
    matches `only_jobs`, `only_ranks` and `only_windows`, or more than one. Raises BadParameter if
    the archive does not have one of these jobs or ranks.
    """
    check_name(out)
    job, rank, window = _chosen(run, only_jobs, only_ranks, only_windows)
    con = run.session.con
    head, base_ns = head_of(run, job, rank)
    with tables(run, job, base_ns, export_all=not only_critical):
        set_variables(
            con, path_job=job, path_rank=rank, path_window=window, path_all_edges=all_edges
        )
        FILES.run(con, "output/export_marks")
        if only_critical:
            FILES.run(con, "output/export_selected")
        return write_trace(out, head, _lines(con, rank, has_track))


def _chosen(
    run: Archive,
    jobs: Iterable[str] | None,
    ranks: Iterable[int] | None,
    windows: Iterable[str] | None,
) -> tuple[str, int, str]:
    jobs, ranks = jobs and list(jobs), ranks and list(ranks)
    check_selection(run.session, {"only_jobs": jobs, "only_ranks": ranks})
    found = run.sql(
        """
        SELECT DISTINCT p.job, unnest(p.ranks) AS rank, p.path_window
        FROM critical_paths AS p
        WHERE ($jobs::VARCHAR[] IS NULL OR list_contains($jobs, p.job))
          AND ($windows::VARCHAR[] IS NULL OR list_contains($windows, p.path_window))
        ORDER BY ALL
        """,
        {"jobs": jobs, "windows": windows and list(windows)},
    ).to_pylist()
    chosen = set(ranks) if ranks is not None else None
    paths = [tuple(row.values()) for row in found if chosen is None or row["rank"] in chosen]
    if not paths:
        raise HtaSqlError(
            "the archive has no such critical path; `hta-sql critical-path ARCHIVE` computes it"
        )
    for place, (what, option) in enumerate(
        [("jobs", "jobs"), ("ranks", "ranks"), ("windows", "windows")]
    ):
        values = sorted({path[place] for path in paths})
        if len(values) > 1:
            shown = ", ".join(map(str, values[:6])) + (", …" if len(values) > 6 else "")
            raise HtaSqlError(
                f"{len(values)} {what} have a critical path ({shown}); "
                f"choose one with --only-{option}"
            )
    return paths[0]


def _lines(con: duckdb.DuckDBPyConnection, rank: int, has_track: bool) -> Iterator[list[str]]:
    yield from lines_of_events(con, rank)
    if has_track:
        yield from lines(con, FILES.text("output/export_track"))
    yield from lines(con, FILES.text("output/export_arrows"))
