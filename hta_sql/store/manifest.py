"""Manifests, such as `traces.parquet`: only they decide which files an archive has.

On disk a manifest is one file, which is replaced as a whole under a lock. Object storage has no
rename and no lock. There, each change is an object of its own in a folder with the manifest's name
(`traces/…`), and its rows replace earlier rows with the same key. `hta-sql compact` merges many
changes into one.
"""

from __future__ import annotations

import contextlib
import fcntl
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from hta_sql.errors import ArchiveError
from hta_sql.places.storage import (
    contents,
    holds_archive,
    is_remote,
    names_in,
    put_bytes,
    reader_of,
    remove,
)
from hta_sql.store.changes import (
    CHANGE,
    UNCHANGED,
    counting,
    is_over,
    now_after,
    time_of,
    without_change,
)
from hta_sql.store.checksums import damaged, is_named_after, name_of_change, replace_sealed, sealed
from hta_sql.store.layout import KEYS, in_job, on_disk
from hta_sql.store.locks import open_lock
from hta_sql.store.moves import moving
from hta_sql.store.schemas import schema
from hta_sql.version import SCHEMA_VERSION

if TYPE_CHECKING:
    from hta_sql.places.storage import Place

# At most one part in this many of the time is spent on changes of manifests.
CHANGES_SHARE = 20


class Manifest:
    """Reads and changes the rows of an archive's traces.parquet, or of another table of KEYS."""

    def __init__(self, archive: Place, table: str = "traces"):
        self.archive = archive
        self.path = archive / f"{on_disk(table)}.parquet"
        self.changes = archive / on_disk(table)
        self._table = table

    def key(self, row: dict) -> tuple:
        return tuple(row[column] for column in KEYS[self._table])

    def rows(self) -> list[dict]:
        _, current = self._current()
        return [without_change(row) for row in current.values() if not row["is_gone"]]

    def check_known(self) -> None:
        """Raise ArchiveError if a newer hta_sql has written rows: this one would lose columns."""
        newest = max((row.get("schema_version") or 0 for row in self.rows()), default=0)
        if newest > SCHEMA_VERSION:
            raise ArchiveError(
                f"{self.archive}: a newer hta_sql has written to it (schema {newest}, and this "
                f"version knows {SCHEMA_VERSION}); update hta_sql to change the archive"
            )

    def make(self) -> None:
        """Make an archive without traces if there is none, so that it can be opened at once."""
        if is_remote(self.archive):
            if not holds_archive(self.archive):
                self._put_change([], time.time_ns())
            return
        self.archive.mkdir(parents=True, exist_ok=True)
        with self.locked():
            if not self.path.exists():
                self._write([])

    def add(self, rows: Iterable[dict]) -> list[dict]:
        """Make files part of the archive, in place of any others with their keys or their paths.

        Readers see the archive before or after, never in between. Only while locked. Returns the
        rows that were displaced.
        """
        added = {self.key(row): row for row in rows}
        jobs_and_paths = {(row["job"], row["path"]) for row in added.values() if "path" in row}

        def is_displaced(row: dict) -> bool:
            return self.key(row) in added or (row["job"], row.get("path")) in jobs_and_paths

        return self.change(lambda row: not is_displaced(row), added.values())

    def change(self, stays: Callable[[dict], bool], added: Iterable[dict] = ()) -> list[dict]:
        """Take away the rows that do not stay, and add others; returns those taken away.

        Only while locked. Readers get a notice, since the files of those rows may be deleted.
        """
        parts, current = self._current()
        rows = [row for row in current.values() if not row["is_gone"]]
        new = {self.key(row): row for row in added}
        gone = [row for row in rows if not stays(row)]
        # Files of stored results stay for a while, and processes that compute results read them.
        is_told = gone and self._table != "stored_results"
        with moving(self.archive) if is_told else contextlib.nullcontext():
            if is_remote(self.archive):
                now = now_after(parts)
                self._put_change(
                    [
                        *(row | {"changed_ns": now} for row in new.values()),
                        *(
                            row | UNCHANGED | {"changed_ns": now, "is_gone": True}
                            for row in gone
                            if self.key(row) not in new
                        ),
                    ],
                    now,
                )
            else:
                self._write([*(row for row in rows if stays(row)), *new.values()])
        return list(map(without_change, gone))

    def move(self, moves: Iterable[tuple[dict, dict]]) -> None:
        """Let rows, each as it was read, name other files that hold the same: the second dict of a
        pair has the new file_id and files.

        A row that was replaced or moved since stays as it is. Only while locked.
        """
        parts, current = self._current()
        moved = [
            now | named
            for row, named in moves
            if (now := current.get(self.key(row)))
            and not now["is_gone"]
            and _files_of(now) == _files_of(row)
        ]
        if moved:
            with moving(self.archive):
                self._renew(parts, current, moved, "moved_ns")

    def amend(self, rows: Iterable[dict], columns: Collection[str]) -> None:
        """Set these columns of rows, if the rows are still of the same source files."""
        with self.locked():
            parts, current = self._current()
            amended = [
                now | {column: row[column] for column in columns}
                for row in rows
                if (now := current.get(self.key(row)))
                and not now["is_gone"]
                and now.get("fingerprint") == row["fingerprint"]
            ]
            if amended:
                self._renew(parts, current, amended, "amended_ns")

    def merge(self) -> int:
        """Merge all changes into one object; returns the number of changes that it replaces."""
        if not is_remote(self.archive):
            return 0
        parts, changes = self._changes()
        if len(parts) <= 1:
            return 0
        merged = self._put_change(
            [counting(rows) for rows in changes.values() if not is_over(rows)],
            max(time.time_ns(), *map(time_of, parts)),
        )
        # If one of the changes holds what all of them do, it may have the name of the new one.
        remove([*(part for part in parts if part.name != merged), self.path])
        return len(parts)

    def copy_to(self, file: Path, names: Mapping[str, str] | None = None) -> None:
        """Write the rows to one file on disk; with `names`, only of these jobs, under new names."""
        rows = self.rows()
        if names:
            rows = [in_job(row, names[row["job"]]) for row in rows if row["job"] in names]
        self._write_file(rows, file)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Lock it: two ingests may write to one archive; each change must build on the other."""
        if is_remote(self.archive):  # where changes do not build on each other
            yield
            return
        with open_lock(self.archive / ".lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def parts(self) -> list[Place]:
        """The objects of this manifest, in the order in which they were written."""
        names = sorted(names_in(self.changes))
        return [self.changes / name for name in names if name.endswith(".parquet")]

    def _current(self) -> tuple[list[Place], dict[tuple, dict]]:
        """The changes, and for each key the row that counts, or the row that took it away."""
        parts, changes = self._changes()
        return parts, {key: counting(rows) for key, rows in sorted(changes.items())}

    def _changes(self) -> tuple[list[Place], dict[tuple, list[dict]]]:
        """The changes, and for each key all its rows, in the order of the objects."""
        while True:
            # In this order: if a merge has deleted the file, the object that it made is listed.
            whole = self._whole()
            parts = self.parts()
            found = contents(parts)
            if None not in found:  # otherwise they were merged meanwhile
                break
        for content, part in zip(found, parts, strict=True):
            if not is_named_after(content, part.name):
                raise damaged(part)
        changes: defaultdict[tuple, list[dict]] = defaultdict(list)
        for content, file in zip([whole, *found], [self.path, *parts], strict=True):
            for row in _read(content, file) if content is not None else []:
                changes[self.key(row)].append(UNCHANGED | row)
        return parts, changes

    def _whole(self) -> bytes | None:
        """The content of the manifest's file, if there is one."""
        if is_remote(self.archive):
            [content] = contents([self.path])
            return content
        try:
            return sealed(self.path)
        except FileNotFoundError:
            return None

    def _renew(
        self, parts: list[Place], current: dict[tuple, dict], rows: list[dict], when: str
    ) -> None:
        """Write new rows of the same source files; column `when` gets the time of the change."""
        if is_remote(self.archive):
            now = now_after(parts)
            self._put_change([row | {when: now} for row in rows], now)
        else:
            renewed = current | {self.key(row): row for row in rows}
            self._write([row for row in renewed.values() if not row["is_gone"]])

    def _put_change(self, rows: Iterable[dict], now: int) -> str:
        """Add an object with these rows; returns its name."""
        table = pa.Table.from_pylist(
            [UNCHANGED | row for row in rows], schema=pa.schema([*schema(self._table), *CHANGE])
        )
        content = _as_bytes(table)
        name = name_of_change(content, now)
        put_bytes(content, self.changes / name)
        return name

    def _write(self, rows: list[dict]) -> None:
        written = self.path.with_name(f".{self.path.name}.{uuid.uuid4().hex}")
        try:
            self._write_file(sorted(rows, key=self.key), written)
            replace_sealed(written, self.path)
        finally:
            written.unlink(missing_ok=True)
        # Parts that a copy from object storage has brought are in the file now.
        for file in self.parts():
            file.unlink()

    def _write_file(self, rows: list[dict], file: Path) -> None:
        file.write_bytes(_as_bytes(pa.Table.from_pylist(rows, schema=schema(self._table))))


def _as_bytes(table: pa.Table) -> bytes:
    """The table as the content of a Parquet file."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    return sink.getvalue().to_pybytes()


def _read(content: bytes, file: Place) -> list[dict]:
    try:
        return pq.ParquetFile(reader_of(content)).read().to_pylist()  # read_table is slow to import
    except (pa.ArrowException, OSError) as error:
        raise damaged(file) from error


def _files_of(row: dict) -> tuple:
    """The ids that only this row names; earlier versions had only the id of the trace."""
    return row.get("trace_id"), row.get("file_id")
