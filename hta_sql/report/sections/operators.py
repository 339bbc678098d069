"""Operators of the program, their call stacks and their roofline."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hta_sql import plot
from hta_sql.report.parts import Chart, Part, Table

if TYPE_CHECKING:
    from hta_sql.report.subject import Subject

TITLE = "Operators"
PLACE = 60


def parts(subject: Subject) -> Iterator[Part]:
    ranks = "[" + ", ".join(map(str, subject.shown_ranks)) + "]"
    operators = subject.sql(
        f"""\
SELECT
    name,
    sum(count)::BIGINT AS count,
    sum(host_total_ns)::BIGINT AS host_total_ns,
    sum(host_self_ns)::BIGINT AS host_self_ns,
    sum(kernel_count)::BIGINT AS kernel_count,
    sum(kernel_ns)::BIGINT AS kernel_ns,
    sum(self_kernel_ns)::BIGINT AS self_kernel_ns
FROM op_stats(only_jobs := [{{job}}], only_ranks := {ranks})
GROUP BY ALL
ORDER BY self_kernel_ns DESC, host_self_ns DESC, name""",
        "op_stats",
    )
    if operators:
        yield Table(
            "Operators: host time with (host_total) and without (host_self) what they call, and "
            "time of GPU activities launched inside them (kernel) and by themselves (self_kernel). "
            f"{subject.says_ranks}",
            operators,
        )
    whose, stacks = "GPU", subject.ask("folded_stacks", only_ranks=[subject.one_rank])
    if not stacks:  # a trace without GPU activity
        whose = "Host"
        stacks = subject.ask("folded_stacks", only_ranks=[subject.one_rank], weight="host")
    if stacks:
        yield Chart(
            f"{whose} time by call stack on rank {subject.one_rank}. Click a frame to zoom in.",
            stacks,
            plot.flame_graph.drawing(stacks.table),
        )
    flops = subject.ask("op_flops", only_ranks=[subject.one_rank])
    chart = plot.roofline.drawing(flops.table)
    if chart.traces:
        yield Chart(
            f"Roofline of operators on rank {subject.one_rank}. Larger marks take more GPU time.",
            flops,
            chart,
        )
