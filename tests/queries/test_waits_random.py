"""sync_points over random calls, against plain Python."""

import random

import pytest
from queries.brute_sequences import place
from queries.brute_waits import sync_points
from queries.small_tables import completed
from queries.waits import JOBS, QUERY, SEEDS, SYNCHRONOUS, UNIX, WAITS
from seeds import seeds

COPIES = [
    "Memcpy DtoH (Device -> Pageable)",
    "Memcpy DtoH (Device -> Pinned)",
    "CopyDeviceToHost",
    "Memcpy HtoD (Pageable -> Device)",
    "Memcpy DtoD (Device -> Device)",
    "Memset (Device)",
]


CALLS = [*WAITS, *SYNCHRONOUS, "cudaMemcpyAsync", "cudaLaunchKernel", "cudaStreamWaitEvent", None]


OPS = ["aten::item", "aten::copy_", "aten::_local_scalar_dense", "Function", None]


def random_tables(rng):
    activities, ops = [], []
    for number in range(JOBS):
        base, scale = rng.choice([0, UNIX]), rng.choice([1, 1, 900])
        ranks, tids = rng.choice([[0], [0, 1, 3]]), rng.choice([["1"], ["1", "2", None]])
        longest = rng.choice([[0, 1, 2, 5], [1, 3, 9, 30], [0, 2, 8, 20, 60]])
        common = {"job": f"job{number}"}
        calls = rng.sample(CALLS, rng.choice([3, len(CALLS)]))
        for _ in range(rng.choice([0, 8, 30, 60, 120])):
            is_call = rng.random() < 0.5
            ops.append(
                common
                | {
                    "rank": rng.choice(ranks),
                    "tid": rng.choice(tids),
                    "cat": rng.choice(["cuda_runtime", "cuda_driver", "Runtime"])
                    if is_call
                    else rng.choice(["cpu_op", "cpu_op", "Operator", "python_function"]),
                    "name": rng.choice(calls if is_call else OPS),
                    "step": rng.choice([None, 1, 1, 2]),
                    "start_ns": base + scale * rng.randint(0, 60),
                    "dur_ns": scale * rng.choice(longest),
                }
            )
        for _ in range(rng.choice([0, 9, 20])):
            activities.append(
                common
                | {
                    "rank": rng.choice(ranks),
                    "device": rng.choice([None, 0, 1]),
                    "launch_id": None,
                    "start_ns": base + scale * rng.randint(0, 60),
                    "dur_ns": scale * rng.choice(longest),
                }
            )
    ops = [completed("host_ops", row, i) | {"cut_ns": None} for i, row in enumerate(ops)]
    place(ops)
    for op in ops:
        if op["cat"] not in ("cuda_runtime", "Runtime"):
            continue
        for _ in range(rng.choice([0, 1, 1, 1, 2])):
            is_copy = rng.random() < 0.9
            activities.append(
                {
                    "job": op["job"],
                    "rank": op["rank"],
                    "device": rng.choice([0, 1]),
                    "step": op["step"],
                    "kind": "memory" if is_copy else "computation",
                    "name": rng.choice(COPIES) if is_copy else "k",
                    "start_ns": op["start_ns"] + rng.choice([0, 2, 900]),
                    "dur_ns": rng.choice([0, 1, 3, 9]),
                    "launch_id": op["event_id"],
                    "launch_name": op["name"],
                    "launch_end_ns": op["end_ns"],
                }
            )
    return [completed("gpu_activities", row, i) for i, row in enumerate(activities)], ops


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_random_calls(host, seed):
    rng = random.Random(seed)
    activities, ops = random_tables(rng)
    tables = {"gpu_activities": activities, "host_ops": ops}
    parameters = {
        "only_jobs": [f"job{number}" for number in rng.sample(range(JOBS), 18)],
        "only_ranks": [0, 3],
        "only_steps": rng.choice([[1], [1, 2], []]),
    }
    for given in ({}, parameters, {"only_steps": [1, 2]}):
        wanted = sync_points(activities, ops, WAITS, SYNCHRONOUS, **given)
        host.compare(QUERY, wanted, tables, seed, **given)


@pytest.mark.seeds
def test_random_calls_are_worth_it():
    """Every case that the query has to tell apart comes up, most often."""
    rows, crossed = [], 0
    for seed in SEEDS:
        tables = random_tables(random.Random(seed))
        rows += sync_points(*tables, WAITS, SYNCHRONOUS)
        crossed += sum(op["cut_ns"] is not None for op in tables[1])
    assert crossed > 100
    assert {row["name"] for row in rows} == {
        *WAITS,
        *SYNCHRONOUS,
        "cudaMemcpyAsync",
        "cudaLaunchKernel",
        "cudaStreamWaitEvent",
        None,
        "aten::item",
        "aten::copy_",
        "aten::_local_scalar_dense",
    }
    for kind in ("wait", "copy", "operator"):
        of_kind = [row for row in rows if row["kind"] == kind]
        assert sum(row["count"] > 1 for row in of_kind) > 20
        assert sum(row["caller_count"] > 1 for row in of_kind) > 1
        assert sum(row["caller"] is None for row in of_kind) > 20
        assert sum(0 < row["self_ns"] < row["host_ns"] for row in of_kind) > 10
        assert sum(0 < row["gpu_busy_ns"] < row["wait_ns"] for row in of_kind) > 20
    operators = [row for row in rows if row["kind"] == "operator"]
    assert sum(0 < row["wait_ns"] < row["host_ns"] for row in operators) > 20


def random_intervals(rng, count):
    rows = [
        (rng.randint(0, 3), rng.randint(0, 40), rng.choice([0, 1, 5, 20])) for _ in range(count)
    ]
    return [(group, start, start + length) for group, start, length in rows]


@pytest.mark.parametrize("seed", seeds(20))
def test_covered_until(host, seed):
    """Time is a set of instants here."""
    rng = random.Random(seed)
    intervals = random_intervals(rng, rng.choice([0, 1, 10, 40]))
    asked = [(group, at) for group, at, _ in random_intervals(rng, 30)]
    host.con.execute(
        "CREATE OR REPLACE TEMP TABLE t1 (group_id BIGINT, start_ns BIGINT, end_ns BIGINT)"
    )
    host.con.execute(
        "CREATE OR REPLACE TEMP TABLE t2 (instant_id BIGINT, group_id BIGINT, at_ns BIGINT)"
    )
    host.con.executemany("INSERT INTO t1 VALUES (?, ?, ?)", intervals or [(9, 0, 1)])
    host.con.executemany(
        "INSERT INTO t2 VALUES (?, ?, ?)", [(number, *one) for number, one in enumerate(asked)]
    )
    found = host.con.execute("FROM covered_until(t1, t2) ORDER BY ALL").fetchall()
    covered = {(group, at) for group, start, end in intervals for at in range(start, end)}
    assert found == [
        (number, sum((group, at) in covered for at in range(until)))
        for number, (group, until) in enumerate(asked)
    ]


def test_a_graph_of_copies_is_no_blocking_copy(host):
    host.expect(
        "sync_points",
        "job rank name\n",
        ops="""
        event_id  cat           name             start_ns  dur_ns
        1         cuda_runtime  cudaGraphLaunch  0         50
        """,
        activities="""
        event_id  cat         kind    name                                 start_ns  dur_ns  launch_id  launch_name      launch_start_ns  launch_end_ns
        8         gpu_memcpy  memory  Memcpy~DtoH~(Device~->~Pageable)     10        5       1          cudaGraphLaunch  0                50
        9         gpu_memcpy  memory  Memcpy~DtoH~(Device~->~Pageable)     20        5       1          cudaGraphLaunch  0                50
        """,  # noqa: E501
    )
