"""Rows that wait on disk until they are read in another order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa


class Spool:
    """Rows grouped by the part of a table that they belong to; each part fits into memory.

    The table is ordered by a number, `key`, which the rows have, too. `begins` has the first key of
    each part.
    """

    def __init__(self, path: Path, schema: pa.Schema, begins: Sequence[int], key: str = "event_id"):
        self.schema = schema
        self._path = path
        self._key, self._begins = key, begins
        self._writer = pa.ipc.new_file(path, schema)
        self._batches: list[list[int]] = [[] for _ in begins]  # numbers of batches, by part
        self._count = 0

    def add(self, rows: pa.RecordBatch) -> None:
        """Add rows, which are in the order of the key."""
        begins = np.searchsorted(rows[self._key].to_numpy(), self._begins).tolist()
        for part, (begin, end) in enumerate(pairwise([*begins, len(rows)])):
            if begin < end:
                self._batches[part].append(self._count)
                self._writer.write_batch(rows.slice(begin, end - begin))
                self._count += 1

    def parts(self) -> Iterator[pa.Table]:
        """All rows of each part, in the order of the key. After the last part the file is gone."""
        self._writer.close()
        with pa.OSFile(str(self._path)) as file:
            reader = pa.ipc.open_file(file)
            for numbers in self._batches:
                batches = [reader.get_batch(number) for number in numbers]
                yield in_order(pa.Table.from_batches(batches, self.schema), self._key)
        self._path.unlink()


def in_order(rows: pa.Table, key: str) -> pa.Table:
    keys = rows[key].to_numpy()
    if (keys[1:] >= keys[:-1]).all():
        return rows
    return rows.take(pa.array(np.argsort(keys, kind="stable")))
