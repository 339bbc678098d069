"""Why devices are idle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hta_sql import plot
from hta_sql.report.parts import Chart, Part, Table, Text
from hta_sql.report.shares import says_shares

if TYPE_CHECKING:
    from hta_sql.report.subject import Answer, Subject

TITLE = "Idle time"
PLACE = 40


def parts(subject: Subject) -> Iterator[Part]:
    reasons = idle_reasons(subject)
    if reasons:
        yield Table(
            "Idle time of whole devices on all ranks, by cause and by what the host did then: the "
            "innermost and the outermost span that was open on the launching thread. What a data "
            "loader calls counts for the loader",
            reasons,
            most=30,
        )
    causes = subject.ask("idle_time_breakdown", only_ranks=subject.shown_ranks)
    streams = {(row["rank"], row["device"], row["stream"]) for row in causes.rows}
    if len(streams) == 1:
        named = [(row["cause"], row["idle_ns"]) for row in causes.rows]
        yield Text([says_shares("Idle time of the only stream between its activities", named)])
    elif causes:
        yield Chart(
            "Idle time per stream between its activities, by cause. Waiting for the host: until "
            "the launch of the next activity begins. In the launch call: until it returns. Then "
            "the activity is launched, but it has not started. Between kernels: this takes less "
            "than 30 µs. Waiting for another stream: another stream of the device is busy. Queued: "
            "the device is idle. A stream that is rarely used is idle without loss. "
            f"{subject.says_ranks}",
            causes,
            plot.idle_time_breakdown(causes.table),
        )


def idle_reasons(subject: Subject) -> Answer:
    """Idle time of whole devices by cause and by what the host did; the most time first."""
    return subject.sql(
        """\
SELECT
    cause,
    CASE
        WHEN is_loader_span('user_annotation', outer_name) THEN outer_name
        WHEN is_loader_span('python_function', outer_name) THEN outer_name
        ELSE name
    END AS host_name,
    outer_name,
    sum(gap_count)::BIGINT AS gap_count,
    sum(idle_ns)::BIGINT AS idle_ns,
    max(longest_ns) AS longest_ns,
    count(DISTINCT rank) AS rank_count
FROM idle_reasons(only_jobs := [{job}])
GROUP BY ALL
ORDER BY idle_ns DESC, cause, host_name, outer_name""",
        "idle_reasons",
    )
