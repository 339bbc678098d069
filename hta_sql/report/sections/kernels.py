"""Kernels, copies and memsets, and their launches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hta_sql import plot
from hta_sql.report.parts import Chart, Part, Table

if TYPE_CHECKING:
    from hta_sql.report.subject import Subject

TITLE = "Kernels"
PLACE = 50


def parts(subject: Subject) -> Iterator[Part]:
    # One row per kernel, summed over the ranks.
    kernels = subject.sql(
        """\
SELECT
    kind,
    name,
    sum(count)::BIGINT AS count,
    sum(total_ns)::BIGINT AS total_ns,
    sum(total_ns)::BIGINT // sum(count)::BIGINT AS mean_ns,
    min(min_ns) AS min_ns,
    max(max_ns) AS max_ns,
    sum(total_ns) / nullif(sum(sum(total_ns)) OVER (), 0) AS total_frac
FROM kernel_stats(only_jobs := [{job}], short_names := true)
GROUP BY ALL
ORDER BY total_ns DESC, kind, name""",
        "kernel_stats",
    )
    if not kernels:
        return
    if len(kernels.rows) > 1:
        chart = plot.kernel_stats.drawing(kernels.table)
        yield Chart("Kernels by total time on all ranks.", kernels, chart)
    spread = subject.ask("kernel_distribution", short_names=True)
    if len(subject.ranks) > 1:
        yield Chart(
            "Mean time per call of each kernel. Bars reach from the fastest rank's mean to the "
            "slowest rank's.",
            spread,
            plot.kernel_distribution.drawing(spread.table),
        )
    yield Table("Kernels, copies and memsets", kernels)
    launches = subject.ask("launch_stats", only_ranks=[subject.one_rank])
    chart = plot.launch_stats.drawing(launches.table)
    if chart.traces:
        yield Chart(
            f"Launch outliers among {launches.table.num_rows:,} activities of rank "
            f"{subject.one_rank}: activities shorter than their launch, slow launches (above "
            "50 µs), and activities that start late (above 100 µs after their launch). A late "
            "start does no harm if the queue is full.",
            launches,
            chart,
        )
    summary = subject.ask("launch_summary")
    if summary:
        yield Table(
            "Launches per rank",
            summary,
            [
                "rank",
                "launch_count",
                "short_count",
                "runtime_outlier_count",
                "delay_outlier_count",
                "mean_cpu_ns",
                "mean_gpu_ns",
                "p50_launch_delay_ns",
                "max_launch_delay_ns",
            ],
            most=512,
        )
