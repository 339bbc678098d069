"""Parquet files of ingest: how columns are encoded, and how many rows a row group has."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

ROW_GROUP_ROWS = 122_880
# The size of a row group in memory; writing it takes several times as much. If rows are long, a
# group has fewer than ROW_GROUP_ROWS.
ROW_GROUP_BYTES = 64 << 20
# DuckDB reads this many rows of a group at once and holds several copies of them, so they should
# have at most VECTOR_BYTES.
VECTOR_ROWS = 2_048
VECTOR_BYTES = 16 << 20
# Columns of numbers that usually grow a little from row to row, and columns of unique text.
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
# Columns of text with nearly the same minimum and maximum in all row groups: no statistics.
SPREAD_COLUMNS = {"ph", "name", "pid", "tid"}


def table_writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    """A Parquet file with ids and times as differences, and repeated text as dictionaries."""
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
        # With Arrow's own schema, readers would get dictionaries if the table had dictionaries.
        store_schema=False,
    )


class RowGroups:
    """A Parquet file whose row groups have as many rows as DuckDB's, or as many bytes as fit into
    memory, even if the tables that are written to it are small."""

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
        # Dictionaries that differ between tables would be written as plain text.
        self._writer.write_table(pa.concat_tables(self._waiting).unify_dictionaries())
        self._waiting, self._rows, self._bytes = [], 0, 0
