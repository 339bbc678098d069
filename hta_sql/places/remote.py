"""Reading from object storage: for DuckDB by few requests, for ingest from front to back."""

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

# DuckDB asks for what it wants of a Parquet file; a bit more than that spares requests.
READ_AHEAD_BYTES = 1 << 20
# So DuckDB keeps what it has read, as it would not keep that of 1970.
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
# A trace's head tells what it is. Who reads on reads all.
FIRST_BLOCK_BYTES = 128 << 10
BLOCK_BYTES = 8 << 20


class ArchiveFiles(AbstractFileSystem):
    """The files of archives as DuckDB reads them.

    An object of an archive never changes, so its size is that of the listing it was found in. Left
    to itself, DuckDB asks for size and time of each file up to eight times a query.
    """

    cachable = False

    def __init__(self, storage: AbstractFileSystem) -> None:
        super().__init__()
        self.protocol = storage.protocol
        self._storage = storage
        self._strip_protocol = storage._strip_protocol
        self._files: dict[str, tuple[str, int]] = {}

    def know(self, files: Mapping[str, tuple[str, int]]) -> None:
        """By the URLs that DuckDB gets, those of the objects, and their sizes."""
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
    """Reads ahead the further the more has been read."""

    name = "forward"

    def _fetch(self, start: int | None, end: int | None) -> bytes:
        misses = self.miss_count
        found = super()._fetch(start, end)
        if self.miss_count > misses:
            self.blocksize = min(2 * self.blocksize, BLOCK_BYTES)
        return found


register_cache(_Forward, clobber=True)


def read_forward(path: UPath) -> BinaryIO:
    """A file of object storage to be read from front to back, in few requests and bounded memory.

    s3fs would read 50 MB for a look at the first bytes.
    """
    return path.fs.open(path.path, "rb", block_size=FIRST_BLOCK_BYTES, cache_type=_Forward.name)
