"""Writes the file of an export: complete or not at all, and compressed if its name ends in .gz."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import orjson
from zlib_ng import gzip_ng

from hta_sql.errors import HtaSqlError
from hta_sql.places.storage import is_remote
from hta_sql.show.files import whole_file

if TYPE_CHECKING:
    from hta_sql.archive import Archive

# The level of zlib-ng: half the time of the next level, for 5 % more bytes.
COMPRESSION = 2
SECOND_NS = 1_000_000_000
YEAR_NS = 365 * 86_400 * SECOND_NS


def check_name(path: Path) -> None:
    """Raise HtaSqlError for a file that is not named like a trace. A pipe may have any name."""
    is_new_or_file = path.is_file() or not path.exists()
    if is_new_or_file and not path.name.endswith((".json", ".json.gz")):
        raise HtaSqlError(
            f"{path}: the name has to end in .json, or in .json.gz for a compressed file"
        )


def refuse_inside(run: Archive, path: Path) -> None:
    """Raise HtaSqlError for a path inside the archive."""
    on_disk = [root for root in run.session.roots if not is_remote(root)]
    if any(path.resolve().is_relative_to(root.resolve()) for root in on_disk):
        raise HtaSqlError(f"{path}: this is inside the archive; give a path outside of it")


def write_trace(path: Path, head: dict, batches: Generator[list[str]]) -> int:
    """Write top-level keys and events, one line of JSON each; returns the number of events."""
    check_name(path)
    count = 0
    # The batches are closed even if the disk is full or the user interrupts, or DuckDB would fail.
    with new_file(path) as file, contextlib.closing(batches):
        file.write(orjson.dumps(head)[:-1] + b',"traceEvents":[')
        for lines in batches:
            if lines:
                file.write((b",\n" if count else b"\n") + ",\n".join(lines).encode())
                count += len(lines)
        file.write(b"\n]}\n")
    return count


def head_of(run: Archive, job: str, rank: int) -> tuple[dict, int]:
    """The top-level keys for an export of a rank's trace, and the ns that its times count from."""
    [(metadata, first_ns)] = run.session.con.execute(
        "SELECT t.metadata, (SELECT min(e.start_ns) FROM events AS e "
        "WHERE e.job = t.job AND e.rank = t.rank) FROM traces AS t WHERE t.job = ? AND t.rank = ?",
        [job, rank],
    ).fetchall()
    keys = orjson.loads(metadata or "{}")
    base_ns = keys.get("baseTimeNanoseconds")
    if not isinstance(base_ns, int) or base_ns <= 0:
        base_ns = second_before(first_ns or 0)
        if base_ns < YEAR_NS:  # times without a date, which stay as they are
            return keys | {"displayTimeUnit": "ns"}, 0
    return keys | {"baseTimeNanoseconds": base_ns, "displayTimeUnit": "ns"}, base_ns


def second_before(at_ns: int) -> int:
    """The base that time stamps are counted from, so that they are short; never before 1970."""
    return max(0, at_ns - at_ns % SECOND_NS)


@contextlib.contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """A file that gets its name once it is complete. A pipe or device is written directly."""
    try:
        with whole_file(path) as raw, contextlib.ExitStack() as opened:
            file = raw
            if path.suffix == ".gz":
                packed = gzip_ng.GzipNGFile("", "wb", COMPRESSION, raw, mtime=0)
                file = opened.enter_context(packed)
            yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        raise HtaSqlError(f"{path}: {error.strerror or error}") from error
