"""Merges small files: ranks of a job share files, and changes of a manifest become one.

Ingest writes each table of each rank to a file of its own, so that one rank can be replaced. With
thousands of small files, a query spends most of its time opening them. Rows stay the same;
`traces.file_id` says where they are now, and `trace_id` stays the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

import pyarrow as pa

from hta_sql.database.roots import archive_root
from hta_sql.database.shell_database import write_database
from hta_sql.engines.machine import core_count
from hta_sql.errors import one_line
from hta_sql.keeping.merge import Incomplete, Merged, merge, target
from hta_sql.places.storage import is_remote, put
from hta_sql.store.files import delete, delete_unnamed
from hta_sql.store.jobs import check_jobs
from hta_sql.store.layout import COUNTS, KEYS, file_of, place_of
from hta_sql.store.manifest import CHANGES_SHARE, Manifest
from hta_sql.store.staging import writing

if TYPE_CHECKING:
    import os

    from hta_sql.places.storage import Place

# The most events of ranks that share files: about 100 MB of all tables.
MOST_EVENTS = 2_000_000
# Running queries start again if files move, and a change of rows takes time, as in ingest.
SECONDS_BETWEEN_MOVES = 10.0


@dataclass
class Compaction:
    """What a compaction did.

    Attributes:
        rank_count: Ranks whose files were merged.
        job_count: Jobs of these ranks.
        written_count: Files written.
        written_bytes: Their size in bytes.
        change_count: Objects of manifests that were merged, in object storage.
        unnamed_count: Deleted files that no row names.
        unnamed_bytes: Their size in bytes.
        left: One line per group of ranks that could not be merged.
    """

    rank_count: int = 0
    job_count: int = 0
    written_count: int = 0
    written_bytes: int = 0
    change_count: int = 0
    unnamed_count: int = 0
    unnamed_bytes: int = 0
    left: list[str] = field(default_factory=list)


def compact(
    archive: str | os.PathLike[str] | Place,
    *,
    only_jobs: Iterable[str] | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Compaction:
    """Merge small files of an archive, so that queries on many jobs open fewer.

    Queries give the same rows before, meanwhile and afterwards. Without `only_jobs`, it also
    deletes files that killed ingests left more than a day ago.

    Args:
        archive: The archive, a folder or URL.
        only_jobs: Jobs whose files are merged. The default is all.
        workers: Groups of ranks that are read at the same time. The default is one per core.
        progress: Is called with the number of groups done and of all groups.

    Returns:
        Compaction, with what was merged and deleted.

    Raises:
        ArchiveError: `archive` is no archive, cannot be written, or has no such job.

    Examples:
        >>> hta_sql.compact("archive").left
        []
    """
    archive = archive_root(archive)
    jobs = None if only_jobs is None else set(check_jobs(archive, only_jobs))
    rows = [row for row in Manifest(archive).rows() if jobs is None or row["job"] in jobs]
    groups = [group for group in planned(rows) if len({file_of(row) for row in group}) > 1]
    done = Compaction()
    with writing(archive) as staging, ThreadPoolExecutor(workers or core_count()) as pool:
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


def is_as_read(group: list[dict], rows: dict[tuple, dict]) -> bool:
    """Whether the ranks are still in the files that were read; `rows` are by job and rank."""
    for row in group:
        now = rows.get((row["job"], row["rank"]))
        if not now or (now["trace_id"], file_of(now)) != (row["trace_id"], file_of(row)):
            return False
    return True


def by_key(manifest: Manifest) -> dict[tuple, dict]:
    return {manifest.key(row): row for row in manifest.rows()}


def named_by(row: dict, merged: Merged) -> dict:
    """The file_id and files of a row after its rank was merged. A row of an earlier version, which
    has no checksums, gets none, since they would not be of all its files."""
    files = row.get("files")
    if files is not None:
        files = [file for file in files if file["path"].split("/")[0] not in COUNTS]
        files += merged.entries
    return {"file_id": merged.file_id, "files": files}


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
        moved = {manifest.key(row): merged for merged in ready for row in merged.rows}
        manifest.move((now[key], named_by(now[key], merged)) for key, merged in moved.items())
        still = {place_of(row, table) for row in manifest.rows() for table in COUNTS}
        before = {place_of(now[key], table) for key in moved for table in COUNTS}
        delete(self.archive, before - still)
        self._jobs |= {merged.rows[0]["job"] for merged in ready}
        self._done.job_count = len(self._jobs)
        self._done.rank_count += len(moved)
        self._done.written_count += sum(len(merged.files) for merged in ready)
        self._done.written_bytes += sum(merged.bytes for merged in ready)
