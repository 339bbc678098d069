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
    `event_count` is about the number of its events, by its share of the trace's time.
    """

    rank: int
    step: int | None
    label: str
    from_ns: int
    until_ns: int
    event_count: int

    @property
    def path_window(self) -> str:
        """The name of the window of a critical path."""
        return "trace" if self.step is None else f"step {self.step}"


def typical_step(steps: Iterable[Mapping[str, Any]]) -> int | None:
    """Of rows of profiler_steps, the step whose mean duration is the median; None without rows.

    Steps without GPU activity count only if there are no others: a recording may end in one.
    """
    total: Counter[int] = Counter()
    count: Counter[int] = Counter()
    active = set()
    for row in steps:
        total[row["step"]] += row["dur_ns"]
        count[row["step"]] += 1
        if row["kernel_count"]:
            active.add(row["step"])
    by_time = sorted(active or total, key=lambda step: (total[step] / count[step], step))
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
    run: Archive, job: str, ranks: Sequence[int], steps: Mapping[int, Sequence[str]], most: int
) -> list[Window]:
    """The windows of these steps on each rank; without steps, of the whole traces.

    The windows have about `most` events together: those of the first ranks and steps come first,
    and the first window is cut if it has more. A rank without a step has no window of it.
    """
    given = {"job": job, "ranks": list(ranks)}
    if steps:
        rows = run.sql(_STEPS + _ESTIMATED, given | {"steps": list(steps)}).to_pylist()
        windows = [Window(label=_label(row["step"], steps[row["step"]]), **row) for row in rows]
    else:
        rows = run.sql(_TRACES + _ESTIMATED, given).to_pylist()
        windows = [Window(label="whole trace", **row) for row in rows]
    left, shown = most, []
    for window in windows:
        left -= window.event_count
        if left >= 0:
            shown.append(window)
    if windows and not shown:
        first = windows[0]
        part_ns = (first.until_ns - first.from_ns) * most // first.event_count
        label = f"{first.label}, first part"
        shown = [first._replace(label=label, until_ns=first.from_ns + part_ns)]
    return shown


def _label(step: int, is_what: Sequence[str]) -> str:
    return f"step {step}" + (f" ({', '.join(is_what)})" if is_what else "")


# A query ends with _ESTIMATED, after CTEs of which the last has the windows.
_STEPS = """
WITH
hosts AS (
    SELECT rank, step, min(start_ns) AS from_ns, max(end_ns) AS until_ns
    FROM steps
    WHERE job = $job AND list_contains($ranks, rank) AND list_contains($steps, step)
    GROUP BY rank, step
),
devices AS (
    SELECT rank, step, min(start_ns) AS from_ns, max(end_ns) AS until_ns
    FROM gpu_activities
    WHERE job = $job AND list_contains($ranks, rank) AND list_contains($steps, step)
    GROUP BY rank, step
),
windows AS (
    SELECT
        rank,
        step,
        list_position($steps, step) AS place,
        least(h.from_ns, d.from_ns) AS from_ns,
        greatest(h.until_ns, d.until_ns) AS until_ns
    FROM hosts AS h
    FULL JOIN devices AS d USING (rank, step)
)
"""

_TRACES = """
WITH
windows AS (
    SELECT rank, NULL::BIGINT AS step, 0 AS place, start_ns AS from_ns, end_ns AS until_ns
    FROM traces
    WHERE job = $job AND list_contains($ranks, rank)
)
"""

_ESTIMATED = """
SELECT
    w.rank,
    w.step,
    w.from_ns,
    w.until_ns,
    (
        t.event_count * least(1, (w.until_ns - w.from_ns) / (t.end_ns - t.start_ns))
    )::BIGINT AS event_count
FROM windows AS w
JOIN traces AS t ON t.job = $job AND t.rank = w.rank
WHERE w.until_ns > w.from_ns
ORDER BY list_position($ranks, w.rank), w.place
"""
