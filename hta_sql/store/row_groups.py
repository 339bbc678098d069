"""Parquet files of ingest: how columns are encoded, and how many rows stand together."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

ROW_GROUP_ROWS = 122_880
# In memory; to write as much takes several times as much. Rows that are longer than usual do not
# wait until they are so many.
ROW_GROUP_BYTES = 64 << 20
# DuckDB reads so many rows of a group at once, and holds several copies of them: they are to be no
# more bytes than this.
VECTOR_ROWS = 2_048
VECTOR_BYTES = 16 << 20
# Columns of numbers that mostly grow a little from row to row, and of text that hardly repeats.
DELTA_COLUMNS = {
    "event_id",
    "start_ns",
    "dur_ns",
    "correlation",
    "external_id",
    "parent_id",
    "root_id",
    "launch_id",
    "launch_start_ns",
    "launch_end_ns",
    "op_id",
    "annotation_id",
    "module_id",
    "record_function_id",
    "computed_before_ns",
    "hidden_ns",
}
LONG_COLUMNS = {"id", "args"}
# Text of which nearly every row group has the smallest and the largest: these are not worth noting.
SPREAD_COLUMNS = {"ph", "name", "pid", "tid"}


def table_writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    """A Parquet file in which ids and times are differences and repeated words a dictionary."""
    deltas = [field.name for field in schema if field.name in DELTA_COLUMNS]
    text = [field.name for field in schema if field.name not in [*deltas, *LONG_COLUMNS]]
    return pq.ParquetWriter(
        path,
        schema,
        compression="zstd",
        compression_level=1,
        use_dictionary=text,
        column_encoding=dict.fromkeys(deltas, "DELTA_BINARY_PACKED"),
        write_statistics=[name for name in [*deltas, *text] if name not in SPREAD_COLUMNS],
        # Arrow's own schema would tell its readers of dictionaries, where it was written from some.
        store_schema=False,
    )


class RowGroups:
    """A Parquet file whose row groups have as many rows as those of DuckDB, or as many bytes as fit
    into memory, however small the tables are that it is written by."""

    def __init__(self, path: Path, schema: pa.Schema):
        self._writer = table_writer(path, schema)
        self._waiting: list[pa.Table] = []
        self._rows = self._bytes = 0

    def write_table(self, table: pa.Table) -> None:
        self._waiting.append(table)
        self._rows += len(table)
        self._bytes += table.nbytes
        is_wide = self._bytes >= VECTOR_BYTES and self._rows <= VECTOR_ROWS
        if is_wide or self._rows >= ROW_GROUP_ROWS or self._bytes >= ROW_GROUP_BYTES:
            self._write()

    def close(self) -> None:
        if self._rows:
            self._write()
        self._writer.close()

    def _write(self) -> None:
        # Dictionaries that differ would be written as plain text.
        self._writer.write_table(pa.concat_tables(self._waiting).unify_dictionaries())
        self._waiting, self._rows, self._bytes = [], 0, 0
