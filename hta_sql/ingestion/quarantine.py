"""Writes the elements of a file that cannot be used, as they are found."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from hta_sql.ingestion.elements import LONGEST_ELEMENT_BYTES
from hta_sql.ingestion.find import shown
from hta_sql.places.storage import Place

# How much is stored of an element that is too long to read.
KEPT_BYTES = 64 << 10
ROWS_AT_ONCE = 50_000
BYTES_AT_ONCE = 8 << 20

SCHEMA = pa.schema(
    [
        ("path", pa.string()),
        ("event_id", pa.int64()),
        ("byte_offset", pa.int64()),
        ("byte_length", pa.int64()),
        ("reason", pa.string()),
        ("bytes", pa.binary()),
        ("is_cut", pa.bool_()),
    ]
)


class BadElement(NamedTuple):
    """An element of a file's list that cannot be used; a row of `quarantine`."""

    event_id: int
    byte_offset: int
    byte_length: int
    reason: str
    bytes: bytes  # only the first ones of a long element


def bad_element(event_id: int, byte_offset: int, reason: str, text: bytes) -> BadElement:
    """The row of an element whose bytes are all in memory."""
    kept = text if len(text) <= LONGEST_ELEMENT_BYTES else text[:KEPT_BYTES]
    return BadElement(event_id, byte_offset, len(text), reason, kept)


class Quarantine:
    """The Parquet file of one source's elements that cannot be used; if there are none, no file."""

    def __init__(self, file: Path, source: Place):
        self.count = 0
        self._file = file
        self._source = shown(source)
        self._waiting: list[BadElement] = []
        self._bytes = 0
        self._writer: pq.ParquetWriter | None = None

    def add(self, element: BadElement) -> None:
        self.count += 1
        self._waiting.append(element)
        self._bytes += len(element.bytes)
        if len(self._waiting) >= ROWS_AT_ONCE or self._bytes >= BYTES_AT_ONCE:
            self._write()

    def close(self) -> None:
        if self._waiting:
            self._write()
        if self._writer:
            self._writer.close()

    def _write(self) -> None:
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._file, SCHEMA, compression="zstd")
        rows = self._waiting
        self._writer.write_table(
            pa.table(
                [
                    [self._source] * len(rows),
                    [row.event_id for row in rows],
                    [row.byte_offset for row in rows],
                    [row.byte_length for row in rows],
                    [row.reason for row in rows],
                    [row.bytes for row in rows],
                    [row.byte_length > len(row.bytes) for row in rows],
                ],
                schema=SCHEMA,
            )
        )
        self._waiting, self._bytes = [], 0
