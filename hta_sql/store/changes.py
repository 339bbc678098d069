"""Changes of a manifest in object storage: rows with the time of the change, and which count."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from hta_sql.places.storage import Place

# The columns of a change, besides the manifest's. changed_ns is the time of the change, later than
# all changes that its writer had seen; the latest row of a key counts. is_gone means that the row
# was taken away. If a row is of the same source file, but has moved files (moved_ns) or new tags
# (amended_ns), it keeps the changed_ns of the row that it replaces. So it is void if that row was
# replaced in the meantime. If there are several such rows, file_id and files are from the one that
# moved last, and all other columns are from the one that was amended last. So neither undoes the
# other, even if its writer had not seen it.
CHANGE = pa.schema(
    [
        ("changed_ns", pa.int64()),
        ("moved_ns", pa.int64()),
        ("amended_ns", pa.int64()),
        ("is_gone", pa.bool_()),
    ]
)
# How long a change that takes a row away is kept: an older change may still be listed somewhere.
GONE_KEPT_NS = 7 * 86_400 * 1_000_000_000
UNCHANGED = {"changed_ns": 0, "moved_ns": 0, "amended_ns": 0, "is_gone": False}


def without_change(row: dict) -> dict:
    return {name: value for name, value in row.items() if name not in CHANGE.names}


def counting(rows: list[dict]) -> dict:
    """The row that counts, among all rows of a key; see CHANGE."""
    if len(rows) == 1:
        return rows[0]
    last_ns = max(row["changed_ns"] for row in rows)
    # Of two rows with the same time, the one in the object with the later name counts.
    same = [row for row in reversed(rows) if row["changed_ns"] == last_ns]
    row = max(same, key=lambda row: (row["amended_ns"], row["moved_ns"]))
    placed = max(same, key=lambda row: (row["moved_ns"], row["amended_ns"]))
    return row | {name: placed[name] for name in ("file_id", "files", "moved_ns") if name in placed}


def is_over(rows: list[dict]) -> bool:
    """Whether no row of a key could come back. A killed merge may leave any of the changes that it
    should delete. So only a later merge drops a change that took a row away."""
    oldest = time.time_ns() - GONE_KEPT_NS
    return all(row["is_gone"] and row["changed_ns"] < oldest for row in rows)


def now_after(parts: list[Place]) -> int:
    """A time after these changes, and not the time of another change that has seen the same."""
    return max(time.time_ns(), *map(time_of, parts), 0) + 1 + secrets.randbelow(1_000_000)


def time_of(file: Place) -> int:
    return int(file.name.partition("-")[0])
