"""Which files are traces, and of which job."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from hta_sql.errors import IngestError

# With an ending behind it, it may be packed in a way that cannot be read: then that is said.
TRACE_NAME = re.compile(r"\.json(\.\w+)?$", re.IGNORECASE)
TIMELINE_NAME = re.compile(r"\.raw(\.json)?(\.gz)?$", re.IGNORECASE)
LONGEST_FOLDER_BYTES = 255


@dataclass(frozen=True)
class Candidate:
    """A file that may be a trace or go with one: `named` by the user, or found in a folder."""

    path: Path
    job: str
    named: bool


def find_candidates(inputs: Iterable[str | Path], job: str | None) -> list[Candidate]:
    """Files, folders and patterns to candidates, each file once, in the order of their paths.

    A folder is a job of its name; folders below it are jobs named by their path from it. A file
    belongs to the job of its folder. `job` overrides all of these.
    """
    found: dict[Path, Candidate] = {}
    for text in inputs:
        for path in matches(text):
            for candidate in candidates_at(path.absolute(), job):
                found.setdefault(candidate.path.resolve(), candidate)
    for candidate in found.values():
        if len(folder_for(candidate.job)) > LONGEST_FOLDER_BYTES:
            raise IngestError(
                f"job '{candidate.job[:40]}…': its name is too long for a folder; --job NAME "
                "gives a shorter one"
            )
    if not found:
        places = ", ".join(str(text) for text in inputs)
        raise IngestError(f"no traces in {places}: looked for *.json and *.json.gz")
    return sorted(found.values(), key=lambda c: (c.job, natural(c.path.name), c.path))


def shown(path: str | Path) -> str:
    """A path as text that can be printed and stored, whatever bytes its names have."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def folder_for(job: str) -> str:
    """Any job name makes a valid folder name."""
    return f"job={quote(job, safe=' ')}"


def matches(text: str | Path) -> list[Path]:
    if os.path.exists(text):
        return [Path(text)]
    if glob.has_magic(str(text)):
        paths = [Path(match) for match in glob.glob(str(text), recursive=True)]
        if not paths:
            raise IngestError(f"no file matches {text}")
        return paths
    raise IngestError(f"{text}: no such file or folder")


def candidates_at(path: Path, job: str | None) -> Iterable[Candidate]:
    if not path.is_dir():
        if not path.is_file():
            raise IngestError(f"{shown(path)}: neither a file nor a folder")
        return [Candidate(path, job or folder_name(path.parent), named=True)]
    return [
        Candidate(Path(folder, name), job or job_of(path, Path(folder)), named=False)
        for folder, names in walk(path)
        for name in names
        if (TRACE_NAME.search(name) or TIMELINE_NAME.search(name))
        and Path(folder, name).is_file()
    ]


def walk(root: Path) -> Iterable[tuple[str, list[str]]]:
    """Folders below `root` with their files, leaving out archives and hidden things."""
    for folder, folders, files in os.walk(root, followlinks=True):
        if "traces.parquet" in files or "hta.duckdb" in files:
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield folder, sorted(name for name in files if not name.startswith("."))


def job_of(root: Path, folder: Path) -> str:
    return folder_name(root) if folder == root else shown(folder.relative_to(root).as_posix())


def folder_name(folder: Path) -> str:
    return shown(folder.resolve().name) or "job"


def natural(name: str) -> list:
    """Sorts rank_2 before rank_10."""
    digits = "".join(c if c.isdigit() else " " for c in name).split()
    return [[int(part) for part in digits], name]
