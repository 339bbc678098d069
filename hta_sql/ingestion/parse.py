"""Turns pieces of JSON into Arrow tables: DuckDB parses, Python only moves bytes.

Several threads parse pieces at the same time, as if the pieces were sound. One thread takes the
results in the order of the file, since only it knows what came before. It numbers the elements, and
splits pieces that did not parse, together with what the piece before left over.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hta_sql.ingestion.attempts import Attempts, Parsed
from hta_sql.ingestion.elements import LONGEST_ELEMENT_BYTES, Element, Walk
from hta_sql.ingestion.giants import Giant
from hta_sql.ingestion.metadata import KeySearch, Metadata, behind_list, read_keys, split_tail
from hta_sql.ingestion.quarantine import BadElement, Quarantine, bad_element
from hta_sql.ingestion.readers import UNREADABLE, Readers
from hta_sql.ingestion.salvage import Salvage
from hta_sql.ingestion.side_by_side import in_order
from hta_sql.ingestion.stream import Piece, TraceStream

# More threads would wait for the thread that inflates.
MOST_THREADS = 4
# If there are this many more broken elements than sound ones, they are no longer split one by one,
# since each takes a hundred times as long as a sound one.
MOST_BROKEN = 250_000
# A file that inflates to this many times its size is a trap, unless it has elements. It is given up
# after this many bytes, or this many things that looked like an element, without an element.
TRAP_RATIO = 100
TRAP_BYTES = 256 << 20
TRAP_TRIES = 1_000_000
# How much text after a possible end of a list is held to find another list of the same name, and
# how many such lists are read.
LONGEST_TAIL_BYTES = 64 << 20
MOST_LISTS = 16


class PieceParser(ABC):
    """Reads the pieces of one file's list, for any kind of element."""

    number: str  # the column that numbers the elements

    def __init__(
        self,
        con: duckdb.DuckDBPyConnection,
        folder: Path,
        quarantine: Quarantine,
        memory_limit: str,
        threads: int = 1,
    ):
        self._threads = min(threads, MOST_THREADS)
        self._readers = Readers(con, folder, memory_limit, self._threads)
        self._quarantine = quarantine
        self._stream: TraceStream | None = None
        self._next_id = self._good_count = 0
        self._is_coarse = False
        # Whether the piece before had no good element, where the last good one was, and how many
        # were tried since.
        self._is_barren = False
        self._good_until = self._tries = 0
        self._first_key: str | None = None
        # What the piece before left over; only one of these three.
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

        Any thread may call it. Raises one of UNREADABLE.
        """

    @abstractmethod
    def _parsed_with_care(self, data) -> pa.Table:
        """The same if something is wrong with some of the elements."""

    def _checked(self, parsed: Parsed, data) -> pa.Table:
        """The parsed table, with problems that only a comparison with earlier pieces shows."""
        return parsed.table

    def _taken(self, table: pa.Table) -> None:
        """Note a table of good elements, which is about to be returned."""
        self._tries = 0

    def close(self) -> None:
        self._readers.close()

    def tables(self, stream: TraceStream) -> Iterator[pa.Table]:
        """Arrow tables of good elements, in the order of the file; at least one table."""
        self._stream = stream
        self._attempts = Attempts(self._readers, self._parsed, stream)
        self._salvage = Salvage(self._readers, self._parsed_with_care, stream.kind)
        with closing(in_order(stream.pieces(), self._tried, self._threads)) as pieces:
            for piece, parsed in pieces:
                if stream.given_up:
                    continue  # reads on only for the file's hash
                for table in self._take(piece, parsed):
                    if len(table):
                        self._good_until = piece.offset + len(piece.data)
                        self._taken(table)
                        yield table
                self._was_apart = piece.is_apart
                self._is_barren = self._is_coarse and self._good_until <= piece.offset
                self._look_out_for_traps(piece)
        if not self._good_count:
            yield self._numbered(self._parsed_with_care(b""), [])

    def _look_out_for_traps(self, piece: Piece) -> None:
        """Give up on a file that inflates to many bytes without elements."""
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
        """The elements of a piece; None if it has to be split."""
        if self._is_barren or (not piece.is_apart and piece.begin < piece.end):
            return None
        return self._attempts.parse(memoryview(piece.data)[piece.begin : piece.end])

    def _take(self, piece: Piece, parsed: Parsed | None) -> Iterator[pa.Table]:
        """The good elements of the next piece, and of what the piece before left over."""
        until = piece.offset + len(piece.data)
        if self._behind is not None:
            if self._behind.isspace():
                self._set_behind(b"", until)
            if len(self._behind) <= LONGEST_TAIL_BYTES:
                self._behind, self._behind_until = self._behind + piece.data, until
            yield from self._look_behind(piece.is_last)
            return
        if self._carry.startswith(b"]"):
            if piece.is_last:
                piece = piece.behind(self._carry, self._stream.is_array, self._stream.kind)
                self._carry, parsed = b"", None
            elif bytes(piece.data).isspace():
                return
        table = parsed and self._sure(parsed, memoryview(piece.data)[piece.begin : piece.end])
        is_sound = table is not None and table["problem"].null_count == len(table)
        begin = 0
        if self._giant:
            is_next = self._was_apart and is_sound and len(table) > 0
            data, kind = bytes(piece.data[: piece.end]), self._stream.kind
            found = 0 if is_next else self._giant.found_end(data, kind, self._first_key)
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

    def _sure(self, parsed: Parsed, data) -> pa.Table | None:
        """A piece's elements, checked against earlier pieces; None if it has to be split."""
        try:
            return self._checked(parsed, data)
        except UNREADABLE:
            return None

    def _numbered(self, table: pa.Table, numbers: Sequence[int] | np.ndarray) -> pa.Table:
        return table.add_column(0, self.number, pa.array(np.asarray(numbers, np.int64)))

    def _walk(self, text: bytes, offset: int, is_last: bool, behind: bytes) -> Iterator[pa.Table]:
        """The good elements of a text in which something is wrong; broken ones are quarantined.

        `behind` is what follows the list, as far as is known.
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
        elif len(rest) < LONGEST_ELEMENT_BYTES:
            self._carry = rest
        elif walk.may_end_list():  # all but a bracket, and maybe a comma, are blanks
            self._carry = b"".join(rest.split())
        else:
            self._giant = Giant(offset + walk.end)
            self._giant.closes_in(rest)
            self._giant.add(rest)

    def _give_up(self, offset: int, why: str) -> None:
        if self._carry:
            self._giant = Giant(offset - len(self._carry))
            self._giant.add(self._carry)
        if self._giant:
            self._quarantine_giant("not read to its end")
        self._stream.given_up = f"damaged: not read beyond byte {offset:,}, since {why}"
        self._stream.bytes.is_enough = True

    def _end(self, tail: Metadata | None, behind: bytes, until: int) -> Iterator[pa.Table]:
        """Finish after the last bytes; `tail` has the keys after the list if it ends there."""
        self._stream.tail = tail
        # The careful search is only for files that may have a second list, which are rare.
        if tail is not None and f'"{self._stream.kind.key}"'.encode() in behind:
            self._set_behind(behind, until)
            yield from self._look_behind(is_last=True)

    def _set_behind(self, behind: bytes, until: int) -> None:
        """Note that the list ends, and that this follows, up to byte `until` of the file."""
        self._behind, self._behind_until = behind, until
        self._search = KeySearch(self._stream.kind, depth=1)

    def _look_behind(self, is_last: bool) -> Iterator[pa.Table]:
        """Look for more lists of the same name in the known bytes after a list. Readers of JSON
        forget the first of two lists with the same key."""
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

    def _quarantine_giant(self, reason: str = "longer than 16 MB") -> None:
        giant, self._giant = self._giant, None
        bad = BadElement(self._next_id, giant.offset, giant.length, reason, giant.begin)
        self._quarantine.add(bad)
        self._next_id += 1

    def _batch(self, data: bytes, offset: int, elements: list[Element]) -> Iterator[pa.Table]:
        """Tables of the good elements; the others go to quarantine."""
        if not elements:
            return
        found, problems = self._salvage.read(data, elements)
        tables = []
        for places, table in found:
            table = self._numbered(table, [self._next_id + at for at in places])
            tables.append(table.filter(pc.is_null(table["problem"])))
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
