"""The critical path of a report: the one that the archive has, or one for this report alone."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hta_sql.critical_path.compute import compute_critical_path
from hta_sql.errors import HtaSqlError
from hta_sql.report.step.windows import typical_step
from hta_sql.report.subject import JobPath

if TYPE_CHECKING:
    from hta_sql.report.subject import Subject

# The what-if that no archive has by default: the host twice as fast.
_FASTER = {"cpu_bound": 2.0}
# A path through more events than this takes minutes. A trace without steps may have as many.
_MOST_EVENTS = 2_000_000


@contextmanager
def with_path(subject: Subject) -> Iterator[None]:
    """Inside a `with` block, the subject and its base have critical paths, if they can have any."""
    without = []
    for one in (subject, *([subject.before] if subject.base else [])):
        stored = _stored(one)
        if stored is None:
            without.append(one)
        else:
            one.path = stored
    if not without:
        yield
        return
    with subject.run.session.beside():
        for one in without:
            one.path = _computed(one)
        yield


def _stored(subject: Subject) -> JobPath | None:
    """The path that the archive has: the latest, or that of the step that was asked for."""
    stored = subject.run.sql(
        "SELECT path_window FROM critical_paths WHERE job = $job ORDER BY computed_at DESC",
        {"job": subject.job},
    )["path_window"].to_pylist()
    asked = f"step {subject.step}"
    return JobPath(asked if asked in stored else stored[0]) if stored else None


def _computed(subject: Subject) -> JobPath:
    [facts] = subject.run.sql(
        "SELECT coalesce(sum(host_op_count), 0)::BIGINT AS ops, "
        "coalesce(max(event_count), 0) AS events FROM traces WHERE job = $job",
        {"job": subject.job},
    ).to_pylist()
    if not facts["ops"]:
        return JobPath(problem="The traces have no host events, so they have no critical path.")
    step = subject.step
    if step is None:
        step = typical_step(subject.ask("profiler_steps").rows)
    window = "trace" if step is None else f"step {step}"
    chosen = {"only_jobs": [subject.job]}
    if subject.shown_ranks != subject.ranks:
        chosen["only_ranks"] = subject.shown_ranks
    words = subject.words("critical-path", **({} if step is None else {"step": step}), **chosen)
    command = shlex.join([*words, *(f"--faster={name}={n:g}" for name, n in _FASTER.items())])
    if step is None and facts["events"] > _MOST_EVENTS:
        return JobPath(
            problem=f"The traces have no steps, and a path through {facts['events']:,} events "
            f"takes minutes. To compute it: {command}"
        )
    began = time.monotonic()
    try:
        compute_critical_path(subject.run, step=step, faster=_FASTER, **chosen)
    except HtaSqlError as error:
        return JobPath(problem=f"No critical path: {error}")
    [found] = subject.run.sql(
        "SELECT count(position) AS count FROM path_edges WHERE job = $job", {"job": subject.job}
    ).to_pylist()
    if not found["count"]:
        where = "trace" if step is None else window
        return JobPath(problem=f"No work of the {where} depends on other work: no critical path.")
    return JobPath(window, command, time.monotonic() - began)
