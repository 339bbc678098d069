"""Results as an assistant reads them: a summary, and few rows at a time, with units."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import orjson
from typing_extensions import TypedDict  # pydantic, which the protocol's package uses, needs it

if TYPE_CHECKING:
    import pyarrow as pa

# What an answer may have: rows by default and at most, characters of a cell, bytes of all rows.
ROWS, MOST_ROWS = 20, 200
MOST_CHARACTERS = 300
MOST_BYTES = 24_000

_UNITS = {
    "ns": "ns",
    "frac": "share, 1 is all",
    "bytes": "bytes",
    "gbps": "GB/s (1e9 bytes/s)",
    "flops": "floating-point operations",
    "tflops": "TFLOP/s",
}
_SUMMED = ("ns", "bytes", "count", "flops")


class ColumnInfo(TypedDict):
    name: str
    type: str
    unit: str | None


class Summary(TypedDict):
    """A column over all rows of the result."""

    column: str
    min: float | int | None
    max: float | int | None
    sum: float | int | None


class Page(TypedDict):
    """Some rows of a result. `next_offset` is None on the last page.

    `row_count` counts all rows; if `has_more_rows`, there are more than the server reads.
    `summary` is there if the rows do not fit on one page.
    """

    columns: list[ColumnInfo]
    row_count: int
    has_more_rows: bool
    offset: int
    rows: list[dict[str, Any]]
    next_offset: int | None
    summary: list[Summary]
    notes: list[str]


def page_of(
    table: pa.Table, has_more: bool, offset: int, limit: int, notes: list[str] | None = None
) -> Page:
    """The rows from `offset` on, at most `limit`, and fewer if they are long."""
    limit = max(0, min(limit, MOST_ROWS))
    rows, size = [], 0
    for row in table.slice(min(offset, len(table)), limit).to_pylist():
        shown = {name: plain(value) for name, value in row.items()}
        size += len(orjson.dumps(shown))
        if rows and size > MOST_BYTES:
            break
        rows.append(shown)
    end = offset + len(rows)
    return Page(
        columns=[
            ColumnInfo(name=field.name, type=str(field.type), unit=unit_of(field.name))
            for field in table.schema
        ],
        row_count=len(table),
        has_more_rows=has_more,
        offset=offset,
        rows=rows,
        next_offset=end if end < len(table) else None,
        summary=summary_of(table) if len(rows) < len(table) and not offset else [],
        notes=notes or [],
    )


def unit_of(column: str) -> str | None:
    return _UNITS.get(column.rpartition("_")[2])


def summary_of(table: pa.Table) -> list[Summary]:
    """The smallest and largest value of each column of numbers, and the sum where that is one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = []
    for field in table.schema:
        kind = field.type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            continue
        least, most = pc.min_max(table[field.name]).as_py().values()
        is_summed = field.name.rpartition("_")[2] in _SUMMED
        try:
            total = pc.sum(table[field.name]).as_py() if is_summed else None
        except pa.ArrowInvalid:  # too large
            total = None
        found.append(
            Summary(column=field.name, min=plain(least), max=plain(most), sum=plain(total))
        )
    return found


def plain(value: Any) -> Any:
    """A value as JSON has it; long texts are cut."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Decimal):
        value = int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, bytes):
        value = value.hex()
    if isinstance(value, str):
        return value if len(value) <= MOST_CHARACTERS else value[: MOST_CHARACTERS - 1] + "…"
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in list(value.items())[:MOST_ROWS]}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value[:MOST_ROWS]]
    is_json = value is None or isinstance(value, bool | float)
    return value if is_json or isinstance(value, int) and abs(value) < 1 << 63 else str(value)
