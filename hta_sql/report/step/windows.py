"""The windows that a picture shows: steps of ranks, or whole traces without steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from hta_sql.archive import Archive


class Window(NamedTuple):
    """A step of a rank, from when it begins on the host or the GPU until both have ended it.

    `step` is None for a whole trace. `label` says which step it is, such as "step 7 (typical)".
    """

    rank: int
    step: int | None
    label: str
    from_ns: int
    until_ns: int

    @property
    def path_window(self) -> str:
        """The name of the window of a critical path."""
        return "trace" if self.step is None else f"step {self.step}"


def typical_step(steps: Iterable[Mapping[str, Any]]) -> int | None:
    """Of rows of profiler_steps, the step whose mean duration is the median; None without rows."""
    total: Counter[int] = Counter()
    count: Counter[int] = Counter()
    for row in steps:
        total[row["step"]] += row["dur_ns"]
        count[row["step"]] += 1
    by_time = sorted(total, key=lambda step: (total[step] / count[step], step))
    return by_time[(len(by_time) - 1) // 2] if by_time else None


def chosen_steps(
    steps: Sequence[Mapping[str, Any]], also: Iterable[int] = ()
) -> dict[int, list[str]]:
    """The steps to show, and what each is: those of `also`, a typical one, the first, the slowest.

    `steps` are rows of profiler_steps. The slowest is the one with the longest duration on any
    rank.
    """
    longest = max(steps, key=lambda row: (row["dur_ns"], -row["rank"], -row["step"]))
    chosen: dict[int, list[str]] = {step: [] for step in also}
    for what, step in (
        ("typical", typical_step(steps)),
        ("first", min(row["step"] for row in steps)),
        ("slowest", longest["step"]),
    ):
        chosen.setdefault(step, []).append(what)
    return chosen


def windows_of(
    run: Archive, job: str, ranks: Sequence[int], steps: Mapping[int, Sequence[str]]
) -> list[Window]:
    """The windows of these steps on each rank; without steps, of the whole traces.

    A rank without a step has no window of it.
    """
    if not steps:
        rows = run.sql(
            "SELECT rank, start_ns AS from_ns, end_ns AS until_ns FROM traces "
            "WHERE job = $job AND list_contains($ranks, rank) AND end_ns > start_ns ORDER BY rank",
            {"job": job, "ranks": list(ranks)},
        ).to_pylist()
        return [Window(step=None, label="whole trace", **row) for row in rows]
    rows = run.sql(
        _STEPS, {"job": job, "ranks": list(ranks), "chosen": list(steps), "order": list(steps)}
    ).to_pylist()
    return [Window(label=_label(row["step"], steps[row["step"]]), **row) for row in rows]


def _label(step: int, is_what: Sequence[str]) -> str:
    return f"step {step}" + (f" ({', '.join(is_what)})" if is_what else "")


_STEPS = """
WITH
hosts AS (
    SELECT rank, step, min(start_ns) AS from_ns, max(end_ns) AS until_ns
    FROM steps
    WHERE job = $job AND list_contains($ranks, rank) AND list_contains($chosen, step)
    GROUP BY rank, step
),
devices AS (
    SELECT rank, step, min(start_ns) AS from_ns, max(end_ns) AS until_ns
    FROM gpu_activities
    WHERE job = $job AND list_contains($ranks, rank) AND list_contains($chosen, step)
    GROUP BY rank, step
)
SELECT
    rank,
    step,
    least(h.from_ns, d.from_ns) AS from_ns,
    greatest(h.until_ns, d.until_ns) AS until_ns
FROM hosts AS h
FULL JOIN devices AS d USING (rank, step)
WHERE greatest(h.until_ns, d.until_ns) > least(h.from_ns, d.from_ns)
ORDER BY rank, list_position($order, step)
"""
