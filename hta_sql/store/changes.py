"""Changes of a manifest in object storage: rows with the time of the change, and which count."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from hta_sql.places.storage import Place

# Of a change, beside the manifest's columns: when it was made, after all that its writer had seen,
# so that the latest of a key counts; and whether the row goes. A row of the same source file that
# has its files elsewhere, or is told other tags, is as old as the row that it stands for: where
# that has been replaced in the meantime, it is void. Of several such, file_id counts from the one
# that moved last and all else from the one that was amended last, so that neither undoes the other,
# whoever had seen what.
CHANGE = pa.schema(
    [
        ("changed_ns", pa.int64()),
        ("moved_ns", pa.int64()),
        ("amended_ns", pa.int64()),
        ("is_gone", pa.bool_()),
    ]
)
UNCHANGED = {"changed_ns": 0, "moved_ns": 0, "amended_ns": 0, "is_gone": False}


def without_change(row: dict) -> dict:
    return {name: value for name, value in row.items() if name not in CHANGE.names}


def counting(rows: list[dict]) -> dict:
    """The row that counts, of all of a key; see CHANGE."""
    if len(rows) == 1:
        return rows[0]
    last_ns = max(row["changed_ns"] for row in rows)
    # Of two of the same moment, the one whose object comes later by its name.
    same = [row for row in reversed(rows) if row["changed_ns"] == last_ns]
    row = max(same, key=lambda row: (row["amended_ns"], row["moved_ns"]))
    placed = max(same, key=lambda row: (row["moved_ns"], row["amended_ns"]))
    return row | {name: placed[name] for name in ("file_id", "moved_ns") if name in placed}


def now_after(parts: list[Place]) -> int:
    """After these changes, and not when another one is that has seen the same."""
    return max(time.time_ns(), *map(time_of, parts), 0) + 1 + secrets.randbelow(1_000_000)


def time_of(file: Place) -> int:
    return int(file.name.partition("-")[0])
