"""Turns one raw memory timeline into a Parquet file of its changes, in a worker process.

torch.profiler's export_memory_timeline writes such a file if its name ends in raw.json.gz. The file
is a JSON list of [time, action, bytes, category], four whole numbers each. A pattern finds them.
Only the text between them is split with care.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from hta_sql.ingestion.elements import LONG_ELEMENT_BYTES
from hta_sql.ingestion.find import shown
from hta_sql.ingestion.quarantine import Quarantine, bad_element
from hta_sql.ingestion.stream import BYTE_ORDER_MARK, ByteStream, Unreadable
from hta_sql.ingestion.trace import IngestedTrace
from hta_sql.ingestion.values import CUT, value_at
from hta_sql.places.storage import Place, stamp
from hta_sql.version import SCHEMA_VERSION

PIECE_BYTES = 4 << 20
# The numbers are those in PyTorch's torch/profiler/_memory_profiler.py.
ACTIONS = {1: "preexisting", 2: "create", 3: "increment_version", 4: "destroy"}
CATEGORIES = {
    0: "parameter",
    1: "optimizer_state",
    2: "input",
    3: "temporary",
    4: "activation",
    5: "gradient",
    6: "autograd",
    7: "unknown",
}

# A bit less than 64 bits can hold, so that every match fits.
NUMBER = rb"(-?(?:\d{1,18}|[1-8]\d{18}))"
CHANGE = re.compile(rb"\[\s*%s\s*,\s*%s\s*,\s*%s\s*,\s*%s\s*\]" % ((NUMBER,) * 4))
CHANGES = re.compile(rb"(?:%s[\s,]*)++" % CHANGE.pattern.replace(b"(-", b"(?:-"))
SEPARATORS = re.compile(rb"[\s,]*")
# A list that the next change follows without a closing bracket: it would swallow the rest.
UNCLOSED = re.compile(rb"\[\s*[^\[\]\s][^\[\]]*+(?=\[)")
# What may follow a broken element: another element, or the end of the list.
NEXT_OR_END = re.compile(rb"\[\s*-?\d|(?<=\])\s*\]\s*\Z")

SCHEMA = pa.schema(
    [
        ("position", pa.int64()),
        ("at_ns", pa.int64()),
        ("action", pa.string()),
        ("action_id", pa.int64()),
        ("bytes", pa.int64()),
        ("category", pa.string()),
        ("category_id", pa.int64()),
    ]
)


def ingest_memory_timeline(
    path: Place, staging: Path, progress: Callable[[int], None] = lambda bytes_read: None
) -> IngestedTrace:
    """Read `path` once and write `staging/memory_events.parquet`.

    `facts` are the columns of `attachments` that come from the file itself. Raises NotATrace or
    OSError.
    """
    staging.mkdir(parents=True, exist_ok=True)
    size, modified_ns = stamp(path)
    stream = ByteStream(path)
    files = {table: staging / f"{table}.parquet" for table in ("memory_events", "quarantine")}
    quarantine = Quarantine(files["quarantine"], path)
    reader = TimelineReader(quarantine)
    row_count = 0
    with pq.ParquetWriter(
        files["memory_events"], SCHEMA, compression="zstd", compression_level=1
    ) as writer:
        for table in reader.tables(pieces(stream)):
            writer.write_table(table)
            row_count += len(table)
            progress(stream.bytes_read)
    quarantine.close()
    if not quarantine.count:
        del files["quarantine"]
    facts = {
        "path": shown(path),
        "file_bytes": size,
        "modified_ns": modified_ns,
        "fingerprint": stream.fingerprint,
        "status": f"truncated: {stream.damage}" if stream.damage else reader.status,
        "row_count": row_count,
        "quarantined_count": quarantine.count,
        "schema_version": SCHEMA_VERSION,
    }
    return IngestedTrace(files, facts, {})


def pieces(stream: ByteStream) -> Iterator[tuple[bytes, bool]]:
    """The text after the list's opening bracket, in pieces, and whether each is the last one."""
    waiting: list[bytes] = []
    size, is_open = 0, False
    for chunk in stream:
        waiting.append(chunk)
        size += len(chunk)
        if size >= PIECE_BYTES:
            data = b"".join(waiting)
            yield (data if is_open else opened(data, stream)), False
            waiting, size, is_open = [], 0, True
    data = b"".join(waiting)
    yield (data if is_open else opened(data, stream)), True


def opened(data: bytes, stream: ByteStream) -> bytes:
    text = data.removeprefix(BYTE_ORDER_MARK).lstrip()
    if text[:1] != b"[":
        raise Unreadable(stream.damage or f"not a list: it begins with {text[:20]!r}")
    # The number of bytes stays the same, so that positions are those in the file.
    return b" " * (len(data) - len(text) + 1) + text[1:]


class TimelineReader:
    """Reads the changes from a list's text. Afterwards, `status` says what was wrong with it."""

    def __init__(self, quarantine: Quarantine):
        self._quarantine = quarantine
        self.status = "truncated: the file ends before its list does"
        self._next_id = 0

    def tables(self, pieces: Iterator[tuple[bytes, bool]]) -> Iterator[pa.Table]:
        data, offset, has_ended = b"", 0, False
        for piece, is_last in pieces:
            if has_ended:  # read on, since the fingerprint covers the whole file
                data += piece.strip(b" \t\r\n\0")[:1]
                continue
            data += piece
            rows, used = self._changes(data, offset, is_last)
            if rows:
                yield table_of(rows)
            offset, data = offset + used, data[used:]
            if data[:1] == b"]":
                has_ended = True
                data = data[1:].strip(b" \t\r\n\0")[:1]
        if has_ended:
            self.status = "damaged: more stands behind the list" if data else "complete"

    def _changes(self, data: bytes, offset: int, is_last: bool) -> tuple[list[tuple], int]:
        """The changes in `data` with their positions, and how many of its bytes are used.

        The rest begins with the list's closing bracket, or continues in the next piece.
        """
        rows: list[tuple] = []
        text = ""
        at = 0
        while True:
            at = SEPARATORS.match(data, at).end()
            if at == len(data) or data[at : at + 1] == b"]":
                return rows, at
            if run := CHANGES.match(data, at):
                found = CHANGE.findall(data, at, run.end())
                rows += [(self._next_id + n, *change) for n, change in enumerate(found)]
                self._next_id += len(found)
                at = run.end()
                continue
            unclosed = UNCLOSED.match(data, at)
            if unclosed and CHANGE.match(data, unclosed.end()):
                end, stopped_by = unclosed.end(), "Not closed"
            else:
                text = text or data.decode("latin-1")  # one character per byte
                _, end, stopped_by = value_at(text, at)
                is_open = stopped_by == CUT or not stopped_by and end == len(data)
                if is_open and not is_last and len(data) - at < LONG_ELEMENT_BYTES:
                    return rows, at  # it may end in the next piece
                if stopped_by:
                    behind = NEXT_OR_END.search(data, at + 1)
                    end = behind.start() if behind else len(data)
            reason = f"broken JSON: {stopped_by}" if stopped_by else "not four whole numbers"
            bad = data[at:end].rstrip(b" \t\r\n,")
            self._quarantine.add(bad_element(self._next_id, offset + at, reason, bad))
            self._next_id += 1
            at = end


def table_of(rows: list[tuple]) -> pa.Table:
    positions, *numbers = zip(*rows, strict=True)
    at_ns, actions, sizes, categories = ([int(text) for text in column] for column in numbers)
    return pa.table(
        [
            positions,
            at_ns,
            [ACTIONS.get(action) for action in actions],
            actions,
            sizes,
            [CATEGORIES.get(category) for category in categories],
            categories,
        ],
        schema=SCHEMA,
    )
