"""Which part of each rank's trace a path is sought in."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hta_sql.errors import BadParameter, HtaSqlError

if TYPE_CHECKING:
    from hta_sql.archive import Archive


class Window(NamedTuple):
    """From start_ns up to end_ns; the thread is that of its annotation, NULL for a trace."""

    job: str
    rank: int
    trace_id: str
    start_ns: int
    end_ns: int
    pid: str | None
    tid: str | None


STEPS = """
SELECT t.job, t.rank, t.trace_id, min(s.start_ns) AS start_ns, max(s.end_ns) AS end_ns,
    min_by(s.pid, s.start_ns) AS pid, min_by(s.tid, s.start_ns) AS tid
FROM traces AS t
JOIN steps AS s ON s.job = t.job AND s.rank = t.rank
WHERE s.step = $step
GROUP BY t.job, t.rank, t.trace_id
"""

ANNOTATIONS = """
SELECT t.job, t.rank, t.trace_id, h.start_ns, h.end_ns, h.pid, h.tid
FROM traces AS t
JOIN host_ops AS h ON h.job = t.job AND h.rank = t.rank
WHERE h.cat = 'user_annotation' AND contains(h.name, $annotation)
QUALIFY row_number() OVER (PARTITION BY t.job, t.rank ORDER BY h.start_ns, h.event_id)
    = $instance + 1
"""

TRACES = """
SELECT t.job, t.rank, t.trace_id, t.start_ns, t.end_ns + 1 AS end_ns,
    NULL::VARCHAR AS pid, NULL::VARCHAR AS tid
FROM traces AS t
WHERE t.start_ns IS NOT NULL
"""


def path_window(step: int | None, annotation: str | None, instance: int) -> str:
    """How a window is called in the archive; BadParameter where it is told in two ways."""
    if step is not None and annotation is not None:
        raise BadParameter("a critical path is of a step or of an annotation, not of both")
    if instance and annotation is None:
        raise BadParameter("instance needs an annotation: which one of those with its name")
    if instance < 0:
        raise BadParameter(f"instance is {instance}; the first is 0")
    if step is not None:
        return f"step {step}"
    return "trace" if annotation is None else f"{annotation} #{instance}"


def find_windows(
    run: Archive,
    step: int | None,
    annotation: str | None,
    instance: int,
    only_jobs: list[str] | None,
    only_ranks: list[int] | None,
) -> dict[str, list[Window]]:
    """The windows by job, of all ranks that have it; HtaSqlError where none has."""
    if step is not None:
        sql, given = STEPS, {"step": step}
    elif annotation is not None:
        sql, given = ANNOTATIONS, {"annotation": annotation, "instance": instance}
    else:
        sql, given = TRACES, {}
    rows = run.sql(
        f"""
        FROM ({sql})
        WHERE ($only_jobs::VARCHAR[] IS NULL OR list_contains($only_jobs, job))
          AND ($only_ranks::INTEGER[] IS NULL OR list_contains($only_ranks, rank))
        ORDER BY job, rank
        """,
        given | {"only_jobs": only_jobs, "only_ranks": only_ranks},
    ).to_pylist()
    if not rows:
        raise HtaSqlError(_nothing(run, step, annotation, instance))
    found: dict[str, list[Window]] = {}
    for row in rows:
        found.setdefault(row["job"], []).append(Window(**row))
    return found


def _nothing(run: Archive, step: int | None, annotation: str | None, instance: int) -> str:
    """Why there is no window, and what there is instead."""
    if step is not None:
        steps = run.sql("SELECT DISTINCT step FROM steps ORDER BY step")["step"].to_pylist()
        there = f"there are {_some(steps)}" if steps else "these traces have no steps"
        return f"no trace of these jobs and ranks has step {step}; {there}"
    if annotation is not None:
        [[count]] = run._con.execute(
            "SELECT coalesce(max(count), 0) FROM (SELECT count(*) AS count FROM host_ops "
            "WHERE cat = 'user_annotation' AND contains(name, ?) GROUP BY job, rank)",
            [annotation],
        ).fetchall()
        if not count:
            return (f"no annotation has {annotation!r} in its name; "
                    "annotation_stats(source := 'host') lists them")
        return (f"no instance {instance} of {annotation!r} on these jobs and ranks; "
                f"there are {count} at most, from 0 to {count - 1}")
    return "no trace of these jobs and ranks has an event"


def _some(steps: list[int]) -> str:
    shown = [str(step) for step in steps]
    return ", ".join(shown if len(shown) <= 12 else [*shown[:5], "…", *shown[-5:]])
