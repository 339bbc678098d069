"""Launches over random rows, against plain Python."""

import random

import pytest
from queries import brute_launches
from queries.small_tables import completed
from seeds import seeds

SEEDS = range(6)


JOBS = 12  # in one table, so that many small cases cost a few calls


UNIX = 1_712_151_111_631_234_567  # more digits than a double holds


OP_NAMES = ("aten::mm", "aten::mm", "aten::add", "custom", "autograd::engine", "ATen::mm")


KINDS = ("computation", "communication", "memory")


def random_rank(rng, job, rank):
    """Activities, and operators in which they are launched; ids begin anew with each rank."""
    base, longest, names = rng.choice([0, UNIX]), rng.choice([0, 5, 20]), rng.choice(["k", "kkm"])
    ids = iter(rng.sample(range(1000), 1000))
    common = {"job": job, "rank": rank}
    ops, launches, activities = [], [], []
    size = rng.choice([0, 1, 4, 20])
    for _ in range(rng.randint(size // 2, 2 * size)):
        around = rng.choice([None, *ops])
        ops.append(
            common
            | {
                "event_id": next(ids),
                "cat": rng.choice(["cpu_op", "cpu_op", "Operator", "user_annotation"]),
                "name": rng.choice(OP_NAMES),
                "start_ns": (around["start_ns"] if around else base) + rng.randint(0, 10),
                "dur_ns": rng.randint(0, 50),
                "op_id": around and around["event_id"],
            }
        )
    for _ in range(1 + size):
        op = rng.choice([None, *ops, *ops])
        start_ns = (op["start_ns"] if op else base) + rng.randint(0, 5)
        launches.append(
            {
                "launch_id": next(ids),
                "correlation": rng.randint(0, 9),
                "launch_name": rng.choice(
                    ["cudaLaunchKernel", "hipLaunchKernel", "cudaGraphLaunch"]
                ),
                "launch_start_ns": start_ns,
                "launch_end_ns": start_ns + rng.randint(0, longest),
                "step": rng.choice([None, 1, 2, 12]),
                "op_id": op and op["event_id"],
            }
        )
    without = dict.fromkeys(launches[0])
    for _ in range(rng.randint(size, 2 * size)):
        launch = rng.choice([without, *launches, *launches])
        around_ns = launch["launch_start_ns"] or base
        activities.append(
            common
            | launch
            | {
                "event_id": next(ids),
                "device": rng.choice([None, 0, 1]),
                "stream": rng.choice([None, 0, 7]),
                "kind": rng.choice(KINDS),
                "name": rng.choice(names),
                "start_ns": around_ns + rng.randint(-8, 2 * longest),
                "dur_ns": rng.randint(0, longest),
            }
        )
    return activities, ops


def random_tables(rng):
    activities, ops = [], []
    for number in range(JOBS):
        for rank in rng.choice([[0], [0, 1, 3]]):
            of_rank = random_rank(rng, f"job{number}", rank)
            activities += of_rank[0]
            ops += of_rank[1]
    return {
        "gpu_activities": [completed("gpu_activities", row, 0) for row in activities],
        "host_ops": [completed("host_ops", row, 0) for row in ops],
    }


def random_parameters(rng, query):
    parameters = {
        "only_jobs": [f"job{number}" for number in rng.sample(range(JOBS), 7)],
        "only_ranks": rng.choice([[0], [1, 3], [5]]),
        "only_steps": rng.choice([[1], [2, 12], []]),
    }
    if query != "op_launch_delay":
        parameters |= {
            "runtime_cutoff_ns": rng.choice([0, 3, 10]),
            "launch_delay_cutoff_ns": rng.choice([0, 3, 10]),
            "include_memory": rng.choice([False, True]),
        }
    return {name: value for name, value in parameters.items() if rng.random() < 0.5}


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_random_launches(gpu, seed):
    rng = random.Random(seed)
    tables = random_tables(rng)
    for query in ("launch_stats", "launch_summary", "op_launch_delay"):
        for given in ({}, random_parameters(rng, query)):
            wanted = list(getattr(brute_launches, query)(*tables.values(), **given))
            gpu.compare(query, wanted, tables, seed, **given)


@pytest.mark.seeds
def test_random_launches_are_worth_it():
    """Every case that the queries have to tell apart comes up."""
    tables = [random_tables(random.Random(seed)) for seed in SEEDS]
    activities = [row for table in tables for row in table["gpu_activities"]]
    stats = list(brute_launches.launch_stats(activities, [], 10, 10))
    for flag in ("is_short", "is_runtime_outlier", "is_delay_outlier"):
        assert {row[flag] for row in stats} == {False, True}
    assert {row["step"] for row in stats} == {None, 1, 2, 12}
    assert {row["stream"] for row in stats} == {None, 0, 7}
    assert len(stats) < len(activities)
    summaries = [row for table in tables for row in brute_launches.launch_summary(*table.values())]
    assert any(row["launch_count"] < row["activity_count"] for row in summaries)
    assert any(row["early_start_count"] for row in summaries)
    delays = [row for table in tables for row in brute_launches.op_launch_delay(*table.values())]
    assert any(row["count"] > 1 for row in delays)
    assert any(" | " in row["sequence"] and row["count"] > 1 for row in delays)
    assert any(row["mean_launch_to_kernel_ns"] < 0 for row in delays)
    through = 0
    for table in tables:
        op_of = {(op["job"], op["rank"], op["event_id"]): op for op in table["host_ops"]}
        for row in table["gpu_activities"]:
            op = brute_launches.innermost_aten(op_of, row["job"], row["rank"], row["op_id"])
            through += op is not None and op["event_id"] != row["op_id"]
    assert through > 20
