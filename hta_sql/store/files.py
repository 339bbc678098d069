"""The data files of an archive: all of them, their jobs, and those that no row names."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from hta_sql.places.storage import Place, age_seconds, at_once, is_remote, remove
from hta_sql.store.layout import (
    ALONE,
    DATA_FILE,
    FILE_NAMES,
    PATH_TABLES,
    RESULT_FILE,
    TRACE_TABLES,
    file_of,
    folder_for,
    result_path,
    unversioned,
)
from hta_sql.store.manifest import Manifest
from hta_sql.store.moves import say_moved

TABLES = (*TRACE_TABLES, *PATH_TABLES)
# A younger file may belong to an ingest that is about to name it.
ABANDONED_SECONDS = 86_400
# The name of a manifest or of hta.duckdb while it is written.
_NEW_FILE = re.compile(
    r"\.((\w+\.parquet|hta\.duckdb)(\.sha256)?|moved)\.(\d+|[0-9a-f]{32})(\.wal)?"
)


@dataclass(frozen=True)
class File:
    """A file of an archive. It has no table and no id if it is not a data file of a job."""

    name: str  # from the archive's root, with slashes
    bytes: int
    table: str | None = None
    folder: str | None = None  # of the job
    file_id: str | None = None


def files_of(archive: Place, jobs: Iterable[str] | None = None) -> Iterator[File]:
    """All files of an archive, or the data files of these jobs."""
    if jobs is None:
        yield from _files_below(archive, "")
        return
    folders = [f"{table}/{folder_for(job)}" for job in jobs for table in TABLES]
    if is_remote(archive):
        for found in at_once(lambda folder: list(_files_below(archive, folder)), folders):
            yield from found
        return
    for folder in folders:
        yield from _files_below(archive, folder)


class NamedFiles:
    """The data files that rows of an archive's manifests name.

    A trace's id names its files of the tables that are never merged. Only file_id names its other
    files: a killed compaction leaves older files, which have the trace's id as their name, too.
    """

    def __init__(self, archive: Place):
        self._ids: set[tuple[str, bool, str]] = set()
        for table in FILE_NAMES:
            for row in Manifest(archive, table).rows():
                folder, ids = folder_for(row["job"]), ids_of(table, row)
                is_trace = table == "traces"
                alone = {row["trace_id"]} if is_trace else ids
                of_tables = {file_of(row)} if is_trace else ids
                self._ids |= {(folder, True, file_id) for file_id in alone}
                self._ids |= {(folder, False, file_id) for file_id in of_tables}
        self._results = {
            result_path(unversioned(row["query"]), row["file_id"])
            for row in Manifest(archive, "stored_results").rows()
        }

    def __contains__(self, file: File) -> bool:
        if RESULT_FILE.fullmatch(file.name):
            return file.name in self._results
        return (file.folder, file.table in ALONE, file.file_id) in self._ids


def ids_of(table: str, row: dict) -> set[str]:
    """The ids of the files that a row of a manifest names."""
    return {row[column] for column in FILE_NAMES[table] if row.get(column)}


def delete(archive: Place, names: Iterable[str]) -> None:
    """Delete files, and on disk also the folders that this leaves empty."""
    names = list(names)
    if is_remote(archive):
        remove(archive / name for name in names)
    else:
        for name in names:
            delete_file(archive, archive / name)
        folders = {folder for name in names for folder in list(Path(name).parents)[:-2]}
        for folder in sorted(folders, key=lambda f: -len(f.parts)):
            with contextlib.suppress(OSError):  # it is not empty
                (archive / folder).rmdir()


def delete_file(archive: Path, file: Path) -> None:
    """Delete a file of an archive on disk, if there is one. Files behind a link to another folder
    stay: they are somebody's own."""
    if file.parent.resolve().is_relative_to(archive.resolve()):
        file.unlink(missing_ok=True)


def delete_unnamed(archive: Place, before: float | None = None) -> list[File]:
    """Delete files that were never finished or that no row names, and return them.

    They were written `before` this Unix time. The default is a day ago: a younger file may belong
    to a command that is about to name it.
    """
    before = time.time() - ABANDONED_SECONDS if before is None else before
    with Manifest(archive).locked():
        found = list(files_of(archive))
        named = NamedFiles(archive)
        abandoned = [
            file
            for file in found
            if (_NEW_FILE.fullmatch(file.name) or is_data(file) and file not in named)
            and age_seconds(archive / file.name) > time.time() - before
        ]
        if abandoned:
            say_moved(archive)  # rows may have named them until a moment ago
        delete(archive, (file.name for file in abandoned))
    return abandoned


def is_data(file: File) -> bool:
    return bool(file.file_id or RESULT_FILE.fullmatch(file.name))


def _files_below(archive: Place, folder: str) -> Iterator[File]:
    if is_remote(archive):
        below = archive / folder if folder else archive
        start = len(archive.path.strip("/")) + 1
        try:
            found = archive.fs.find(below.path, detail=True)
        except FileNotFoundError:
            return
        for path, about in found.items():
            yield _file(path.strip("/")[start:], about["size"])
        return
    for at, _, names in os.walk(archive / folder):
        for name in names:
            path = Path(at, name)
            with contextlib.suppress(FileNotFoundError):  # gone in the meantime
                yield _file(path.relative_to(archive).as_posix(), path.stat().st_size)


def _file(name: str, size: int) -> File:
    data = DATA_FILE.fullmatch(name)
    if not data or data[1] not in TABLES:
        return File(name, size)
    return File(name, size, data[1], data[2], data[4])
