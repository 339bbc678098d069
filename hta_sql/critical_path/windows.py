"""Finds the window of each rank: the part of the trace whose critical path is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hta_sql.errors import BadParameter, HtaSqlError

if TYPE_CHECKING:
    from hta_sql.archive import Archive


class Window(NamedTuple):
    """From start_ns to before end_ns. pid and tid are the annotation's thread, None for a trace.

    event_count is the number of events of the whole trace, None if it is not known.
    """

    job: str
    rank: int
    trace_id: str
    start_ns: int
    end_ns: int
    pid: str | None
    tid: str | None
    event_count: int | None


STEPS = """
SELECT t.job, t.rank, t.trace_id, min(s.start_ns) AS start_ns, max(s.end_ns) AS end_ns,
    min_by(s.pid, s.start_ns) AS pid, min_by(s.tid, s.start_ns) AS tid,
    any_value(t.event_count) AS event_count
FROM traces AS t
JOIN steps AS s ON s.job = t.job AND s.rank = t.rank
WHERE s.step = $step
GROUP BY t.job, t.rank, t.trace_id
"""

ANNOTATIONS = """
SELECT job, rank, trace_id, min(start_ns) AS start_ns, max(end_ns) AS end_ns,
    min_by(pid, number) AS pid, min_by(tid, number) AS tid,
    any_value(event_count) AS event_count
FROM (
    SELECT t.job, t.rank, t.trace_id, t.event_count, h.start_ns, h.end_ns, h.pid, h.tid,
        row_number() OVER (PARTITION BY t.job, t.rank ORDER BY h.start_ns, h.event_id) - 1
            AS number
    FROM traces AS t
    JOIN host_ops AS h ON h.job = t.job AND h.rank = t.rank
    WHERE h.cat = 'user_annotation' AND contains(h.name, $annotation)
)
WHERE number BETWEEN $first AND $last
GROUP BY job, rank, trace_id
"""

TRACES = """
SELECT t.job, t.rank, t.trace_id, t.start_ns, t.end_ns + 1 AS end_ns,
    NULL::VARCHAR AS pid, NULL::VARCHAR AS tid, t.event_count
FROM traces AS t
WHERE t.start_ns IS NOT NULL
"""


SELECTED = """
    ($only_jobs::VARCHAR[] IS NULL OR list_contains($only_jobs, job))
    AND ($only_ranks::INTEGER[] IS NULL OR list_contains($only_ranks, rank))
"""


# The number of an annotation, or the first and the last number of several.
Instance = int | tuple[int, int]


def path_window(step: int | None, annotation: str | None, instance: Instance) -> str:
    """The name of a window in the archive; raises BadParameter if the values do not fit."""
    if step is not None and annotation is not None:
        raise BadParameter("give either a step or an annotation, not both")
    if step is not None and not _is_number(step):
        raise BadParameter(f"step is {step!r}; give a whole number, 0 or more")
    first, last = _first_and_last(instance)
    if annotation is None:
        if instance:
            raise BadParameter(
                "instance needs an annotation: it chooses one of several with the name"
            )
        return "trace" if step is None else f"step {step}"
    if not isinstance(annotation, str) or not annotation:
        raise BadParameter(
            f"annotation is {annotation!r}; give the name of an annotation, or a part of it"
        )
    return f"{annotation} #{first}" if first == last else f"{annotation} #{first} to #{last}"


def _first_and_last(instance: Instance) -> tuple[int, int]:
    """The range of an instance; raises BadParameter if it is none."""
    if _is_number(instance):
        return instance, instance
    if not isinstance(instance, tuple):
        raise BadParameter(f"instance is {instance!r}; give a whole number, 0 or more")
    if len(instance) != 2 or not all(map(_is_number, instance)) or instance[0] > instance[1]:
        raise BadParameter(f"instance is {instance!r}; give the first and the last number")
    return instance


def _is_number(given: object) -> bool:
    return isinstance(given, int) and given >= 0


def find_windows(
    run: Archive,
    step: int | None,
    annotation: str | None,
    instance: Instance,
    only_jobs: list[str] | None,
    only_ranks: list[int] | None,
) -> dict[str, list[Window]]:
    """The windows by job, for all ranks that have one; raises HtaSqlError if none has."""
    if step is not None:
        sql, given = STEPS, {"step": step}
    elif annotation is not None:
        first, last = _first_and_last(instance)
        sql, given = ANNOTATIONS, {"annotation": annotation, "first": first, "last": last}
    else:
        sql, given = TRACES, {}
    selection = {"only_jobs": only_jobs, "only_ranks": only_ranks}
    rows = run.sql(f"FROM ({sql}) WHERE {SELECTED} ORDER BY job, rank", given | selection)
    if not rows.num_rows:
        raise HtaSqlError(_nothing(run, step, annotation, instance, selection))
    found: dict[str, list[Window]] = {}
    for row in rows.to_pylist():
        found.setdefault(row["job"], []).append(Window(**row))
    return found


def _nothing(
    run: Archive, step: int | None, annotation: str | None, instance: Instance, selection: dict
) -> str:
    """Why there is no window, and which ones exist."""
    whose = "these traces"
    if any(chosen is not None for chosen in selection.values()):
        whose = "the traces of these jobs and ranks"
    traces = run.sql(f"SELECT count(*) FROM traces WHERE {SELECTED}", selection)
    if not traces.column(0)[0].as_py():
        return "no trace in the archive has these jobs and ranks"
    if step is not None:
        found = run.sql(
            f"SELECT DISTINCT step FROM steps WHERE {SELECTED} ORDER BY step", selection
        )
        there = _some(found["step"].to_pylist())
        return f"{whose} have no step {step}; " + (
            f"there are steps {there}" if there else "they have no steps at all"
        )
    if annotation is not None:
        counts = run.sql(
            "SELECT coalesce(max(count), 0) FROM (SELECT count(*) AS count FROM host_ops "
            "WHERE cat = 'user_annotation' AND contains(name, $annotation) "
            f"AND {SELECTED} GROUP BY job, rank)",
            selection | {"annotation": annotation},
        )
        count = counts.column(0)[0].as_py()
        if not count:
            return (
                f"{whose} have no annotation with {annotation!r} in its name; "
                "annotation_stats(source := 'host') lists them"
            )
        first, _ = _first_and_last(instance)
        return (
            f"{whose} have no instance {first} of {annotation!r}; a rank has at most {count}, "
            f"numbered 0 to {count - 1}"
        )
    return f"{whose} have no events"


def _some(steps: list[int]) -> str:
    shown = [str(step) for step in steps]
    return ", ".join(shown if len(shown) <= 12 else [*shown[:5], "…", *shown[-5:]])
