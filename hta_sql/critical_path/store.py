"""Stores computed paths in an archive: first the data files, then the row that names them."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from hta_sql.database.shell_database import write_database
from hta_sql.errors import ArchiveError, FilesMoved
from hta_sql.places.storage import Place, is_remote, put, remove
from hta_sql.store.checksums import described
from hta_sql.store.layout import PATH_TABLES, partition
from hta_sql.store.manifest import Manifest
from hta_sql.store.staging import writing

MANIFEST = "critical_paths"


@dataclass
class Draft:
    """The files of one job's window before they are published.

    `archive` has the traces of the job, and the files go to `target`.
    """

    archive: Place
    target: Place
    job: str
    folder: Path
    path_id: str = field(default_factory=lambda: uuid.uuid4().hex[:16])
    _files: list[tuple[Path, str]] = field(default_factory=list)

    def file(self, table: str, rank: int) -> Path:
        """Where to write a table's rows of a rank. Rows of the whole job use the lowest rank."""
        written = self.folder / f"{table}-{rank}.parquet"
        name = f"{table}/{partition(self.job, rank)}/{self.path_id}.parquet"
        self._files.append((written, name))
        return written

    def publish(self, row: dict) -> None:
        """Add the row that names the files, in place of the window's earlier row and files."""
        manifest = Manifest(self.target, MANIFEST)
        is_first = not is_remote(self.target) and not manifest.path.exists()
        with manifest.locked():
            current = {trace["trace_id"] for trace in Manifest(self.archive).rows()}
            if not current.issuperset(row["trace_ids"]):
                raise FilesMoved(
                    f"{self.archive}: job {self.job!r} was ingested again or dropped while its "
                    "critical path was computed; try again"
                )
            files = [described(written, name) for written, name in self._files]
            for written, name in self._files:
                put(written, self.target / name)
            row = row | {"job": self.job, "path_id": self.path_id, "files": files}
            gone = manifest.change(
                lambda other: (
                    manifest.key(other) != manifest.key(row)
                    and current.issuperset(other["trace_ids"])
                ),  # otherwise a trace was ingested again
                [row],
            )
            old = [
                self.target / table / partition(other["job"], rank) / f"{other['path_id']}.parquet"
                for other in gone
                for table in PATH_TABLES
                for rank in other["ranks"]
            ]
            if is_remote(self.target):
                remove(old)
            else:
                for file in old:
                    file.unlink(missing_ok=True)
        if is_first and self.target == self.archive:  # shells find these tables from now on
            write_database(self.archive)


@contextlib.contextmanager
def draft(archive: Place, job: str, target: Place | None = None) -> Iterator[Draft]:
    """A place to write the files of a job's window; they are deleted unless published.

    They are published in the archive, or in the folder `target`.
    """
    target = target or archive
    with contextlib.ExitStack() as stack:
        try:
            folder = stack.enter_context(writing(target))
        except OSError as error:
            raise ArchiveError(
                f"{target}: critical paths are stored in the archive, which cannot be written: "
                f"{error.strerror}"
            ) from error
        yield Draft(archive, target, job, folder)
