"""Why devices are idle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hta_sql import plot
from hta_sql.report.parts import Chart, Part, Table

if TYPE_CHECKING:
    from hta_sql.report.subject import Answer, Subject

TITLE = "Idle time"
PLACE = 40


def parts(subject: Subject) -> Iterator[Part]:
    gaps = idle_gaps_by_cause(subject)
    if gaps:
        yield Table(
            "Idle time of whole devices on all ranks, by cause and by what the host did meanwhile",
            gaps,
            most=30,
        )
    causes = subject.ask("idle_time_breakdown", only_ranks=subject.shown_ranks)
    if causes:
        yield Chart(
            "Idle time per stream between its activities, by cause. Waiting for the host: the next "
            "launch came late. Between kernels: launched in time, gap below 30 µs. Other: "
            "launched in time, longer gap. A stream that is rarely used is idle without loss. "
            f"{subject.says_ranks}",
            causes,
            plot.idle_time_breakdown(causes.table),
        )


def idle_gaps_by_cause(subject: Subject) -> Answer:
    """Idle time of whole devices by cause and by what the host did; the most time first."""
    return subject.sql(
        """\
SELECT
    cause,
    host_name,
    count(*) AS gap_count,
    sum(gap_ns)::BIGINT AS idle_ns,
    max(gap_ns) AS longest_ns,
    count(DISTINCT rank) AS rank_count
FROM idle_gaps(only_jobs := [{job}])
GROUP BY ALL
ORDER BY idle_ns DESC, cause, host_name""",
        "idle_gaps",
    )
