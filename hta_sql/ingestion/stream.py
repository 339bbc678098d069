"""A trace file as a stream of bytes, cut into its head, pieces of its events, and its tail.

A Kineto file is one JSON object whose `traceEvents` array holds nearly all of it, or only that
array. An execution trace is the same with `nodes`. Nothing here parses events: a piece is cut at
what looks like the end of an event. The cut was right if the piece parses; the caller finds out.
"""

from __future__ import annotations

import hashlib
import re
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from zlib_ng import zlib_ng

from hta_sql.errors import IngestError
from hta_sql.ingestion.boundaries import behind_separators, last_boundary
from hta_sql.ingestion.elements import LONGEST_ELEMENT_BYTES
from hta_sql.ingestion.kinds import EVENTS, ListKind, list_start
from hta_sql.ingestion.metadata import KeySearch, Metadata, is_object, read_keys, split_tail
from hta_sql.places.storage import Place, open_bytes

GZIP = b"\x1f\x8b"
READ_BYTES = 1 << 20
# A piece is a bit shorter than the longest element that is read, even with one more read.
PIECE_BYTES = LONGEST_ELEMENT_BYTES - 2 * READ_BYTES
# If the list does not begin within this many bytes, the search for it ends.
LONGEST_HEAD_BYTES = 64 << 20

# A bare list without an event in this many bytes is not a trace.
LONGEST_FIRST_BYTES = 1 << 20

FIRST_KEY = re.compile(rb'\{\s*+("[^"\\]{0,40}")')
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# Other kinds of file, by their first bytes.
OTHERS = {
    b"\xff\xfe": "UTF-16 or UTF-32 text; only UTF-8 is read",
    b"\xfe\xff": "UTF-16 text; only UTF-8 is read",
    b"PK\x03\x04": "a zip archive; only gzip is read",
    b"\x28\xb5\x2f\xfd": "packed by zstd; only gzip is read",
    GZIP: "packed by gzip twice",
}


class NotATrace(IngestError):
    """The file is not a Kineto trace, but other JSON."""


class Unreadable(NotATrace):
    """The file may have been a trace: it is empty, damaged, or not JSON at all."""


class ByteStream:
    """The uncompressed bytes of a plain or gzipped file, even of a damaged one.

    After the last chunk, `damage` says why the compressed stream ended early (None if it did not)
    and `fingerprint` is the hash of the file as it is on disk. After `is_enough` is set, no more
    bytes come, but the file is read to its end for the hash.
    """

    def __init__(self, path: Place, read_bytes: int | None = None):
        self.path = path
        self.bytes_read = 0
        self._read_bytes = read_bytes or READ_BYTES
        self.damage: str | None = None
        self.is_enough = False
        self._hash = hashlib.blake2b(digest_size=16)

    @property
    def fingerprint(self) -> str:
        return self._hash.hexdigest()

    def __iter__(self) -> Iterator[bytes]:
        with open_bytes(self.path) as file:
            zipped = file.read(2) == GZIP
            file.seek(0)
            yield from self._unzipped(file) if zipped else self._raw(file)

    def _raw(self, file) -> Iterator[bytes]:
        while chunk := file.read(self._read_bytes):
            self._hash.update(chunk)
            self.bytes_read += len(chunk)
            if not self.is_enough:
                yield chunk

    def _unzipped(self, file) -> Iterator[bytes]:
        inflate = zlib_ng.decompressobj(wbits=31)
        has_ended = False
        for chunk in iter(lambda: file.read(self._read_bytes // 16), b""):
            self._hash.update(chunk)
            self.bytes_read += len(chunk)
            if self.is_enough:
                continue
            is_full = False  # whether the input so far may give more output
            while (chunk or is_full) and not has_ended and self.damage is None:
                before = inflate.copy()
                try:
                    # A little can inflate to a thousand times its size.
                    inflated = inflate.decompress(chunk, self._read_bytes)
                except zlib_ng.error as error:
                    self.damage = f"gzip data damaged near byte {self.bytes_read}: {error}"
                    yield from inflate_until_broken(before, chunk)
                    break
                if inflated:
                    yield inflated
                if not inflate.eof:
                    chunk = inflate.unconsumed_tail
                    is_full = len(inflated) == self._read_bytes
                    continue
                is_full = False
                chunk = inflate.unused_data.lstrip(b"\0")
                if chunk:  # a gzip file may be several members in a row; other bytes end it
                    inflate = zlib_ng.decompressobj(wbits=31)
                    has_ended = not chunk.startswith(GZIP[: len(chunk)])
        if self.damage is None and not (inflate.eof or has_ended or self.is_enough):
            self.damage = "gzip data ends early"


def last_bytes(path: Place, size: int) -> bytes:
    """About the last `size` uncompressed bytes of a file, or all if it has fewer."""
    with open_bytes(path) as file:
        if file.read(2) != GZIP:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - size))
            return file.read()
    chunks: deque[bytes] = deque()
    length = 0
    for chunk in ByteStream(path):
        chunks.append(chunk)
        length += len(chunk)
        while length - len(chunks[0]) >= size:
            length -= len(chunks.popleft())
    return b"".join(chunks)


def inflate_until_broken(inflate, chunk: bytes) -> Iterator[bytes]:
    """The bytes before the damage, one by one, since a call that fails returns nothing."""
    for at in range(len(chunk)):
        try:
            yield inflate.decompress(chunk[at : at + 1])
        except zlib_ng.error:
            return


class Piece(NamedTuple):
    """Some bytes of the file, from where its list begins; each piece continues the one before. A
    piece that `is_apart` was cut where an element seems to end, so all its elements are whole.

    Only separators come before `begin`. In the last piece, `end` is where the list seems to end,
    and `tail` has the keys after it. Its `data` are bytes; those of other pieces are a view.
    """

    offset: int  # in the uncompressed file
    data: bytes | memoryview
    begin: int
    is_apart: bool
    is_last: bool
    end: int
    tail: Metadata | None = None

    def behind(self, carry: bytes, is_array: bool, kind: ListKind) -> Piece:
        """The last piece, with what was left over before it in front. A bracket that may be the
        list's ends the list only if the right text follows it."""
        data = carry + self.data
        end, tail = split_tail(data, is_array, kind)
        return Piece(self.offset - len(carry), data, 0, False, True, end, tail)


class TraceStream:
    """Head and pieces of one trace file, read once from front to back.

    `head` and `tail` are the top-level keys before and after the events. The reader of the pieces
    sets `tail`; it is None if the file ends before its list of events does. `chunks` are the file's
    bytes if some of them have been read already.
    """

    def __init__(
        self,
        file: Place | ByteStream,
        kind: ListKind = EVENTS,
        chunks: Iterator[bytes] | None = None,
    ):
        self.bytes = file if isinstance(file, ByteStream) else ByteStream(file)
        self.kind = kind
        self._chunks = chunks or iter(self.bytes)
        self.tail: Metadata | None = None
        self.given_up: str | None = None  # why it was not read to its end
        self.coarse_from: int | None = None  # broken elements after this byte are not split
        self._buffer = b""
        self.first_key = b'"'
        self._fill(64)
        self._offset = len(self._buffer)
        self._buffer = self._buffer.removeprefix(BYTE_ORDER_MARK).lstrip()
        while not self._buffer and self._offset < LONGEST_HEAD_BYTES and self._fill(1):
            self._offset += len(self._buffer)
            self._buffer = self._buffer.lstrip()
        self._offset -= len(self._buffer)
        if self._buffer[:1] == b"[":
            self.head = Metadata({})
            self.is_array = True
            self._drop(1)
            self._check_first_element()
        elif self._buffer[:1] == b"{":
            self.is_array = False
            self.head = self._read_head()
        elif not self._buffer:
            raise Unreadable(
                self.bytes.damage
                or ("nothing but blanks in it" if self._offset else "the file is empty")
            )
        else:
            for begin, what in OTHERS.items():
                if self._buffer.startswith(begin):
                    raise Unreadable(f"not JSON: it is {what}")
            raise Unreadable(f"not JSON: it begins with {self._buffer[:20]!r}")

    def _drop(self, count: int) -> None:
        self._buffer = self._buffer[count:]
        self._offset += count

    def _fill(self, size: int) -> bool:
        """Read at least a chunk, until the buffer has `size` bytes; False if nothing is left."""
        parts, length = [self._buffer], len(self._buffer)
        for chunk in self._chunks:
            parts.append(chunk)
            length += len(chunk)
            if length >= size:
                break
        self._buffer = b"".join(parts)
        return len(parts) > 1

    def _read_head(self) -> Metadata:
        search, is_all = KeySearch(self.kind), False
        while True:
            if found := search.find(self._buffer, is_all):
                head = read_keys(self._buffer[: found[0]] + b'"":0}')
                self._drop(found[1])
                return head
            if is_all or len(self._buffer) > LONGEST_HEAD_BYTES:
                break
            is_all = not self._fill(2 * len(self._buffer))
        # A broken head must not cost the events after it.
        if match := list_start(self.kind).search(self._buffer):
            head = read_keys(self._buffer[: match.start()])
            self._drop(match.end())
            return head
        key = f'"{self.kind.key}"'
        if is_all and not is_object(self._buffer):
            what = f"its {key} is {search.instead}" if search.instead else f"no {key} in it"
            raise Unreadable(self.bytes.damage or f"broken JSON, and {what}")
        if search.instead:
            raise NotATrace(f"not a Kineto trace: its {key} is {search.instead}, not a list")
        if not is_all:
            raise NotATrace(
                f"not a Kineto trace: no {key} in its first {LONGEST_HEAD_BYTES >> 20} MB"
            )
        keys = re.findall(r'"(\w+)"\s*:', self._buffer[:2000].decode("utf-8", "replace"))
        found = ", ".join(f'"{key}"' for key in keys[:3]) or "no key"
        raise NotATrace(f'not a Kineto trace: no "traceEvents" (found {found})')

    def _check_first_element(self) -> None:
        """Raise NotATrace if a bare list has no event in its first bytes, unless it is empty."""
        while b'"ph"' not in self._buffer:
            if len(self._buffer) >= LONGEST_FIRST_BYTES or not self._fill(len(self._buffer) + 1):
                if self._buffer.lstrip()[:1] == b"]":
                    return
                raise NotATrace("not a Kineto trace: a JSON list, but not of events")

    def pieces(self) -> Iterator[Piece]:
        """All of the file after the list's opening bracket."""
        is_apart = True
        while self._fill(max(PIECE_BYTES, len(self._buffer) + 1)):
            if len(self._buffer) < PIECE_BYTES:
                continue
            begin = end = behind_separators(self._buffer)
            if begin < len(self._buffer):
                if first := FIRST_KEY.match(self._buffer, begin):
                    self.first_key = first[1]
                cut = last_boundary(self._buffer, self.first_key)
                is_apart = cut is not None
                end = cut or len(self._buffer)
            data = memoryview(self._buffer)[:end]  # a copy would cost as much as inflating
            yield Piece(self._offset, data, min(begin, end), is_apart, False, end)
            self._drop(end)
        if self.given_up:
            return
        end, tail = split_tail(self._buffer, self.is_array, self.kind)
        begin = min(behind_separators(self._buffer), end)
        yield Piece(self._offset, self._buffer, begin, True, True, end, tail)
