"""The rows of a table that belong together in a chart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hta_sql.plot.style import Row

if TYPE_CHECKING:
    import pyarrow as pa


def by_group(
    table: pa.Table, keys: list[str], at: np.ndarray
) -> tuple[list[Row], list[np.ndarray]]:
    """The groups of rows with equal keys (NULL is a key too), and the rows of each, ordered by
    `at`."""
    codes = np.zeros(len(table), np.int64)
    for key in keys:
        part = table[key].combine_chunks().dictionary_encode("encode")
        codes = codes * len(part.dictionary) + part.indices.to_numpy()
    _, first, codes = np.unique(codes, return_index=True, return_inverse=True)
    in_order = np.lexsort((at, codes))
    rows = np.split(in_order, np.searchsorted(codes[in_order], np.arange(1, len(first))))
    groups = table.select(keys).take(first).to_pylist()
    order = sorted(
        range(len(groups)),
        key=lambda place: [(part is not None, part) for part in groups[place].values()],
    )
    return [groups[place] for place in order], [rows[place] for place in order]
