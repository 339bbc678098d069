"""Removes jobs from an archive."""

from __future__ import annotations

import errno
import re
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from functools import cache, partial
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from hta_sql.catalogue.root import sql_root
from hta_sql.database.roots import archive_root
from hta_sql.database.shell_database import write_database
from hta_sql.errors import BadParameter
from hta_sql.places.storage import is_remote
from hta_sql.store.checksums import seal_of
from hta_sql.store.files import delete, files_of, ids_of
from hta_sql.store.jobs import check_jobs
from hta_sql.store.layout import FILE_NAMES, KEYS, folder_for
from hta_sql.store.manifest import Manifest
from hta_sql.store.staging import writing

if TYPE_CHECKING:
    import os

    from hta_sql.places.storage import Place

_AGE = re.compile(r"(\d+)\s*([hdw])")
_UNIT_NS = {"h": 3_600_000_000_000, "d": 86_400_000_000_000, "w": 604_800_000_000_000}
# The errors of a full disk, and of a user's full share of it.
FULL = (errno.ENOSPC, errno.EDQUOT)
# As in the view jobs: an earlier time, before 2000, counts from an unknown instant.
EARLIEST_NS = 946_684_800_000_000_000

SCHEMA = pa.schema(
    [
        ("job", pa.string()),
        ("job_start_ns", pa.int64()),
        ("rank_count", pa.int64()),
        ("file_count", pa.int64()),
        ("total_bytes", pa.int64()),
    ]
)


def drop(
    archive: str | os.PathLike[str] | Place,
    *,
    jobs: Iterable[str] | None = None,
    older_than: str | None = None,
    dry_run: bool = False,
) -> pa.Table:
    """Remove jobs from an archive, with all results computed from them, and delete their files.

    Give either `jobs` or `older_than`. The time of a trace is when its first span began. If the
    trace has no date, it is the tag `time`, or else when it was ingested. A job's time is the
    latest of its ranks.

    Args:
        archive: The archive, a folder or URL.
        jobs: Names of the jobs to remove.
        older_than: Removes all jobs older than this: hours, days or weeks, such as "12h", "30d",
            "8w".
        dry_run: Only reports what would be removed.

    Returns:
        pyarrow.Table, with one row per removed job: its time, and its size in files and bytes.

    Raises:
        ArchiveError: `archive` is no archive, or has no such job. Then nothing is removed.
        BadParameter: Both or none of `jobs` and `older_than` are given, or the age is no age.

    Examples:
        >>> hta_sql.drop("archive", older_than="30d", dry_run=True)
    """
    archive = archive_root(archive)
    if (jobs is None) == (older_than is None):
        raise BadParameter("give either jobs or older_than to say what to drop")
    until_ns = time.time_ns() - age_ns(older_than) if jobs is None else None
    if jobs is not None:
        named = check_jobs(archive, [jobs] if isinstance(jobs, str) else jobs)
    # A dry run needs no lock, since it writes nothing.
    with nullcontext() if dry_run else _locked(archive):
        rows = {table: Manifest(archive, table).rows() for table in KEYS}
        times = job_times(rows["traces"])
        if jobs is None:
            named = sorted((job for job in times if times[job] < until_ns), key=times.get)
        going = set(named)
        rows = {table: [row for row in rows[table] if row["job"] in going] for table in KEYS}
        ids: dict[str, set[str]] = {}
        for table in FILE_NAMES:
            for row in rows[table]:
                ids.setdefault(folder_for(row["job"]), set()).update(ids_of(table, row))
        files = [
            file for file in files_of(archive, named) if file.file_id in ids.get(file.folder, ())
        ]
        if named and not dry_run:
            _remove(archive, going, rows, [file.name for file in files])
        if not (dry_run or is_remote(archive)):
            # If the disk is full, the next command that adds files writes it.
            with suppress(OSError):
                write_database(archive)
    ranks = Counter(row["job"] for row in rows["traces"])
    counts = Counter(file.folder for file in files)
    sizes: Counter[str] = Counter()
    for file in files:
        sizes[file.folder] += file.bytes
    return pa.Table.from_pylist(
        [
            {
                "job": job,
                "job_start_ns": times.get(job),
                "rank_count": ranks[job],
                "file_count": counts[folder_for(job)],
                "total_bytes": sizes[folder_for(job)],
            }
            for job in named
        ],
        schema=SCHEMA,
    )


@contextmanager
def _locked(archive: Place) -> Iterator[None]:
    """Lock the archive. It also deletes what killed commands left, as far as the disk has space for
    its staging folder."""
    with ExitStack() as stack:
        try:
            stack.enter_context(writing(archive))
        except OSError as error:
            if error.errno not in FULL:
                raise
        stack.enter_context(Manifest(archive).locked())
        yield


def _remove(
    archive: Place, jobs: Collection[str], rows: Mapping[str, list[dict]], files: list[str]
) -> None:
    """Take the rows of jobs out of the manifests, then delete their files. Only while locked.

    New manifests take space before the old ones go. If the disk has none left, hta.duckdb goes
    first, which is written again later; if that is not enough, the data files go first.
    """

    def change() -> None:
        for table in KEYS:
            if rows[table]:
                Manifest(archive, table).change(lambda row: row["job"] not in jobs)

    def make_space() -> None:
        for file in (archive / "hta.duckdb", seal_of(archive / "hta.duckdb")):
            file.unlink(missing_ok=True)

    for free in (make_space, partial(delete, archive, files)):
        try:
            change()
            break
        except OSError as error:
            if is_remote(archive) or error.errno not in FULL:
                raise
            free()
    else:
        change()
    delete(archive, files)


def age_ns(text: str) -> int:
    """`30d` in nanoseconds."""
    age = _AGE.fullmatch(text.strip())
    if not age:
        raise BadParameter(
            f"{text!r} is not an age; give a number of hours, days or weeks, such as 12h, 30d or 8w"
        )
    return int(age[1]) * _UNIT_NS[age[2]]


def job_times(rows: Iterable[dict]) -> dict[str, int]:
    """The time of each job, in Unix nanoseconds; see drop."""
    times: dict[str, int] = {}
    for row in rows:
        start_ns = row["start_ns"] or 0
        if start_ns < EARLIEST_NS:
            start_ns = unix_ns(
                told_instant(dict(row["tags"] or ()).get("time")) or row["ingested_at"]
            )
        times[row["job"]] = max(start_ns, times.get(row["job"], 0))
    return times


@cache
def told_instant(tag: str | None) -> datetime | None:
    """The tag `time` in UTC, as the view jobs reads it."""
    if not tag:
        return None
    [(instant,)] = _database().execute("SELECT told_instant($1)", [tag]).fetchall()
    return instant


@cache
def _database() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    con.execute((sql_root() / "relations/time/told_instant.sql").read_text())
    return con


def unix_ns(moment: datetime | None) -> int:
    """A time in UTC as Unix nanoseconds; for None it is now, so that it is never old."""
    if moment is None:
        return time.time_ns()
    return int(moment.replace(tzinfo=UTC).timestamp() * 1_000_000) * 1000
