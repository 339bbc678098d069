"""Stores results of queries on single jobs in the archive, for queries on all jobs.

A query or relation is stored if sql/tables has a table `stored_<name>`. Jobs are computed in
batches. Each batch writes one Parquet file per query, and then the rows of stored_results that name
the file.
"""

from __future__ import annotations

import uuid
import warnings
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from hta_sql.archive import Archive
from hta_sql.catalogue.catalog import Catalog
from hta_sql.database.roots import archive_root
from hta_sql.database.shell_database import write_database
from hta_sql.database.stored_results import jobs_without_results
from hta_sql.engines.engine import Engine, Share
from hta_sql.engines.machine import memory_limit
from hta_sql.engines.start import start
from hta_sql.errors import ArchiveError, HtaSqlError, is_interrupt, one_line
from hta_sql.fleet.result_files import merge_small_files, publish, put_result, remove_unnamed
from hta_sql.places.storage import absolute, is_remote
from hta_sql.show.progress import notebook_progress
from hta_sql.store.jobs import check_jobs
from hta_sql.store.staging import clean_up, in_use, is_left, staging_of, writing
from hta_sql.version import __version__

if TYPE_CHECKING:
    from os import PathLike

    from hta_sql.places.storage import Place

# The limits of a batch of several jobs. They share the time that opening the archive takes, and
# what queries share is kept in memory for all of them: about 0.7 GB.
MOST_EVENTS = 800_000
MOST_JOBS = 64
# The memory that DuckDB may use before it writes to disk, and that of a whole worker.
MEMORY_BYTES = 10**9
WORKER_BYTES = 3 << 29


@dataclass(frozen=True)
class Batch:
    """Jobs of an archive, and the queries whose results are to be stored for them."""

    archive: str
    jobs: tuple[str, ...]
    queries: tuple[str, ...]


@dataclass(frozen=True)
class Computed:
    """The outcome of a batch: rows of stored_results whose files are written, and (job, reason)
    for each job that failed."""

    rows: list[dict] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)

    def __add__(self, other: Computed) -> Computed:
        return Computed(self.rows + other.rows, self.failed + other.failed)


@dataclass(frozen=True)
class Materialized:
    """What `materialize` did.

    Attributes:
        jobs: The jobs whose results were stored.
        failed: (job, reason) for each job that failed.
    """

    jobs: list[str]
    failed: list[tuple[str, str]]


def materialize(
    archive: Archive | str | PathLike[str] | Place,
    *,
    only_jobs: Iterable[str] | None = None,
    force: bool = False,
    engine: str = "local",
    address: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Materialized:
    """Store results of each job in the archive, for queries on all jobs such as fleet_summary.

    It computes results that are missing, and those of jobs with a trace that was ingested again.
    A job that fails does not stop the others. It is a method of an open archive, too.

    Args:
        archive: The archive: open, or a folder or URL.
        only_jobs: Jobs to compute. The default is all.
        force: Computes all results again.
        engine: "local", or "ray" for tasks on a Ray cluster.
        address: The cluster's address. The default is $RAY_ADDRESS, or a cluster started here.
        progress: Is called with the number of jobs done and the number of jobs. The default shows
            them in a notebook, and nothing elsewhere.

    Returns:
        Materialized, with the jobs done and those that failed.

    Raises:
        ArchiveError: The archive cannot be written, or does not have one of `only_jobs`.

    Examples:
        >>> hta_sql.materialize("archive").failed
        []
    """
    progress = progress or notebook_progress("materialize", "job_count", " jobs")
    if not isinstance(archive, Archive):
        return store_results(
            archive_root(archive), only_jobs, force, start(engine, address), progress
        )
    chosen = archive.session.chosen(only_jobs)
    stored, failed = [], []
    for root in archive.session.roots:
        done = store_results(root, chosen, force, start(engine, address), progress)
        stored += done.jobs
        failed += done.failed
    archive.reload()
    return Materialized(stored, failed)


def store_results(
    root: Place,
    only_jobs: Iterable[str] | None,
    force: bool,
    working: Engine,
    progress: Callable[[int, int], None],
) -> Materialized:
    """The same for one archive. Closes the engine at the end."""
    if only_jobs is not None:
        only_jobs = check_jobs(root, [only_jobs] if isinstance(only_jobs, str) else only_jobs)
    stored: list[str] = []
    failed: list[tuple[str, str]] = []
    try:
        remove_unnamed(root)
        batches = list(batches_of(root, only_jobs, force))
        total = sum(len(batch.jobs) for batch in batches)
        progress(0, total)
        # An archive that cannot be written is one error, not one per job.
        with writing(root) if batches or is_left(root) else nullcontext(), working:
            try:
                for batch, computed in working.map(
                    compute_share, batches, memory_bytes=WORKER_BYTES
                ):
                    if isinstance(computed, Exception):
                        failures = [(job, one_line(computed)) for job in batch.jobs]
                        computed = Computed(failed=failures)
                    publish(root, computed.rows)
                    failed += computed.failed
                    stored += sorted({row["job"] for row in computed.rows})
                    progress(len(stored) + len(failed), total)
                merge_small_files(root)
            finally:
                if stored and not is_remote(root):
                    write_database(root)  # shells then read what is stored
        if stored:
            clean_up(root)  # the files of results that were replaced
    except OSError as error:
        raise ArchiveError(
            f"{root}: results are stored in the archive, which cannot be written: "
            f"{error.strerror or one_line(error)}"
        ) from error
    return Materialized(sorted(stored), failed)


def batches_of(
    root: Place, only_jobs: Collection[str] | None = None, force: bool = False
) -> Iterator[Batch]:
    """Batches of jobs that lack results of the same queries, up to the limits of a batch."""
    missing: defaultdict[str, list[str]] = defaultdict(list)
    sizes: dict[str, int] = {}
    with opened(root, only_jobs) as archive:
        for name, macro in Catalog.load().stored.items():
            for row in jobs_without_results(archive.session, "" if force else macro):
                missing[row["job"]].append(name)
                sizes[row["job"]] = row["event_count"] or 0
    alike: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for job, queries in sorted(missing.items()):
        alike[tuple(queries)].append(job)
    for queries, jobs in alike.items():
        batch: list[str] = []
        event_count = 0
        for job in jobs:
            event_count += sizes[job]
            if batch and (len(batch) == MOST_JOBS or event_count > MOST_EVENTS):
                yield Batch(str(root), tuple(batch), queries)
                batch, event_count = [], sizes[job]
            batch.append(job)
        yield Batch(str(root), tuple(batch), queries)


def opened(root: Place, only_jobs: Collection[str] | None) -> Archive:
    """The archive, opened without warnings: queries that read the results give the warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Archive(root, only_jobs=only_jobs)


def compute_share(batch: Batch, share: Share) -> Computed:
    """Compute a batch in a worker, with the threads of its share."""
    return compute(batch, share.threads)


def compute(batch: Batch, threads: int) -> Computed:
    """Compute a batch and write its files. If a job fails, only this job has no results."""
    try:
        return Computed(results_of(batch, threads))
    except (HtaSqlError, duckdb.Error, pa.ArrowException) as error:
        if is_interrupt(error):
            raise KeyboardInterrupt from error
        if len(batch.jobs) == 1:
            return Computed(failed=[(batch.jobs[0], one_line(error))])
    middle = len(batch.jobs) // 2
    halves = batch.jobs[:middle], batch.jobs[middle:]
    first, second = (compute(Batch(batch.archive, jobs, batch.queries), threads) for jobs in halves)
    return first + second


def results_of(batch: Batch, threads: int) -> list[dict]:
    """Write the files of a batch; returns its rows of stored_results. All results, or none."""
    root = absolute(batch.archive)
    file_id = uuid.uuid4().hex[:16]
    with in_use(staging := staging_of(root)), opened(root, batch.jobs) as archive:
        archive.session.threads.allow(threads)
        memory_bytes = min(MEMORY_BYTES, memory_limit() or MEMORY_BYTES)
        archive.session.con.execute(f"SET memory_limit = '{memory_bytes}B'")
        archive.session.con.execute("SET temp_directory = $1", [str(staging / "spill")])
        # Each query reads the files of the batch several times, and the files never change.
        archive.session.con.execute("SET parquet_metadata_cache = true")
        archive.session.most_events = MOST_EVENTS
        before = hashes(archive)
        macros = Catalog.load().stored
        results = {name: computed(archive, name) for name in batch.queries}
        # If a trace of a job was ingested again in the meantime, the next call computes the job.
        steady = [job for job, traces in hashes(archive).items() if before.get(job) == traces]
        rows = []
        for name, table in results.items():
            files = put_result(staging, root, name, file_id, table)
            counts = {
                count["values"]: count["counts"]
                for count in table["job"].value_counts().to_pylist()
            }
            rows += [
                {
                    "job": job,
                    "query": macros[name],
                    "file_id": file_id,
                    "files": files,
                    "traces_hash": before[job],
                    "row_count": counts.get(job, 0),
                    "hta_sql_version": __version__,
                    "computed_at": datetime.now(UTC).replace(tzinfo=None),
                    "made_with": archive.session.made_with,
                }
                for job in steady
            ]
    return rows


def computed(archive: Archive, name: str) -> pa.Table:
    """The rows of a query or relation."""
    catalog = Catalog.load()
    query, _ = catalog.macros.get(catalog.stored[name], (None, ""))
    if query:
        return archive.rows_of(query, {})
    return archive.sql(f"FROM {catalog.stored[name]}()")


def hashes(archive: Archive) -> dict[str, str]:
    """The hash of the traces of each job."""
    return {row["job"]: row["traces_hash"] for row in jobs_without_results(archive.session)}
