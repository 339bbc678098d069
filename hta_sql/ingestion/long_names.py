"""Cuts names of events, processes and threads that are too long to join or sort in memory.

In `events` they stay whole. In tables derived from events they are cut, and end in a hash of the
whole name. So names that differ still differ.
"""

from __future__ import annotations

from hashlib import md5

import pyarrow as pa
import pyarrow.compute as pc

# As in sql/ingest/macros/long_names.sql.
LONG_BYTES = 1 << 14
KEPT_CHARACTERS = 1_000
NAMES = ("name", "pid", "tid")


def any_long(events: pa.Table) -> bool:
    return any((pc.max(pc.binary_length(events[name])).as_py() or 0) > LONG_BYTES for name in NAMES)


def with_cut_names(rows: pa.Table) -> pa.Table:
    """The same rows with long names cut; the columns of names are dictionaries."""
    for name in NAMES:
        shorter = pa.chunked_array(
            [
                pa.DictionaryArray.from_arrays(chunk.indices, cut_all(chunk.dictionary))
                for chunk in rows[name].chunks
            ],
            rows[name].type,
        )
        rows = rows.set_column(rows.schema.get_field_index(name), name, shorter)
    # Texts of several MB leave holes in memory between those that stay.
    pa.default_memory_pool().release_unused()
    return rows


def cut_all(names: pa.StringArray) -> pa.StringArray:
    if not len(names) or pc.max(pc.binary_length(names)).as_py() <= LONG_BYTES:
        return names
    return pa.array([cut(name) for name in names], names.type)


def cut(name: pa.StringScalar) -> str:
    data = name.as_buffer()
    if len(data) <= LONG_BYTES:
        return name.as_py()
    # A character takes up to four bytes.
    begin = data[: 4 * KEPT_CHARACTERS].to_pybytes().decode(errors="ignore")[:KEPT_CHARACTERS]
    return f"{begin}... {md5(data, usedforsecurity=False).hexdigest()}"
