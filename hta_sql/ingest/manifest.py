"""`traces.parquet`: the one file that decides which traces an archive has."""

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


@cache
def schema() -> pa.Schema:
    """The columns of `traces`, from sql/schema/traces.sql."""
    con = duckdb.connect()
    con.execute((sql_root() / "schema" / "traces.sql").read_text())
    return con.sql("FROM traces_schema()").to_arrow_table().schema


class Manifest:
    """Reads and replaces the rows of an archive's traces.parquet."""

    def __init__(self, archive: Path):
        self.archive = archive
        self.path = archive / "traces.parquet"

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
        """Make a trace part of the archive, in place of any other of its rank or of its file.

        Readers see the archive before or after, never in between. Only while locked. Returns the
        ranks of the traces that it displaced.
        """
        others, displaced = [], set()
        for other in self.rows():
            if other["job"] == row["job"] and (
                other["rank"] == row["rank"] or other["path"] == row["path"]
            ):
                displaced.add(other["rank"])
            else:
                others.append(other)
        self._write(sorted([*others, row], key=lambda r: (r["job"], r["rank"])))
        return displaced

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Two ingests may write to one archive; each change must build on the other's."""
        with (self.archive / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _write(self, rows: list[dict]) -> None:
        written = self.path.with_name(f".traces.parquet.{os.getpid()}")
        pq.write_table(pa.Table.from_pylist(rows, schema=schema()), written)
        written.replace(self.path)
