"""Queries on random small jobs: against plain Python, their headers, and their order."""

import random

import pytest
from queries import brute_force
from queries.small_tables import completed
from seeds import seeds

SEEDS = range(8)
JOBS = 30  # in one table, so that a few hundred small cases cost a few dozen calls
QUERIES = (
    "temporal_breakdown",
    "step_breakdown",
    "kernel_kind_breakdown",
    "kernel_stats",
    "kernel_distribution",
    "comm_comp_overlap",
    "profiler_steps",
)
BY_NAME = ("kernel_stats", "kernel_distribution")
UNIX = 1_712_151_111_631_234_567  # more digits than a double holds

NAMES = {
    "computation": ("void gemm<float>(int)", "void gemm<half>(int)", "relu<float>()", "add"),
    "communication": ("ncclDevKernel<float>(int)", "ncclDevKernel<half>(int)", "gemm"),
    "memory": ("Memcpy HtoD", "Memset"),
}


def random_tables(rng):
    activities, ops = [], []
    for number in range(JOBS):
        base = rng.choice([0, UNIX])
        ranks, devices = rng.choice([[0], [0, 1, 3]]), rng.choice([[0], [0, 1], [None, 7]])
        longest = rng.choice([0, 3, 8, 30])
        common = {"job": f"job{number}"}
        for _ in range(rng.choice([0, 1, 2, 6, 15, 40])):
            kind = rng.choice(rng.choice([["computation"], brute_force.KINDS]))
            name = rng.choice(NAMES[kind])
            activities.append(
                common
                | {
                    "rank": rng.choice(ranks),
                    "device": rng.choice(devices),
                    "step": rng.choice([None, 1, 2, 12]),
                    "kind": kind,
                    "name": name,
                    "short_name": name.removeprefix("void ").partition("<")[0],
                    "start_ns": base + rng.randint(0, 40),
                    "dur_ns": rng.randint(0, longest),
                }
            )
        for _ in range(rng.choice([0, 1, 12])):
            ops.append(
                common
                | {
                    "rank": rng.choice(ranks),
                    "cat": rng.choice(["cpu_op", "Operator", "user_annotation", "python_function"]),
                    "name": rng.choice(["aten::mm", "ProfilerStep#1", "ProfilerStep#2"]),
                    "step": rng.choice([None, 1, 2]),
                    "start_ns": base + rng.randint(0, 40),
                    "dur_ns": rng.randint(0, 20),
                }
            )
    return (
        [completed("gpu_activities", row, i) for i, row in enumerate(activities)],
        [completed("host_ops", row, i) for i, row in enumerate(ops)],
    )


def random_parameters(rng, query):
    parameters = {
        "only_jobs": [f"job{number}" for number in rng.sample(range(JOBS), 18)],
        "only_ranks": rng.choice([[0], [1, 3], [5]]),
        "only_steps": rng.choice([[1], [2, 12], []]),
    }
    if query in BY_NAME:
        parameters |= {
            "top_k": rng.choice([0, 1, 2, 3]),
            "name_contains": rng.choice(["gemm", "float", "Mem"]),
            "short_names": True,
        }
    return {name: value for name, value in parameters.items() if rng.random() < 0.4}


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_random_jobs(gpu, seed):
    rng = random.Random(seed)
    activities, ops = random_tables(rng)
    tables = {"gpu_activities": activities, "host_ops": ops}
    for query in QUERIES:
        for given in ({}, random_parameters(rng, query)):
            wanted = list(getattr(brute_force, query)(activities, ops, **given))
            gpu.compare(query, wanted, tables, seed, **given)


@pytest.mark.seeds
def test_random_jobs_are_worth_it():
    """Every case that the queries have to tell apart comes up."""
    activities = [row for seed in SEEDS for row in random_tables(random.Random(seed))[0]]
    by_device = [group for _, group in brute_force.grouped(activities, "job", "rank", "device")]
    assert any(row["dur_ns"] == 0 for row in activities)
    assert any(not brute_force.instants(group) for group in by_device)
    assert {row["step"] for row in activities} == {None, 1, 2, 12}
    assert {kinds["kinds"] for kinds in brute_force.kernel_kind_breakdown(activities, [])} == {
        "communication",
        "computation",
        "memory",
        "communication+computation",
        "communication+memory",
        "computation+memory",
        "communication+computation+memory",
    }
    assert any(row["name"] == "others" for row in brute_force.kernel_stats(activities, [], top_k=2))
