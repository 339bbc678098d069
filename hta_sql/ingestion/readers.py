"""The DuckDB cursors that parse pieces, one per thread, and the memory that they share."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

import duckdb
import pyarrow as pa

from hta_sql.database.layers import literal

# What DuckDB raises because of the input. Anything else is an error of ours or of the machine.
UNREADABLE = (
    duckdb.InvalidInputException,
    duckdb.ConversionException,
    duckdb.OutOfRangeException,
    duckdb.OutOfMemoryException,
)
# The memory that DuckDB may take for one large element: a list of millions of numbers takes many
# times its bytes.
MEMORY_LIMIT_ALONE = "700MB"


class Readers:
    """One reader for each thread that parses, and one for the thread that takes the results."""

    def __init__(
        self, con: duckdb.DuckDBPyConnection, folder: Path, memory_limit: str, threads: int
    ):
        self._threads = threads
        self._free: queue.LifoQueue[Reader] = queue.LifoQueue()
        for number in range(threads + 1):
            self._free.put(Reader(con.cursor(), folder / f"piece-{number}.json"))
        self._memory_limit = memory_limit  # DuckDB reports it rounded down
        self._turn = Lock()

    def close(self) -> None:
        while not self._free.empty():
            self._free.get().close()

    def query(self, data, relation: str) -> pa.Table:
        """The result of an SQL relation for these elements; `{piece}` is their file."""
        reader = self._free.get()
        try:
            return reader.query(data, relation)
        finally:
            self._free.put(reader)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other threads from parsing, since a large element may take all of the memory."""
        with self._turn:
            others = [self._free.get() for _ in range(self._threads)]
            try:
                yield
            finally:
                for reader in others:
                    self._free.put(reader)

    @contextmanager
    def more_memory(self) -> Iterator[None]:
        """Raise the limit for one element, parsed alone: it may take more than many small ones."""
        self._set_memory_limit(MEMORY_LIMIT_ALONE)
        try:
            yield
        finally:
            self._set_memory_limit(self._memory_limit)

    def _set_memory_limit(self, limit: str) -> None:
        reader = self._free.get()
        try:
            reader.con.execute(f"SET GLOBAL memory_limit = '{limit}'")
        finally:
            self._free.put(reader)

    @contextmanager
    def with_care_for(self, count: int) -> Iterator[None]:
        """Make room for this many elements. A single one may be large, so it is parsed alone."""
        if count > 1:
            yield
        else:
            with self.alone(), self.more_memory():
                yield

    def json_types(self, texts: pa.Table) -> list[str | None]:
        """What valid_json_type returns for each `text`."""
        reader = self._free.get()
        try:
            found = reader.con.from_arrow(texts).project("valid_json_type(text)").fetchall()
            return [json_type for (json_type,) in found]
        finally:
            self._free.put(reader)


class Reader:
    """What one thread parses with: a DuckDB cursor, and a file for it to read."""

    def __init__(self, con: duckdb.DuckDBPyConnection, path: Path):
        self.con = con
        self._path = path
        self._relations: dict[str, duckdb.DuckDBPyRelation] = {}
        # Every piece overwrites the same file: new pages would cost more than the bytes.
        self._file = path.open("wb", buffering=0)

    def query(self, data, relation: str) -> pa.Table:
        self._file.seek(0)
        for part in (b"[", data, b"]"):
            self._file.write(part)
        self._file.truncate()
        if relation not in self._relations:
            piece = literal(self._path)
            self._relations[relation] = self.con.sql("FROM " + relation.format(piece=piece))
        # It runs again each time, but is planned once: planning takes 1/30 of the time to parse.
        return self._relations[relation].to_arrow_table()

    def close(self) -> None:
        self._file.close()
        self._path.unlink()
        self.con.close()
