"""Results of queries on single jobs, stored in the archive for queries on all jobs.

A query or relation is stored where sql/tables has a table `stored_<name>`. Jobs are taken several
at a time: each batch makes one Parquet file a query, and then the rows of stored_results that make
it count.
"""

from __future__ import annotations

import uuid
import warnings
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from hta_sql.archive import Archive
from hta_sql.catalogue.catalog import Catalog
from hta_sql.database.roots import archive_root
from hta_sql.database.stored_results import jobs_without_results
from hta_sql.engines.engine import Engine, Share
from hta_sql.engines.start import start
from hta_sql.errors import ArchiveError, HtaSqlError, one_line
from hta_sql.fleet.result_files import merge_small_files, publish, put_result, remove_unnamed
from hta_sql.keeping.files import check_jobs
from hta_sql.places.storage import absolute
from hta_sql.store.staging import clear_abandoned, in_use, staging_of
from hta_sql.version import __version__

if TYPE_CHECKING:
    from os import PathLike

    from hta_sql.places.storage import Place

# Of a batch. So many events take some 0.5 GB; so many jobs share what opening an archive takes.
MOST_EVENTS = 2_000_000
MOST_JOBS = 64
# What DuckDB may take before it writes to disk, and a worker with all else.
MEMORY_LIMIT = "1GB"
WORKER_BYTES = 3 << 29


@dataclass(frozen=True)
class Batch:
    """Jobs of an archive, and the queries of which results are to be stored of them."""

    archive: str
    jobs: tuple[str, ...]
    queries: tuple[str, ...]


@dataclass(frozen=True)
class Computed:
    """What became of a batch: rows of stored_results, whose files are in place, and (job, reason)
    of what failed."""

    rows: list[dict] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)

    def __add__(self, other: Computed) -> Computed:
        return Computed(self.rows + other.rows, self.failed + other.failed)


@dataclass(frozen=True)
class Materialized:
    """The jobs whose results were stored, and (job, reason) of those where that failed."""

    jobs: list[str]
    failed: list[tuple[str, str]]


def materialize(
    archive: Archive | str | PathLike[str] | Place,
    *,
    only_jobs: Iterable[str] | None = None,
    force: bool = False,
    engine: str = "local",
    address: str | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Materialized:
    """Store in the archive what queries on all jobs read: results of those on single jobs.

    Computed is what is missing of the chosen jobs, or of which a trace was ingested anew since;
    with `force` all. A worker of the `engine` takes several jobs; with "ray" on the cluster at
    `address`. `progress` gets the jobs that are done and their number. A job that fails stops no
    other: it is told in the result. ArchiveError where the archive cannot be written, or has
    nothing of one of `only_jobs`.
    """
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
    """The same of one archive. The engine is closed afterwards."""
    if only_jobs is not None:
        only_jobs = check_jobs(root, [only_jobs] if isinstance(only_jobs, str) else only_jobs)
    stored: list[str] = []
    failed: list[tuple[str, str]] = []
    try:
        clear_abandoned(root)
        remove_unnamed(root)
        batches = list(batches_of(root, only_jobs, force))
        total = sum(len(batch.jobs) for batch in batches)
        progress(0, total)
        if batches:  # what cannot be written is told once, and not of each job
            with in_use(staging_of(root)):
                pass
        with working:
            for batch, computed in working.map(compute_share, batches, memory_bytes=WORKER_BYTES):
                if isinstance(computed, Exception):
                    computed = Computed(failed=[(job, one_line(computed)) for job in batch.jobs])
                publish(root, computed.rows)
                failed += computed.failed
                stored += sorted({row["job"] for row in computed.rows})
                progress(len(stored) + len(failed), total)
        merge_small_files(root)
    except OSError as error:
        raise ArchiveError(
            f"{root}: results are stored in the archive, which cannot be written: "
            f"{error.strerror or one_line(error)}"
        ) from error
    return Materialized(sorted(stored), failed)


def batches_of(
    root: Place, only_jobs: Collection[str] | None = None, force: bool = False
) -> Iterator[Batch]:
    """Jobs that lack results of the same queries, together up to what a batch may hold."""
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
    """What is odd about the archive is said to whoever asks for its results."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Archive(root, only_jobs=only_jobs)


def compute_share(batch: Batch, share: Share) -> Computed:
    """What a worker does."""
    return compute(batch, share.threads)


def compute(batch: Batch, threads: int) -> Computed:
    """Compute a batch, and put its files in place. Where a job fails, it fails alone."""
    try:
        return Computed(results_of(batch, threads))
    except (HtaSqlError, duckdb.Error, pa.ArrowException) as error:
        if len(batch.jobs) == 1:
            return Computed(failed=[(batch.jobs[0], one_line(error))])
    middle = len(batch.jobs) // 2
    halves = batch.jobs[:middle], batch.jobs[middle:]
    first, second = (compute(Batch(batch.archive, jobs, batch.queries), threads) for jobs in halves)
    return first + second


def results_of(batch: Batch, threads: int) -> list[dict]:
    """Rows of stored_results for a batch, and its files; all or none of them."""
    root = absolute(batch.archive)
    file_id = uuid.uuid4().hex[:16]
    with in_use(staging := staging_of(root)), opened(root, batch.jobs) as archive:
        archive.session.con.execute(f"SET threads = {threads}")
        archive.session.con.execute(f"SET memory_limit = '{MEMORY_LIMIT}'")
        archive.session.con.execute("SET temp_directory = $1", [str(staging / "spill")])
        # The files of a batch are read by each query several times, and never change.
        archive.session.con.execute("SET parquet_metadata_cache = true")
        before = hashes(archive)
        macros = Catalog.load().stored
        results = {name: archive.sql(f"FROM {macros[name]}()") for name in batch.queries}
        # A job of which a trace was ingested anew in the meantime is left for the next time.
        steady = [job for job, traces in hashes(archive).items() if before.get(job) == traces]
        rows = []
        for name, table in results.items():
            put_result(staging, root, name, file_id, table)
            counts = {
                count["values"]: count["counts"]
                for count in table["job"].value_counts().to_pylist()
            }
            rows += [
                {
                    "job": job,
                    "query": macros[name],
                    "file_id": file_id,
                    "traces_hash": before[job],
                    "row_count": counts.get(job, 0),
                    "hta_sql_version": __version__,
                    "computed_at": datetime.now(UTC).replace(tzinfo=None),
                }
                for job in steady
            ]
    return rows


def hashes(archive: Archive) -> dict[str, str]:
    """What tells the traces of each job from others."""
    return {row["job"]: row["traces_hash"] for row in jobs_without_results(archive.session)}
