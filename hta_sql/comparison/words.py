"""Sentences on differences and their causes."""

from __future__ import annotations

from typing import Any

from hta_sql.comparison.condition import TIMES_OF_CALLS
from hta_sql.show.units import humane


def sentence(row: dict[str, Any], name: str) -> str:
    """A sentence on a cause, a row of diff_causes; `name` is its name, shortened."""
    cause, was, now = row["cause"], row["base_detail"], row["test_detail"]
    if cause in TIMES_OF_CALLS:
        doing = {"kernel_time": "per call", "transfer": "to transfer"}.get(cause, "on the host")
        said = f"{name} takes {longer(row['diff_ratio'])} {doing}"
    elif cause == "calls":
        said = (
            f"{name}: {row['test_calls']:,.4g} calls per step instead of {row['base_calls']:,.4g}"
        )
    elif cause == "shapes":
        said = f"{name} runs on {_cut(now or 'fewer shapes')} instead of {_cut(was or 'fewer')}"
    elif was and now:
        said = f"{name} launches {_cut(now)} instead of {_cut(was)}"
    elif now:
        said = f"{name} launches more often: {_cut(now)}"
    else:
        said = f"{name} launches less often: {_cut(was)}"
    inside = f", in {row['inside']}" if row["inside"] and row["inside"] != name else ""
    return f"{said}{inside}: {signed(row['diff_per_step_ns'])} on the {_PLACES[row['time_of']]}"


_PLACES = {"gpu": "GPU", "host": "host"}


def _cut(text: str) -> str:
    return text if len(text) <= 100 else f"{text[:99]}…"


def longer(ratio: float) -> str:
    if ratio >= 1:
        return f"{ratio + 1:,.3g} times as long"
    return f"{percent(abs(ratio), sign=False)} {'longer' if ratio > 0 else 'less'}"


def signed(ns: int) -> str:
    return f"{'+' * (ns > 0)}{humane('t_ns', ns)}"


def percent(ratio: float, sign: bool = True) -> str:
    digits = 1 if abs(ratio) >= 0.001 else 2
    return f"{100 * ratio:{'+' if sign else ''}.{digits}f} %"
