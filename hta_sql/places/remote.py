"""Reads from object storage: for DuckDB with few requests, for ingest from front to back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, BinaryIO

from fsspec import AbstractFileSystem
from fsspec.caching import ReadAheadCache, register_cache
from fsspec.spec import AbstractBufferedFile

from hta_sql.errors import ArchiveError
from hta_sql.places.client_errors import plain_errors

if TYPE_CHECKING:
    from upath import UPath

# DuckDB asks for parts of a Parquet file. Reading a bit more than it asks for saves requests.
READ_AHEAD_BYTES = 1 << 20
# With this time, DuckDB caches what it has read. With a time in 1970, it would not.
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
# The first block shows what a trace is. A reader that goes on reads the whole file.
FIRST_BLOCK_BYTES = 128 << 10
BLOCK_BYTES = 8 << 20


class ArchiveFiles(AbstractFileSystem):
    """The files of archives as DuckDB reads them.

    An object of an archive never changes, so its size comes from the listing. Otherwise DuckDB
    would ask for the size and time of each file up to eight times per query.
    """

    cachable = False

    def __init__(self, storage: AbstractFileSystem) -> None:
        super().__init__()
        self.protocol = storage.protocol
        self._storage = storage
        self._strip_protocol = storage._strip_protocol
        self._files: dict[str, tuple[str, int]] = {}

    def know(self, files: Mapping[str, tuple[str, int]]) -> None:
        """Remember the URL and size of each object, by the URL that DuckDB gets."""
        self._files.update((self._strip_protocol(url), file) for url, file in files.items())

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        path = self._strip_protocol(path)
        if path in self._files:
            return {"name": path, "size": self._files[path][1], "type": "file"}
        with plain_errors(path):
            return self._storage.info(path)

    def modified(self, path: str) -> datetime:
        if self._strip_protocol(path) in self._files:
            return LONG_AGO
        return self._storage.modified(path)

    def ls(self, path: str, detail: bool = True, **options: Any) -> list:
        return self._storage.ls(path, detail=detail, **options)

    def read(self, path: str, start: int, end: int) -> bytes:
        if start >= end:
            return b""
        url, _ = self._files.get(path, (self.unstrip_protocol(path), 0))
        try:
            with plain_errors(url):
                return self._storage.cat_file(url, start=start, end=end)
        except FileNotFoundError as error:
            raise ArchiveError(
                f"{url} is gone: the archive has changed since it was opened; open "
                "it again, or reload() it"
            ) from error

    def _open(self, path: str, mode: str = "rb", **options: Any) -> BinaryIO:
        if mode != "rb":
            return self._storage.open(path, mode)
        size = self.info(path)["size"]
        return _ArchiveFile(self, path, block_size=READ_AHEAD_BYTES, size=size)


class _ArchiveFile(AbstractBufferedFile):
    def _fetch_range(self, start: int, end: int) -> bytes:
        return self.fs.read(self.path, start, end)


class _Forward(ReadAheadCache):
    """Reads further ahead the more has been read."""

    name = "forward"

    def _fetch(self, start: int | None, end: int | None) -> bytes:
        misses = self.miss_count
        found = super()._fetch(start, end)
        if self.miss_count > misses:
            self.blocksize = min(2 * self.blocksize, BLOCK_BYTES)
        return found


register_cache(_Forward, clobber=True)


def read_forward(path: UPath) -> BinaryIO:
    """Open an object to read it from front to back, with few requests and bounded memory.

    s3fs would read 50 MB to give the first bytes.
    """
    return path.fs.open(path.path, "rb", block_size=FIRST_BLOCK_BYTES, cache_type=_Forward.name)
