"""A step of each of two jobs as pictures, on one scale."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hta_sql.plot.timeline import category_colours
from hta_sql.report.parts import Part, Picture, Text
from hta_sql.report.sections.step import MOST_EVENTS, commands
from hta_sql.report.step.picture import picture
from hta_sql.report.step.windows import Window, typical_step, windows_of

if TYPE_CHECKING:
    from hta_sql.report.subject import Subject

TITLE = "A step of each job"
LINK = "Both steps"
PLACE = 1
IS_OPEN = True
OF_TWO = True


def parts(subject: Subject) -> Iterator[Part]:
    sides = {"base": subject.before, "test": subject}
    shown = windows_of_two(subject)
    if any(window is None for window in shown):
        return
    times: Counter[str] = Counter()
    for row in subject.ask("category_diff", base_job=subject.base, test_job=subject.job).rows:
        times[row["category"]] += row["base_total_ns"] + row["test_total_ns"]
    colours = category_colours(times)
    scale = max(window.until_ns - window.from_ns for window in shown)
    yield Text([_told(shown)])
    for (side, of), window in zip(sides.items(), shown, strict=True):
        data = picture(of.run, of.job, [window], colours)
        steps = of.ask("profiler_steps").rows
        given = {} if window.step is None else {"only_steps": [window.step]}
        yield Picture(
            f"{side.capitalize()}, {of.job}: {window.label} of rank {window.rank}",
            of.ask("kernel_timeline", only_ranks=[window.rank], **given),
            data | {"rank": window.rank, "scale": scale} | commands(of, steps),
        )
        if not data["windows"][0]["path"]:
            yield Text([_without_path(of, window)])


def windows_of_two(subject: Subject) -> list[Window | None]:
    """The window of the base and of the test; None for a side without events.

    It is the step that was asked for, or a typical one: that of the critical path, if the report
    computed one. It is on the rank that bounds the test, if the base has it. Without steps, it is
    the whole trace.
    """
    shown = []
    for side in (subject.before, subject):
        rank = subject.one_rank if subject.one_rank in side.ranks else side.one_rank
        steps = [row for row in side.ask("profiler_steps").rows if row["rank"] == rank]
        numbers = {row["step"] for row in steps}
        asked = subject.step in numbers
        step = subject.step if asked else typical_step(steps)
        if not asked and side.path.command and side.path.step in numbers:
            step = side.path.step
        chosen = {} if step is None else {step: [] if asked else ["typical"]}
        windows = windows_of(side.run, side.job, [rank], chosen, MOST_EVENTS)
        shown.append(windows[0] if windows else None)
    return shown


def _told(shown: list[Window]) -> str:
    base, test = shown
    if (base.step is None) != (test.step is None):
        return "Only one of the jobs has steps. The other picture shows a whole trace."
    return (
        "Both pictures have the same scale, so the longer one takes longer. They show the same "
        "times: if you zoom one, the other follows."
    )


def _without_path(subject: Subject, window: Window) -> str:
    where = f"{window.label} of rank {window.rank}"
    if subject.path.window is None:
        return subject.path.problem
    return f"The archive has a critical path of {subject.path.window}, but none of {where}."
