"""Names of events so long that whoever joins or sorts them runs out of memory.

In `events` they stay whole. In what is derived from events they are cut, and end in a hash of the
whole, so that they still differ where the whole does.
"""

from __future__ import annotations

from hashlib import md5

import pyarrow as pa
import pyarrow.compute as pc

COLUMNS = ["name", "pid", "tid"]
LONG_BYTES = 1 << 14
KEPT_CHARACTERS = 1_000

# What cut() does, in SQL.
CUT = f"""
CASE WHEN strlen({{0}}) > {LONG_BYTES}
    THEN left({{0}}, {KEPT_CHARACTERS}) || '... ' || md5({{0}})
    ELSE {{0}}
END AS {{0}}"""
WITH_CUT_WORDS = f"SELECT * REPLACE ({','.join(map(CUT.format, COLUMNS))})"


def any_long(events: pa.Table) -> bool:
    return any(
        (pc.max(pc.binary_length(events[column])).as_py() or 0) > LONG_BYTES for column in COLUMNS
    )


def with_cut_words(rows: pa.Table) -> pa.Table:
    """The same rows, of columns that are dictionaries, with long words cut."""
    for name in COLUMNS:
        column = rows[name]
        shorter = pa.chunked_array([
            pa.DictionaryArray.from_arrays(chunk.indices, cut_all(chunk.dictionary))
            for chunk in column.chunks
        ], column.type)  # fmt: skip
        rows = rows.set_column(rows.schema.get_field_index(name), name, shorter)
    # Texts of some MB leave holes in between what stays.
    pa.default_memory_pool().release_unused()
    return rows


def cut_all(words: pa.StringArray) -> pa.StringArray:
    if not len(words) or pc.max(pc.binary_length(words)).as_py() <= LONG_BYTES:
        return words
    return pa.array([cut(word) for word in words], words.type)


def cut(word: pa.StringScalar) -> str:
    data = word.as_buffer()
    if len(data) <= LONG_BYTES:
        return word.as_py()
    # A character takes up to four bytes.
    begin = data[: 4 * KEPT_CHARACTERS].to_pybytes().decode(errors="ignore")[:KEPT_CHARACTERS]
    return f"{begin}... {md5(data, usedforsecurity=False).hexdigest()}"
