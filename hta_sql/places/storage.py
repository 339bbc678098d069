"""The same calls for files on disk and in object storage: a Path, or a UPath for a URL.

Object storage has no rename and no lock. So each write makes a new object with a unique name, and
the row that makes it count is written after it.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias, TypeVar

from hta_sql.errors import HtaSqlError, one_line
from hta_sql.places.client_errors import plain_errors

if TYPE_CHECKING:
    import pyarrow as pa
    from upath import UPath

Place: TypeAlias = "Path | UPath"
T, R = TypeVar("T"), TypeVar("R")

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
# The number of requests at the same time. They wait for answers, not for a core.
REQUESTS = 16


def place(text: str | os.PathLike[str] | Place) -> Place:
    """The Path or UPath of a path or URL (`s3://…`, or any other that fsspec supports)."""
    if isinstance(text, os.PathLike):
        return Path(text)
    if not isinstance(text, str):  # a UPath
        return text
    if not is_url(text):
        return Path(text)
    if text.startswith("file://"):
        return Path(text.removeprefix("file://"))
    try:
        from upath import UPath
    except ImportError as error:
        raise HtaSqlError(
            f"{text}: object storage needs more packages: pip install 'hta-sql[s3]'"
        ) from error
    if text.partition("://")[2].strip("/"):
        text = text.rstrip("/")
    try:
        # Other processes write there, too, so an earlier listing may be out of date.
        found = UPath(text, use_listings_cache=False)
        found.fs  # noqa: B018 - makes it; raises if a package is missing
    except (ImportError, ValueError) as error:
        raise HtaSqlError(f"{text}: {one_line(error)}") from error
    return found


def is_url(text: str) -> bool:
    return bool(_URL.match(text))


def is_remote(path: Place) -> bool:
    """Whether it is in object storage."""
    return not isinstance(path, Path)


def absolute(text: str | os.PathLike[str] | Place) -> Place:
    """The place as an absolute path, or as a URL."""
    found = place(text)
    return found if is_remote(found) else Path(os.path.abspath(found))


def names_in(folder: Place) -> set[str]:
    """The names directly in a folder; empty if there is no such folder."""
    if not is_remote(folder):
        return set(os.listdir(folder)) if folder.is_dir() else set()
    with plain_errors(folder):
        try:
            return {
                path.rstrip("/").rpartition("/")[2]
                for path in folder.fs.ls(folder.path, detail=False)
            }
        except (FileNotFoundError, NotADirectoryError) as error:
            if error.__cause__:  # no such bucket
                raise
            return set()


def holds_archive(folder: Place) -> bool:
    """Whether a folder is an archive."""
    names = names_in(folder)
    return (
        "traces.parquet" in names
        or "traces" in names
        and any(name.endswith(".parquet") for name in names_in(folder / "traces"))
    )


def sizes_below(folder: UPath) -> dict[str, int]:
    """The paths of all files below a folder of object storage, in order, with their sizes."""
    return {url: about["size"] for url, about in listed_below(folder).items()}


def listed_below(folder: UPath) -> dict[str, dict]:
    """The same with everything that the listing says about each file."""
    fs = folder.fs
    with plain_errors(folder):
        found = fs.find(folder.path, detail=True)
    return {fs.unstrip_protocol(name): found[name] for name in sorted(found)}


def contents(files: Iterable[Place]) -> list[bytes | None]:
    """The contents of small files; None for a file that does not exist."""

    def content(file: Place) -> bytes | None:
        try:
            with plain_errors(file):
                # Without start=0, s3fs would ask for the size first.
                return (
                    file.fs.cat_file(file.path, start=0) if is_remote(file) else file.read_bytes()
                )
        except FileNotFoundError:
            return None

    files = list(files)
    return at_once(content, files) if len(files) > 1 else list(map(content, files))


def reader_of(content: bytes) -> pa.BufferReader:
    """A reader for Arrow of a whole file's bytes, copied to Arrow's own memory.

    If Arrow's threads release Python's bytes a moment late, Python cannot end: commands sometimes
    aborted after their work was done.
    """
    import pyarrow as pa

    buffer = pa.allocate_buffer(len(content))
    memoryview(buffer).cast("B")[:] = content
    return pa.BufferReader(buffer)


def at_once(function: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """The results of a function for all items, many at the same time: for calls that wait."""
    with ThreadPoolExecutor(REQUESTS) as pool:
        return list(pool.map(function, items))


def put(file: Path, target: Place) -> None:
    """Move a staged file to its final name, on disk or in object storage."""
    if is_remote(target):
        with plain_errors(target):
            target.fs.put_file(str(file), target.path)
        file.unlink()
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(file, target)


def put_bytes(content: bytes, target: UPath) -> None:
    """Write a new object, whole or not at all."""
    with plain_errors(target):
        target.fs.pipe_file(target.path, content)


def remove(files: Iterable[UPath]) -> None:
    """Delete objects; some may be gone already."""

    def remove_one(file: UPath) -> None:
        with contextlib.suppress(FileNotFoundError), plain_errors(file):
            file.fs.rm_file(file.path)

    at_once(remove_one, files)


@contextlib.contextmanager
def open_bytes(path: Place) -> Iterator[BinaryIO]:
    """Open a file to read it from front to back."""
    if not is_remote(path):
        with path.open("rb") as file:
            yield file
        return
    from hta_sql.places.remote import read_forward

    with plain_errors(path), read_forward(path) as file:
        yield file


def stamp(path: Place) -> tuple[int, int]:
    """A file's size, and when it was last written in Unix nanoseconds; 0 if that is not known."""
    if not is_remote(path):
        stat = path.stat()
        return stat.st_size, stat.st_mtime_ns
    with plain_errors(path):
        info = path.fs.info(path.path)
        try:
            written = info.get("LastModified") or path.fs.modified(path.path)
        except NotImplementedError:
            return info["size"], 0
    written_ns = int(written.timestamp() * 1_000_000) * 1000
    # S3 gives whole seconds. Two versions of the same size may be from the same second, but their
    # ETags differ: a hash of the ETag replaces the missing digits.
    tag = info.get("ETag")
    if tag and written_ns % 1_000_000_000 == 0:
        written_ns += zlib.crc32(tag.encode()) % 1_000_000_000
    return info["size"], written_ns


def age_seconds(path: Place) -> float:
    """How many seconds ago a file was written; 0 if that is not known, or the file is gone."""
    try:
        if is_remote(path):
            return time.time() - path.fs.modified(path.path).timestamp()
        return time.time() - path.stat().st_mtime
    except (NotImplementedError, FileNotFoundError):
        return 0.0
