"""kernel_sequences and hardware_counters on random small jobs, against plain Python."""

import json
import random

import pytest
from queries import brute_sequences
from queries.brute_sequences import is_call, is_op, key_of
from queries.small_tables import completed
from seeds import seeds

SEEDS = range(8)
JOBS = 30
UNIX = 1_712_151_111_631_234_567  # more digits than a double holds
OPS = ("aten::linear", "aten::linear", "aten::addmm", "LinearBackward", "aten::linear_backward")
CALLS = (
    "cudaLaunchKernel",
    "cuLaunchKernelEx",
    "hipLaunchKernel",
    "cudaGraphLaunch",
    "cudaLaunchCooperativeKernel",
    "cudaMemcpyAsync",
)
KERNELS = ("gemm", "relu", "a | b", "a", "b", None)
VALUES = (
    "1",
    "2.5",
    "-3",
    "0",
    "7e300",
    "12345678901234567890123",
    "NaN",
    "Infinity",
    "1e999",
    '"5"',
    "true",
    "null",
    "[1]",
    '{"a": 1}',
)
COUNTERS = ("sm__cycles.avg", "dram.sum", 'odd "/~ name', "", "0")


def random_args(rng):
    if rng.random() < 0.1:
        return rng.choice([None, "{}", "[1, 2]", "5", "null"])
    pairs = [
        (rng.choice(COUNTERS), rng.choice(VALUES[: rng.choice([5, 14])]))
        for _ in range(rng.randint(1, 4))
    ]
    return "{" + ", ".join(f"{json.dumps(name)}: {value}" for name, value in pairs) + "}"


def random_tables(rng):
    activities, ops, events = [], [], []
    for number in range(JOBS):
        base, longest = rng.choice([0, UNIX]), rng.choice([0, 2, 6, 20])
        threads = rng.choice([[("1", "1")], [("1", "1"), ("1", "2")], [("1", "1"), (None, None)]])
        for rank in rng.choice([[0], [0, 1, 3]]):
            common = {"job": f"job{number}", "rank": rank}
            ids = rng.sample(range(200), 200)
            rows = []
            for _ in range(rng.choice([0, 2, 6, 15, 40])):
                cat = rng.choice(
                    [
                        "cpu_op",
                        "cpu_op",
                        "Operator",
                        "user_annotation",
                        "cuda_runtime",
                        "cuda_driver",
                        "Runtime",
                    ]
                )
                pid, tid = rng.choice(threads)
                name = rng.choice(CALLS if is_call({"cat": cat}) else OPS)
                rows.append(
                    completed(
                        "host_ops",
                        common
                        | {
                            "cat": cat,
                            "name": name,
                            "pid": pid,
                            "tid": tid,
                            "step": rng.choice([None, 1, 2]),
                            "start_ns": base + rng.randint(0, 30),
                            "dur_ns": rng.randint(0, longest),
                        },
                        ids.pop(),
                    )
                )
            ops += rows
            calls = [row for row in rows if is_call(row)]
            for _ in range(rng.choice([0, 3, 30])):
                call = rng.choice(calls) if calls and rng.random() < 0.9 else None
                activities.append(
                    completed(
                        "gpu_activities",
                        common
                        | {
                            "device": rng.choice([0, 1, None]),
                            "stream": rng.choice([0, 7, None]),
                            "name": rng.choice(rng.choice([KERNELS, KERNELS[:1]])),
                            "short_name": None,
                            "step": call and call["step"],
                            "start_ns": base + rng.randint(0, 50),
                            "dur_ns": rng.randint(0, 9),
                            "launch_id": call and call["event_id"],
                            "launch_name": call and call["name"],
                            "launch_pid": call and call["pid"],
                            "launch_tid": call and call["tid"],
                            "launch_start_ns": call and call["start_ns"],
                            "launch_end_ns": call and call["end_ns"],
                        },
                        ids.pop(),
                    )
                )
            launches = sum(map(brute_sequences.launches_kernel, rows))
            for _ in range(rng.choice([launches, launches, 0, 2])):
                events.append(
                    completed(
                        "events",
                        common
                        | {
                            "ph": "X",
                            "cat": "cuda_profiler_range",
                            "name": rng.choice(["k", None]),
                            "start_ns": base + rng.randint(0, 9),
                            "dur_ns": rng.randint(0, 9),
                            "args": random_args(rng),
                        },
                        ids.pop(),
                    )
                )
            events.append(
                completed(
                    "events",
                    common
                    | {
                        "ph": rng.choice(["X", "i"]),
                        "cat": rng.choice(["kernel", "cuda_profiler_range"]),
                        "name": "k",
                        "start_ns": base,
                        "dur_ns": 5,
                        "args": '{"n": 1}',
                    },
                    ids.pop(),
                )
            )
    brute_sequences.place(ops)
    return activities, ops, events


def random_parameters(rng):
    parameters = {
        "only_jobs": [f"job{number}" for number in rng.sample(range(JOBS), 18)],
        "only_ranks": rng.choice([[0], [1, 3], [5]]),
        "only_steps": rng.choice([[1], [1, 2], []]),
    }
    return {name: value for name, value in parameters.items() if rng.random() < 0.5}


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_random_jobs(gpu, seed):
    rng = random.Random(seed)
    activities, ops, events = random_tables(rng)
    tables = {"gpu_activities": activities, "host_ops": ops, "events": events}
    for given in ({"min_length": 1}, random_parameters(rng), random_parameters(rng)):
        given = {
            "operator": rng.choice(["linear", "aten::", "Backward", "n"]),
            "min_length": rng.choice([-1, 0, 1, 2, 3]),
        } | given
        wanted = brute_sequences.kernel_sequences(activities, ops, **given)
        gpu.compare("kernel_sequences", wanted, tables, seed, **given)
    for given in ({}, random_parameters(rng)):
        wanted = brute_sequences.hardware_counters(events, ops, **given)
        gpu.compare("hardware_counters", wanted, tables, seed, **given)


@pytest.mark.seeds
def test_random_jobs_are_worth_it():
    """Every case that the queries have to tell apart comes up, and often."""
    found = dict.fromkeys(
        (
            "inside another",
            "crossed",
            "launched in crossed, before",
            "and after",
            "empty in empty",
            "call equals operator",
            "operator equals call",
            "outlives its operator",
            "several ops",
        ),
        0,
    )
    paired = unpaired = deep = 0
    for seed in SEEDS:
        activities, ops, events = random_tables(random.Random(seed))
        stacks = brute_sequences.Stacks(ops)
        for row in ops:
            callers = [r for r in stacks.around(*key_of(row)) if is_op(r)]
            found["inside another"] += is_op(row) and any("linear" in r["name"] for r in callers)
            found["crossed"] += row["cut_ns"] is not None if "cut_ns" in row else 0
            found["empty in empty"] += any(
                row["start_ns"] == row["end_ns"] == r["start_ns"] == r["end_ns"] for r in callers
            )
        by_place = {
            (r["job"], r["rank"], r["pid"], r["tid"], r["start_ns"], r["end_ns"]): r
            for r in ops
            if is_op(r)
        }
        by_thread = brute_sequences.grouped([r for r in ops if is_op(r)], "job", "rank", "tid")
        by_thread = dict(by_thread)
        for a in activities:
            if a["launch_id"] is None:
                continue
            callers = list(stacks.around(a["job"], a["rank"], a["launch_id"]))
            twin = by_place.get(
                (
                    a["job"],
                    a["rank"],
                    a["launch_pid"],
                    a["launch_tid"],
                    a["launch_start_ns"],
                    a["launch_end_ns"],
                )
            )
            if twin:
                order = twin["event_id"] < a["launch_id"]
                found["operator equals call" if order else "call equals operator"] += 1
            found["several ops"] += sum(map(is_op, callers)) > 1
            for op in by_thread.get((a["job"], a["rank"], a["launch_tid"]), []):
                began_in = op["start_ns"] <= a["launch_start_ns"] < op["end_ns"]
                found["outlives its operator"] += began_in and a["launch_end_ns"] > op["end_ns"]
                if began_in and op.get("cut_ns") is not None:
                    before = a["launch_start_ns"] < op["cut_ns"]
                    found["launched in crossed, before" if before else "and after"] += 1
        for row in brute_sequences.hardware_counters(events, ops):
            paired += row["launch_id"] is not None
            unpaired += row["launch_id"] is None
            deep += ";" in (row["op_stack"] or "")
    assert min(found.values()) > 20, found
    assert min(paired, unpaired, deep) > 20, (paired, unpaired, deep)


def test_names_that_read_the_same():
    """Sequences of different names with one text, which is one row."""
    rows = []
    for seed in SEEDS:
        activities, ops, _ = random_tables(random.Random(seed))
        rows += brute_sequences.kernel_sequences(activities, ops, "linear", 1)
    assert any(row["kernel_count"] != row["sequence"].count(" | ") + 1 for row in rows)
