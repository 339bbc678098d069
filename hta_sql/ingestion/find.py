"""Finds files that may be traces, and the job of each."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hta_sql.errors import BadParameter, IngestError
from hta_sql.ingestion.trace_list import NEVER, is_list, read_list
from hta_sql.places.client_errors import plain_errors
from hta_sql.places.storage import Place, is_remote, listed_below, names_in, place
from hta_sql.store.jobs import check_name

if TYPE_CHECKING:
    from upath import UPath

# Another ending may follow, as in .json.zst. If ingest cannot read such a file, it says so.
TRACE_NAME = re.compile(r"\.json(\.\w+)?$", re.IGNORECASE)
TIMELINE_NAME = re.compile(r"\.raw(\.json)?(\.gz)?$", re.IGNORECASE)


class NothingThere(IngestError):
    """The places exist, but hold no traces."""


@dataclass(frozen=True)
class Candidate:
    """A file that may be a trace or attached to one: `named` by the user, or found in a folder."""

    path: Place
    job: str
    named: bool
    rank: int | None = None  # as given by the user or a list
    tags: Mapping[str, str] | None = field(default=None, hash=False)  # as given
    is_listed: bool = False  # in a list of traces
    error: str | None = None  # why it cannot be ingested
    listed: tuple | None = None  # its size, time and ETag if object storage listed them


def find_candidates(inputs: Iterable[str | Path], job: str | None) -> list[Candidate]:
    """The candidates in files, folders, patterns and lists of traces, each file once, ordered by
    job and name.

    A folder is a job with the folder's name. Folders below it are jobs named by their path from it.
    A file belongs to the job of its folder. `job` overrides all of these names, and a list of
    traces overrides `job`.
    """
    found: dict[Place | tuple, Candidate] = {}
    for text in inputs:
        for path in matches(text):
            if not is_list(path):
                for candidate in candidates_at(path.absolute(), job):
                    found.setdefault(candidate.path.resolve(), candidate)
                continue
            for candidate in candidates_in(path, job):
                file = candidate.path.resolve()
                first = found.get(file, candidate)
                if first != candidate and first.is_listed and not candidate.error:
                    why = "listed before with another job, rank or tag; leave one row out"
                    candidate = replace(candidate, error=why)
                found[(file, candidate.error) if candidate.error else file] = candidate
    for key, candidate in found.items():
        try:
            check_name(candidate.job)
        except BadParameter as error:
            found[key] = replace(candidate, error=f"{error} with --job NAME")
    if not found:
        places = ", ".join(str(text) for text in inputs)
        raise NothingThere(f"no traces in {places}: looked for *.json and *.json.gz")
    return sorted(found.values(), key=lambda c: (c.job, natural(c.path.name), str(c.path)))


def with_told(
    candidates: list[Candidate], given: Iterable[tuple[int, str | Path]], tags: Mapping[str, str]
) -> list[Candidate]:
    """The candidates with the ranks that the user gives for files, and the tags given for all."""
    if tags:
        candidates = [replace(c, tags={**tags, **(c.tags or {})}) for c in candidates]
    ranks: dict[Place, int] = {}
    for rank, path in given:
        if not 0 <= rank < NEVER:
            raise IngestError(f"{shown(path)}: {rank} is not a rank (0 to {NEVER - 1})")
        first = ranks.setdefault(place(path).resolve(), rank)
        if first != rank:
            raise IngestError(f"{shown(path)}: given as rank {first} and rank {rank}; give one")
    if not ranks:
        return candidates
    return [replace(c, rank=ranks.get(c.path.resolve(), c.rank)) for c in candidates]


def shown(path: str | Path) -> str:
    """A path as text that can be printed and stored, whatever bytes its names have."""
    return os.fsencode(str(path)).decode("utf-8", "backslashreplace")


def matches(text: str | Path | Place) -> list[Place]:
    where = place(text)
    if is_remote(where):
        return remote_matches(where)
    if os.path.exists(text):
        return [Path(text)]
    if glob.has_magic(str(text)):
        paths = [Path(match) for match in glob.glob(str(text), recursive=True)]
        if not paths:
            raise NothingThere(f"no file matches {text}")
        return paths
    raise IngestError(f"{text}: no such file or folder")


def remote_matches(where: UPath) -> list[UPath]:
    """The same for a URL, in which a name with * is a pattern."""
    with plain_errors(where):
        if where.exists():
            return [where]
        if not glob.has_magic(where.path):
            names_in(where)  # raises if there is no such bucket
            # In object storage, a folder exists only if something is in it.
            raise NothingThere(f"{where}: no such object, and none below it")
        found = sorted(where.fs.glob(where.path))
    if not found:
        raise NothingThere(f"no object matches {where}")
    return [place(where.fs.unstrip_protocol(path)) for path in found]


def candidates_at(path: Place, job: str | None) -> Iterable[Candidate]:
    if is_remote(path):
        return remote_candidates(path, job)
    if not path.is_dir():
        if not path.is_file():
            raise IngestError(f"{shown(path)}: neither a file nor a folder")
        return [Candidate(path, job or folder_name(path.parent), named=True)]
    return [
        Candidate(Path(folder, name), job or job_of(path, Path(folder)), named=False)
        for folder, names in walk(path)
        for name in names
        if is_trace_name(name) and Path(folder, name).is_file()
    ]


def remote_candidates(path: UPath, job: str | None) -> Iterable[Candidate]:
    """An object, or all objects below a folder, with few requests."""
    for url, about in listed_below(path).items():
        file = place(url)
        facts = about["size"], about.get("LastModified"), about.get("ETag")
        listed = facts if all(facts[1:]) else None
        if file == path:
            yield Candidate(file, job or bucket_or_name(file.parent), named=True, listed=listed)
            continue
        inside = file.relative_to(path).parts
        if is_trace_name(file.name) and not any(part.startswith(".") for part in inside):
            name = "/".join(inside[:-1]) or bucket_or_name(path)
            yield Candidate(file, job or name, named=False, listed=listed)


def bucket_or_name(folder: UPath) -> str:
    return folder.name or folder.parts[0].strip("/") or "job"


def is_trace_name(name: str) -> bool:
    return bool(TRACE_NAME.search(name) or TIMELINE_NAME.search(name))


def candidates_in(file: Place, job: str | None) -> Iterable[Candidate]:
    """The files in a list of traces."""
    for row in read_list(file):
        name = row.job or job or folder_name(row.path.parent)
        yield Candidate(
            row.path, name, True, row.rank, row.tags or None, is_listed=True, error=row.error
        )


def walk(root: Path) -> Iterable[tuple[str, list[str]]]:
    """Folders below `root` with their files, without archives and hidden files and folders.

    A link, such as `latest`, is left out if its target is found below `root` under its own name. So
    is a link to a folder that contains `root`. Any other linked folder is followed once.
    """
    inside = os.path.realpath(root)
    followed: set[str] = set()

    def counts(folder: str, name: str) -> bool:
        if name.startswith("."):
            return False
        path = os.path.join(folder, name)
        if not os.path.islink(path):
            return True
        target = os.path.realpath(path)
        within = os.path.relpath(target, inside)
        is_inside = within.split(os.sep)[0] != os.pardir
        if not os.path.isdir(target):
            return not (is_inside and is_trace_name(within) and not is_hidden(within))
        is_around = os.path.commonpath([target, inside]) == target
        if target in followed or is_around or is_inside and not is_hidden(within):
            return False
        followed.add(target)
        return True

    for folder, folders, files in os.walk(root, followlinks=True):
        if "traces.parquet" in files or "hta.duckdb" in files:
            folders.clear()
            continue
        folders[:] = [name for name in sorted(folders) if counts(folder, name)]
        yield folder, sorted(name for name in files if counts(folder, name))


def is_hidden(within: str) -> bool:
    """Whether any part of a path below a folder is hidden; `.` is the folder itself."""
    return any(part.startswith(".") for part in Path(within).parts)


def job_of(root: Place, folder: Place) -> str:
    return folder_name(root) if folder == root else shown(folder.relative_to(root).as_posix())


def folder_name(folder: Place) -> str:
    return shown(folder.resolve().name) or "job"


def natural(name: str) -> list:
    """A sort key that puts rank_2 before rank_10."""
    digits = "".join(c if c.isdigit() else " " for c in name).split()
    return [[int(part) for part in digits], name]
