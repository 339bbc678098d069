"""Queue lengths, copies and memory of one rank over time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hta_sql import plot
from hta_sql.report.parts import Chart, Part, Table

if TYPE_CHECKING:
    from hta_sql.report.subject import Subject

TITLE = "Queues, copies and memory"
LINK = "Memory"
PLACE = 85


def parts(subject: Subject) -> Iterator[Part]:
    rank = subject.one_rank
    queues = subject.ask("queue_length_series", only_ranks=[rank])
    if queues:
        yield Chart(
            f"Queue length of each stream on rank {rank}: activities launched but not yet started.",
            queues,
            plot.queue_length_series.drawing(queues.table),
        )
    copies = subject.ask("memory_bandwidth_series", only_ranks=[rank])
    if copies:
        yield Chart(
            f"Bandwidth of copies and memsets on rank {rank}, in GB/s.",
            copies,
            plot.memory_bandwidth_series.drawing(copies.table),
        )
    memory = subject.ask("memory_timeline", only_ranks=[rank])
    chart = plot.memory_timeline.drawing(memory.table)
    if chart.traces:
        yield Chart(f"Memory of the allocators on rank {rank}, in bytes.", memory, chart)
    peaks = subject.ask("memory_peak")
    if peaks:
        yield Table(
            "Peak memory per device",
            peaks,
            [
                "rank",
                "device",
                "peak_allocated_bytes",
                "step",
                "op",
                "peak_reserved_bytes",
                "max_unallocated_bytes",
                "growth_per_step_bytes",
            ],
            most=512,
        )
