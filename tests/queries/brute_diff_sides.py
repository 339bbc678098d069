"""Two sides of a difference, and the arithmetic of noise, in plain Python."""

from collections import defaultdict
from math import inf, sqrt
from typing import Any

Row = dict[str, Any]


SIDES = ("base", "test")


class Sides:
    """Which rows are of a side: jobs, ranks and steps, as the queries take them."""

    def __init__(self, tables: dict[str, list[Row]], chosen: Row) -> None:
        jobs = sorted({row["job"] for row in tables["traces"]})
        self.job = {
            "base": chosen.get("base_job") or (jobs[0] if jobs else None),
            "test": chosen.get("test_job") or (jobs[-1] if jobs else None),
        }
        self.ranks = {side: chosen.get(f"{side}_ranks") for side in SIDES}
        self.numbers = {side: chosen.get(f"{side}_steps") for side in SIDES}
        marks = [
            row | {"step": int(row["name"].partition("#")[2])}
            for row in tables["host_ops"]
            if row["cat"] == "user_annotation" and row["name"].startswith("ProfilerStep#")
        ]
        self.steps: dict[str, dict[tuple, int]] = {}  # (rank, step) to its duration
        self.units: dict[str, int] = {}
        for side in SIDES:
            spans = defaultdict(list)
            for row in marks:
                if self.has(side, row):
                    spans[row["rank"], row["step"]].append(row)
            self.steps[side] = {
                key: max(row["end_ns"] for row in rows) - min(row["start_ns"] for row in rows)
                for key, rows in spans.items()
            }
            ranks = {
                row["rank"]
                for row in tables["traces"]
                if row["job"] == self.job[side]
                and (self.ranks[side] is None or row["rank"] in self.ranks[side])
            }
            whole = len(ranks) if self.numbers[side] is None else 0
            self.units[side] = len(spans) or whole

    def has(self, side: str, row: Row) -> bool:
        return (
            row["job"] == self.job[side]
            and (self.ranks[side] is None or row["rank"] in self.ranks[side])
            and (self.numbers[side] is None or row["step"] in self.numbers[side])
        )

    def per_step(self, side: str, rows: list[Row], total: int) -> int | None:
        if not self.units[side]:
            return None
        if self.steps[side]:
            total = sum(row["dur_ns"] for row in rows if row["step"] is not None)
        return rounded(total, self.units[side])


def rounded(total: int, count: int) -> int:
    """Half away from zero."""
    sign = -1 if total < 0 else 1
    return sign * ((2 * abs(total) + count) // (2 * count))


def totals(sides: Sides, groups: dict[Any, dict[str, list[Row]]], names: list[str]) -> list[Row]:
    """A row for each group with what every one of these queries says of it."""
    found = []
    for key, rows in groups.items():
        row = dict(zip(names, key, strict=True))
        count = {side: len(rows[side]) for side in SIDES}
        total = {side: sum(one["dur_ns"] for one in rows[side]) for side in SIDES}
        mean = {side: rounded(total[side], count[side]) if count[side] else None for side in SIDES}
        step = {side: sides.per_step(side, rows[side], total[side]) for side in SIDES}
        for what, values in (
            ("count", count),
            ("total_ns", total),
            ("mean_ns", mean),
            ("per_step_ns", step),
        ):
            row |= {f"{side}_{what}": values[side] for side in SIDES}
            row[f"diff_{what}"] = minus(values["test"], values["base"])
        row["change"] = change(count["base"], count["test"])
        found.append(row)
    whole = sum(abs(row["diff_per_step_ns"] or 0) for row in found)
    for row in found:
        step = row["diff_per_step_ns"]
        row["diff_frac"] = abs(step) / whole if whole and step is not None else None
    return sorted(
        found,
        key=lambda row: (
            -abs(row["diff_per_step_ns"]) if row["diff_per_step_ns"] is not None else inf,
            -abs(row["diff_total_ns"]),
            *((row[name] is None, row[name] or "") for name in names),
        ),
    )


def minus(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one - other


def change(was: int, now: int) -> str:
    if was == now:
        return "unchanged"
    if not was or not now:
        return "deleted" if was else "added"
    return "increased" if now > was else "decreased"


def near(value: float) -> int:
    return int(value + 0.5)


def trimmed(values: list[int]) -> float | None:
    cut = len(values) // 5
    kept = values[cut : len(values) - cut]
    return sum(kept) / len(kept) if kept else None


def noise(one: list[int], other: list[int]) -> float | None:
    """Half of the interval: Yuen's test with one variance, at a thousandth on both sides."""
    if not one or not other:
        return None
    squares = kept = 0
    parts = 0.0
    for values in (one, other):
        cut = len(values) // 5
        low, high = values[cut], values[len(values) - cut - 1]
        drawn_in = [min(max(value, low), high) for value in values]
        mean = sum(drawn_in) / len(drawn_in)
        squares += sum((value - mean) ** 2 for value in drawn_in)
        kept += len(values) - 2 * cut
        parts += 1 / (len(values) - 2 * cut)
    freedom = kept - 2
    return quantile_of_t(freedom) * sqrt(squares / freedom * parts) if freedom > 0 else None


def quantile_of_t(freedom: int) -> float:
    """The t that is exceeded on either side once in 1,000, by bisection over its own integral."""
    from math import gamma, pi

    if freedom > 100:
        raise ValueError("more than these tests have")
    scale = gamma((freedom + 1) / 2) / (sqrt(freedom * pi) * gamma(freedom / 2))

    def beyond(t: float) -> float:
        """Of the upper tail: with x = t / u, over u from 0 to 1, by Simpson's rule."""
        pieces = 2000

        def density(u: float) -> float:
            if u == 0:
                return 0.0 if freedom > 1 else scale / t
            x = t / u
            return scale * (1 + x * x / freedom) ** (-(freedom + 1) / 2) * t / u**2

        weights = (
            (1 if i in (0, pieces) else 4 if i % 2 else 2, i / pieces) for i in range(pieces + 1)
        )
        return sum(weight * density(u) for weight, u in weights) / (3 * pieces)

    low, high = 1.0, 1000.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if beyond(middle) > 0.0005 else (low, middle)
    return low
