"""Pieces of JSON to Arrow tables of events: DuckDB parses, Python only moves bytes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from hta_sql.ingest import clock
from hta_sql.ingest.elements import Element, split_elements
from hta_sql.ingest.stream import TraceStream

# What DuckDB raises for the input's sake; anything else is a fault of ours or of the machine.
UNREADABLE = (duckdb.InvalidInputException, duckdb.ConversionException, duckdb.OutOfRangeException)


class BadElement(NamedTuple):
    """An element of traceEvents that cannot be used; a row of `quarantine`."""

    event_id: int
    byte_offset: int
    reason: str
    bytes: bytes


class Parser:
    """Reads the pieces of one trace; afterwards knows what the trace says of its clock.

    Times in the tables are relative to the trace's base, which may stand behind the events.
    """

    def __init__(self, con: duckdb.DuckDBPyConnection, scratch: Path):
        self._con = con
        self._path = scratch
        # Written over again and again: new pages for every piece would cost more than its bytes.
        self._scratch = scratch.open("wb", buffering=0)
        self._next_id = 0
        self.bad: list[BadElement] = []
        self.latest_ns: int | None = None
        self.exact = False
        self.unpadded = False

    @property
    def is_absolute(self) -> bool:
        """Whether stamps count from 1970; no trace runs long enough to reach there from a base."""
        return self.latest_ns is not None and self.latest_ns >= clock.EXACT_IN_A_DOUBLE_NS

    def time_format(self, has_base: bool) -> str:
        """In words: what the stamps count from, and how those since 1970 are written."""
        if self.latest_ns is None:
            return "no times"
        if not self.is_absolute:
            return "relative to base" if has_base else "relative, base unknown"
        if not self.exact:
            return "absolute, microseconds"
        return f"absolute, {'unpadded ' if self.unpadded else ''}nanoseconds"

    def close(self) -> None:
        self._scratch.close()
        self._path.unlink()

    def tables(self, stream: TraceStream) -> Iterator[pa.Table]:
        """Arrow tables of good events, in the order of the file; fills `bad` with the others."""
        pieces = stream.pieces()
        unused = None
        while True:
            try:
                offset, data, is_last = pieces.send(unused)
            except StopIteration:
                return
            table, unused = self._piece(offset, data, is_last)
            yield table

    def _piece(self, offset: int, data: memoryview, is_last: bool) -> tuple[pa.Table, int]:
        """The good events of a piece, and how many bytes at its end belong to the next one."""
        try:
            table = self._read_timed(data)
        except UNREADABLE:
            return self._by_element(offset, bytes(data), is_last)
        if table["problem"].null_count < len(table):
            return self._by_element(offset, bytes(data), is_last)
        self._next_id += len(table)
        return table, 0

    def _by_element(self, offset: int, data: bytes, is_last: bool) -> tuple[pa.Table, int]:
        elements, unused = split_elements(data, is_last)
        first_id = self._next_id
        self._next_id += len(elements)
        good = [(first_id + at, e) for at, e in enumerate(elements) if e.problem is None]
        for at, element in enumerate(elements):
            if element.problem:
                self._reject(first_id + at, offset, data, element, element.problem)
        tables = list(self._read_elements(offset, data, good))
        return pa.concat_tables(tables) if tables else self._empty(), unused

    def _read_elements(
        self, offset: int, data: bytes, good: list[tuple[int, Element]]
    ) -> Iterator[pa.Table]:
        """Read elements that are objects; halve the set where one of them is still refused."""
        if not good:
            return
        text = b",".join(data[element.start : element.end] for _, element in good)
        try:
            table = self._read_timed(text)
        except UNREADABLE as error:
            if len(good) == 1:
                reason = str(error).split(": ")[-1].splitlines()[0]
                self._reject(good[0][0], offset, data, good[0][1], f"unusable event: {reason}")
                return
            middle = len(good) // 2
            yield from self._read_elements(offset, data, good[:middle])
            yield from self._read_elements(offset, data, good[middle:])
            return
        ids = pa.array([event_id for event_id, _ in good], pa.int64())
        table = table.set_column(0, "event_id", ids)
        problems = table["problem"].to_pylist()
        for (event_id, element), problem in zip(good, problems, strict=True):
            if problem:
                self._reject(event_id, offset, data, element, problem)
        yield table.filter(pc.is_null(table["problem"]))

    def _reject(
        self, event_id: int, offset: int, data: bytes, element: Element, reason: str
    ) -> None:
        start, end, _ = element
        self.bad.append(BadElement(event_id, offset + start, reason, data[start:end]))

    def _read_timed(self, data) -> pa.Table:
        """Events of valid JSON, read again with care where a double cannot hold their times."""
        table = self._read(data)
        latest = pc.max(table["start_ns"]).as_py()
        if latest is None:
            return table
        if not self.exact and clock.needs_exact_reading(data, latest):
            self.exact = True
            self.unpadded = clock.is_unpadded(data)
            table = self._read(data)
        self.latest_ns = max(latest, self.latest_ns or latest)
        return table

    def _read(self, data) -> pa.Table:
        if self.exact:
            data = bytes(data)
            data = clock.quoted(clock.padded(data) if self.unpadded else data)
        self._scratch.seek(0)
        for part in (b"[", data, b"]"):
            self._scratch.write(part)
        self._scratch.truncate()
        macro = "parsed_events_exactly" if self.exact else "parsed_events"
        path = str(self._path).replace("'", "''")
        return self._con.sql(f"FROM {macro}('{path}', {self._next_id})").to_arrow_table()

    def _empty(self) -> pa.Table:
        return self._read(b"")
