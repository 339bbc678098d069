"""Pieces of JSON to Arrow tables: DuckDB parses, Python only moves bytes.

Pieces are parsed side by side, as if nothing were wrong with them. What came of each is taken in
the order of the file by one thread, which alone knows what came before: it numbers the elements,
and takes apart what did not parse, together with what the piece before had left over.
"""

from __future__ import annotations

import queue
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hta_sql.ingestion import clock
from hta_sql.ingestion.brackets import ValueEnd
from hta_sql.ingestion.elements import (
    LONGEST_ELEMENT_BYTES,
    SCANNER,
    Element,
    ListKind,
    Walk,
    first_value,
    is_element,
)
from hta_sql.ingestion.metadata import KeySearch, Metadata, behind_list, read_keys, split_tail
from hta_sql.ingestion.quarantine import KEPT_BYTES, BadElement, Quarantine, bad_element
from hta_sql.ingestion.side_by_side import in_order
from hta_sql.ingestion.stream import (
    MOST_KEYS_TRIED,
    Piece,
    TraceStream,
    behind_separators,
    end_before,
    last_boundary,
)

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
# More threads would wait for the one that inflates.
MOST_THREADS = 4
# A half of a surrogate pair, or else what else may be escaped: `\\ud800` is none.
ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(?P<half>u[dD][89a-fA-F]..)|.)", re.DOTALL
)
HALF_PAIR = re.compile(rb"\\u[dD][89a-fA-F]")
BEHIND_ELEMENT = re.compile(rb"[ \t\r\n]*+(?:[,\]]|\Z)")
# Where there are more broken elements than sound ones, and so many, they are no longer told apart:
# each takes a hundred times as long as a sound one.
MOST_BROKEN = 250_000
# A file that unfolds to so many times its size is a trap, unless there is something in it: it is
# given up after so many bytes, or so many things that looked like an element, without one.
TRAP_RATIO = 100
TRAP_BYTES = 256 << 20
TRAP_TRIES = 1_000_000
# How many parts of a piece are tried, where DuckDB does not read what seems to be sound.
MOST_PARTS = 1000
LONGEST_SOUGHT_BYTES = 64 << 10
# How much behind what may be the end of a list is held, to find another one of the same name; and
# how many of these are read.
LONGEST_TAIL_BYTES = 64 << 20
MOST_LISTS = 16


class Parsed(NamedTuple):
    """A piece as a table; whether its stamps were read as text, and taken to be padded."""

    table: pa.Table
    is_exact: bool = False


class Giant:
    """An element that is too long to hold: where it begins, how it begins, how long it is."""

    def __init__(self, offset: int):
        self.offset = offset
        self.length = 0
        self.begin = b""
        self._own_end: ValueEnd | None = ValueEnd()

    def add(self, data: bytes) -> None:
        self.begin += data[: KEPT_BYTES - len(self.begin)]
        self.length += len(data)

    def closes_in(self, data: bytes) -> int | None:
        """Where in the next bytes its own bracket closes, if it is one that is sound."""
        end = self._own_end.find(data) if self._own_end else None
        if end is not None:
            self._own_end = None  # whether it was that or not
            if not BEHIND_ELEMENT.match(data, end):
                return None
        return end


class PieceParser(ABC):
    """Reads the pieces of one file's list, whatever its elements are."""

    number: str  # the column that numbers them

    def __init__(
        self,
        con: duckdb.DuckDBPyConnection,
        folder: Path,
        quarantine: Quarantine,
        memory_limit: str,
        threads: int = 1,
    ):
        self._threads = min(threads, MOST_THREADS)
        self._readers: queue.LifoQueue[Reader] = queue.LifoQueue()
        for number in range(self._threads + 1):
            self._readers.put(Reader(con.cursor(), folder / f"piece-{number}.json"))
        self._memory_limit = memory_limit  # DuckDB tells it rounded down
        self._turn = Lock()
        # The shortest text so far that took more memory than there is.
        self._too_long = sys.maxsize
        self._quarantine = quarantine
        self._stream: TraceStream | None = None
        self._next_id = 0
        self._good_count = 0
        self._is_coarse = False
        # Whether nothing in the piece before was good, where the last good one was, and how much
        # was tried since.
        self._is_barren = False
        self._good_until = 0
        self._tries = 0
        self._first_key: str | None = None
        # What the piece before left over, of one of these kinds.
        self._carry = b""
        self._giant: Giant | None = None
        self._behind: bytes | None = None
        self._behind_until = 0
        self._search = KeySearch()
        self._lists = 1
        self._was_apart = True

    @abstractmethod
    def _parsed(self, data) -> Parsed:
        """The elements of a piece in their order, each with its `problem`.

        Called by any thread. Raises one of UNREADABLE.
        """

    @abstractmethod
    def _parsed_with_care(self, data) -> pa.Table:
        """The same, where something is wrong with some of them."""

    def _checked(self, parsed: Parsed, data) -> pa.Table:
        """What was parsed, with the problems that only show beside the pieces before."""
        return parsed.table

    def close(self) -> None:
        while not self._readers.empty():
            self._readers.get().close()

    def tables(self, stream: TraceStream) -> Iterator[pa.Table]:
        """Arrow tables of good elements, in the order of the file, one at least."""
        self._stream = stream
        with closing(in_order(stream.pieces(), self._tried, self._threads)) as pieces:
            for piece, parsed in pieces:
                if stream.given_up:
                    continue  # only for the file's hash
                for table in self._take(piece, parsed):
                    if len(table):
                        self._good_until, self._tries = piece.offset + len(piece.data), 0
                        yield table
                self._was_apart = piece.is_apart
                self._is_barren = self._is_coarse and self._good_until <= piece.offset
                self._look_out_for_traps(piece)
        if not self._good_count:
            yield self._numbered(self._parsed_with_care(b""), [])

    def _look_out_for_traps(self, piece: Piece) -> None:
        """Give up on what unfolds to a lot of nothing."""
        until = piece.offset + len(piece.data)
        if piece.begin == piece.end:
            self._good_until += len(piece.data)  # blanks cost little
        barren = until - self._good_until
        if until > TRAP_RATIO * self._stream.bytes.bytes_read and (
            barren > TRAP_BYTES or self._tries > TRAP_TRIES
        ):
            self._give_up(
                until, f"there is no {self._stream.kind.element} in the {barren >> 20} MB before"
            )

    def _tried(self, piece: Piece) -> Parsed | None:
        """The elements of a piece if that is all it holds."""
        if self._is_barren or (not piece.is_apart and piece.begin < piece.end):
            return None
        data = memoryview(piece.data)[piece.begin : piece.end]
        try:
            if self._too_long == sys.maxsize:
                try:
                    return self._parsed(data)
                except duckdb.OutOfMemoryException:
                    self._too_long = min(self._too_long, len(data))
            with self._alone():
                return self._by_halves(data)
        except UNREADABLE:
            return None

    def _by_halves(self, data) -> Parsed:
        """The elements of a piece; its halves one by one, where it takes too much memory."""
        if len(data) < self._too_long:
            try:
                return self._parsed(data)
            except duckdb.OutOfMemoryException:
                self._too_long = min(self._too_long, len(data))
        begin = bytes(data[: len(data) // 2])
        cut = last_boundary(begin, self._stream.first_key)
        if cut is None:
            with self._more_memory():
                return self._parsed(data)
        rest = data[cut:]
        halves = self._by_halves(begin[:cut]), self._by_halves(rest[behind_separators(rest) :])
        return Parsed(
            pa.concat_tables(half.table for half in halves), any(half.is_exact for half in halves)
        )

    def _query(self, data, relation: str) -> pa.Table:
        """What an SQL relation makes of these elements; `{piece}` is their file."""
        reader = self._readers.get()
        try:
            return reader.query(data, relation)
        finally:
            self._readers.put(reader)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No other thread parses meanwhile: a large element may take all of the memory."""
        with self._turn:
            others = [self._readers.get() for _ in range(self._threads)]
            try:
                yield
            finally:
                for reader in others:
                    self._readers.put(reader)

    @contextmanager
    def _more_memory(self) -> Iterator[None]:
        """For one element, while it is alone: it may take more than many small ones."""
        self._set_memory_limit(MEMORY_LIMIT_ALONE)
        try:
            yield
        finally:
            self._set_memory_limit(self._memory_limit)

    def _set_memory_limit(self, limit: str) -> None:
        reader = self._readers.get()
        try:
            reader.con.execute(f"SET GLOBAL memory_limit = '{limit}'")
        finally:
            self._readers.put(reader)

    @contextmanager
    def _with_care_for(self, count: int) -> Iterator[None]:
        """For these many elements: a single one may be a large one."""
        if count > 1:
            yield
        else:
            with self._alone(), self._more_memory():
                yield

    def _take(self, piece: Piece, parsed: Parsed | None) -> Iterator[pa.Table]:
        """The good elements of the next piece, and of what the one before left over."""
        until = piece.offset + len(piece.data)
        if self._behind is not None:
            if self._behind.isspace():
                self._set_behind(b"", until)
            if len(self._behind) <= LONGEST_TAIL_BYTES:
                self._behind, self._behind_until = self._behind + piece.data, until
            yield from self._look_behind(piece.is_last)
            return
        if piece.is_last and self._carry.startswith(b"]"):
            piece, parsed = self._with_carry(piece), None
        table = parsed and self._sure(parsed, memoryview(piece.data)[piece.begin : piece.end])
        is_sound = table is not None and table["problem"].null_count == len(table)
        begin = 0
        if self._giant:
            is_next = self._was_apart and is_sound and len(table) > 0
            found = 0 if is_next else self._end_of_giant(bytes(piece.data[: piece.end]))
            begin = piece.end if found is None else found
            self._giant.add(piece.data[:begin])
            if found is None and not piece.is_last:
                return
            self._quarantine_giant()
        if is_sound and not self._carry and not begin:
            yield self._numbered(table, np.arange(self._next_id, self._next_id + len(table)))
            self._next_id += len(table)
            self._good_count += len(table)
        else:
            text = self._carry + piece.data[begin : piece.end]
            offset = piece.offset + begin - len(self._carry)
            self._carry = b""
            behind = piece.data[piece.end :] if piece.is_last else b""
            yield from self._walk(text, offset, piece.is_last, behind)
            if self._behind is not None:
                yield from self._look_behind(piece.is_last)
                return
        if piece.is_last and not self._stream.given_up:
            yield from self._end(piece.tail, piece.data[piece.end + 1 :], until)

    def _with_carry(self, piece: Piece) -> Piece:
        """The last piece with what was left over: a bracket that may be the list's tells where the
        list ends only together with what follows on it."""
        data = self._carry + piece.data
        offset = piece.offset - len(self._carry)
        self._carry = b""
        end, tail = split_tail(data, self._stream.is_array, self._stream.kind)
        return Piece(offset, data, 0, False, True, end, tail)

    def _sure(self, parsed: Parsed, data) -> pa.Table | None:
        """What is left of a piece's elements beside the pieces before; None if it has to be taken
        apart."""
        try:
            return self._checked(parsed, data)
        except UNREADABLE:
            return None

    def _numbered(self, table: pa.Table, numbers: Sequence[int] | np.ndarray) -> pa.Table:
        return table.add_column(0, self.number, pa.array(np.asarray(numbers, np.int64)))

    def _walk(self, text: bytes, offset: int, is_last: bool, behind: bytes) -> Iterator[pa.Table]:
        """The good elements of a text with something wrong in it: broken ones are told apart.

        `behind` is what follows on the list, as far as is known.
        """
        walk = Walk(
            text.decode("latin-1"),
            self._stream.kind,
            is_last,
            self._first_key,
            is_coarse=self._is_coarse,
        )
        for elements in walk.batches():
            yield from self._batch(text, offset, elements)
            if not walk.is_coarse and self._quarantine.count > MOST_BROKEN + self._good_count:
                self._is_coarse = walk.is_coarse = True
                self._stream.coarse_from = offset + walk.end
        self._tries += walk.tried
        self._first_key = walk.first_key
        rest = text[walk.end :]
        if walk.list_ends:
            self._set_behind(rest[1:] + behind, offset + len(text) + len(behind))
        elif len(rest) >= self._longest_carry(walk):
            self._giant = Giant(offset + walk.end)
            self._giant.closes_in(rest)
            self._giant.add(rest)
        else:
            self._carry = rest

    def _longest_carry(self, walk: Walk) -> int:
        """How much of what is left may wait for the next piece: of blanks behind a bracket that may
        be the list's, more than of an element."""
        return LONGEST_TAIL_BYTES if walk.may_end_list() else LONGEST_ELEMENT_BYTES

    def _give_up(self, offset: int, why: str) -> None:
        if self._carry:
            self._giant = Giant(offset - len(self._carry))
            self._giant.add(self._carry)
        if self._giant:
            self._quarantine_giant("not read to its end")
        self._stream.given_up = f"damaged: not read beyond byte {offset:,}, since {why}"
        self._stream.bytes.is_enough = True

    def _end(self, tail: Metadata | None, behind: bytes, until: int) -> Iterator[pa.Table]:
        """The last bytes are read; `tail` is what follows on the list in them, if it ends there."""
        self._stream.tail = tail
        # Only what is rare is looked for with care.
        if tail is not None and f'"{self._stream.kind.key}"'.encode() in behind:
            self._set_behind(behind, until)
            yield from self._look_behind(is_last=True)

    def _set_behind(self, behind: bytes, until: int) -> None:
        """The list ends, and this follows, up to byte `until` of the file."""
        self._behind, self._behind_until = behind, until
        self._search = KeySearch(self._stream.kind, depth=1)

    def _look_behind(self, is_last: bool) -> Iterator[pa.Table]:
        """Look for more lists of the same name in what is known of the bytes behind one. Where a
        key stands twice, readers of JSON forget the first."""
        stream = self._stream
        while not stream.is_array and (found := self._search.find(self._behind, is_last)):
            if self._lists == MOST_LISTS:
                stream.given_up = f"damaged: not read beyond the {MOST_LISTS}th list of its name"
                return
            self._lists += 1
            keys = read_keys(b'{"":0' + self._behind[: found[0]] + b'"":0}')
            stream.head = Metadata(
                stream.head.keys | keys.keys, stream.head.is_whole and keys.is_whole
            )
            text, until = self._behind[found[1] :], self._behind_until
            self._behind, stream.tail = None, None
            end = len(text)
            if is_last:
                end, stream.tail = split_tail(text, False, stream.kind)
            yield from self._walk(text[:end], until - len(text), is_last, text[end:])
            if self._behind is None and stream.tail is not None:
                self._set_behind(text[end + 1 :], until)
            if self._behind is None or stream.given_up:
                return
        if is_last:
            stream.tail = behind_list(self._behind, stream.is_array)

    def _end_of_giant(self, data: bytes) -> int | None:
        """Where an element that is too long ends in the next piece, as far as can be told."""
        end = self._giant.closes_in(data)
        if end is not None:
            return end
        # If it is a broken one, its own bracket means nothing: then where a sound one follows.
        kind = self._stream.kind
        keys = kind.marks | ({self._first_key} if self._first_key else set())
        for key in sorted(keys):
            at = -1
            for _ in range(MOST_KEYS_TRIED):
                at = data.find(b'"%s"' % key.encode("latin-1"), at + 1)
                if at < 0:
                    break
                end = end_before(data, at)
                if end is not None:
                    begin = end + behind_separators(data[end : end + LONGEST_SOUGHT_BYTES])
                    text = data[begin : begin + LONGEST_SOUGHT_BYTES].decode("latin-1")
                    if is_element(first_value(text, SCANNER)[0], kind):
                        return end
        return None

    def _quarantine_giant(self, reason: str = "longer than 16 MB") -> None:
        giant, self._giant = self._giant, None
        self._quarantine.add(
            BadElement(self._next_id, giant.offset, giant.length, reason, giant.begin)
        )
        self._next_id += 1

    def _batch(self, data: bytes, offset: int, elements: list[Element]) -> Iterator[pa.Table]:
        """Tables of the good ones of these elements; the others go to quarantine."""
        if not elements:
            return
        texts = [paired(data[element.start : element.end]) for element in elements]
        problems = self._json_problems(elements, texts)
        sound = [at for at, problem in enumerate(problems) if problem is None]
        tables = list(self._read_sound(texts, sound, problems, [MOST_PARTS]))
        for at, problem in enumerate(problems):
            if problem:
                self._quarantine.add(
                    bad_element(
                        self._next_id + at,
                        offset + elements[at].start,
                        problem,
                        data[elements[at].start : elements[at].end],
                    )
                )
        self._next_id += len(elements)
        self._good_count += sum(map(len, tables))
        yield from tables

    def _read_sound(
        self, texts: list[bytes], sound: list[int], problems: list[str | None], left: list[int]
    ) -> Iterator[pa.Table]:
        """The good ones of elements that are objects; says of others what their problem is."""
        if not sound:
            return
        left[0] -= 1
        try:
            with self._with_care_for(len(sound)):
                table = self._parsed_with_care(b",".join(texts[at] for at in sound))
        except UNREADABLE as error:
            # Mostly no reason for it is known; what DuckDB does not read is found by halving.
            if len(sound) == 1 or left[0] < 0:
                is_too_large = isinstance(error, duckdb.OutOfMemoryException)
                why = ": it takes too much memory to read" if is_too_large else ""
                for at in sound:
                    problems[at] = f"unusable {self._stream.kind.element}{why}"
                return
            middle = len(sound) // 2
            yield from self._read_sound(texts, sound[:middle], problems, left)
            yield from self._read_sound(texts, sound[middle:], problems, left)
            return
        for at, problem in zip(sound, table["problem"].to_pylist(), strict=True):
            problems[at] = problem
        table = self._numbered(table, [self._next_id + at for at in sound])
        yield table.filter(pc.is_null(table["problem"]))

    def _json_problems(self, elements: list[Element], texts: list[bytes]) -> list[str | None]:
        """Why elements are no JSON objects, by the parser that has to read them."""
        types = self._json_types(
            [
                text if len(text) <= LONGEST_ELEMENT_BYTES and is_utf8(text) else b""
                for text in texts
            ]
        )
        return [
            json_problem(element, text, json_type, self._stream.kind)
            for element, text, json_type in zip(elements, texts, types, strict=True)
        ]

    def _json_types(self, texts: list[bytes]) -> list[str | None]:
        """What valid_json_type says of each; where that takes too much memory, what its bracket
        does, since reading the element takes less."""
        table = pa.table({"text": pa.array(texts, pa.binary()).cast(pa.string())})
        try:
            with self._with_care_for(len(texts)):
                return self._valid_json_types(table)
        except UNREADABLE:
            if len(texts) == 1:
                return ["OBJECT" if texts[0].startswith(b"{") else "ARRAY"]
        middle = len(texts) // 2
        return self._json_types(texts[:middle]) + self._json_types(texts[middle:])

    def _valid_json_types(self, table: pa.Table) -> list[str | None]:
        reader = self._readers.get()
        try:
            found = reader.con.from_arrow(table).project("valid_json_type(text)").fetchall()
            return [json_type for (json_type,) in found]
        finally:
            self._readers.put(reader)


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
            piece = "'" + str(self._path).replace("'", "''") + "'"
            self._relations[relation] = self.con.sql("FROM " + relation.format(piece=piece))
        # It is run anew each time; to plan it twice would be a thirtieth of all parsing.
        return self._relations[relation].to_arrow_table()

    def close(self) -> None:
        self._file.close()
        self._path.unlink()
        self.con.close()


class Parser(PieceParser):
    """Reads the events of one trace; afterwards knows what the trace says of its clock.

    Times in the tables are relative to the trace's base, which may stand behind the events.
    """

    number = "event_id"
    # Whether stamps count from 1970; None until there is one.
    _since_1970: bool | None = None
    # Whether fractions of a microsecond are padded; None until there are some of large stamps.
    _unpadded: bool | None = None

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
        if self._unpadded is None:
            return "absolute, microseconds"
        return f"absolute, {'unpadded ' if self._unpadded else ''}nanoseconds"

    def _parsed(self, data) -> Parsed:
        table = self._query(data, "events_of_numbers({piece})")
        if not clock.needs_exact_reading(data, pc.max(table["stamp_ns"]).as_py()):
            return Parsed(table)
        exact = clock.with_exact_stamps(table, data)
        return Parsed(self._of_text(data, False) if exact is None else exact, is_exact=True)

    def _parsed_with_care(self, data) -> pa.Table:
        table = self._of_text(data, self._unpadded)
        is_exact = clock.needs_exact_reading(data, pc.max(table["stamp_ns"]).as_py())
        if is_exact and self._unpadded is None:
            table = self._of_text(data, False)
        return self._checked(Parsed(table, is_exact), data)

    def _of_text(self, data, unpadded: bool | None) -> pa.Table:
        """Events whose times are read as text; exactly, where it is known whether padded."""
        if unpadded is not None:
            data = clock.quoted(bytes(data), unpadded)
        return self._query(data, f"events_of_text({{piece}}, {bool(unpadded)})")

    def _checked(self, parsed: Parsed, data) -> pa.Table:
        table = parsed.table
        if parsed.is_exact and self._unpadded is None:
            self._unpadded = clock.is_unpadded(data)
        if self._unpadded:
            table = self._of_text(data, True)
        span = pc.min_max(table["start_ns"]).as_py()
        if span["max"] is None:
            return table
        if self._since_1970 is None:
            self._since_1970 = most_count_from_1970(table)
        if self._since_1970 and span["min"] < clock.SINCE_1970_NS:
            stray = pc.less(table["start_ns"], clock.SINCE_1970_NS)
            return rejected(table, stray, '"ts" is no date, unlike the others')
        if not self._since_1970 and span["max"] >= clock.SINCE_1970_NS:
            stray = pc.greater_equal(table["start_ns"], clock.SINCE_1970_NS)
            return rejected(table, stray, '"ts" is a date, unlike the others')
        return table


class NodeParser(PieceParser):
    """Reads the nodes of one execution trace."""

    number = "position"

    def _parsed(self, data) -> Parsed:
        return Parsed(self._parsed_with_care(data))

    def _parsed_with_care(self, data) -> pa.Table:
        return self._query(data, "nodes_of({piece})")


def json_problem(
    element: Element, text: bytes, json_type: str | None, kind: ListKind
) -> str | None:
    noun = kind.element
    if len(text) > LONGEST_ELEMENT_BYTES:
        return "longer than 16 MB"
    if json_type == "OBJECT":
        return None
    if json_type == "REPEATING":
        return f"unusable {noun}: a key stands twice"
    if json_type is not None:
        return f"not {'an' if noun[0] in 'aeiou' else 'a'} {noun}: {json_type.lower()}"
    if not is_utf8(text):
        return "broken JSON: invalid UTF-8"
    return f"broken JSON: {element.stopped_by or 'Bad escape'}"


def paired(text: bytes) -> bytes:
    """The same JSON with the sign for what is no character in place of halves of surrogate pairs,
    which Python writes and DuckDB does not read."""
    if not HALF_PAIR.search(text):
        return text
    return ESCAPE.sub(lambda found: b"\\ufffd" if found["half"] else found[0], text)


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
