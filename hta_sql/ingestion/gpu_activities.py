"""Writes the table gpu_activities, ordered by device and start.

Its rows are wide: in a job with thousands of ranks, each row has tens of kilobytes. DuckDB holds
several copies of a few thousand rows when it sorts. So the rows wait here, in a file if there are
many, and DuckDB sorts only ids and times.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hta_sql.database.sql_files import SqlFiles
from hta_sql.ingestion.side_by_side import Aside
from hta_sql.ingestion.spool import Spool
from hta_sql.ingestion.temporary import make_table
from hta_sql.store.row_groups import (
    ROW_GROUP_BYTES,
    ROW_GROUP_ROWS,
    VECTOR_BYTES,
    VECTOR_ROWS,
    RowGroups,
)

# Rows that take more than this wait in a file.
MOST_BYTES = ROW_GROUP_BYTES
FILES = SqlFiles("ingest")
SPAN = ["device", "event_id", "start_ns", "dur_ns", "kind"]
FOUND = ["computed_before_ns", "hidden_ns"]


def write_gpu_activities(
    con: duckdb.DuckDBPyConnection, events: Path, target: Path, folder: Path, threads: int = 1
) -> int:
    """Write the table; returns its number of rows. Temporary files go to `folder`."""
    batch_rows = rows_at_once(events)
    try:
        waiting = gathered(con, batch_rows, folder)
    except (duckdb.OutOfMemoryException, OSError) as error:
        # Arrow's reader passes on any error after the first batch as an OSError.
        if threads == 1 or "out of memory" not in str(error).lower():
            raise
        # Each thread holds a few thousand rows. If they are too wide for that, use one thread.
        con.execute("SET threads = 1")
        waiting = gathered(con, batch_rows, folder)
    make_table(con, "activity_spans", waiting.take_spans())
    found = con.sql(FILES.text("computed_before")).to_arrow_table()
    con.execute("DROP TABLE activity_spans; DROP TABLE launches")
    done = 0
    with closing(RowGroups(target, waiting.schema)) as writer, Aside(threads) as aside:
        for rows in waiting.in_order(found["event_id"].to_numpy()):
            for name in FOUND:
                at = rows.schema.get_field_index(name)
                rows = rows.set_column(at, name, found[name].slice(done, len(rows)))
            aside.do(writer.write_table, rows)
            done += len(rows)
    return done


def rows_at_once(events: Path) -> int:
    """The rows of a batch: as many as DuckDB gives at once, or fewer if arguments are long."""
    with pq.ParquetFile(events) as file:
        at = file.schema_arrow.get_field_index("args")
        groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
        sizes = [group.column(at).total_uncompressed_size / group.num_rows for group in groups]
    return int(min(max(VECTOR_BYTES / max([1, *sizes]), 1), VECTOR_ROWS))


def gathered(con: duckdb.DuckDBPyConnection, batch_rows: int, folder: Path) -> Waiting:
    with con.sql(FILES.text("gpu_activities")).to_arrow_reader(batch_rows) as batches:
        waiting = Waiting(folder / "gpu_activities.arrow", batches.schema)
        for batch in batches:
            waiting.add(batch)
    return waiting


class Waiting:
    """Holds GPU activities as they arrive, until their order is known."""

    def __init__(self, path: Path, schema: pa.Schema):
        self.schema = schema
        self._path = path
        self._writer: pa.ipc.RecordBatchFileWriter | None = None
        self._held: list[pa.RecordBatch] = []
        self._held_bytes = 0
        self._spans: list[pa.RecordBatch] = []
        # One item per batch:
        self._ids: list[np.ndarray] = []
        self._bytes: list[int] = []

    def add(self, batch: pa.RecordBatch) -> None:
        # A copy, since a part of DuckDB's batch would keep the whole batch in memory.
        self._spans.append(batch.select(SPAN).take(pa.array(np.arange(len(batch)))))
        self._ids.append(batch["event_id"].to_numpy().copy())
        self._bytes.append(batch.nbytes)
        self._held.append(batch)
        self._held_bytes += batch.nbytes
        if self._held_bytes > MOST_BYTES or batch.nbytes > VECTOR_BYTES:
            self._put_away()

    def take_spans(self) -> pa.Table:
        """When and where the activities ran. It forgets them, so it can be called once."""
        spans, self._spans = self._spans, []
        return pa.Table.from_batches(spans, pa.schema([self.schema.field(n) for n in SPAN]))

    def in_order(self, ids: np.ndarray) -> Iterator[pa.Table]:
        """All rows in the order of these ids, one row group at a time. After the last one, no
        temporary file is left."""
        added = np.concatenate([np.empty(0, np.int64), *self._ids])
        by_id = np.argsort(added, kind="stable")
        wanted = by_id[np.searchsorted(added, ids, sorter=by_id)]
        begins = self._begins(wanted)
        if self._writer is None:
            rows = pa.Table.from_batches(self._held, self.schema).combine_chunks()
            for part in np.split(wanted, begins[1:]) if len(wanted) else ():
                yield rows.take(pa.array(part))
            return
        self._put_away()
        self._writer.close()
        places = np.empty(len(wanted), np.int64)
        places[wanted] = np.arange(len(wanted))
        yield from self._by_parts(places, begins)

    def _begins(self, wanted: np.ndarray) -> np.ndarray:
        """The first place of each row group, if rows are taken in this order."""
        counts = [len(ids) for ids in self._ids]
        widths = np.repeat(np.array(self._bytes) / counts, counts)
        is_wide = widths * VECTOR_ROWS > VECTOR_BYTES
        # The share of a row group that each row takes, by its bytes or by the number of rows.
        shares = widths / np.where(is_wide, VECTOR_BYTES, ROW_GROUP_BYTES)
        part = np.cumsum(np.maximum(shares, 1 / ROW_GROUP_ROWS)[wanted]).astype(np.int64)
        return np.flatnonzero(np.diff(part, prepend=-1))

    def _by_parts(self, places: np.ndarray, begins: np.ndarray) -> Iterator[pa.Table]:
        """Distribute rows to the parts that begin at these places, then give each part in order."""
        schema = self.schema.append(pa.field("place", pa.int64()))
        parts = Spool(self._path.with_suffix(".parts"), schema, begins, key="place")
        done = 0
        with pa.OSFile(str(self._path)) as file:
            reader = pa.ipc.open_file(file)
            for number in range(reader.num_record_batches):
                batch = reader.get_batch(number)
                place = places[done : done + len(batch)]
                done += len(batch)
                rows = batch.append_column("place", pa.array(place))
                parts.add(rows.take(pa.array(np.argsort(place))))
        self._path.unlink()
        for part in parts.parts():
            yield part.drop_columns(["place"])

    def _put_away(self) -> None:
        if self._writer is None:
            self._writer = pa.ipc.new_file(self._path, self.schema)
        for batch in self._held:
            self._writer.write_batch(batch)
        self._held, self._held_bytes = [], 0
