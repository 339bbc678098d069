"""Idle time over random jobs, against plain Python."""

import random
from itertools import product

import pytest
from queries import brute_idle
from queries.idle import BREAKDOWN, GAPS, placed
from queries.small_tables import completed
from seeds import seeds

SEEDS = range(4)


JOBS = 30


UNIX = 1_712_151_111_631_234_567


def random_tables(rng):
    activities, ops = [], []
    for number in range(JOBS):
        base, scale = rng.choice([0, UNIX]), rng.choice([1, 1, 7, 9_000])
        ranks, devices = rng.choice([[0], [0, 1, 3]]), rng.choice([[0], [0, 1], [None, 7]])
        streams, longest = rng.choice([[7], [7, 8], [None, 0, 20]]), rng.choice([0, 2, 3, 9])
        pids, tids = rng.choice([["1"], ["1", None]]), rng.choice([["1"], ["1", "2"]])
        common = {"job": f"job{number}"}
        for _ in range(rng.choice([0, 1, 3, 9, 25])):
            start = rng.randint(0, 60)
            is_launched = rng.random() < 0.8
            launch = {
                "launch_id": rng.randint(0, 99),
                "launch_start_ns": base + scale * (start - rng.choice([-2, 0, 1, 2, 3, 5, 20])),
                "launch_pid": rng.choice(pids),
                "launch_tid": rng.choice(tids),
            }
            activities.append(
                common
                | {
                    "rank": rng.choice(ranks),
                    "device": rng.choice(devices),
                    "stream": rng.choice(streams),
                    "step": rng.choice([None, 1, 2]),
                    "name": rng.choice(["gemm", "relu", "add"]),
                    "start_ns": base + scale * start,
                    "dur_ns": scale * rng.randint(0, longest),
                }
                | (launch if is_launched else dict.fromkeys(launch))
            )
        for _ in range(rng.choice([0, 3, 20, 60])):
            ops.append(
                common
                | {
                    "rank": rng.choice(ranks),
                    "pid": rng.choice(pids),
                    "tid": rng.choice(tids),
                    "cat": rng.choice(["cpu_op", "user_annotation", "cuda_runtime"]),
                    "name": rng.choice(["aten::mm", "aten::add", "step", "cudaLaunchKernel"]),
                    "start_ns": base + scale * rng.randint(0, 60),
                    "dur_ns": scale * rng.choice([0, 1, 2, 3, 5, 8, 13, 40]),
                }
            )
    return (
        [completed("gpu_activities", row, i) for i, row in enumerate(activities)],
        placed([completed("host_ops", row, i) for i, row in enumerate(ops)]),
    )


def random_parameters(rng, query):
    parameters = {
        "only_jobs": [f"job{number}" for number in rng.sample(range(JOBS), 18)],
        "only_ranks": rng.choice([[0], [1, 3], [5]]),
        "only_steps": rng.choice([[1], [1, 2], []]),
        "kernel_gap_ns": rng.choice([2, 3, 20]),
    }
    if query == GAPS:
        parameters["min_gap_ns"] = rng.choice([2, 5, 100])
    return {name: value for name, value in parameters.items() if rng.random() < 0.5}


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_random_jobs(gpu, seed):
    rng = random.Random(seed)
    activities, ops = random_tables(rng)
    tables = {"gpu_activities": activities, "host_ops": ops}
    for query in (BREAKDOWN, GAPS):
        for given in ({}, {"kernel_gap_ns": 3}, random_parameters(rng, query)):
            brute_force = getattr(brute_idle, query.removesuffix("_v1"))
            wanted = list(brute_force(activities, ops, **given))
            gpu.compare(query, wanted, tables, seed, **given)


@pytest.mark.seeds
def test_random_jobs_are_worth_it():
    """Every case that the queries have to tell apart comes up, some often."""
    tables = [random_tables(random.Random(seed)) for seed in SEEDS]
    gaps = [row for pair in tables for row in brute_idle.idle_gaps(*pair, kernel_gap_ns=3)]
    assert {row["cause"] for row in gaps} == {"host_wait", "kernel_wait", "other"}
    assert {row["stream"] for row in gaps} == {None, 0, 7, 8, 20}
    assert {row["device"] for row in gaps} == {None, 0, 1, 7}
    assert sum(row["host_event_id"] is None for row in gaps) > 100
    found, told = 0, set()
    for activities, ops in tables:
        by_id = {op["event_id"]: op for op in ops}
        for row in brute_idle.idle_gaps(activities, ops):
            op = by_id.get(row["host_event_id"])
            if op:
                middle = row["start_ns"] + row["gap_ns"] // 2
                found += 1
                told.add(
                    (
                        "after a cut",
                        any(
                            other["cut_ns"] is not None
                            and other["cut_ns"] <= middle < other["end_ns"]
                            and all(other[c] == op[c] for c in ("job", "rank", "pid", "tid"))
                            for other in ops
                        ),
                    )
                )
                told.add(("in another", op["depth"] > 0))
                told.add(("long", op["end_ns"] - op["start_ns"] > 65_536))
                told.add(("at its start", op["start_ns"] == middle))
    assert found > 100
    assert told == set(
        product(["after a cut", "in another", "long", "at its start"], [True, False])
    )
    streams = [row for pair in tables for row in brute_idle.idle_time_breakdown(*pair)]
    assert max(row["gap_count"] for row in streams) > 5
    assert any(row["stddev_ns"] > 0 for row in streams)
