"""Archives of a few rows, and the paths in them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from written_archives import write_archive

import hta_sql

US = 1000
PATH_QUERIES = (
    "critical_path",
    "critical_path_ops",
    "critical_path_ranks",
    "critical_path_summary",
    "what_if",
)


@pytest.fixture
def paths_of(tmp_path: Path) -> Callable:
    """Compute the paths of hand-written rows, with times in us; the open archive."""
    opened = []

    def compute(ops=(), activities=(), events=(), ranks=(0,), **window):
        def of_ranks(rows):
            return [in_ns(row, rank) for row in rows for rank in ranks_of(row, ranks)]

        named = [{"event_id": 10_000, "ph": "M", "rank": rank} for rank in ranks]
        archive = write_archive(
            tmp_path / f"archive{len(opened)}",
            host_ops=of_ranks(ops),
            gpu_activities=of_ranks(activities),
            events=named + of_ranks(events),
        )
        run = hta_sql.open(archive)
        opened.append(run)
        run.compute_critical_path(**window)
        return run

    yield compute
    for run in opened:
        run.close()


def ranks_of(row, ranks):
    return [row["rank"]] if "rank" in row else ranks


def in_ns(row, rank):
    times = {
        f"{key}_ns": row[key] * US
        for key in ("start", "dur", "launch_start", "launch_end")
        if key in row
    }
    plain = {
        key: value
        for key, value in row.items()
        if key not in ("start", "dur", "launch_start", "launch_end")
    }
    return {"rank": rank} | plain | times


def op(event_id, name, start, dur, **more):
    return {
        "event_id": event_id,
        "cat": "cpu_op",
        "name": name,
        "pid": "1",
        "tid": "1",
        "start": start,
        "dur": dur,
    } | more


def call(event_id, name, start, dur, **more):
    return op(event_id, name, start, dur, cat="cuda_runtime", correlation=event_id) | more


def kernel(event_id, start, dur, launch, stream=7, **more):
    """Launched by a call; None: by nothing in the trace."""
    launched = (
        {}
        if launch is None
        else {
            "launch_id": launch["event_id"],
            "launch_name": launch["name"],
            "launch_start": launch["start"],
            "launch_end": launch["start"] + launch["dur"],
        }
    )
    return (
        {
            "event_id": event_id,
            "device": 0,
            "stream": stream,
            "cat": "kernel",
            "name": "gemm",
            "short_name": "gemm",
            "kind": "computation",
            "start": start,
            "dur": dur,
        }
        | launched
        | more
    )


def path_of(run, **chosen):
    """The path as (edge, event, us)."""
    return [
        (row["edge"], row["event_id"], row["time_ns"] // US)
        for row in run.critical_path(**chosen).to_pylist()
    ]
