"""What pieces are parsed with: a cursor of DuckDB for each thread, and memory shared among them."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

import duckdb
import pyarrow as pa

from hta_sql.database.layers import literal

# What DuckDB raises for the input's sake; anything else is a fault of ours or of the machine.
UNREADABLE = (
    duckdb.InvalidInputException,
    duckdb.ConversionException,
    duckdb.OutOfRangeException,
    duckdb.OutOfMemoryException,
)
# As much as DuckDB may take for one large element: a list of millions of numbers takes many times
# its bytes.
MEMORY_LIMIT_ALONE = "700MB"


class Readers:
    """One for each of some threads, and one for the thread that takes what they have parsed."""

    def __init__(
        self, con: duckdb.DuckDBPyConnection, folder: Path, memory_limit: str, threads: int
    ):
        self._threads = threads
        self._free: queue.LifoQueue[Reader] = queue.LifoQueue()
        for number in range(threads + 1):
            self._free.put(Reader(con.cursor(), folder / f"piece-{number}.json"))
        self._memory_limit = memory_limit  # DuckDB tells it rounded down
        self._turn = Lock()

    def close(self) -> None:
        while not self._free.empty():
            self._free.get().close()

    def query(self, data, relation: str) -> pa.Table:
        """What an SQL relation makes of these elements; `{piece}` is their file."""
        reader = self._free.get()
        try:
            return reader.query(data, relation)
        finally:
            self._free.put(reader)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """No other thread parses meanwhile: a large element may take all of the memory."""
        with self._turn:
            others = [self._free.get() for _ in range(self._threads)]
            try:
                yield
            finally:
                for reader in others:
                    self._free.put(reader)

    @contextmanager
    def more_memory(self) -> Iterator[None]:
        """For one element, while it is alone: it may take more than many small ones."""
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
        """For these many elements: a single one may be a large one."""
        if count > 1:
            yield
        else:
            with self.alone(), self.more_memory():
                yield

    def json_types(self, texts: pa.Table) -> list[str | None]:
        """What valid_json_type says of each `text`."""
        reader = self._free.get()
        try:
            found = reader.con.from_arrow(texts).project("valid_json_type(text)").fetchall()
            return [json_type for (json_type,) in found]
        finally:
            self._free.put(reader)


class Reader:
    """What one thread parses with: a cursor of DuckDB and a file for it to read."""

    def __init__(self, con: duckdb.DuckDBPyConnection, path: Path):
        self.con = con
        self._path = path
        self._relations: dict[str, duckdb.DuckDBPyRelation] = {}
        # Written over again and again: new pages for every piece would cost more than its bytes.
        self._file = path.open("wb", buffering=0)

    def query(self, data, relation: str) -> pa.Table:
        self._file.seek(0)
        for part in (b"[", data, b"]"):
            self._file.write(part)
        self._file.truncate()
        if relation not in self._relations:
            piece = literal(self._path)
            self._relations[relation] = self.con.sql("FROM " + relation.format(piece=piece))
        # It is run anew each time; to plan it twice would be a thirtieth of all parsing.
        return self._relations[relation].to_arrow_table()

    def close(self) -> None:
        self._file.close()
        self._path.unlink()
        self.con.close()
