"""Names of events, processes and threads so long that whoever joins or sorts them runs out of
memory.

In `events` they stay whole. In what is derived from events they are cut, and end in a hash of the
whole, so that they still differ where the whole does.
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
    """The same rows, of which the names are dictionaries, with long names cut."""
    for name in NAMES:
        shorter = pa.chunked_array(
            [
                pa.DictionaryArray.from_arrays(chunk.indices, cut_all(chunk.dictionary))
                for chunk in rows[name].chunks
            ],
            rows[name].type,
        )
        rows = rows.set_column(rows.schema.get_field_index(name), name, shorter)
    # Texts of some MB leave holes in between what stays.
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
