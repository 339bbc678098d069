"""Where the files of archives are, for the views of sql/tables.

A connection of hta_sql gets the names of the files, only for the jobs that a query asks for. With
thousands of jobs, or in object storage, looking through all folders would take most of a query's
time. hta.duckdb has patterns instead, relative to the folder of the shell.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import weakref
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from hta_sql.errors import DAMAGED
from hta_sql.places.storage import at_once, is_remote, names_in, sizes_below
from hta_sql.store.checksums import SEE_DEEP, sealed
from hta_sql.store.layout import KEYS, folder_for, has_changes, on_disk
from hta_sql.store.moves import last_move

if TYPE_CHECKING:
    from hta_sql.places.remote import ArchiveFiles
    from hta_sql.places.storage import Place

# For more jobs than this, patterns for all jobs are shorter than one pattern per job.
MOST_JOBS = 256
MANIFESTS = tuple(KEYS)

# The same as layout.on_disk.
_NAMED = "replace(of_table, 'stored_', 'kept_')"
# `[t]races.parquet` matches one name. A plain name would be searched for in one archive only.
PATTERNS = {
    "archive_manifest": f"['[' || {_NAMED}[1] || ']' || {_NAMED}[2:] || '.parquet']",
    "rank_files": "[of_table || '/*/rank=*/*.parquet']",
    "job_files": "[of_table || '/*/ranks/*.parquet']",
    "result_files": f"['results/' || {_NAMED} || '/*.parquet']",
}
_FOLDER = f"CASE WHEN of_table LIKE 'stored%' THEN 'results/' || {_NAMED} ELSE of_table END"
# In hta.duckdb, whether all files of a table are there that the manifests list; it fails if one is
# not. A connection of hta_sql has seen to that before.
FILES_ARE_THERE = f"""(
    WITH listed AS (
        SELECT unnest(files).path AS path FROM traces
        UNION ALL
        SELECT unnest(files).path AS path FROM attachments
        UNION ALL
        SELECT unnest(files).path AS path FROM critical_paths
        UNION ALL
        SELECT unnest(files).path AS path FROM stored_results
    ),
    there AS (
        SELECT string_split(file, '/')[-3:] AS parts
        FROM glob(({_FOLDER}) || '/**/*.parquet')
    ),
    gone AS (
        SELECT path
        FROM listed
        WHERE starts_with(path, ({_FOLDER}) || '/')
            AND string_split(path, '/')[-3:] NOT IN (SELECT parts FROM there)
    )
    SELECT
        CASE
            WHEN count(*) = 0 THEN true
            ELSE error('{DAMAGED}' || min(path) || ' is gone; {SEE_DEEP}')::BOOLEAN
        END
    FROM gone
)"""


@dataclass
class Source:
    """One archive, and where to read it. DuckDB reads an archive in object storage by `reader`.

    `names` maps jobs to new names, and leaves out all others; only for object storage.
    """

    root: Place
    reader: ArchiveFiles | None = field(default=None, repr=False)
    names: Mapping[str, str] = field(default_factory=dict)
    scratch: Path | None = None  # where copies of manifests go; the default is the system's folder
    _scratch: weakref.finalize | None = field(default=None, repr=False)
    _last_move: bytes = field(default=b"", repr=False)
    _stamps: list[tuple[int, int, int] | None] = field(default_factory=list, repr=False)

    @cached_property
    def manifests(self) -> Path:
        """A folder with copies of the archive's manifests, each in one file. Queries see the
        archive as it was when these were made, also if an ingest adds traces in the meantime."""
        # Before it looks for any file.
        self._last_move, self._stamps = last_move(self.root), self._stamps_of_now()
        try:
            folder = Path(tempfile.mkdtemp(prefix="hta-sql-", dir=self.scratch))
        except OSError:
            if self._is_in_parts:
                raise
            # Without a place for copies, queries see what an ingest adds in the meantime.
            return self.root
        self._scratch = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        for table in MANIFESTS:
            name = on_disk(table)
            if self._is_in_parts:
                from hta_sql.store.manifest import Manifest  # not at the top: it needs Arrow

                if {name, f"{name}.parquet"} & self._names:
                    Manifest(self.root, table).copy_to(folder / f"{name}.parquet", self.names)
                continue
            with contextlib.suppress(FileNotFoundError):
                (folder / f"{name}.parquet").write_bytes(sealed(self.root / f"{name}.parquet"))
        return folder

    @property
    def _is_in_parts(self) -> bool:
        return is_remote(self.root) or has_changes(self.root)

    def has_moved(self) -> bool:
        """Whether files were moved or taken away since the manifests were read."""
        return "manifests" in self.__dict__ and last_move(self.root) != self._last_move

    def reread(self) -> None:
        """Forget the manifests and what was listed, so that they are read again when needed."""
        for known in ("manifests", "_names", "_listed"):
            self.__dict__.pop(known, None)
        if self._scratch:
            self._scratch()

    def close(self) -> None:
        self.reread()

    def has_changed(self) -> bool:
        """Whether the manifests of an archive on disk have changed since they were read."""
        return "manifests" in self.__dict__ and self._stamps_of_now() != self._stamps

    def _stamps_of_now(self) -> list[tuple[int, int, int] | None]:
        if self._is_in_parts:
            return []
        return [_stamp(self.root / f"{on_disk(table)}.parquet") for table in MANIFESTS]

    def manifest(self, table: str, *, is_live: bool = False) -> list[str]:
        """The file of a manifest, if there is one; with `is_live`, the archive's own if possible,
        and not the copy."""
        folder = self.root if is_live and not self._is_in_parts else self.manifests
        file = folder / f"{on_disk(table)}.parquet"
        return [str(file)] if file.exists() else []

    def files(self, table: str, below: str, jobs: Collection[str] | None) -> list[str]:
        """A table's files, or patterns for them; `below` is rank=* or ranks."""
        folders = self._folders(jobs)
        if not is_remote(self.root):
            patterns = [f"{table}/{folder}/{below}/*.parquet" for folder in folders]
            return [f"{self.root}/{p}" for p in patterns if any(self.root.glob(p))]
        return [
            file
            for folder in folders
            for file in self._list(table, folder)
            if fnmatchcase(file.split("/")[-2], below)
        ]

    def results(self, name: str) -> list[str]:
        if is_remote(self.root):
            return [f for f in self._list("results", "*") if f.split("/")[-2] == on_disk(name)]
        pattern = f"results/{on_disk(name)}/*.parquet"
        return [f"{self.root}/{pattern}"] if any(self.root.glob(pattern)) else []

    def located(self, path: str, size: int) -> str:
        """Where DuckDB reads a data file. In object storage, the reader learns its size."""
        if not is_remote(self.root):
            return f"{self.root}/{path}"
        table, folder, *rest = path.split("/")
        before = self.root / "/".join([table, self._folder_before(folder), *rest])
        url = str(self.root / path)
        self.reader.know({url: (str(before), size)})
        return url

    def list_at_once(self, tables: Iterable[str], jobs: Collection[str] | None) -> None:
        """List what `files` and `results` will need, at the same time, since each takes long."""
        wanted = [(table, folder) for table in tables for folder in self._folders(jobs)]
        wanted = [item for item in [*wanted, ("results", "*")] if item[0] in self._names]
        at_once(lambda item: self._list(*item), wanted)

    def chosen(self, jobs: Collection[str] | None) -> Collection[str] | None:
        """Those of the jobs that are not left out; None stands for all jobs."""
        if not self.names:
            return jobs
        new = self.names.values()
        return list(new) if jobs is None else [job for job in jobs if job in new]

    def _folders(self, jobs: Collection[str] | None) -> list[str]:
        """The folders of jobs below a table's; for all jobs, a pattern."""
        jobs = self.chosen(jobs)
        return ["*"] if jobs is None else [folder_for(job) for job in jobs]

    @cached_property
    def _names(self) -> set[str]:
        """The names directly in the archive. A table without rows has no folder."""
        return names_in(self.root)

    @cached_property
    def _listed(self) -> dict[tuple[str, str], list[str]]:
        return {}

    def _list(self, table: str, folder: str) -> list[str]:
        """The Parquet files in a folder of a table, listed once until `reread`."""
        if table not in self._names:
            return []
        if (table, "*") in self._listed:
            return [f for f in self._listed[table, "*"] if folder in ("*", f.split("/")[-3])]
        if (table, folder) not in self._listed:
            old = self._folder_before(folder)
            where = self.root / table if folder == "*" else self.root / table / old
            found = {
                url: size for url, size in sizes_below(where).items() if url.endswith(".parquet")
            }
            named = {url: url.replace(f"/{old}/", f"/{folder}/") for url in found}
            self.reader.know({named[url]: (url, size) for url, size in found.items()})
            self._listed[table, folder] = list(named.values())
        return self._listed[table, folder]

    def _folder_before(self, folder: str) -> str:
        """The real folder of a job, whose name may be a new one."""
        before = {folder_for(new): folder_for(old) for old, new in self.names.items()}
        return before.get(folder, folder)


def whereabouts(
    sources: Iterable[Source], tables: Iterable[str], jobs: Collection[str] | None
) -> dict[str, dict[str, list[str]]]:
    """The files of each table that are there, or patterns for them, for each macro of PATTERNS."""
    sources, tables = list(sources), list(tables)
    if jobs is not None and len(jobs) > MOST_JOBS:
        jobs = None

    def of_all(find, names: Iterable[str]) -> dict[str, list[str]]:
        return {name: [file for source in sources for file in find(source, name)] for name in names}

    data = [table for table in tables if table not in MANIFESTS]
    for source in sources:
        source.manifests  # noqa: B018 - notes the last move before files are listed
        if is_remote(source.root):
            source.list_at_once(data, jobs)
    return {
        "archive_manifest": of_all(lambda s, t: s.manifest(t, is_live=True), MANIFESTS),
        "rank_files": of_all(lambda s, t: s.files(t, "rank=*", jobs), data),
        "job_files": of_all(lambda s, t: s.files(t, "ranks", jobs), data),
        "result_files": of_all(Source.results, tables),
    }


def _stamp(file: Path) -> tuple[int, int, int] | None:
    """Changes if the file does; None if the file does not exist."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
