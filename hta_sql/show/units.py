"""Values in units that people read. The names of the columns determine the units."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache, partial
from math import isfinite
from typing import Any

from hta_sql.show.visible import visible_cell


def humane(name: str, value: Any) -> str:
    """The text of a cell, with the unit in which the column's name ends. NULL is `-`.

    Sizes are decimal: 1 MB is 1,000,000 bytes, and 1 GB/s is 1e9 bytes per second.
    """
    if value is None:
        return "-"
    if isinstance(value, str):
        return visible_cell(value)
    if isinstance(value, Decimal):
        value = number(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return str(value)
    return _in_unit_of(name)(value)


_INSTANT = re.compile(r"(^|_)(start|end|at|base|modified)_ns$")
_UNIT = re.compile(r"(?<=.)_(ns|frac|bytes|gbps|flops)$")
# Added to a head if two columns have the same name without the unit.
_QUANTITY = {"ns": " time", "frac": " %", "bytes": " size", "gbps": " rate", "flops": " work"}


def is_quantity(name: str) -> bool:
    """Whether a column of this name has an amount with a unit, or a count. Instants are neither."""
    return bool(_UNIT.search(name) or re.search(r"(^|_)count$", name)) and not _INSTANT.search(name)


def heads(names: Sequence[str]) -> list[str]:
    """Column names for people, without the units, which the cells show. No two are equal.

    `idle_ns` becomes `idle`, and `idle_frac` beside it `idle %`. Beside `step`, `step_ns` becomes
    `step time`.
    """
    bases = [_UNIT.sub("", name) for name in names]
    shown = []
    for name, base in zip(names, bases, strict=True):
        unit = name[len(base) + 1 :]
        others = [other for other in names if other != name and _UNIT.sub("", other) == base]
        is_second = base in others or (unit == "frac" and others)
        shown.append(base + _QUANTITY[unit] if unit and is_second else base)
    return [
        head if shown.count(head) == 1 else name for head, name in zip(shown, names, strict=True)
    ]


@cache
def _in_unit_of(name: str) -> Callable[[int | float], str]:
    """The function that formats the numbers of a column."""
    if _INSTANT.search(name):
        return lambda value: _instant(int(value))
    for ending, units in _UNITS.items():
        if f"_{name}".endswith(f"_{ending}"):
            return partial(_scaled, units=units)
    if name.endswith("_frac"):
        return lambda value: f"{100 * value:.1f} %"
    if name.endswith("_gbps"):
        return lambda value: f"{value:.4g} GB/s"
    whole = "{:,}" if name.endswith("_count") or name == "count" else "{}"
    return lambda value: _float(value) if isinstance(value, float) else whole.format(value)


def _float(value: float) -> str:
    """Four digits, or all whole ones of a number such as tokens per second."""
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"


TIME_UNITS = ((3600e9, "h"), (60e9, "min"), (1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns"))
_END_OF_CALENDAR_S = 253_402_300_800  # the year 10000
_OPERATION_UNITS = ((1e15, "PFLOP"), (1e12, "TFLOP"), (1e9, "GFLOP"), (1e6, "MFLOP"), (1, "FLOP"))
_SIZE_UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "B"))

_UNITS = {"ns": TIME_UNITS, "bytes": _SIZE_UNITS, "flops": _OPERATION_UNITS}


def _scaled(value: float, units: tuple[tuple[float, str], ...]) -> str:
    """Three digits and a unit."""
    for size, unit in units[:-1]:
        scaled = value / size
        if abs(scaled) >= 0.9995:  # a value that would print as 1000 takes the next unit
            short = f"{scaled:,.0f}" if abs(scaled) >= 99.95 else f"{scaled:#.3g}"
            return f"{short} {unit}"
    return f"{value:.0f} {units[-1][1]}"


def _instant(ns: int) -> str:
    """An instant to the nanosecond: UTC, or seconds if the trace does not record the date."""
    seconds, rest = divmod(abs(ns), 10**9)
    if not 10**8 <= seconds < _END_OF_CALENDAR_S:
        return f"{'-' * (ns < 0)}{seconds}.{rest:09} s"
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S}.{rest:09}"


def number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)


def counted(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count:,} {thing}s"
