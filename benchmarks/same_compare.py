"""What is otherwise between two recordings of same_answers.py, call by call."""

import json
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

# Sums of floating point numbers differ in their last digits with the order of what is added.
DIGITS = 12
SHOWN_ROWS = 3
SHOWN_CHARS = 300


def recorded(folder: Path, only: str = "") -> dict[str, dict[str, Any]]:
    """The answers of a recording by what was asked, those with `only` in their title."""
    with (folder / "answers.jsonl").open() as lines:
        answers = {title(answer): answer for answer in map(json.loads, lines)}
    return {name: answer for name, answer in answers.items() if only in name}


def title(call: dict[str, Any]) -> str:
    """A call in words: `real: stragglers v1 min_score=0.0`."""
    asked = f"table {call['table']}" if "table" in call else f"{call['query']} v{call['version']}"
    given = [f"{name}={json.dumps(value)}" for name, value in call["given"].items()]
    return " ".join([f"{call['archive']}: {asked}", *given])


def differences(before: Path, after: Path, only: str = "") -> Iterator[str]:
    """What is otherwise, a text for each call; calls that are new make no difference."""
    old, new = recorded(before, only), recorded(after, only)
    for name, answer in old.items():
        if name not in new:
            yield f"{name}: is not answered any more"
            continue
        found = difference(answer, new[name], before, after)
        if found:
            yield f"{name}: {found}"


def difference(old: dict[str, Any], new: dict[str, Any], before: Path, after: Path) -> str | None:
    """What two answers to one call differ in; None if in nothing."""
    if "error" in old or "error" in new:
        said = [answer.get("error", "an answer") for answer in (old, new)]
        return None if said[0] == said[1] else f"was {said[0]!r}, is {said[1]!r}"
    if old["columns"] != new["columns"]:
        gone = [column for column in old["columns"] if column not in new["columns"]]
        come = [column for column in new["columns"] if column not in old["columns"]]
        if not gone and not come:
            return "columns in another order"
        return f"columns: gone {gone}, new {come}"
    was, now = (pq.read_table(root / a["file"]) for root, a in ((before, old), (after, new)))
    return None if same(was, now) else rows_differ(was, now)


def same(was: pa.Table, now: pa.Table) -> bool:
    """Whether all rows are equal and in the same order, but for the last digits of doubles."""
    if was.num_rows != now.num_rows:
        return False
    for old, new in zip(was.columns, now.columns, strict=True):
        if old.equals(new):
            continue
        if not pa.types.is_floating(old.type) or not old.is_null().equals(new.is_null()):
            return False
        pair = (column.drop_null().to_numpy() for column in (old, new))
        if not np.allclose(*pair, rtol=10.0**-DIGITS, atol=0, equal_nan=True):
            return False
    return True


def rows_differ(was: pa.Table, now: pa.Table) -> str | None:
    """Which rows are gone and which are new, or that only their order is another."""
    gone, come = rows_of(was), rows_of(now)
    gone, come = gone - come, come - gone
    if not gone and not come:
        # All rows agree one by one where they differ in digits that do not count, deep in lists.
        orders = [[plain(row) for row in table.to_pylist()] for table in (was, now)]
        return None if orders[0] == orders[1] else f"{was.num_rows:,} rows in another order"
    lines = [
        f"{was.num_rows:,} rows were, {now.num_rows:,} are; "
        f"{gone.total():,} are gone, {come.total():,} are new"
    ]
    for sign, rows in (("-", gone), ("+", come)):
        lines += [f"    {sign} {shown(row)}" for row in sorted(rows)[:SHOWN_ROWS]]
    return "\n".join(lines)


def rows_of(table: pa.Table) -> Counter[str]:
    return Counter(json.dumps(plain(row)) for row in table.to_pylist())


def plain(value: Any) -> Any:
    """A value as JSON, with the digits of doubles that count."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else str(value)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return value if isinstance(value, int | str | type(None)) else str(value)


def shown(row: str) -> str:
    return row if len(row) <= SHOWN_CHARS else f"{row[:SHOWN_CHARS]} …"


def report(before: Path, after: Path, only: str = "") -> int:
    """Print all differences; how many there are."""
    count = 0
    for line in differences(before, after, only):
        count += 1
        print(line, flush=True)
    old, new = recorded(before, only), recorded(after, only)
    added = [name for name in new if name not in old]
    print(f"{len(old):,} calls compared, {count:,} answered otherwise; {len(added):,} new calls")
    for name, answers in (("before", old), ("after", new)):
        errors = sum("error" in answer for answer in answers.values())
        took_s = sum(answer.get("s", 0) for answer in answers.values())
        print(f"  {name}: {errors:,} ended in an error, {took_s:.1f} s, each called once")
    return count
