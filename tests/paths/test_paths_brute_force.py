"""The graphs of ranks on random rows, beside plain Python: ties, no lengths, nested calls, several
threads and streams, waits that are told and such that are not, graphs, and nothing at all."""

import json
import random

import pytest
from paths.brute_hosts import LOADING, WAITS
from paths.brute_paths import Window, most_taken
from seeds import seeds
from written_archives import write_archive

import hta_sql

SEEDS = range(24)
US = 1000
# Beside short delays such as of 100 us and 1.5 ms, and instants that meet.
GAPS = [0, 0, 1, 3, 10, 40, 150, 1600]


def nested(rng, ids, tid, start, end, depth, parent, rows):
    """Spans one after the other in [start, end), each with some inside."""
    at = start
    while at < end and len(rows) < 60:
        at += rng.choice([0, 0, 1, 5]) * US
        length = min(rng.choice([0, 2, 10, 30, 60]) * US, end - at)
        if length < 0 or at >= end:
            return
        name, cat = rng.choice(
            [
                ("aten::mm", "cpu_op"),
                ("aten::add", "cpu_op"),
                ("cudaLaunchKernel", "cuda_runtime"),
                ("cudaGraphLaunch", "cuda_runtime"),
                ("cudaMemcpyAsync", "cuda_runtime"),
                (rng.choice(WAITS), "cuda_runtime"),
                ("cudaEventQuery", "cuda_runtime"),
                ("cudaEventRecord", "cuda_runtime"),
                ("cudaStreamWaitEvent", "cuda_runtime"),
                (f"{LOADING}#next", "user_annotation"),
                ("step", "user_annotation"),
                ("forward.py(1): f", "python_function"),
            ]
        )
        row = {
            "event_id": next(ids),
            "cat": cat,
            "name": name,
            "pid": "1",
            "tid": tid,
            "start_ns": at,
            "dur_ns": length,
            "correlation": None,
            "annotation_id": parent["event_id"]
            if parent and parent["cat"] == "user_annotation"
            else parent and parent["annotation_id"],
            "is_backward": tid != "1",
        }
        if cat == "cuda_runtime":
            row["correlation"] = row["event_id"] + 5000
        rows.append(row)
        if length and depth < 3 and cat != "cuda_runtime":
            inner = rng.choice([at, at + US]), at + length - rng.choice([0, US])
            nested(rng, ids, tid, *inner, depth + 1, row, rows)
        at += length
        if not length and rng.random() < 0.5:
            at += US


def random_rank(seed):
    rng = random.Random(seed)
    ids = iter(rng.sample(range(1000), 1000))
    ops = []
    for tid in ["1", "2", "3"][: rng.choice([0, 1, 2, 3])]:
        rows = []
        nested(
            rng,
            ids,
            tid,
            rng.choice([0, 20, 50]) * US,
            rng.choice([100, 300, 600]) * US,
            0,
            None,
            rows,
        )
        ops += rows
    calls = [
        o for o in ops if o["name"] in ("cudaLaunchKernel", "cudaGraphLaunch", "cudaMemcpyAsync")
    ]
    calls.sort(key=lambda o: o["start_ns"])
    free, activities = {7: 0, 20: 0, 21: 0}, []
    for call in calls:
        for _ in range({"cudaGraphLaunch": 3}.get(call["name"], rng.choice([1, 1, 1, 0]))):
            stream = rng.choice([7, 7, 20, 21])
            start = max(free[stream], call["start_ns"]) + rng.choice(GAPS) * US
            start -= rng.choice([0] * 9 + [1]) * US  # clocks that disagree
            length = rng.choice([0, 1, 5, 20, 100]) * US
            free[stream] = max(free[stream], start + length)
            is_copy = call["name"] == "cudaMemcpyAsync"
            activities.append(
                {
                    "event_id": next(ids),
                    "device": 0,
                    "stream": stream,
                    "cat": "gpu_memcpy" if is_copy else "kernel",
                    "kind": "memory" if is_copy else rng.choice(["computation", "communication"]),
                    "name": rng.choice(
                        ["Memcpy DtoH (Device -> Pageable)", "Memcpy HtoD (Pinned -> Device)"]
                    )
                    if is_copy
                    else "gemm",
                    "start_ns": start,
                    "dur_ns": length,
                    "launch_id": call["event_id"],
                    "launch_name": call["name"],
                    "launch_start_ns": call["start_ns"],
                    "launch_end_ns": call["start_ns"] + call["dur_ns"],
                }
            )
    for _ in range(rng.choice([0, 0, 2])):  # nothing in the trace launched these
        start = rng.randrange(600) * US
        activities.append(
            {
                "event_id": next(ids),
                "device": 0,
                "stream": 30,
                "cat": "kernel",
                "kind": "computation",
                "name": "gemm",
                "start_ns": start,
                "dur_ns": 5 * US,
                "launch_id": None,
            }
        )
    records = [o["correlation"] for o in ops if o["name"] == "cudaEventRecord"] or [None]
    syncs = []
    for o in ops:
        kind = {
            "cudaStreamSynchronize": "Stream Sync",
            "cudaDeviceSynchronize": "Context Sync",
            "cudaEventSynchronize": "Event Sync",
            "cudaStreamWaitEvent": "Stream Wait Event",
        }.get(o["name"])
        if kind and rng.random() < 0.6:
            syncs.append(
                {
                    "event_id": next(ids),
                    "name": kind,
                    "correlation": o["correlation"],
                    "stream": rng.choice([7, 20, 21]),
                    "wait_on": rng.choice([7, 20, 21]),
                    "record": rng.choice([*records, -1]),
                }
            )
    return ops, activities, syncs


def sync_event(sync):
    args = {
        "stream": sync["stream"],
        "wait_on_stream": sync["wait_on"],
        "wait_on_cuda_event_record_corr_id": sync["record"],
    }
    return {
        "event_id": sync["event_id"],
        "ph": "X",
        "cat": "cuda_sync",
        "name": sync["name"],
        "pid": "0",
        "tid": str(sync["stream"]),
        "start_ns": 0,
        "dur_ns": 1,
        "device": 0,
        "stream": sync["stream"],
        "correlation": sync["correlation"],
        "args": json.dumps(args),
    }


def shown(edges):
    return sorted(
        (
            str(e["source"]),
            str(e["target"]),
            e["edge"],
            str(e["event_id"]),
            str(e["bound_by"]),
            e["time_ns"],
            e["delay_ns"],
        )
        for e in edges
    )


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_random_ranks(tmp_path, seed):
    ops, activities, syncs = random_rank(seed)
    step = {
        "event_id": 2000,
        "cat": "user_annotation",
        "name": "ProfilerStep#4",
        "pid": "1",
        "tid": random.Random(seed).choice(["1", "2", "9"]),
        "start_ns": 60 * US,
        "dur_ns": 200 * US,
        "step": 4,
    }
    archive = write_archive(
        tmp_path / "archive",
        host_ops=[*ops, step],
        gpu_activities=activities,
        events=[sync_event(sync) for sync in syncs] or [{"event_id": 0, "ph": "M"}],
    )
    with hta_sql.open(archive) as run:
        run.compute_critical_path(annotation="ProfilerStep#4")
        edges = run.sql("FROM path_edges").to_pylist()
        path = run.critical_path().to_pylist()
        broken = run.check("critical_path") + run.check("critical_path_summary")
    brute = Window(ops, activities, syncs, 60 * US, 260 * US, training=step["tid"])
    wanted = [e | {"bound_by": brute.bound_by(e)} for e in brute.edges]
    found = [
        e
        | {
            "source": (e["source_event_id"], e["is_source_start"]),
            "target": (e["target_event_id"], e["is_target_start"]),
        }
        for e in edges
    ]
    assert shown(found) == shown(wanted)
    assert broken == []

    # The path is one, leads from node to node, and no other takes more.
    on_path = sorted((e for e in found if e["position"]), key=lambda e: e["position"])
    assert [e["position"] for e in on_path] == list(range(1, len(on_path) + 1))
    for one, other in zip(on_path, on_path[1:], strict=False):
        assert one["target"] == other["source"]
    assert sum(e["time_ns"] for e in on_path) == most_taken(wanted)
    assert [(e["event_id"], e["edge"], e["time_ns"]) for e in path] == [
        (e["event_id"], e["edge"], e["time_ns"]) for e in on_path
    ]

    # What was recorded comes out again.
    latest = {}
    for e in found:
        latest[e["target"]] = max(latest.get(e["target"], -(10**18)), e["start_ns"] + e["delay_ns"])
    assert latest == {e["target"]: e["end_ns"] for e in found}


@pytest.mark.seeds
def test_random_ranks_are_worth_it():
    """What the random rows are there for is in them."""
    seen, bounds = set(), set()
    for seed in SEEDS:
        ops, activities, syncs = random_rank(seed)
        window = Window(ops, activities, syncs, 60 * US, 260 * US, training="1")
        seen |= {(e["edge"], e["why"]) for e in window.edges}
        bounds |= {window.bound_by(e) for e in window.edges}
    assert {edge for edge, _ in seen} == {
        "operator",
        "dependency",
        "kernel_launch_delay",
        "kernel_kernel_delay",
        "sync_dependency",
        "order",
    }
    assert {
        ("dependency", None),
        ("dependency", "launch"),
        ("dependency", "stream"),
        ("sync_dependency", None),
        ("sync_dependency", "stream"),
        ("order", "outside"),
        ("order", "launch"),
        ("order", "stream"),
    } <= seen
    assert bounds == {
        None,
        "cpu_bound",
        "data_loading",
        "gpu_compute_bound",
        "gpu_communication_bound",
        "gpu_kernel_launch_overhead",
        "gpu_kernel_kernel_overhead",
    }
