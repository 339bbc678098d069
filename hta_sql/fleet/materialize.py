"""Results of queries on single jobs, stored in the archive for queries on all jobs.

A query or relation is stored where sql/tables has a table `stored_<name>`. Jobs are taken several
at a time: each batch makes one Parquet file a query, and then the rows of stored_results that make
it count.
"""

from __future__ import annotations

import contextlib
import uuid
import warnings
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import accumulate
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hta_sql.archive import Archive
from hta_sql.catalogue.catalog import Catalog
from hta_sql.database.attach import archive_root, write_database
from hta_sql.engines.engine import Share, start
from hta_sql.errors import ArchiveError, HtaSqlError, one_line
from hta_sql.ingestion.ingest import clear_abandoned, in_use, staging_of
from hta_sql.keeping.files import check_jobs
from hta_sql.places.storage import (
    absolute,
    age_seconds,
    is_remote,
    place,
    put,
    reader_of,
    sizes_below,
    stamp,
)
from hta_sql.store.layout import on_disk
from hta_sql.store.manifest import Manifest
from hta_sql.store.moves import say_moved
from hta_sql.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from hta_sql.places.storage import Place

MANIFEST = "stored_results"
# Of a batch. So many events take some 0.5 GB; so many jobs share what opening an archive takes.
MOST_EVENTS = 2_000_000
MOST_JOBS = 64
# What DuckDB may take before it writes to disk, and a worker with all else.
MEMORY_LIMIT = "1GB"
WORKER_BYTES = 3 << 29
# A query's files are opened one by one: of more, the smaller ones become one.
MOST_FILES = 8
LARGE_BYTES = 32 << 20
# A file that no row names may be about to be named, or still be read.
UNNAMED_SECONDS = 3600


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
    archive: str | Place,
    only_jobs: Collection[str] | None = None,
    force: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
    engine: str = "local",
    address: str | None = None,
) -> Materialized:
    """Store what is missing, or with `force` all, of the jobs of an archive.

    A worker of the `engine` computes a batch; with "ray" on the cluster at `address`. `progress`
    gets the jobs that are done and their number. ArchiveError for one of `only_jobs` that is not
    there.
    """
    working = start(engine, address)
    root = archive_root(archive)
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
            for row in archive._jobs_without_results("" if force else macro):
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
        archive._con.execute(f"SET threads = {threads}")
        archive._con.execute(f"SET memory_limit = '{MEMORY_LIMIT}'")
        archive._con.execute("SET temp_directory = $1", [str(staging / "spill")])
        # The files of a batch are read by each query several times, and never change.
        archive._con.execute("SET parquet_metadata_cache = true")
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
    return {row["job"]: row["traces_hash"] for row in archive._jobs_without_results()}


def put_result(staging: Path, root: Place, name: str, file_id: str, table: pa.Table) -> None:
    written = staging / f"{name}.parquet"
    pq.write_table(table, written, compression="zstd")
    put(written, file_of(root, name, file_id))


def file_of(root: Place, name: str, file_id: str) -> Place:
    return root / "results" / on_disk(f"stored_{name}") / f"{file_id}.parquet"


def publish(root: Place, rows: list[dict]) -> None:
    """Make files count for the jobs and queries of these rows, in place of earlier ones."""
    if not rows:
        return
    manifest = Manifest(root, MANIFEST)
    is_first = not is_remote(root) and not manifest.path.exists()
    with manifest.locked():
        manifest.add(rows)
    if is_first:  # for a shell, which so far has found no such tables
        write_database(root)


def merge_small_files(root: Place) -> None:
    """Make one file of many small ones of a query, and of what in them still counts."""
    manifest = Manifest(root, MANIFEST)
    with manifest.locked():
        files: defaultdict[str, defaultdict[str, list[dict]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for row in manifest.rows():
            files[row["query"]][row["file_id"]].append(row)
        for query, by_file in files.items():
            # Else another run has merged them in the meantime, and a later one deleted them.
            with contextlib.suppress(FileNotFoundError):
                merge_files_of(root, manifest, query, by_file)


def merge_files_of(
    root: Place, manifest: Manifest, query: str, by_file: dict[str, list[dict]]
) -> None:
    """Merge files of a query; `by_file` has the rows that name each. Only while locked."""
    name = name_of(query)
    small = small_files({file_id: file_of(root, name, file_id) for file_id in by_file})
    if len(small) <= MOST_FILES:
        return
    table = pa.concat_tables(
        rows_of_jobs(file_of(root, name, file_id), [row["job"] for row in by_file[file_id]])
        for file_id in small
    )
    merged = uuid.uuid4().hex[:16]
    with in_use(staging := staging_of(root)):
        put_result(staging, root, name, merged, table)
    manifest.move((row, merged) for file_id in small for row in by_file[file_id])


def small_files(files: dict[str, Place]) -> list[str]:
    """The smallest ones that make no large one together."""
    sizes = sorted((stamp(file)[0], file_id) for file_id, file in files.items())
    together = accumulate(size for size, _ in sizes)
    return [
        file_id for (_, file_id), total in zip(sizes, together, strict=True) if total <= LARGE_BYTES
    ]


def rows_of_jobs(file: Place, jobs: list[str]) -> pa.Table:
    table = pq.read_table(reader_of(file.read_bytes()))
    return table.filter(pc.is_in(table["job"], pa.array(jobs, pa.string())))


def remove_unnamed(root: Place) -> None:
    """Delete the rows of jobs that are gone, and files that have had no row for a while."""
    manifest = Manifest(root, MANIFEST)
    with manifest.locked():
        rows = manifest.rows()
        gone = {row["job"] for row in rows} - {row["job"] for row in Manifest(root).rows()}
        if gone:
            manifest.change(lambda row: row["job"] not in gone)
        named = {
            (on_disk(f"stored_{name_of(row['query'])}"), row["file_id"])
            for row in rows
            if row["job"] not in gone
        }
        old = [
            file
            for file in result_files(root)
            if (file.parent.name, file.stem) not in named and age_seconds(file) > UNNAMED_SECONDS
        ]
        if old:
            say_moved(root)  # rows may have named them until a moment ago
        for file in old:
            file.unlink(missing_ok=True)


def result_files(root: Place) -> list[Place]:
    if is_remote(root):
        files = sizes_below(root / "results")
        return [place(file) for file in files if file.endswith(".parquet")]
    return list(root.glob("results/*/*.parquet"))


def name_of(query: str) -> str:
    """A query's name, of its name with the version."""
    return query.rpartition("_v")[0]
