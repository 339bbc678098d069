"""Critical paths: what bounds a step, on each rank and across ranks, and the what-ifs.

SQL builds the graphs of the ranks (sql/critical_path/rank), joins the ranks (…/job) and applies
each what-if (…/what_if). Python only finds the longest paths, in `graph`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from hta_sql.catalogue.catalog import Catalog
from hta_sql.critical_path.job import FILES, JobGraph, write_job_path, write_what_ifs
from hta_sql.critical_path.ranks import batches, write_ranks
from hta_sql.critical_path.store import Draft, draft
from hta_sql.critical_path.windows import Window, find_windows, path_window
from hta_sql.database.selection import check_selection
from hta_sql.database.sql_files import set_variables
from hta_sql.errors import BadParameter
from hta_sql.version import __version__

if TYPE_CHECKING:
    import duckdb

    from hta_sql.archive import Archive

# The name that PyTorch gives to the annotation of its own DataLoader.
DATA_LOADING = ("enumerate(DataLoader)",)


class ComputedPath(NamedTuple):
    """A window of a job whose critical paths are now in the archive.

    Attributes:
        job: The job.
        path_window: The window, such as "step 3".
        ranks: The ranks whose paths were computed.
        node_count: Nodes of their graphs.
        edge_count: Edges of their graphs.
        left_out_count: Edges that were removed from the graphs, since they close circles.
    """

    job: str
    path_window: str
    ranks: list[int]
    node_count: int
    edge_count: int
    left_out_count: int


def compute_critical_path(
    archive: Archive,
    *,
    step: int | None = None,
    annotation: str | None = None,
    instance: int | tuple[int, int] = 0,
    only_jobs: Iterable[str] | None = None,
    only_ranks: Iterable[int] | None = None,
    data_loading: Iterable[str] = (),
    faster: Mapping[str, float] | None = None,
    progress: Callable[[str, int, int], None] = lambda job, done, total: None,
) -> list[ComputedPath]:
    """Find what bounds a step, an annotation or whole traces, and store it in the archive.

    The queries critical_path, critical_path_summary, critical_path_ranks and what_if read the
    result, until the window is computed again or one of its traces is ingested again. It is a
    method of an open archive, too.

    Args:
        archive: An open archive.
        step: The window is the step with this number, as in profiler_steps.
        annotation: The window is a host annotation whose name contains this text. Without `step`
            and `annotation`, it is the whole trace.
        instance: The number of the annotation on each rank, in order of time, from 0. A pair of
            numbers is a window of several: from the start of the first to the end of the last.
        only_jobs: Jobs to compute. The default is all.
        only_ranks: Ranks to compute. The default is all.
        data_loading: Annotations whose name contains one of these texts count as data loading, like
            those of PyTorch's DataLoader.
        faster: Adds rows to what_if: maps the name of a kernel, operator, call or annotation, or a
            value of `bound_by`, to how many times faster that is.
        progress: Is called with a job, the number of its ranks done, and of its ranks.

    Returns:
        One ComputedPath per job that has the window.

    Raises:
        HtaSqlError: There is no such window.
        BadParameter: An argument is of another type, such as the path of an archive, or `step` and
            `annotation` are both given, or the archive does not have a job or rank.
        ArchiveError: The archive cannot be written.

    Examples:
        >>> run = hta_sql.open("archive")
        >>> run.compute_critical_path(step=3, faster={"aten::mm": 2})
        >>> run.critical_path_summary(only_ranks=[0])
    """
    if isinstance(archive, str | os.PathLike):
        raise BadParameter("compute_critical_path takes an open archive: hta_sql.open(...)")
    archive.session.look_anew()
    if only_jobs is not None:
        only_jobs = [only_jobs] if isinstance(only_jobs, str) else list(only_jobs)
    # This checks the values as queries do, with the same error messages.
    _, chosen = (
        Catalog.load()
        .find("critical_path")
        .call({"only_jobs": only_jobs, "only_ranks": only_ranks})
    )
    check_selection(archive.session, chosen)
    with archive.narrowed(only_jobs):
        label = path_window(step, annotation, instance)
        loading = [*DATA_LOADING, *_names("data_loading", data_loading)]
        faster = _checked(faster or {})
        jobs = find_windows(
            archive, step, annotation, instance, chosen.get("only_jobs"), chosen.get("only_ranks")
        )
        con = archive.session.con
        set_variables(con, path_window=label, path_loading=loading)
        try:
            FILES.run_all(con, "archive")
            return [
                _compute_job(archive, job, windows, label, loading, faster, progress)
                for job, windows in jobs.items()
            ]
        finally:
            FILES.drop_tables(con, "archive", "rank", "job", "output")
            con.execute("DROP TABLE IF EXISTS job_path")
            archive.reload()


def _names(what: str, given: Iterable[str]) -> list[str]:
    names = [given] if isinstance(given, str) else list(given)
    if not all(isinstance(name, str) and name for name in names):
        raise BadParameter(f"{what} is {given!r}; give a list of names or parts of names")
    return names


def _checked(faster: Mapping[str, float]) -> Mapping[str, float]:
    """`faster` itself; raises BadParameter unless it maps names to numbers above 1."""
    is_mapping = isinstance(faster, Mapping)
    if is_mapping:
        _names("faster", faster)
    if not is_mapping or not all(
        isinstance(times, int | float) and 1 < times < float("inf") for times in faster.values()
    ):
        raise BadParameter(
            f"faster is {faster!r}; give a mapping from names to factors, which are above 1"
        )
    return faster


def _compute_job(
    archive: Archive,
    job: str,
    windows: list[Window],
    label: str,
    loading: list[str],
    faster: Mapping[str, float],
    progress: Callable[[str, int, int], None],
) -> ComputedPath:
    """Compute and publish the paths of one job's window."""
    archive.session.look_anew()  # publishing the previous job may have replaced files
    archive.session.load()
    set_variables(archive.session.con, path_job=job)
    row = {
        "path_window": label,
        "ranks": [window.rank for window in windows],
        "trace_ids": [window.trace_id for window in windows],
        "data_loading": loading,
        "hta_sql_version": __version__,
        "computed_at": datetime.now(UTC).replace(tzinfo=None),
    }
    with draft(archive.session.root_of(job), job, archive.session.folder_beside) as new:
        with archive.session.unmoved():
            row |= _write_job(archive.session.con, new, windows, label, faster, progress)
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
    """Write the graphs and paths of a window's ranks and of the job; returns the graph's size."""
    set_variables(con, path_windows=[window._asdict() for window in windows])
    FILES.run(con, "output/begin_job")
    done = left_out_count = 0
    for batch in batches(windows):
        progress(new.job, done, len(windows))
        left_out_count += write_ranks(con, new, batch)
        done += len(batch)
    progress(new.job, done, len(windows))
    [(node_count, edge_count)] = con.execute(
        "SELECT (SELECT count(*) FROM job_nodes), (SELECT count(*) FROM job_rank_edges)"
    ).fetchall()
    FILES.run_all(con, "job")
    for table in ("job_nodes", "job_rank_edges", "job_points"):  # now part of the job's graph
        con.execute(f"DROP TABLE {table}")
    first = windows[0].rank
    graph = JobGraph(con)
    write_job_path(con, graph, new.file("job_path_edges", first))
    write_what_ifs(con, graph, label, faster, new.file("what_if_times", first))
    return {
        "node_count": node_count,
        "edge_count": edge_count,
        "left_out_count": left_out_count + graph.left_out_count,
    }
