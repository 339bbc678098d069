"""What bounds a step, where hta-sql critical-path has found it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hta_sql import plot
from hta_sql.report.parts import Chart, Part, Table

if TYPE_CHECKING:
    from hta_sql.report.subject import Subject

TITLE = "Critical path"
PLACE = 87


def parts(subject: Subject) -> Iterator[Part]:
    shares = subject.ask("critical_path_summary")
    if not shares:
        return
    yield Chart(
        "What each rank's critical path is bound by.",
        shares,
        plot.critical_path_summary(shares.table),
    )
    answers = subject.ask("what_if")
    if answers:
        yield Table("What if something were faster or gone", answers, most=30)
