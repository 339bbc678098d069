"""Merges small files: ranks of a job share files, and changes of a manifest become one.

Ingest writes each table of each rank to a file of its own, so that one rank can be replaced. With
thousands of small files, a query spends most of its time opening them. Rows stay the same;
`traces.file_id` says where they are now, and `trace_id` stays the same.
"""

from __future__ import annotations

import shutil
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hta_sql.database.attach import write_database
from hta_sql.database.roots import archive_root
from hta_sql.engines.machine import core_count
from hta_sql.errors import one_line
from hta_sql.keeping.files import check_jobs, delete, delete_unnamed
from hta_sql.places.storage import is_remote, put
from hta_sql.store.layout import KEYS, file_of, folder_for, place_of
from hta_sql.store.manifest import CHANGES_SHARE, Manifest
from hta_sql.store.row_groups import ROW_GROUP_ROWS, table_writer
from hta_sql.store.staging import clear_abandoned, in_use, staging_of

if TYPE_CHECKING:
    import os

    from hta_sql.places.storage import Place

# The tables whose ranks may share a file, and the column of `traces` with their numbers of rows.
COUNTS = {
    "events": "event_count",
    "host_ops": "host_op_count",
    "gpu_activities": "gpu_activity_count",
}
# The most events of ranks that share files: about 100 MB of all tables.
MOST_EVENTS = 2_000_000
# Running queries start again if files move, and a change of rows takes time, as in ingest.
SECONDS_BETWEEN_MOVES = 10.0


@dataclass
class Compaction:
    """What a compaction did. `left` has one line per group of ranks that it could not merge."""

    rank_count: int = 0
    job_count: int = 0
    written_count: int = 0
    written_bytes: int = 0
    change_count: int = 0
    unnamed_count: int = 0
    unnamed_bytes: int = 0
    left: list[str] = field(default_factory=list)


@dataclass
class Merged:
    """Ranks of a job with their rows in files of one id, in staging or in object storage."""

    rows: list[dict]
    file_id: str
    files: dict[str, Path]
    bytes: int


class Incomplete(Exception):
    """Files do not hold the rows that `traces` says they do."""


def compact(
    archive: str | os.PathLike[str] | Place,
    *,
    only_jobs: Iterable[str] | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Compaction:
    """Merge small files of an archive, for all jobs or only for `only_jobs`.

    Queries give the same rows before, meanwhile and afterwards. Without `only_jobs`, it also
    deletes files that killed ingests left more than a day ago. `workers` is the number of groups of
    ranks that are read at the same time (default: one per core). `progress` gets the number of
    groups done and the number of all groups.
    """
    archive = archive_root(archive)
    jobs = None if only_jobs is None else set(check_jobs(archive, only_jobs))
    rows = [row for row in Manifest(archive).rows() if jobs is None or row["job"] in jobs]
    groups = [group for group in planned(rows) if len({file_of(row) for row in group}) > 1]
    done = Compaction()
    clear_abandoned(archive)
    staging = staging_of(archive)
    with in_use(staging), ThreadPoolExecutor(workers or core_count()) as pool:
        mover = Mover(archive, done)
        futures = {pool.submit(merge, archive, group, staging): group for group in groups}
        try:
            for at, future in enumerate(as_completed(futures)):
                progress(at, len(groups))
                group = futures[future]
                try:
                    mover.take(future.result())
                except (OSError, pa.ArrowException, Incomplete) as error:
                    # Otherwise it was ingested again, or dropped.
                    if is_as_read(group, by_key(Manifest(archive))):
                        done.left.append(f"{named(group)}: {one_line(error)}")
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
        mover.flush()
    if jobs is None:
        unnamed = delete_unnamed(archive)
        done.unnamed_count, done.unnamed_bytes = len(unnamed), sum(f.bytes for f in unnamed)
    for table in KEYS:
        done.change_count += Manifest(archive, table).merge()
    if mover.has_moved and not is_remote(archive):
        write_database(archive)
    return done


def planned(rows: Iterable[dict]) -> Iterator[list[dict]]:
    """Groups of ranks to share files: of one job and schema, in order, up to MOST_EVENTS."""

    def of_job(row: dict) -> tuple:
        return row["job"], row["schema_version"] or 0

    ordered = sorted(rows, key=lambda row: (*of_job(row), row["rank"]))
    for _, of_one in groupby(ordered, key=of_job):
        group, count = [], 0
        for row in of_one:
            events = row["event_count"] or 0
            if group and count + events > MOST_EVENTS:
                yield group
                group, count = [], 0
            group.append(row)
            count += events
        yield group


def named(group: list[dict]) -> str:
    first, last = group[0], group[-1]
    return f"job {first['job']!r} ranks {first['rank']} to {last['rank']}"


def merge(archive: Place, group: list[dict], staging: Path) -> Merged:
    """Write the files of a group; in object storage, also put them in place."""
    merged = Merged(group, uuid.uuid4().hex[:16], {}, 0)
    folder = staging / merged.file_id
    folder.mkdir()
    for table in COUNTS:
        sources = [row for row in group if row[COUNTS[table]] != 0]
        file = folder / f"{table}.parquet"
        held = write_ranks(archive, table, sources, file)
        for row in sources:
            wanted = row[COUNTS[table]]
            if wanted not in (None, held[row["rank"]]):
                raise Incomplete(
                    f"rank {row['rank']}: {table} holds {held[row['rank']]:,} of {wanted:,} rows; "
                    "ingest it again with --force"
                )
        if not held:
            continue
        merged.files[table] = file
        merged.bytes += file.stat().st_size
    if is_remote(archive):
        for table, file in merged.files.items():
            put(file, archive / target(merged, table))
        shutil.rmtree(folder)
    return merged


def target(merged: Merged, table: str) -> str:
    return f"{table}/{folder_for(merged.rows[0]['job'])}/ranks/{merged.file_id}.parquet"


def write_ranks(archive: Place, table: str, rows: list[dict], file: Path) -> Counter[int]:
    """Write these ranks' rows of a table, ordered by rank; returns the number of rows of each."""
    counts: Counter[int] = Counter()
    writer = None
    try:
        for piece in row_groups(tables_of(archive, table, rows, file.with_suffix(".read"))):
            if writer is None:
                writer = table_writer(file, piece.schema)
            writer.write_table(piece.cast(writer.schema), row_group_size=ROW_GROUP_ROWS)
            for found in pc.value_counts(piece["rank"].combine_chunks()).to_pylist():
                counts[found["values"]] += found["counts"]
    finally:
        if writer:
            writer.close()
    return counts


def tables_of(archive: Place, table: str, rows: list[dict], copy: Path) -> Iterator[pa.Table]:
    """The rows of these ranks with a column `rank`, up to a row group at a time."""
    for name, of_file in groupby(rows, key=lambda row: place_of(row, table)):
        ranks = [row["rank"] for row in of_file]
        path = archive / name
        if is_remote(archive):
            archive.fs.get_file(path.path, str(copy))
            path = copy
        with pq.ParquetFile(path) as file:
            is_shared = "rank" in file.schema_arrow.names
            for batch in file.iter_batches(ROW_GROUP_ROWS, use_threads=False):
                found = pa.Table.from_batches([batch])
                if is_shared:
                    wanted = pc.is_in(found["rank"], pa.array(ranks, pa.int32()))
                    yield found.filter(wanted)
                else:
                    yield found.append_column(
                        "rank", pa.repeat(pa.scalar(ranks[0], pa.int32()), len(found))
                    )


def row_groups(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """The same rows in pieces of one row group; the last piece may be shorter."""
    waiting: list[pa.Table] = []
    count = 0
    for table in tables:
        waiting.append(table)
        count += len(table)
        while count >= ROW_GROUP_ROWS:
            whole = pa.concat_tables(waiting)
            yield whole.slice(0, ROW_GROUP_ROWS)
            waiting = [whole.slice(ROW_GROUP_ROWS)]
            count -= ROW_GROUP_ROWS
    if count:
        yield pa.concat_tables(waiting)


def is_as_read(group: list[dict], rows: dict[tuple, dict]) -> bool:
    """Whether the ranks are still in the files that were read; `rows` are by job and rank."""
    for row in group:
        now = rows.get((row["job"], row["rank"]))
        if not now or (now["trace_id"], file_of(now)) != (row["trace_id"], file_of(row)):
            return False
    return True


def by_key(manifest: Manifest) -> dict[tuple, dict]:
    return {manifest.key(row): row for row in manifest.rows()}


class Mover:
    """Makes merged files count, several groups of ranks at a time, and deletes the old files."""

    def __init__(self, archive: Place, done: Compaction):
        self.archive = archive
        self.has_moved = False
        self._done = done
        self._jobs: set[str] = set()
        self._waiting: list[Merged] = []
        self._next = time.monotonic() + SECONDS_BETWEEN_MOVES

    def take(self, merged: Merged) -> None:
        self._waiting.append(merged)
        if time.monotonic() >= self._next:
            self.flush()

    def flush(self) -> None:
        began = time.monotonic()
        waiting, self._waiting = self._waiting, []
        manifest = Manifest(self.archive)
        with manifest.locked():
            now = by_key(manifest)
            ready = [merged for merged in waiting if is_as_read(merged.rows, now)]
            if ready:
                self._move(manifest, ready, now)
        if is_remote(self.archive):
            void = [merged for merged in waiting if merged not in ready]
            delete(self.archive, (target(m, table) for m in void for table in m.files))
        took = time.monotonic() - began
        self._next = time.monotonic() + max(SECONDS_BETWEEN_MOVES, CHANGES_SHARE * took)

    def _move(self, manifest: Manifest, ready: list[Merged], now: dict[tuple, dict]) -> None:
        """Put the files in place, change the rows, then delete files that no row names any more."""
        if not is_remote(self.archive):
            for merged in ready:
                for table, file in merged.files.items():
                    put(file, self.archive / target(merged, table))
            if not self.has_moved:
                write_database(self.archive)  # from now on, the DuckDB shell finds such files
        self.has_moved = True
        moved = {manifest.key(row): merged.file_id for merged in ready for row in merged.rows}
        manifest.move((now[key], file_id) for key, file_id in moved.items())
        still = {place_of(row, table) for row in manifest.rows() for table in COUNTS}
        before = {place_of(now[key], table) for key in moved for table in COUNTS}
        delete(self.archive, before - still)
        self._jobs |= {merged.rows[0]["job"] for merged in ready}
        self._done.job_count = len(self._jobs)
        self._done.rank_count += len(moved)
        self._done.written_count += sum(len(merged.files) for merged in ready)
        self._done.written_bytes += sum(merged.bytes for merged in ready)
