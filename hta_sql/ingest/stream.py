"""A trace file as a stream of bytes, cut into its head, pieces of its events, and its tail.

A Kineto file is one JSON object whose `traceEvents` array holds nearly all of it, or that array
alone; an execution trace is the same with `nodes`. Nothing here parses events: a piece is cut at
what looks like the end of one event, and it was cut right exactly when it parses, which is for the
caller to find out.
"""

from __future__ import annotations

import hashlib
import re
from collections import deque
from collections.abc import Generator, Iterator

from zlib_ng import zlib_ng

from hta_sql.errors import IngestError
from hta_sql.ingest.elements import EVENTS, ListKind
from hta_sql.ingest.metadata import Metadata, read_keys, split_tail
from hta_sql.storage import Place, open_bytes

GZIP = b"\x1f\x8b"
READ_BYTES = 1 << 20
PIECE_BYTES = 32 << 20
# An event larger than this is no event; it also bounds the memory that a broken file can ask for.
LONGEST_PIECE_BYTES = 256 << 20

BETWEEN_EVENTS = re.compile(rb'\}\s*,\s*(?=\{\s*")')
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def list_start(kind: ListKind) -> re.Pattern[bytes]:
    """What opens the list that is nearly all of a file."""
    return re.compile(rb'"%s"\s*:\s*\[' % kind.key.encode())


EVENTS_KEY = list_start(EVENTS)


class NotATrace(IngestError):
    """The file is no Kineto trace, but other JSON."""


class Unreadable(NotATrace):
    """The file may have been a trace: it is empty, damaged, or no JSON at all."""


class ByteStream:
    """The uncompressed bytes of a plain or gzipped file, whatever state it is in.

    After the last chunk, `damage` tells why the compressed stream ended early (None if it did
    not) and `fingerprint` is the hash of the file as it lies on disk.
    """

    def __init__(self, path: Place, read_bytes: int | None = None):
        self.path = path
        self.bytes_read = 0
        self._read_bytes = read_bytes or READ_BYTES
        self.damage: str | None = None
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
            yield chunk

    def _unzipped(self, file) -> Iterator[bytes]:
        inflate = zlib_ng.decompressobj(wbits=31)
        has_ended = False
        # Small reads, since one of them can inflate to many times its size.
        for chunk in iter(lambda: file.read(self._read_bytes // 8), b""):
            self._hash.update(chunk)
            self.bytes_read += len(chunk)
            while chunk and not has_ended and self.damage is None:
                before = inflate.copy()
                try:
                    yield inflate.decompress(chunk)
                except zlib_ng.error as error:
                    self.damage = f"gzip data damaged near byte {self.bytes_read}: {error}"
                    yield from inflate_until_broken(before, chunk)
                    break
                chunk = inflate.unused_data.lstrip(b"\0")
                if chunk:  # gzip files may be several members in a row; what else follows is none
                    inflate = zlib_ng.decompressobj(wbits=31)
                    has_ended = not chunk.startswith(GZIP[: len(chunk)])
        if self.damage is None and not (inflate.eof or has_ended):
            self.damage = "gzip data ends early"


def last_bytes(path: Place, size: int) -> bytes:
    """About the last `size` uncompressed bytes of a file, or all that it has."""
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
    """What comes before the damage; a failed call gives nothing back."""
    for at in range(len(chunk)):
        try:
            yield inflate.decompress(chunk[at : at + 1])
        except zlib_ng.error:
            return


class TraceStream:
    """Head, event pieces and tail of one trace file, read once from front to back.

    `head` and `tail` are the top-level keys before and behind the events; `tail` is None until the
    pieces are read, and stays None where the file ends before its list of events does. `chunks`
    are the file's bytes where some of them have been read already.
    """

    def __init__(
        self, file: Place | ByteStream, kind: ListKind = EVENTS,
        chunks: Iterator[bytes] | None = None,
    ):
        self.bytes = file if isinstance(file, ByteStream) else ByteStream(file)
        self.kind = kind
        self._list_start = list_start(kind)
        self._chunks = chunks or iter(self.bytes)
        self.tail: Metadata | None = None
        self._buffer = b""
        self._fill(64)
        text = self._buffer.removeprefix(BYTE_ORDER_MARK).lstrip()
        self._offset = len(self._buffer) - len(text)
        self._buffer = text
        if text[:1] == b"[":
            self.head = Metadata({})
            self._is_array = True
            self._advance(1)
            self._check_first_element()
        elif text[:1] == b"{":
            self._is_array = False
            self.head = self._read_head()
        elif not text:
            raise Unreadable(self.bytes.damage or "the file is empty")
        else:
            raise Unreadable(f"not JSON: it begins with {text[:20]!r}")

    def _advance(self, count: int) -> None:
        rest = self._buffer[count:]
        self._buffer = rest.lstrip(b" \t\r\n,")
        self._offset += count + len(rest) - len(self._buffer)

    def _fill(self, size: int) -> bool:
        """Read on until the buffer has `size` bytes; False where the file has no more."""
        parts, length = [self._buffer], len(self._buffer)
        for chunk in self._chunks:
            parts.append(chunk)
            length += len(chunk)
            if length >= size:
                break
        self._buffer = b"".join(parts)
        return len(parts) > 1

    def _read_head(self) -> Metadata:
        searched, has_ended = 0, False
        while True:
            for match in self._list_start.finditer(self._buffer, searched):
                head = read_keys(self._buffer[: match.start()] + b'"":0}')
                if head.is_whole:
                    self._advance(match.end())
                    return head
            # The key may lie across the end of what was read so far.
            searched = max(0, len(self._buffer) - 64)
            if len(self._buffer) > LONGEST_PIECE_BYTES:
                break
            if not self._fill(len(self._buffer) + PIECE_BYTES // 8):
                has_ended = True
                break
        # A head that is itself broken must not cost the events behind it.
        if match := self._list_start.search(self._buffer):
            head = read_keys(self._buffer[: match.start()])
            self._advance(match.end())
            return head
        if has_ended and not read_keys(self._buffer).is_whole:
            raise Unreadable(self.bytes.damage or f'broken JSON, and no "{self.kind.key}" in it')
        keys = re.findall(r'"(\w+)"\s*:', self._buffer[:2000].decode("utf-8", "replace"))
        found = ", ".join(f'"{key}"' for key in keys[:3]) or "no key"
        raise NotATrace(f'not a Kineto trace: no "traceEvents" (found {found})')

    def _check_first_element(self) -> None:
        first = self._buffer.lstrip()
        if first[:1] == b"]":
            return
        if first[:1] != b"{" or b'"ph"' not in first[:LONGEST_PIECE_BYTES]:
            raise NotATrace("not a Kineto trace: a JSON list, but not of events")

    def pieces(self) -> Generator[tuple[int, memoryview, bool], int | None, None]:
        """(offset in the uncompressed file, bytes of some events, whether they are the last).

        The consumer may hand unused bytes at the end of a piece back by `send`ing their number.
        """
        while True:
            if not self._fill(max(PIECE_BYTES, len(self._buffer) + READ_BYTES)):
                end, self.tail = split_tail(self._buffer, self._is_array, self.kind)
                yield self._offset, memoryview(self._buffer)[:end], True
                return
            if len(self._buffer) < PIECE_BYTES:
                continue
            cut = last_boundary(self._buffer)
            if cut is None:
                if len(self._buffer) < LONGEST_PIECE_BYTES:
                    continue
                cut = len(self._buffer)
            unused = yield self._offset, memoryview(self._buffer)[:cut], False
            self._advance(cut - (unused or 0))


def last_boundary(data: bytes) -> int | None:
    """The end of the last event in `data` that another one seems to follow."""
    # Where every event begins with the same key, a boundary before that key is a safe one;
    # others may lie inside an argument that is a list of objects.
    first_key = re.match(rb'\s*,?\s*\{\s*("[^"]*")', data)
    patterns = [BETWEEN_EVENTS]
    if first_key:
        patterns.insert(0, re.compile(rb"\}\s*,\s*(?=\{\s*" + re.escape(first_key[1]) + rb")"))
    for pattern in patterns:
        for start in (len(data) - (1 << 18), 0):
            match = None
            for match in pattern.finditer(data, max(0, start)):  # noqa: B007
                pass
            if match:
                return match.start() + 1
    return None
