"""Reads every file that an archive's manifests list, and compares it with its checksum."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hta_sql.errors import ArchiveError
from hta_sql.places.storage import is_remote
from hta_sql.store.checksums import entries_of, problem_of, seal_of, sealed, seals_of
from hta_sql.store.layout import KEYS, on_disk
from hta_sql.store.manifest import Manifest

if TYPE_CHECKING:
    from hta_sql.places.storage import Place

# Of more source files than this, a command names the folders.
MOST_SOURCES = 4


@dataclass(frozen=True)
class Damage:
    """A file of an archive that is not as hta_sql wrote it, and a command that makes it again."""

    path: str
    problem: str
    cure: str


@dataclass
class Verified:
    """What `verify` found: damaged files, the manifests without a checksum, the number of files and
    bytes that it compared, and the number of rows of manifests whose files have no checksums."""

    damages: list[Damage]
    unsealed: list[str] = field(default_factory=list)
    file_count: int = 0
    bytes: int = 0
    unknown_count: int = 0


def verify(archive: Place) -> Verified:
    """Read all data files and manifests of an archive, and compare them with their checksums."""
    done = Verified(list(_of_sealed(archive)))
    for table in KEYS:
        try:
            rows = Manifest(archive, table).rows()
        except ArchiveError:  # it is among the damages
            if is_remote(archive):
                raise
            continue
        if not is_remote(archive) and rows and not seal_of(Manifest(archive, table).path).exists():
            done.unsealed.append(Manifest(archive, table).path.name)
        done.unknown_count += sum(row.get("files") is None for row in rows)
        of_files: dict[str, list[dict]] = defaultdict(list)
        for row in rows:
            for entry in row.get("files") or ():
                of_files[entry["path"]].append(row)
        for entry in entries_of(rows):
            done.file_count += 1
            done.bytes += entry["bytes"]
            if problem := problem_of(archive / entry["path"], entry, is_deep=True):
                cure = _cure(archive, table, of_files[entry["path"]])
                done.damages.append(Damage(entry["path"], problem, cure))
    return done


def _of_sealed(archive: Place) -> Iterator[Damage]:
    """The damaged files among those that have their checksum beside them."""
    if is_remote(archive):
        return
    for file in seals_of(archive):
        is_manifest = file.suffix == ".parquet"
        try:
            sealed(file)
        except FileNotFoundError:
            yield Damage(file.name, "is gone", _cure_of_sealed(file).removeprefix("delete it; "))
        except ArchiveError:
            what = "is damaged, so the files that it lists are unknown"
            yield Damage(file.name, what if is_manifest else "is damaged", _cure_of_sealed(file))


def _cure_of_sealed(file: Path) -> str:
    if file.suffix == ".duckdb":
        return "delete it; the next `hta-sql ingest` or `hta-sql compact` writes it again"
    if file.stem in (on_disk("stored_results"), "critical_paths"):
        return "delete it, and compute again what it lists"
    return "restore it from a copy, or ingest the traces into a new archive"


def _cure(archive: Place, table: str, rows: list[dict]) -> str:
    """The command that makes a data file again, which these rows of a manifest name."""
    where, jobs = shlex.quote(str(archive)), sorted({row["job"] for row in rows})
    chosen = " ".join(f"--only-jobs {shlex.quote(job)}" for job in jobs[:MOST_SOURCES])
    if table == "stored_results":
        return f"hta-sql materialize {where} {chosen} --force"
    if table == "critical_paths":
        return f"hta-sql critical-path {where}, for {rows[0]['path_window']} of job {jobs[0]!r}"
    paths = sorted({row["path"] for row in rows if row["path"]})
    if len(paths) > MOST_SOURCES:
        paths = sorted({path.rpartition("/")[0] for path in paths})
    sources = " ".join(map(shlex.quote, paths))
    return f"hta-sql ingest {sources} {where} --job {shlex.quote(jobs[0])} --force"
