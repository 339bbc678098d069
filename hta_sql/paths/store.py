"""Keep computed paths in an archive: data files first, then the row that makes them count."""

from __future__ import annotations

import contextlib
import shutil
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from hta_sql.database import add_sources
from hta_sql.errors import ArchiveError
from hta_sql.ingest import clear_abandoned, in_use
from hta_sql.ingest.manifest import Manifest
from hta_sql.ingest.trace import partition

MANIFEST = "critical_paths"
TABLES = ("path_edges", "job_path_edges", "what_if_times")


@dataclass
class Draft:
    """The files of one job's window before they are published."""

    archive: Path
    job: str
    folder: Path
    path_id: str = field(default_factory=lambda: uuid.uuid4().hex[:16])
    _files: list[tuple[Path, Path]] = field(default_factory=list)

    def file(self, table: str, rank: int) -> Path:
        """Where to write a table's rows of a rank; of all ranks, with the lowest."""
        written = self.folder / f"{table}-{rank}.parquet"
        target = self.archive / table / partition(self.job, rank) / f"{self.path_id}.parquet"
        self._files.append((written, target))
        return written

    def publish(self, row: dict) -> None:
        """Make the files count, in place of those that the window had before."""
        manifest = Manifest(self.archive, MANIFEST)
        is_first = not manifest.path.exists()
        with manifest.locked():
            for written, target in self._files:
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.move(written, target)
            row = row | {"job": self.job, "path_id": self.path_id}
            current = {trace["trace_id"] for trace in Manifest(self.archive).rows()}
            others = [
                other for other in manifest.rows()
                if manifest.key(other) != manifest.key(row)
                and current.issuperset(other["trace_ids"])  # else it was ingested anew
            ]  # fmt: skip
            manifest.replace([*others, row])
            named = {row["path_id"] for row in manifest.rows()}
            for table in TABLES:
                for file in self.archive.glob(f"{table}/*/*/*.parquet"):
                    if file.stem not in named:
                        file.unlink()
        if is_first:  # for a shell, which so far has found no such tables
            add_sources(self.archive)


@contextlib.contextmanager
def draft(archive: Path, job: str) -> Iterator[Draft]:
    """A place to write a job's window to; nothing of it stays unless it is published."""
    folder = archive / ".staging" / uuid.uuid4().hex
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
