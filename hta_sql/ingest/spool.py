"""Rows that wait on disk until they are wanted in another order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa


class Spool:
    """Rows by which part of another table they belong to; each part fits into memory.

    Both have an event_id, by which that table is in order; `first_ids` are those that its parts
    begin with.
    """

    def __init__(self, path: Path, schema: pa.Schema, first_ids: list[int]):
        self.schema = schema
        self._path = path
        self._first_ids = first_ids
        self._writer = pa.ipc.new_file(path, schema)
        self._batches: list[list[int]] = [[] for _ in first_ids]  # their numbers, by part
        self._count = 0

    def add(self, rows: pa.RecordBatch) -> None:
        """More rows, among them in the order of event_id."""
        begins = np.searchsorted(rows["event_id"].to_numpy(), self._first_ids).tolist()
        for part, (begin, end) in enumerate(pairwise([*begins, len(rows)])):
            if begin < end:
                self._batches[part].append(self._count)
                self._writer.write_batch(rows.slice(begin, end - begin))
                self._count += 1

    def parts(self) -> Iterator[pa.Table]:
        """All rows of each part, in the order of event_id. When all are read, nothing is left."""
        self._writer.close()
        with pa.OSFile(str(self._path)) as file:
            reader = pa.ipc.open_file(file)
            for numbers in self._batches:
                batches = [reader.get_batch(number) for number in numbers]
                yield in_order(pa.Table.from_batches(batches, self.schema))
        self._path.unlink()


def in_order(rows: pa.Table) -> pa.Table:
    ids = rows["event_id"].to_numpy()
    if (ids[1:] >= ids[:-1]).all():
        return rows
    return rows.take(pa.array(np.argsort(ids, kind="stable")))
