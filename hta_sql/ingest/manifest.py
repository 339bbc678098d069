"""`traces.parquet` and its like: they alone decide which files an archive has."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from hta_sql.catalog import sql_root

# What a row is the only one of, beside its source file.
KEYS = {
    "traces": ("job", "rank"),
    "attachments": ("job", "rank", "kind"),
    "critical_paths": ("job", "path_window"),
}


@cache
def schema(table: str) -> pa.Schema:
    """The columns of a manifest, from sql/schema."""
    con = duckdb.connect()
    con.execute((sql_root() / "schema" / f"{table}.sql").read_text())
    return con.sql(f"FROM {table}_schema()").to_arrow_table().schema


class Manifest:
    """Reads and replaces the rows of an archive's traces.parquet, or of another table of KEYS."""

    def __init__(self, archive: Path, table: str = "traces"):
        self.archive = archive
        self.path = archive / f"{table}.parquet"
        self._table = table

    def key(self, row: dict) -> tuple:
        return tuple(row[column] for column in KEYS[self._table])

    def rows(self) -> list[dict]:
        if not self.path.exists():
            return []
        return pq.read_table(self.path, partitioning=None).to_pylist()

    def make(self) -> None:
        """An archive without traces, where there is none: it opens from the first moment on."""
        self.archive.mkdir(parents=True, exist_ok=True)
        with self.locked():
            if not self.path.exists():
                self._write([])

    def add(self, row: dict) -> set[int]:
        """Make a file part of the archive, in place of any other of its key or of its path.

        Readers see the archive before or after, never in between. Only while locked. Returns the
        ranks of the files that it displaced.
        """
        others, displaced = [], set()
        for other in self.rows():
            if self.key(other) == self.key(row) or (
                other["job"] == row["job"] and other["path"] == row["path"]
            ):
                displaced.add(other["rank"])
            else:
                others.append(other)
        self.replace([*others, row])
        return displaced

    def replace(self, rows: list[dict]) -> None:
        """Make these the rows. Only while locked."""
        self._write(sorted(rows, key=self.key))

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Two ingests may write to one archive; each change must build on the other's."""
        with (self.archive / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _write(self, rows: list[dict]) -> None:
        written = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        pq.write_table(pa.Table.from_pylist(rows, schema=schema(self._table)), written)
        written.replace(self.path)
