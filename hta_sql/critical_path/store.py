"""Keep computed paths in an archive: data files first, then the row that makes them count."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from hta_sql.database.attach import write_database
from hta_sql.errors import ArchiveError, FilesMoved
from hta_sql.places.storage import Place, is_remote, put, remove
from hta_sql.store.layout import PATH_TABLES, partition
from hta_sql.store.manifest import Manifest
from hta_sql.store.staging import clear_abandoned, in_use, staging_of

MANIFEST = "critical_paths"


@dataclass
class Draft:
    """The files of one job's window before they are published."""

    archive: Place
    job: str
    folder: Path
    path_id: str = field(default_factory=lambda: uuid.uuid4().hex[:16])
    _files: list[tuple[Path, Place]] = field(default_factory=list)

    def file(self, table: str, rank: int) -> Path:
        """Where to write a table's rows of a rank; of all ranks, with the lowest."""
        written = self.folder / f"{table}-{rank}.parquet"
        target = self.archive / table / partition(self.job, rank) / f"{self.path_id}.parquet"
        self._files.append((written, target))
        return written

    def publish(self, row: dict) -> None:
        """Make the files count, in place of those that the window had before."""
        manifest = Manifest(self.archive, MANIFEST)
        is_first = not is_remote(self.archive) and not manifest.path.exists()
        with manifest.locked():
            current = {trace["trace_id"] for trace in Manifest(self.archive).rows()}
            if not current.issuperset(row["trace_ids"]):
                raise FilesMoved(
                    f"{self.archive}: job {self.job!r} was ingested anew, or dropped, "
                    "while its path was sought; ask again"
                )
            for written, target in self._files:
                put(written, target)
            row = row | {"job": self.job, "path_id": self.path_id}
            gone = manifest.change(
                lambda other: (
                    manifest.key(other) != manifest.key(row)
                    and current.issuperset(other["trace_ids"])
                ),  # else it was ingested anew
                [row],
            )
            old = [
                self.archive / table / partition(other["job"], rank) / f"{other['path_id']}.parquet"
                for other in gone
                for table in PATH_TABLES
                for rank in other["ranks"]
            ]
            if is_remote(self.archive):
                remove(old)
            else:
                for file in old:
                    file.unlink(missing_ok=True)
        if is_first:  # for a shell, which so far has found no such tables
            write_database(self.archive)


@contextlib.contextmanager
def draft(archive: Place, job: str) -> Iterator[Draft]:
    """A place to write a job's window to; nothing of it stays unless it is published."""
    folder = staging_of(archive)
    with contextlib.ExitStack() as stack:
        try:
            clear_abandoned(archive)
            stack.enter_context(in_use(folder))
        except OSError as error:
            raise ArchiveError(
                f"{archive}: critical paths are kept in the archive, which cannot be written: "
                f"{error.strerror}"
            ) from error
        yield Draft(archive, job, folder)
