"""The rows of host threads in a window, and the call stacks of their operations."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa

from hta_sql.report.step.bars import Bars
from hta_sql.report.step.lists import WAITS, Lists, Rows

MOST_THREADS = 4
_ROWS = ("Python", "annotations", "operators", "inner operators", "calls")
# Python functions that take less than 1/200 of the window are in stacks, but are not drawn.
_FUNCTIONS = 200
# A thread that works for less than 1/1000 of the window is not drawn beside others.
_WORK = 1000


def add_threads(rows: Rows, table: pa.Table, span: int, lists: Lists) -> None:
    """Add the rows of the threads with the most time in operations. `table` is in the order of
    queries.HOST."""
    threads: dict[str, dict[str, list[tuple[int, ...]]]] = {}
    worked: Counter[str] = Counter()
    several = len(set(table["pid"].to_pylist())) > 1
    columns = (table[name].to_pylist() for name in table.column_names[1:])
    for pid, tid, event, parent, start, until, name, category in zip(*columns, strict=True):
        number = lists.names[name]
        frame = lists.frames[rows.frame(parent), number]
        rows.frame_of[event] = frame
        if category == "Python" and (until - start) * _FUNCTIONS < span:
            continue
        thread = f"thread {tid}" + f" of {pid}" * several
        row = "calls" if category == WAITS else category
        bar = (start, until, lists.category(category), number, frame, event)
        threads.setdefault(thread, {}).setdefault(row, []).append(bar)
        rows.row_of[event] = thread, row
        worked[thread] += until - start
    for place, (thread, ns) in enumerate(worked.most_common(MOST_THREADS)):
        if place and ns * _WORK < span:
            break
        for row in _ROWS:
            if row in threads[thread]:
                rows.bars[thread, row] = Bars(*np.array(threads[thread][row]).T)
