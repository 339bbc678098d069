"""Communication between ranks, and which ranks wait for which."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hta_sql import plot
from hta_sql.report.parts import Chart, Part, Table, Text
from hta_sql.report.shares import says_shares

if TYPE_CHECKING:
    from hta_sql.report.subject import Subject

TITLE = "Communication and stragglers"
LINK = "Communication"
PLACE = 70


def parts(subject: Subject) -> Iterator[Part]:
    overlap = subject.ask("comm_comp_overlap")
    communicating = [row for row in overlap.rows if row["communication_ns"]]
    if communicating and len(overlap.rows) == 1:
        [row] = communicating
        exposed = row["communication_ns"] - row["overlap_ns"]
        named = [("hidden behind computation", row["overlap_ns"]), ("exposed", exposed)]
        yield Text([says_shares("Communication time of the GPU", named)])
    elif communicating:
        yield Chart(
            "Communication time per device: hidden behind computation, and exposed.",
            overlap,
            plot.comm_comp_overlap.drawing(overlap.table),
        )
    waits = subject.ask("stragglers")
    if len(waits.rows) > 1:
        yield Chart(
            "Waiting time per rank. Above 0: how long the others wait for it in collectives, in "
            "total. Below 0: how long it waits itself, in collectives and for messages.",
            waits,
            plot.stragglers.drawing(waits.table),
        )
        yield Table(
            "Stragglers, one row per rank",
            waits,
            [
                "rank",
                "host",
                "is_straggler",
                "collective_count",
                "last_count",
                "last_frac",
                "caused_wait_ns",
                "wait_ns",
                "own_delay_ns",
                "score",
            ],
            most=512,
        )
    lost = subject.ask("lost_gpu_time")
    if lost:
        yield Table(
            "GPU time lost waiting for late ranks, by the rank and cause where the delay began",
            lost,
            [
                "rank",
                "cause",
                "op_name",
                "kernel_name",
                "host_name",
                "late_count",
                "late_ns",
                "wait_ns",
                "lost_gpu_ns",
                "lost_gpu_frac",
            ],
            most=30,
        )
    speeds = subject.ask("collective_bandwidth")
    if speeds:
        chart = plot.collective_bandwidth.drawing(speeds.table)
        if chart.traces:
            yield Chart(
                "Bus bandwidth of collectives by message size, without waits: median in GB/s. Bars "
                "reach from the 1st to the 99th percentile.",
                speeds,
                chart,
            )
        yield Table(
            "Bandwidth of collectives, by process group, name and message size",
            speeds,
            [
                "name",
                "process_group",
                "group_size",
                "dtype",
                "bytes",
                "count",
                "transfer_ns",
                "busbw_gbps",
                "p01_busbw_gbps",
                "p50_busbw_gbps",
                "p99_busbw_gbps",
            ],
        )
