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
LINK = "Idle"
PLACE = 40


def parts(subject: Subject) -> Iterator[Part]:
    reasons = idle_reasons(subject)
    if reasons:
        yield Table(
            "Idle time of whole devices on all ranks, by cause and by what the host did then: the "
            "innermost and the outermost span that was open on the launching thread. All that a "
            "data loader calls is `data loading`",
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
            plot.idle_time_breakdown.drawing(causes.table),
        )


def idle_reasons(subject: Subject) -> Answer:
    """Idle time of whole devices by cause and by what the host did; the most time first.

    It is as in the query idle_reasons, but all that a data loader calls is `data loading`.
    """
    return subject.sql("""\
WITH
labels AS (
    SELECT
        h.rank,
        h.event_id,
        CASE WHEN m.event_id IS NULL THEN step_label(h.name) ELSE mark_label(h.name) END AS label
    FROM host_ops AS h
    LEFT JOIN step_marks AS m USING (job, rank, event_id)
    WHERE h.job = {job}
),
segments AS (
    SELECT
        p.rank,
        p.gap_number,
        p.part_number,
        p.cause,
        CASE WHEN s.is_loading THEN 'data loading' ELSE h.label END AS host_name,
        s.outer_event_id,
        sum(s.segment_ns) AS idle_ns
    FROM job_idle_segments([{job}]) AS s
    JOIN job_idle_parts([{job}]) AS p USING (part_number)
    LEFT JOIN labels AS h ON h.rank = p.rank AND h.event_id = s.host_event_id
    GROUP BY ALL
),
named AS (
    SELECT
        s.rank,
        s.gap_number,
        s.part_number,
        s.cause,
        s.host_name,
        o.label AS outer_name,
        sum(s.idle_ns)::BIGINT AS idle_ns
    FROM segments AS s
    LEFT JOIN labels AS o ON o.rank = s.rank AND o.event_id = s.outer_event_id
    GROUP BY ALL
)
SELECT
    cause,
    host_name,
    outer_name,
    count(DISTINCT gap_number) AS gap_count,
    sum(idle_ns)::BIGINT AS idle_ns,
    max(idle_ns) AS longest_ns,
    count(DISTINCT rank) AS rank_count
FROM named
GROUP BY ALL
ORDER BY idle_ns DESC, cause, host_name, outer_name""")
