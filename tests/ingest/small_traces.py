"""Traces of a few events."""

import json
from pathlib import Path

from hand_written import rows, span, trace_text

import hta_sql


def write(path: Path, count: int = 3, before: str = "", after: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    events = [span(f"op{at}", ts=at * 10, dur=2) for at in range(count)]
    path.write_text(trace_text(events, before, after))
    return path


def ranks(archive: Path) -> list[tuple]:
    with hta_sql.open(archive) as run:
        return rows(run, "SELECT job, rank, rank_source FROM traces ORDER BY job, rank")


def distributed(rank: object) -> str:
    return f'"distributedInfo":{{"backend":"nccl",\n\n "rank"   :{json.dumps(rank)}}},'
