"""Which files are traces, and of which job."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hta_sql.errors import IngestError
from hta_sql.ingestion.trace_list import is_list, read_list
from hta_sql.places.client_errors import plain_errors
from hta_sql.places.storage import Place, is_remote, listed_below, names_in, place
from hta_sql.store.layout import LONGEST_FOLDER_BYTES, folder_for

if TYPE_CHECKING:
    from upath import UPath

# With an ending behind it, it may be packed in a way that cannot be read: then that is said.
TRACE_NAME = re.compile(r"\.json(\.\w+)?$", re.IGNORECASE)
TIMELINE_NAME = re.compile(r"\.raw(\.json)?(\.gz)?$", re.IGNORECASE)


class NothingThere(IngestError):
    """The places are there, but no traces in them."""


@dataclass(frozen=True)
class Candidate:
    """A file that may be a trace or go with one: `named` by the user, or found in a folder."""

    path: Place
    job: str
    named: bool
    rank: int | None = None  # as told
    tags: Mapping[str, str] | None = field(default=None, hash=False)  # as told
    is_listed: bool = False  # in a list of traces
    error: str | None = None  # why such a list's row is of no use
    listed: tuple | None = None  # its size, time and tag where object storage listed them


def find_candidates(inputs: Iterable[str | Path], job: str | None) -> list[Candidate]:
    """Files, folders, patterns and lists of traces to candidates, each file once, in the order of
    their jobs and names.

    A folder is a job of its name; folders below it are jobs named by their path from it. A file
    belongs to the job of its folder. `job` overrides all of these, a list of traces overrides it.
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
                    candidate = replace(candidate, error="listed before, and told otherwise there")
                found[(file, candidate.error) if candidate.error else file] = candidate
    for key, candidate in found.items():
        if len(folder_for(candidate.job)) > LONGEST_FOLDER_BYTES:
            name = candidate.job if len(candidate.job) <= 40 else f"{candidate.job[:40]}…"
            why = f"job '{name}': its name is too long for a folder; --job NAME gives a shorter one"
            found[key] = replace(candidate, error=why)
    if not found:
        places = ", ".join(str(text) for text in inputs)
        raise NothingThere(f"no traces in {places}: looked for *.json and *.json.gz")
    return sorted(found.values(), key=lambda c: (c.job, natural(c.path.name), str(c.path)))


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
    """The same of a URL, in which a name with * is a pattern."""
    with plain_errors(where):
        if where.exists():
            return [where]
        if not glob.has_magic(where.path):
            names_in(where)  # tells of a bucket that is not there
            # A folder is there as soon as something is in it.
            raise NothingThere(f"{where}: no such object, and none below it")
        found = sorted(where.fs.glob(where.path))
    if not found:
        raise NothingThere(f"{where}: no object matches that")
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
    """An object, or those below a folder; by few requests."""
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
    """What a list of traces lists."""
    for row in read_list(file):
        name = row.job or job or folder_name(row.path.parent)
        yield Candidate(
            row.path, name, True, row.rank, row.tags or None, is_listed=True, error=row.error
        )


def walk(root: Path) -> Iterable[tuple[str, list[str]]]:
    """Folders below `root` with their files, leaving out archives and hidden things.

    A link to what is found below `root` by its own name, such as `latest`, is left out, and one to
    a folder that `root` is in; each other folder is followed once.
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
    """Whether a path below a folder leads through hidden things; `.` is the folder itself."""
    return any(part.startswith(".") for part in Path(within).parts)


def job_of(root: Place, folder: Place) -> str:
    return folder_name(root) if folder == root else shown(folder.relative_to(root).as_posix())


def folder_name(folder: Place) -> str:
    return shown(folder.resolve().name) or "job"


def natural(name: str) -> list:
    """Sorts rank_2 before rank_10."""
    digits = "".join(c if c.isdigit() else " " for c in name).split()
    return [[int(part) for part in digits], name]
