"""Copies jobs from one archive to another. An exported job is itself an archive.

Copies get new ids, so that a job may be in an archive twice, under two names.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hta_sql.database.roots import archive_root, new_or_old_root
from hta_sql.database.shell_database import write_database
from hta_sql.errors import ArchiveError, BadParameter, FilesMoved
from hta_sql.places.storage import is_remote, put
from hta_sql.store.checksums import entries_of, problem_of
from hta_sql.store.files import File, delete, files_of, ids_of
from hta_sql.store.jobs import check_jobs, check_name
from hta_sql.store.layout import COUNTS, FILE_NAMES, KEYS, folder_for, in_job, place_of
from hta_sql.store.manifest import Manifest
from hta_sql.store.staging import writing

if TYPE_CHECKING:
    import os

    from hta_sql.places.storage import Place

# Results of `hta-sql materialize` are not copied, but computed again. The rows of traces come last,
# since they make the job part of the archive.
MANIFESTS = ("attachments", "critical_paths", "traces")
ATTEMPTS = 5


@dataclass(frozen=True)
class Copied:
    """A job that was copied to another archive.

    Attributes:
        job: Its name there.
        rank_count: Ranks.
        file_count: Files written.
        bytes: Their size in bytes.
    """

    job: str
    rank_count: int
    file_count: int
    bytes: int


@dataclass
class Copy:
    """A job that is being copied: its rows and files in the new archive, and the staged files."""

    job: str
    rows: dict[str, list[dict]]
    files: list[tuple[Path | None, str, int]]  # staged, or None where in place; name; bytes


def export_job(
    archive: str | os.PathLike[str] | Place, out: str | os.PathLike[str] | Place, *, job: str
) -> Copied:
    """Copy a job to an archive of its own, or add it to an existing archive.

    The copy has the job's traces, the files attached to them and its critical paths.

    Args:
        archive: The archive that has the job, a folder or URL.
        out: The archive to write, a folder or URL.
        job: The job's name.

    Returns:
        Copied, with the files and bytes written.

    Raises:
        ArchiveError: There is no such job, or `out` already has a job of this name.

    Examples:
        >>> hta_sql.export_job("archive", "llama-job", job="llama").rank_count
        4
    """
    archive = archive_root(archive)
    [copied] = _copy(archive, out, {job: job}, force=False)
    return copied


def import_job(
    exported: str | os.PathLike[str] | Place,
    archive: str | os.PathLike[str] | Place,
    *,
    job: str | None = None,
    force: bool = False,
) -> list[Copied]:
    """Add an exported job, or all jobs of another archive, to an archive.

    All jobs are added or, if something fails, none.

    Args:
        exported: The archive to read, a folder or URL.
        archive: The archive to add to, a folder or URL; created if there is none.
        job: Another name for the job, if `exported` has only one.
        force: Replaces jobs of the same name.

    Returns:
        One Copied per job.

    Raises:
        ArchiveError: `exported` has no jobs; or `archive` already has a job of the same name, and
            `force` is not given.
        BadParameter: `job` is given, and `exported` has several jobs.

    Examples:
        >>> hta_sql.import_job("llama-job", "archive", job="llama-baseline")
    """
    exported = archive_root(exported)
    found = sorted({row["job"] for row in Manifest(exported).rows()})
    if not found:
        raise ArchiveError(f"{exported}: this archive has no jobs")
    if job is not None and len(found) > 1:
        raise BadParameter(f"{exported}: has {len(found)} jobs; only a single job can be renamed")
    names = {found[0]: job} if job is not None else {name: name for name in found}
    return _copy(exported, archive, names, force)


def _copy(
    source: Place, target: str | os.PathLike[str] | Place, names: dict[str, str], force: bool
) -> list[Copied]:
    """Copy jobs, each to its new name: all of them, or none if something fails."""
    target = new_or_old_root(target)
    check_jobs(source, names)
    for name in names.values():
        check_name(name)
    _refuse_twice(target, names.values(), force)
    Manifest(target).make()
    with writing(target) as staging:
        copies = [_fetch(source, job, name, target, staging) for job, name in names.items()]
        _publish(target, copies, force)
        if not is_remote(target):
            write_database(target)
    return [
        Copied(
            copy.job,
            len(copy.rows["traces"]),
            len(copy.files),
            sum(size for _, _, size in copy.files),
        )
        for copy in copies
    ]


def _refuse_twice(target: Place, names: Iterable[str], force: bool) -> None:
    there = {row["job"] for row in Manifest(target).rows()}
    for name in names:
        if name in there and not force:
            raise ArchiveError(
                f"{target}: already has a job {name!r}; `hta-sql import` adds it "
                "under another name with --job, or replaces it with --force"
            )


def _fetch(source: Place, job: str, name: str, target: Place, staging: Path) -> Copy:
    """Copy a job's files to staging or, in object storage, to places that no row names yet."""
    for left in reversed(range(ATTEMPTS)):
        rows = _rows(source, job)
        ids = {
            old: uuid.uuid4().hex[:16]
            for table in MANIFESTS
            for row in rows[table]
            for old in ids_of(table, row)
        }
        copy = Copy(name, _renamed(rows, name, ids), [])
        entries = {entry["path"]: entry for table in MANIFESTS for entry in entries_of(rows[table])}
        try:
            files = [file for file in files_of(source, [job]) if file.file_id in ids]
            faults = [f"{name} is gone" for name in _missing(rows["traces"], entries, files)]
            for file in files:
                entry = entries.get(file.name)
                faults += _fetch_file(source, file, entry, ids[file.file_id], copy, target, staging)
        except FileNotFoundError as error:
            faults = [f"{error} is gone"]
        # Files are deleted only after the rows that name them.
        if _rows(source, job) == rows:
            if not faults:
                return copy
            raise ArchiveError(
                f"{source}: {faults[0]}; it is of job {job!r}; `hta-sql check --deep` has the "
                "command that makes it again"
            )
        if is_remote(target):
            delete(target, (file for _, file, _ in copy.files))
        if not left:
            break
    raise FilesMoved(f"{source}: job {job!r} changed while it was being read; try again")


def _rows(archive: Place, job: str) -> dict[str, list[dict]]:
    """A job's rows, without outdated critical paths."""
    rows = {
        table: [row for row in Manifest(archive, table).rows() if row["job"] == job]
        for table in MANIFESTS
    }
    traces = {row["trace_id"] for row in rows["traces"]}
    rows["critical_paths"] = [
        row for row in rows["critical_paths"] if traces.issuperset(row["trace_ids"])
    ]
    return rows


def _renamed(rows: dict[str, list[dict]], job: str, ids: dict[str, str]) -> dict[str, list[dict]]:
    renamed = {
        table: [
            in_job(row, job, ids)
            | {column: ids[row[column]] for column in FILE_NAMES[table] if row.get(column)}
            for row in rows[table]
        ]
        for table in MANIFESTS
    }
    for row in renamed["critical_paths"]:
        row["trace_ids"] = [ids[trace_id] for trace_id in row["trace_ids"]]
    return renamed


def _missing(traces: list[dict], entries: Collection[str], files: list[File]) -> Iterable[str]:
    """The files that rows name and that are not there. Earlier versions did not write their names,
    but the numbers of their rows."""
    named = {
        place_of(row, table) for row in traces for table, count in COUNTS.items() if row[count]
    }
    return sorted({*entries, *named} - {file.name for file in files})


def _fetch_file(
    source: Place,
    file: File,
    entry: dict | None,
    new_id: str,
    copy: Copy,
    target: Place,
    staging: Path,
) -> Iterable[str]:
    """Copy a file, and give what is wrong with it."""
    table, _, below, _ = file.name.split("/")
    name = f"{table}/{folder_for(copy.job)}/{below}/{new_id}.parquet"
    staged = staging / uuid.uuid4().hex
    path = source / file.name
    if is_remote(source):
        path.fs.get_file(path.path, str(staged))
    else:
        shutil.copyfile(path, staged)
    problem = problem_of(staged, entry, is_deep=True) if entry else None
    if is_remote(target):
        put(staged, target / name)
        staged = None
    copy.files.append((staged, name, file.bytes))
    return [f"{file.name} {problem}"] if problem else []


def _publish(target: Place, copies: list[Copy], force: bool) -> None:
    """Make the copies count, in place of jobs with the same names."""
    names = {copy.job for copy in copies}
    with Manifest(target).locked():
        _refuse_twice(target, names, force)
        before = {
            table: [row for row in Manifest(target, table).rows() if row["job"] in names]
            for table in KEYS
        }
        ids = {
            file_id
            for table in FILE_NAMES
            for row in before[table]
            for file_id in ids_of(table, row)
        }
        gone = [file.name for file in files_of(target, names) if file.file_id in ids]
        for copy in copies:
            for staged, name, _ in copy.files:
                if staged:
                    put(staged, target / name)
        for table in (*(KEYS.keys() - set(MANIFESTS)), *MANIFESTS):
            added = [row for copy in copies for row in copy.rows.get(table, [])]
            if added or before[table]:
                Manifest(target, table).change(lambda row: row["job"] not in names, added)
        delete(target, gone)
