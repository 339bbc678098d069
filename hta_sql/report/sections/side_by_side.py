"""The ranks compared with each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hta_sql import plot
from hta_sql.report.parts import Chart, Part, Table

if TYPE_CHECKING:
    from hta_sql.report.subject import Subject

TITLE = "Ranks side by side"
LINK = "Ranks"
PLACE = 30
_CELLS = 60_000


def parts(subject: Subject) -> Iterator[Part]:
    if len(subject.ranks) == 1:
        return
    buckets = max(100, min(400, _CELLS // len(subject.ranks)))
    busy = subject.ask("heatmap", bucket_count=buckets)
    if not busy:
        return
    yield Chart(
        "Busy share of each rank over time, in %, on aligned clocks.",
        busy,
        plot.heatmap.drawing(busy.table),
    )
    imbalance = subject.ask("rank_imbalance")
    if imbalance:
        yield Table(
            "Imbalance between ranks: largest time divided by mean time; 1 means equal ranks",
            imbalance,
        )
