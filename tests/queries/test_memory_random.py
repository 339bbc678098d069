"""Memory over random instants, against plain Python."""

import random

import pytest
from queries import brute_memory
from queries.brute_sequences import place
from queries.memory import JOBS, PEAK, SEEDS, TIMELINE, UNIX, memory
from queries.small_tables import completed
from seeds import seeds


def random_tables(rng):
    events, ops = [], []
    for number in range(JOBS):
        base, scale = rng.choice([0, -30, UNIX]), rng.choice([1, 1, 900])
        ranks, tids = rng.choice([[0], [0, 1, 3]]), rng.choice([["1"], ["1", "2", None]])
        devices = rng.sample([(0, 1), (1, 1), (0, 6), (-1, 0), (3, 0), (None, 1)], 3)
        common = {"job": f"job{number}"}
        most, is_told = rng.choice([2, 50, 2**40]), rng.choice([0, 0.8, 1, 1])
        for _ in range(rng.choice([0, 5, 20, 60])):
            device, device_type = rng.choice(devices)
            allocated = rng.randint(0, most) if rng.random() < is_told else None
            reserved = rng.choice([None, 0, rng.randint(0, 2 * most)])
            events.append(
                common
                | memory(
                    base + scale * rng.randint(0, 60),
                    rng.randint(-most, most),
                    allocated,
                    reserved,
                    device,
                    device_type,
                    rank=rng.choice(ranks),
                    tid=rng.choice(tids),
                    name=rng.choice(["[memory]"] * 9 + ["[OutOfMemory]", "other"]),
                )
            )
        for _ in range(rng.choice([0, 9, 40, 80])):
            is_step = rng.random() < 0.3
            ops.append(
                common
                | {
                    "rank": rng.choice(ranks),
                    "tid": rng.choice(tids),
                    "cat": rng.choice(["user_annotation", "cpu_op"])
                    if is_step
                    else rng.choice(["cpu_op", "cpu_op", "python_function", "cuda_runtime"]),
                    "name": f"ProfilerStep#{rng.choice([1, 2, 3, 6])}"
                    if is_step
                    else rng.choice(["aten::empty", "aten::mm", "f", None]),
                    "start_ns": base + scale * rng.randint(0, 50),
                    "dur_ns": scale * rng.choice([0, 1, 3, 9, 30]),
                }
            )
    ops = [completed("host_ops", row, i) | {"cut_ns": None} for i, row in enumerate(ops)]
    place(ops)
    by_id = {op["event_id"]: op for op in ops}
    for op in ops:
        outer, op["depth"] = op, 0
        while outer["parent_id"] is not None:
            outer = by_id[outer["parent_id"]]
            op["depth"] += 1
    return [completed("events", row, i) for i, row in enumerate(events)], ops


def marks_of(ops):
    return [
        op | {"step": int(op["name"].split("#")[1])}
        for op in ops
        if (op["name"] or "").startswith("ProfilerStep#")
    ]


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_random_instants(host, seed):
    rng = random.Random(seed)
    events, ops = random_tables(rng)
    tables, marks = {"events": events, "host_ops": ops}, marks_of(ops)
    parameters = {
        "only_jobs": [f"job{number}" for number in rng.sample(range(JOBS), 18)],
        "only_ranks": [0, 3],
        "only_steps": rng.choice([[1], [1, 2], [2, 6]]),
    }
    for given in ({}, parameters, {"only_steps": [1, 3, 6]}):
        wanted = list(brute_memory.memory_peak(events, ops, marks, **given))
        host.compare(PEAK, wanted, tables, seed, **given)
        given = given | rng.choice([{}, {"bucket_ns": rng.choice([1, 7, 9000])}])
        wanted = list(brute_memory.memory_timeline(events, marks, **given))
        host.compare(TIMELINE, wanted, tables, seed, **given)


@pytest.mark.seeds
def test_random_instants_are_worth_it():
    """Every case that the queries have to tell apart comes up, most often."""
    peaks, lines = [], []
    for seed in SEEDS:
        events, ops = random_tables(random.Random(seed))
        marks = marks_of(ops)
        peaks += brute_memory.memory_peak(events, ops, marks)
        lines += brute_memory.memory_timeline(events, marks)
    for column in peaks[0]:
        if column not in ("job", "rank", "device_type"):
            assert sum(row[column] is None for row in peaks) > 2, column
            assert len({row[column] for row in peaks}) >= 4, column
    assert sum(";" in (row["op_stack"] or "") for row in peaks) > 2
    assert sum((row["growth_per_step_bytes"] or 0) < 0 for row in peaks) > 5
    assert sum(row["change_count"] > 1 for row in lines) > 50
    assert {row["device"] for row in lines} == {None, -1, 0, 1}
