"""What bounds a step. It needs hta-sql critical-path to be run first."""

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
    if not subject.run.sql("FROM critical_paths LIMIT 1").num_rows:
        return  # without the warning of queries that find no path
    shares = subject.ask("critical_path_summary")
    if not shares:
        return
    yield Chart(
        "What bounds the critical path of each rank, in % of the path's time.",
        shares,
        plot.critical_path_summary(shares.table),
    )
    operators = subject.ask("critical_path_ops")
    if operators:
        yield Table("Operators with the most time on the critical path", operators, most=30)
    answers = subject.ask("what_if")
    if answers:
        yield Table("Time that a step would save if something were faster", answers, most=30)
