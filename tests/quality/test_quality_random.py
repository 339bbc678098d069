"""Counts and shares of trace_quality over random recordings, against plain Python."""

import random

import pytest
from quality.brute_quality import counted
from queries.small_tables import completed
from seeds import seeds

JOBS = 24
# The other checks are tested by drawn cases.
COUNTED = {
    "crossing_spans",
    "dropped_buffers",
    "graph_kernels",
    "impossible_times",
    "launches_without_kernel",
    "missing_collective_arguments",
    "missing_collective_numbers",
    "no_gap_on_stream",
    "overlap_on_stream",
    "unlinked_kernels",
    "unpaired_collectives",
    "work_outside_steps",
}


def random_tables(rng):
    activities, ops, traces = [], [], []
    for number in range(JOBS):
        base, scale = rng.choice([0, 10**15 + 7]), rng.choice([1, 1, 3, 1000])
        names = rng.choice(
            [
                ["cudaLaunchKernel"],
                ["cudaLaunchKernel", "cudaGraphLaunch", "cudaLaunchKernelExC", "cudaMemcpyAsync"],
            ]
        )
        ranks = rng.choice([[0], [0, 1], [0, 1, 3]])
        has_steps, numbered = rng.random() < 0.5, rng.choice(["comms_id", "seq", "both", "some"])
        for rank in ranks:
            whose = {"job": f"job{number}", "rank": rank}
            traces.append(whose)
            if has_steps:
                ops.append(op(rng, whose, "ProfilerStep#1", base, 90 * scale, "user_annotation"))
            for _ in range(rng.choice([0, 2, 20])):
                name = rng.choice(
                    [*names, "cudaMemsetAsync", "cudaStreamBeginCapture", "cudaStreamEndCapture"]
                )
                at = base + scale * rng.randint(0, 60)
                call = op(rng, whose, name, at, scale, "cuda_runtime")
                ops.append(call | {"correlation": rng.choice([None, *range(1, 15)])})
            made = [
                activity(rng, whose, names, base, scale, numbered)
                for _ in range(rng.choice([0, 1, 4, 30]))
            ]
            if rng.random() < 0.3:
                in_a_row(rng, made)
            activities += made
    return {
        "gpu_activities": [completed("gpu_activities", r, i) for i, r in enumerate(activities)],
        "host_ops": [completed("host_ops", row, i) for i, row in enumerate(ops)],
        "traces": traces,
    }


def op(rng, whose, name, start_ns, dur_ns, cat):
    return whose | {
        "name": name,
        "cat": cat,
        "start_ns": start_ns,
        "dur_ns": dur_ns,
        "tid": rng.choice(["1", "2"]),
        "correlation": None,
        "cut_ns": rng.choice([None, None, start_ns]),
    }


def activity(rng, whose, names, base, scale, numbered):
    at = rng.randint(0, 60)
    row = whose | {
        "device": rng.choice([0, 0, 1]),
        "stream": rng.choice([7, 7, 20, None]),
        "start_ns": base + scale * at + rng.choice([0] * 20 + [4 * 3600 * 10**9]),
        "dur_ns": scale * rng.randint(0, 6) - rng.choice([0, 0, 1]) * (scale > 1),
        "step": rng.choice([None, 1]),
        "correlation": rng.choice([None, *range(1, 15)]),
        "kind": rng.choice(["computation", "communication"]),
        "launch_id": None,
        "launch_name": None,
        "launch_start_ns": None,
        "collective_name": None,
        "process_group_name": rng.choice(["0", "1"]),
        "group_size": 2,
        "seq": None,
        "comms_id": None,
    }
    row["dur_ns"] = max(0, row["dur_ns"])
    if rng.random() < 0.8:
        row |= {
            "launch_id": rng.randint(0, 99),
            "launch_name": rng.choice(names),
            "launch_start_ns": base + scale * (at - rng.choice([-1, 0, 1, 5])),
        }
    if row["kind"] == "communication" and rng.random() < 0.8:
        row["collective_name"] = rng.choice(["allreduce", "allreduce", "send", "new_one"])
        if numbered in ("seq", "both") or rng.random() < 0.5:
            row["seq"] = rng.randint(0, 2)
        if numbered in ("comms_id", "both"):
            row["comms_id"] = rng.randint(5, 7)
    return row


def in_a_row(rng, activities):
    """Let each one begin where the one before it ends, or nearly so."""
    for before, row in zip(activities, activities[1:], strict=False):
        end_ns = before["start_ns"] + before["dur_ns"]
        row["start_ns"] = end_ns + rng.choice([0, 1, 1, 2])
        row |= {"device": 0, "stream": rng.choice([7, 7, 7, 20])}


@pytest.mark.parametrize("seed", seeds(6))
def test_counts_and_shares(small, seed):
    tables = random_tables(random.Random(seed))
    wanted = counted(tables)
    assert {check for *_, check in wanted} == COUNTED
    for order in (lambda rows: rows, lambda rows: random.Random(1).sample(rows, len(rows))):
        small.fill(**{name: order(rows) for name, rows in tables.items()})
        rows = small.run("trace_quality")
        found = {
            (row["job"], row["rank"], row["check"]): (row["count"], row["share_frac"])
            for row in rows
            if row["check"] in COUNTED
        }
        assert found.keys() == wanted.keys()
        for key, (count, share) in wanted.items():
            assert found[key] == (count, pytest.approx(share, rel=1e-12)), key
        assert small.broken_promises("trace_quality") == []
