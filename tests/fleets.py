"""Small archives of several jobs, made without ingest, and all that is in them."""

import random
from collections import Counter
from datetime import datetime
from pathlib import Path

from written_archives import activity, write_archive

import hta_sql
from hta_sql.store.manifest import Manifest

TABLES = ("events", "host_ops", "gpu_activities")
# A Monday in 2026.
START_NS = 1_772_409_600_000_000_000


def write_fleet(root: Path, ranks: dict[str, int], *, seed: int = 0, events: int = 40) -> Path:
    """An archive in which each of these jobs has so many ranks, with some `events` each."""
    drawn = random.Random(seed)
    tables: dict[str, list[dict]] = {table: [] for table in TABLES}
    for job, count in ranks.items():
        for rank in range(count):
            for event_id in range(drawn.randrange(events // 2, events)):
                place = {"job": job, "rank": rank, "event_id": event_id}
                start_ns = START_NS + drawn.randrange(10**6)
                span = {"start_ns": start_ns, "dur_ns": drawn.randrange(1000)}
                name = drawn.choice(["gemm", "relu", "ncclDevKernel_AllReduce"])
                tables["events"].append(
                    place | span | {"ph": "X", "name": name, "args": f'{{"at": {event_id}}}'}
                )
                if event_id % 2:
                    tables["host_ops"].append(place | span | {"name": f"aten::{name}"})
                elif event_id % 3:
                    tables["gpu_activities"].append(activity(**place, **span, name=name))
    write_archive(root, **tables)
    counts = {
        table: Counter((row["job"], row["rank"]) for row in tables[table]) for table in TABLES
    }
    manifest = Manifest(root)
    told = [
        row
        | {
            "file_id": row["trace_id"],
            "path": f"/traces/{row['job']}/{row['rank']}.json",
            "file_bytes": 10_000 + row["rank"],
            "event_count": counts["events"][row["job"], row["rank"]],
            "host_op_count": counts["host_ops"][row["job"], row["rank"]],
            "gpu_activity_count": counts["gpu_activities"][row["job"], row["rank"]],
            "quarantined_count": 0,
            "ingested_at": datetime(2026, 3, 3),
        }
        for row in manifest.rows()
    ]
    with manifest.locked():
        manifest.change(lambda row: False, told)
    return root


def contents(*archives) -> dict[str, list[dict]]:
    """All rows of all tables that ranks have, in order."""
    with hta_sql.open(*archives) as run:
        return {
            table: run.sql(f"FROM {table} ORDER BY job, rank, event_id").to_pylist()
            for table in TABLES
        }


def data_files(archive: Path) -> list[str]:
    """The names of its data files, from its root."""
    return sorted(path.relative_to(archive).as_posix() for path in archive.glob("*/*/*/*.parquet"))
