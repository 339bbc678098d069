"""Pieces of JSON to Arrow tables: DuckDB parses, Python only moves bytes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from hta_sql.ingest import clock
from hta_sql.ingest.elements import LONGEST_ELEMENT_BYTES, Element, ListKind, split_elements
from hta_sql.ingest.stream import TraceStream

# What DuckDB raises for the input's sake; anything else is a fault of ours or of the machine.
UNREADABLE = (duckdb.InvalidInputException, duckdb.ConversionException, duckdb.OutOfRangeException)


class BadElement(NamedTuple):
    """An element of a file's list that cannot be used; a row of `quarantine`."""

    event_id: int
    byte_offset: int
    reason: str
    bytes: bytes


class PieceParser(ABC):
    """Reads the pieces of one file's list, whatever its elements are."""

    def __init__(self, con: duckdb.DuckDBPyConnection, scratch: Path):
        self._con = con
        self._path = scratch
        # Written over again and again: new pages for every piece would cost more than its bytes.
        self._scratch = scratch.open("wb", buffering=0)
        self._next_id = 0
        self.bad: list[BadElement] = []

    @abstractmethod
    def _read(self, data, as_text: bool = False) -> pa.Table:
        """The elements of valid JSON, each with its id (first) and its `problem` (last), if any.

        `as_text`: with care, since something is wrong with some of them.
        """

    def close(self) -> None:
        self._scratch.close()
        self._path.unlink()

    def tables(self, stream: TraceStream) -> Iterator[pa.Table]:
        """Arrow tables of good elements, in the order of the file; fills `bad` with the others."""
        pieces = stream.pieces()
        unused = None
        while True:
            try:
                offset, data, is_last = pieces.send(unused)
            except StopIteration:
                return
            table, unused = self._piece(offset, data, is_last, stream.kind)
            yield table

    def _piece(
        self, offset: int, data: memoryview, is_last: bool, kind: ListKind
    ) -> tuple[pa.Table, int]:
        """The good elements of a piece, and how many bytes at its end belong to the next one."""
        try:
            table = self._read(data)
        except UNREADABLE:
            return self._by_element(offset, bytes(data), is_last, kind)
        if table["problem"].null_count < len(table):
            return self._by_element(offset, bytes(data), is_last, kind)
        self._next_id += len(table)
        return table, 0

    def _by_element(
        self, offset: int, data: bytes, is_last: bool, kind: ListKind
    ) -> tuple[pa.Table, int]:
        """The same for a piece with something wrong in it: broken elements are told apart."""
        elements, unused = split_elements(data, is_last, kind)
        texts = [data[element.start : element.end] for element in elements]
        problems = self._json_problems(elements, texts, kind)
        sound = [at for at, problem in enumerate(problems) if problem is None]
        nothing = self._read(b"", as_text=True)
        tables = [nothing, *self._read_sound(texts, sound, problems, kind)]
        self.bad += [
            BadElement(self._next_id + at, offset + elements[at].start, problem, texts[at])
            for at, problem in enumerate(problems)
            if problem
        ]
        self._next_id += len(elements)
        return pa.concat_tables(tables), unused

    def _read_sound(
        self, texts: list[bytes], sound: list[int], problems: list[str | None], kind: ListKind
    ) -> Iterator[pa.Table]:
        """The good ones of elements that are objects; says of others what their problem is."""
        try:
            table = self._read(b",".join(texts[at] for at in sound), as_text=True)
        except UNREADABLE:
            # Such as a key that stands twice beside a NaN: rare, so it is found by halving.
            if len(sound) == 1:
                problems[sound[0]] = f"unusable {kind.element}: a key stands twice"
                return
            middle = len(sound) // 2
            yield from self._read_sound(texts, sound[:middle], problems, kind)
            yield from self._read_sound(texts, sound[middle:], problems, kind)
            return
        for at, problem in zip(sound, table["problem"].to_pylist(), strict=True):
            problems[at] = problem
        ids = pa.array([self._next_id + at for at in sound], pa.int64())
        table = table.set_column(0, table.column_names[0], ids)
        yield table.filter(pc.is_null(table["problem"]))

    def _json_problems(
        self, elements: list[Element], texts: list[bytes], kind: ListKind
    ) -> list[str | None]:
        """Why elements are no JSON objects, by the parser that has to read them."""
        readable = [text if is_utf8(text) else b"" for text in texts]
        table = pa.table({"text": pa.array(readable, pa.binary()).cast(pa.string())})
        types = self._con.from_arrow(table).project("valid_json_type(text)").fetchall()
        return [
            json_problem(element, text, json_type, kind.element)
            for element, text, (json_type,) in zip(elements, texts, types, strict=True)
        ]

    def _write(self, data) -> str:
        """A scratch file with these elements as a JSON list; its path inside an SQL string."""
        self._scratch.seek(0)
        for part in (b"[", data, b"]"):
            self._scratch.write(part)
        self._scratch.truncate()
        return str(self._path).replace("'", "''")


class Parser(PieceParser):
    """Reads the events of one trace; afterwards knows what the trace says of its clock.

    Times in the tables are relative to the trace's base, which may stand behind the events.
    """

    def __init__(self, con: duckdb.DuckDBPyConnection, scratch: Path):
        super().__init__(con, scratch)
        # Whether stamps count from 1970; None until there is one.
        self._since_1970: bool | None = None
        self._exact = False
        self._unpadded = False

    @property
    def is_absolute(self) -> bool:
        """Whether stamps count from 1970, as far as is known."""
        return bool(self._since_1970)

    def time_format(self, has_base: bool) -> str:
        """In words: what the stamps count from, and how those since 1970 are written."""
        if self._since_1970 is None:
            return "no times"
        if not self._since_1970:
            return "relative to base" if has_base else "relative, base unknown"
        if not self._exact:
            return "absolute, microseconds"
        return f"absolute, {'unpadded ' if self._unpadded else ''}nanoseconds"

    def _read(self, data, as_text: bool = False) -> pa.Table:
        """Events of valid JSON, read again with care where a double cannot hold their times."""
        table = self._read_once(data, as_text)
        span = pc.min_max(table["start_ns"]).as_py()
        if span["max"] is None:
            return table
        if self._since_1970 is None:
            self._since_1970 = most_count_from_1970(table)
        if not self._exact and clock.needs_exact_reading(data, span["max"]):
            self._exact = True
            self._unpadded = clock.is_unpadded(data)
            table = self._read_once(data, as_text)
        if self._since_1970 and span["min"] < clock.SINCE_1970_NS:
            stray = pc.less(table["start_ns"], clock.SINCE_1970_NS)
            return rejected(table, stray, '"ts" is no date, unlike the others')
        if not self._since_1970 and span["max"] >= clock.SINCE_1970_NS:
            stray = pc.greater_equal(table["start_ns"], clock.SINCE_1970_NS)
            return rejected(table, stray, '"ts" is a date, unlike the others')
        return table

    def _read_once(self, data, as_text: bool) -> pa.Table:
        if self._exact:
            data = clock.quoted(bytes(data), self._unpadded)
        path = self._write(data)
        if self._exact or as_text:
            events = f"events_of_text('{path}', {self._next_id}, {self._unpadded})"
        else:
            events = f"events_of_numbers('{path}', {self._next_id})"
        return self._con.sql(f"FROM {events}").to_arrow_table()


class NodeParser(PieceParser):
    """Reads the nodes of one execution trace."""

    def _read(self, data, as_text: bool = False) -> pa.Table:
        nodes = f"nodes_of('{self._write(data)}', {self._next_id})"
        return self._con.sql(f"FROM {nodes}").to_arrow_table()


def json_problem(element: Element, text: bytes, json_type: str | None, noun: str) -> str | None:
    if len(text) > LONGEST_ELEMENT_BYTES:
        return "longer than 16 MB"
    if element.repeats:
        return f"unusable {noun}: a key stands twice"
    if json_type == "OBJECT":
        return None
    if json_type is not None:
        return f"not {'an' if noun[0] in 'aeiou' else 'a'} {noun}: {json_type.lower()}"
    if not is_utf8(text):
        return "broken JSON: invalid UTF-8"
    return f"broken JSON: {element.stopped_by or 'Bad escape'}"


def is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def most_count_from_1970(table: pa.Table) -> bool:
    since_1970 = pc.greater_equal(table["start_ns"], clock.SINCE_1970_NS)
    return pc.mean(since_1970).as_py() > 0.5


def rejected(table: pa.Table, which: pa.ChunkedArray, why: str) -> pa.Table:
    """The same events; some have a problem now."""
    at = table.schema.get_field_index("problem")
    problem = pc.if_else(pc.fill_null(which, False), pa.scalar(why), table["problem"])
    return table.set_column(at, "problem", problem)
