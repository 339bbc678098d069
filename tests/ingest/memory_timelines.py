"""Memory timelines written by hand."""

import gzip
from pathlib import Path

from hand_written import rows

import hta_sql

CHANGES = [
    [-1, 1, 100, 0],
    [-1, 1, 20, 7],
    [5, 2, 8, 4],
    [5, 3, -8, 4],
    [5, 3, 8, 5],
    [9, 4, -20, 7],
]


def ingested(folder: Path, content: str | bytes, name: str = "memory_rank_0.raw.json.gz"):
    path = folder / "job" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
    summary = hta_sql.ingest(folder / "job", folder / "archive", workers=1)
    assert not summary.failed, summary
    return hta_sql.open(folder / "archive")


def held(run) -> list[tuple]:
    return rows(
        run, "SELECT at_ns, action_id, bytes, category_id FROM memory_events ORDER BY position"
    )
