"""Computes a query job by job in workers, and concatenates the results."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hta_sql.archive import Archive
from hta_sql.catalogue.catalog import Catalog
from hta_sql.catalogue.query import Query
from hta_sql.engines.engine import Engine, Share, WorkerDied
from hta_sql.engines.start import start
from hta_sql.errors import BadParameter, HtaSqlError, one_line

if TYPE_CHECKING:
    from hta_sql.places.storage import Place

# Batches per core: enough that no core waits long for the last one, and few enough that small jobs
# share the time that a start takes.
BATCHES_PER_CORE = 4
MOST_JOBS_OF_A_BATCH = 100
# The part of a worker's memory that DuckDB may use; DuckDB does not count all that it allocates.
DUCKDB_MEMORY_FRAC = 0.8


class ByJobs:
    """Answers the queries of an open archive job by job, with an engine.

    With "ray", the engine is the cluster at `address`, or a new one on this machine.
    """

    def __init__(self, engine: str, address: str | None = None):
        self._engine = start(engine, address)

    def answer(self, archive: Archive, query: Query, values: Mapping[str, Any]) -> pa.Table:
        return by_jobs(archive, self._engine, query, values)

    def close(self) -> None:
        self._engine.close()


def by_jobs(archive: Archive, engine: Engine, query: Query, values: Mapping[str, Any]) -> pa.Table:
    """The same rows as the query, in the same order, which begins with the job.

    Raises BadParameter for a query that cannot be computed job by job. Raises HtaSqlError if one
    job fails, since the rows of the other jobs would look like the complete result.
    """
    if not is_by_job(query):
        raise BadParameter(
            f"{query.name} cannot be computed job by job, as an engine does; "
            "call it without an engine"
        )
    events = events_of_jobs(archive, values.get("only_jobs"))
    batches = batches_of(events, engine.cores * BATCHES_PER_CORE)
    work = partial(query_jobs, archive.session.roots, query.name, query.version, dict(values))
    found: dict[tuple[str, ...], pa.Table] = {}
    while batches:
        too_much: list[tuple[str, ...]] = []
        batches.sort(key=lambda jobs: -sum(events[job] for job in jobs))
        for jobs, result in engine.map(work, batches):
            if isinstance(result, WorkerDied) and len(jobs) > 1:
                too_much += [(job,) for job in jobs]
            elif isinstance(result, HtaSqlError) and not isinstance(result, WorkerDied):
                raise result
            elif isinstance(result, Exception):
                raise HtaSqlError(f"{query.name}: job {jobs[0]!r}: {one_line(result)}") from result
            else:
                found[jobs] = result
        batches = too_much
    return pa.concat_tables(found[jobs] for jobs in sorted(found))


def is_by_job(query: Query) -> bool:
    """Whether a job's rows do not depend on other jobs, and the rows are ordered by job.

    Queries that read stored results (tables stored_…) take all jobs together, and are fast.
    """
    has_jobs = any(parameter.name == "only_jobs" for parameter in query.parameters)
    return query.grain[0] == "job" and has_jobs and "stored_" not in query.sql


def events_of_jobs(archive: Archive, only_jobs: Sequence[str] | None) -> dict[str, int]:
    """The number of events of each chosen job in the archive, in order of the jobs."""
    events: dict[str, int] = {}
    for table, count in (("traces", "event_count"), ("attachments", "0"), ("critical_paths", "0")):
        files = [file for source in archive.session.sources for file in source.manifest(table)]
        if files:
            for job, number in archive.session.con.execute(
                f"SELECT job, coalesce(sum({count}), 0)::BIGINT FROM read_parquet($files, "
                "hive_partitioning = false, union_by_name = true) GROUP BY job",
                {"files": files},
            ).fetchall():
                events[job] = events.get(job, 0) + number
    for chosen in (archive.session.only_jobs, only_jobs):
        events = {job: n for job, n in events.items() if chosen is None or job in chosen}
    return dict(sorted(events.items()))


def batches_of(events: Mapping[str, int], count: int) -> list[tuple[str, ...]]:
    """About `count` batches of consecutive jobs, with about the same number of events each.

    A large job is a batch of its own. If there are no jobs, there is one empty batch: its result
    has the columns, but no rows.
    """
    most = sum(events.values()) / count
    batches: list[list[str]] = [[]]
    held = 0
    for job, number in events.items():
        if batches[-1] and (held + number > most or len(batches[-1]) == MOST_JOBS_OF_A_BATCH):
            batches.append([])
            held = 0
        batches[-1].append(job)
        held += number
    return [tuple(batch) for batch in batches]


def query_jobs(
    roots: Sequence[Place],
    name: str,
    version: int,
    values: Mapping[str, Any],
    jobs: tuple[str, ...],
    share: Share,
) -> pa.Table:
    """The rows of a query for these jobs. This runs in a worker."""

    def result_of(jobs: Sequence[str]) -> pa.Table:
        query = Catalog.load().find(name, version)
        return archive.rows_of(query, dict(values) | {"only_jobs": list(jobs)})

    def of_job(job: str) -> pa.Table:
        try:
            return result_of([job])
        except HtaSqlError as error:
            raise HtaSqlError(
                f"{name}: job {job!r}: {str(error).removeprefix(f'{name}: ')}"
            ) from error

    with warnings.catch_warnings(), tempfile.TemporaryDirectory(prefix="hta-sql-") as spill:
        warnings.simplefilter("ignore")  # the caller gets the same warnings
        with Archive(*roots, only_jobs=jobs) as archive:
            limit(archive, share, spill)
            try:
                return result_of(jobs)
            except BadParameter:
                raise
            except HtaSqlError:  # too much memory for one batch, or one of the jobs fails
                return pa.concat_tables([of_job(job) for job in jobs])


def limit(archive: Archive, share: Share, spill: str) -> None:
    """Limit the connection to its share of the machine."""
    for option, value in {
        "threads": share.threads,
        "memory_limit": f"{int(share.memory_bytes * DUCKDB_MEMORY_FRAC) >> 20}MiB",
        "temp_directory": spill,
    }.items():
        archive.session.con.execute(f"SET {option} = '{value}'")
