"""What is in an export, and whether two archives say the same."""

import re
from collections import Counter

from export.conftest import ns

import hta_sql

QUERIES = (
    "temporal_breakdown",
    "kernel_stats",
    "idle_time_breakdown",
    "op_stats",
    "launch_stats",
    "queue_length_series",
    "queue_length_summary",
    "memory_bandwidth_series",
    "annotation_stats",
    "comm_comp_overlap",
    "kernel_kind_breakdown",
    "op_launch_delay",
    "module_stats",
    "memory_timeline",
    "profiler_steps",
)


GPU_CATS = ("kernel", "gpu_memcpy", "gpu_memset")


HOST_CATS = ("cpu_op", "user_annotation", "python_function", "cuda_runtime", "cuda_driver")


def same_tables(archive, again, **given):
    """Every query gives the same rows of both, to the last digit."""
    with hta_sql.open(archive) as one, hta_sql.open(again) as two:
        for name in QUERIES:
            rows = one.query(name, **given).to_pylist()
            assert rows, name
            ids = {key for key in rows[0] if key == "event_id" or key.endswith("_id")}
            plain = [{k: v for k, v in row.items() if k not in ids} for row in rows]
            found = [
                {k: v for k, v in row.items() if k not in ids}
                for row in two.query(name).to_pylist()
            ]
            assert found == plain, name


def processes(trace: dict) -> dict[int, str]:
    return {
        event["pid"]: event["args"]["name"]
        for event in trace["traceEvents"]
        if event["ph"] == "M" and event["name"] == "process_name"
    }


def rank_of(event: dict, names: dict[int, str]) -> int:
    return int(re.match(r"rank (\d+): ", names[event["pid"]])[1])


def check_arrows(events, complete=True):
    spans = {(e["pid"], e["tid"], ns(e)) for e in events if e["ph"] == "X"}
    starts = Counter((e["cat"], e["id"]) for e in events if e["ph"] == "s")
    ends = Counter((e["cat"], e["id"]) for e in events if e["ph"] == "f")
    assert starts and set(starts.values()) == {1}
    assert starts == ends
    assert all((e["pid"], e["tid"], ns(e)) in spans for e in events if e["ph"] in "sf")
