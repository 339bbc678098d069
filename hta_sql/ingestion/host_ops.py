"""Writes the table host_ops: the operations of the host as `events` has them, each with its place
in the call stack of its thread.

No join is needed, since events and places both arrive in the order of event_id. Text columns stay
dictionaries, as in the file of events. So the work is per distinct word of a row group, and not per
row.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hta_sql.ingestion.long_names import with_cut_names
from hta_sql.ingestion.nesting import NOBODY
from hta_sql.ingestion.side_by_side import Aside
from hta_sql.ingestion.spool import Spool
from hta_sql.store.row_groups import RowGroups

WORDS = ["cat", "name", "pid", "tid", "input_dims", "input_types", "concrete_inputs"]
COLUMNS = [
    "event_id",
    "cat",
    "name",
    "pid",
    "tid",
    "start_ns",
    "dur_ns",
    "step",
    "depth",
    "parent_id",
    "root_id",
    "op_id",
    "annotation_id",
    "module_id",
    "caller_id",
    "is_backward",
    "forward_id",
    "stack_hash",
    "cut_ns",
    "correlation",
    "external_id",
    "record_function_id",
    "sequence_number",
    "fwd_thread_id",
    "input_dims",
    "input_types",
    "concrete_inputs",
]


FOUND = pa.schema(
    [
        ("caller_id", pa.int64()),
        ("is_backward", pa.bool_()),
        ("forward_id", pa.int64()),
        ("cut_ns", pa.int64()),
    ]
)


class Found:
    """A BIGINT for each of some events, by event_id."""

    def __init__(self, ids: np.ndarray, values: np.ndarray):
        order = np.argsort(ids, kind="stable")
        self._ids, self._values = ids[order], values[order]

    def of(self, ids: pa.ChunkedArray) -> pa.Array:
        """The values of these events; NULL for an event without one, or if the id is NULL."""
        if not len(self._ids):
            return pa.nulls(len(ids), pa.int64())
        wanted = ids.fill_null(NOBODY).to_numpy()
        at = np.minimum(np.searchsorted(self._ids, wanted), len(self._ids) - 1)
        return pa.array(self._values[at], mask=self._ids[at] != wanted)


def first_ids(events: Path) -> list[int]:
    """The first event_id of each row group of a file of events."""
    with pq.ParquetFile(events) as file:
        at = file.schema_arrow.get_field_index("event_id")
        groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
        return [group.column(at).statistics.min for group in groups]


def write_host_ops(
    events: Path,
    target: Path,
    stack: Spool,
    callers: Found,
    forward: Found,
    cuts: Found,
    cut_names: bool = False,
    threads: int = 1,
) -> int:
    """Write the table; returns its number of rows. With `cut_names`, long names are cut.

    The parts of `stack` are the row groups of `events`. `forward` is by the operation that begins
    the backward pass, `callers` and `cuts` are by the operation itself.
    """
    count = 0
    with pq.ParquetFile(events, read_dictionary=WORDS) as file:
        types = {field.name: field.type for field in [*file.schema_arrow, *stack.schema, *FOUND]}
        schema = pa.schema([(name, types[name]) for name in COLUMNS])
        names = [name for name in COLUMNS if name in file.schema_arrow.names]
        with closing(RowGroups(target, schema)) as writer, Aside(threads) as aside:
            for number, places in enumerate(stack.parts()):
                if not len(places):
                    continue
                rows = file.read_row_group(number, names, use_threads=threads > 1)
                at = np.searchsorted(rows["event_id"].to_numpy(), places["event_id"].to_numpy())
                if cut_names:
                    rows = with_cut_names(rows)
                columns = (
                    {column: taken(rows[column], pa.array(at)) for column in names}
                    | {column: places[column] for column in stack.schema.names if column in COLUMNS}
                    | {
                        "caller_id": callers.of(places["event_id"]),
                        "is_backward": places["backward_id"].is_valid(),
                        "forward_id": forward.of(places["backward_id"]),
                        "cut_ns": cuts.of(places["event_id"]),
                    }
                )
                aside.do(writer.write_table, pa.table(columns).select(COLUMNS))
                count += len(places)
    return count


def taken(column: pa.ChunkedArray, at: pa.Array) -> pa.ChunkedArray:
    """The values at these places. Words that they do not use are dropped if there are many."""
    some = column.take(at)
    if pa.types.is_dictionary(some.type) and any(
        len(chunk.dictionary) > len(chunk) for chunk in some.chunks
    ):
        return some.cast(some.type.value_type).dictionary_encode()
    return some
