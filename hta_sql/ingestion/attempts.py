"""Parses pieces of a file as if they were sound. Any thread may do so."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple

import duckdb
import pyarrow as pa

from hta_sql.ingestion.boundaries import behind_separators, last_boundary
from hta_sql.ingestion.readers import UNREADABLE, Readers
from hta_sql.ingestion.stream import TraceStream


class Parsed(NamedTuple):
    """A piece as a table. `is_exact`: its stamps were read as text, and taken to be padded."""

    table: pa.Table
    is_exact: bool = False


class Attempts:
    """Makes tables of texts with `parse`, which raises one of UNREADABLE if it cannot."""

    def __init__(
        self, readers: Readers, parse: Callable[[bytes], Parsed], stream: TraceStream
    ) -> None:
        self._readers, self._parse, self._stream = readers, parse, stream
        # Length of the shortest text so far that took more memory than there is.
        self._too_long = sys.maxsize

    def parse(self, data) -> Parsed | None:
        """The table of a text; None if it cannot be parsed as a whole."""
        try:
            if self._too_long == sys.maxsize:
                try:
                    return self._parse(data)
                except duckdb.OutOfMemoryException:
                    self._too_long = min(self._too_long, len(data))
            with self._readers.alone():
                return self._by_halves(data)
        except UNREADABLE:
            return None

    def _by_halves(self, data) -> Parsed:
        """The elements of a piece. If it takes too much memory, its halves are parsed in turn."""
        if len(data) < self._too_long:
            try:
                return self._parse(data)
            except duckdb.OutOfMemoryException:
                self._too_long = min(self._too_long, len(data))
        begin = bytes(data[: len(data) // 2])
        cut = last_boundary(begin, self._stream.first_key)
        if cut is None:
            with self._readers.more_memory():
                return self._parse(data)
        rest = data[cut:]
        halves = self._by_halves(begin[:cut]), self._by_halves(rest[behind_separators(rest) :])
        return Parsed(
            pa.concat_tables(half.table for half in halves), any(half.is_exact for half in halves)
        )
