"""A step as one picture: threads, GPU streams and the critical path."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hta_sql.report.parts import Part, Picture, Text
from hta_sql.report.step.picture import picture
from hta_sql.report.step.windows import chosen_steps, windows_of

if TYPE_CHECKING:
    from hta_sql.report.subject import Subject

TITLE = "One step"
LINK = "Step"
PLACE = 8
IS_OPEN = True
# About the most events in all windows of the picture; reading as many takes some ten seconds.
MOST_EVENTS = 1_000_000


def parts(subject: Subject) -> Iterator[Part]:
    steps = subject.ask("profiler_steps").rows
    asked = [step for step in (subject.step, subject.path.step) if step is not None]
    # The rank for other figures comes first, also if the others have too many events.
    ranks = sorted(subject.shown_ranks, key=lambda rank: (rank != subject.one_rank, rank))
    chosen = chosen_steps(steps, asked) if steps else {}
    windows = windows_of(subject.run, subject.job, ranks, chosen, MOST_EVENTS)
    if not windows:
        return
    first = windows[0].rank
    shown = {} if windows[0].step is None else {"only_steps": [windows[0].step]}
    yield Picture(
        "What the threads and the GPU streams of a rank do, and the critical path through them",
        subject.ask("kernel_timeline", only_ranks=[first], **shown),
        picture(subject.run, subject.job, windows) | {"rank": first} | commands(subject, steps),
    )
    if said := list(_notes(subject, steps, {window.rank for window in windows})):
        yield Text(said)


def _notes(subject: Subject, steps: list[dict[str, Any]], drawn: set[int]) -> Iterator[str]:
    """What the picture leaves out, and how to see it."""
    if subject.says_ranks:
        yield subject.says_ranks
    if left := [str(rank) for rank in subject.shown_ranks if rank not in drawn]:
        yield (
            f"Ranks {', '.join(left)} are not in the picture: they lack the steps, or the picture "
            f"would have more than {MOST_EVENTS:,} events."
        )
    if len({row["step"] for row in steps}) > 1:
        step = shlex.join(subject.words("report", job=subject.job, step="N"))
        yield f"For another step N: {step}"


def commands(subject: Subject, steps: list[dict[str, Any]]) -> dict[str, Any]:
    """The commands that list what is clicked on. `{rank}` and others stand for what that is."""
    job = {"only_jobs": [subject.job]}
    rank = {"only_ranks": "{rank}"}
    asked = {
        "event": ("run call_stack", {"of_event": "{event}", "of_rank": "{rank}"} | job),
        "gpu": ("run kernel_timeline", job | rank),
        "host": ("run op_calls", job | rank),
        "gap": ("run idle_gaps", job | rank),
    }
    made = {}
    for what, (command, options) in asked.items():
        words = subject.words(command, **options)
        text = shlex.join(words).replace("'{rank}'", "{rank}").replace("'{event}'", "{event}")
        made[what] = text + " {step}" * (bool(steps) and what != "event")
    return {"commands": made}
