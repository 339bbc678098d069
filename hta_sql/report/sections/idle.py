"""Why the devices stand idle."""

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
        yield Table("What the host did while a whole device stood idle, all ranks.", gaps, most=30)
    causes = subject.ask("idle_time_breakdown", only_ranks=subject.shown_ranks)
    if causes:
        yield Chart(
            "Gaps on each stream by cause: the host had not launched yet; kernels follow one "
            "another; other, what was launched waited longer. A stream that is seldom used is no "
            f"loss. {subject.says_ranks}",
            causes,
            plot.idle_time_breakdown(causes.table),
        )


def idle_gaps_by_cause(subject: Subject) -> Answer:
    """Why whole devices stood idle, and what the host did; the most time first."""
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
