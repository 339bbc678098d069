"""module_stats over random rows, against plain Python."""

import random
from collections import Counter

import pytest
from queries.brute_modules import Model, is_call, module_stats
from queries.stacked import with_places
from seeds import seeds

NAMES = ["A", "B", "B_1", "C"]


SEEDS = range(24)


def random_tables(rng: random.Random) -> dict[str, list[dict]]:
    """Two threads that run the model, and one that runs it backward, in part once more."""
    ops, activities = [], []
    for job, rank in [("i", 0), ("j", 0), ("j", 2)][: rng.choice([1, 3])]:
        ids = rng.sample(range(100), 80)
        has_modules = rng.random() < 0.8

        def new(
            tid, cat, name, since, lengths=(0, 1, 2, 5, 9), ids=ids, job=job, rank=rank, **given
        ):
            start = rng.randrange(since, since + 40)
            ops.append(
                {
                    "job": job,
                    "rank": rank,
                    "event_id": ids.pop(),
                    "pid": "1",
                    "tid": tid,
                    "cat": cat,
                    "name": name,
                    "step": rng.choice([None, 1, 1, 2]),
                    "start_ns": start,
                    "end_ns": start + rng.choice(lengths),
                }
                | given
            )
            return ops[-1]

        launches, forward = [None, {"event_id": 999, "step": 1}], []
        for tid, since, some in (("1", 0, 16), ("2", 0, 6), ("3", 30, 7)):
            for _ in range(has_modules and rng.randrange(some)):
                name = f"nn.Module: {rng.choice(NAMES)}"
                new(tid, "python_function", name, since, (0, 5, 9, 20, 40))
            for _ in range(rng.randrange(9)):
                cat = rng.choice(["cpu_op", "cpu_op", "Operator", "user_annotation"])
                op = new(tid, cat, rng.choice(["aten::mm", "nn.Module: A"]), since)
                forward.append(op["event_id"])
            for _ in range(rng.randrange(9)):
                launches.append(new(tid, "cuda_runtime", "launch", since))
        for _ in range(rng.randrange(9)):
            new(
                "3",
                "cpu_op",
                "Backward",
                30,
                (5, 9, 20, 40),
                is_backward=True,
                forward_id=rng.choice([None, *forward]),
            )
        for _ in range(rng.choice([0, 5, 20])):
            launch = rng.choice(launches)
            start = rng.randrange(100)
            activities.append(
                {
                    "job": job,
                    "rank": rank,
                    "event_id": 100 + len(activities),
                    "device": rng.choice([None, 0, 1]),
                    "stream": rng.choice([None, 7]),
                    "launch_id": launch and launch["event_id"],
                    "step": launch and launch["step"],
                    "start_ns": start,
                    "end_ns": start + rng.choice([0, 1, 2, 5, 20]),
                }
            )
    for row in ops + activities:
        row["dur_ns"] = row["end_ns"] - row["start_ns"]
    with_places(ops)
    return {"gpu_activities": activities, "host_ops": ops}


def random_selection(rng: random.Random) -> dict:
    given = {"only_jobs": ["j"], "only_ranks": [0, 1], "only_steps": rng.choice([[1], [2, 3]])}
    return {name: value for name, value in given.items() if rng.random() < 0.4}


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_random_rows(host, seed):
    rng = random.Random(seed)
    tables = random_tables(rng)
    given = random_selection(rng) if seed % 3 == 0 else {}
    wanted = list(module_stats(*tables.values(), **given))
    host.compare("module_stats", wanted, tables, seed, **given)


@pytest.mark.parametrize("seed", seeds(SEEDS[:6]))
def test_self_times_add_up_to_all_activities(host, seed):
    tables = random_tables(random.Random(seed))
    host.fill(**tables)
    found = Counter()
    for row in host.run("module_stats"):
        found[row["job"], row["rank"]] += (
            row["forward_self_kernel_ns"] + row["backward_self_kernel_ns"]
        )
    with_modules = {(op["job"], op["rank"]) for op in tables["host_ops"] if is_call(op)}
    wanted = Counter()
    for row in tables["gpu_activities"]:
        if (row["job"], row["rank"]) in with_modules:
            wanted[row["job"], row["rank"]] += row["dur_ns"]
    assert +found == +wanted


@pytest.mark.seeds
def test_random_rows_are_worth_it():
    """Every case that the query has to tell apart comes up."""
    seen = Counter()
    for seed in SEEDS:
        tables = random_tables(random.Random(seed))
        ops = tables["host_ops"]
        for job, rank in {(op["job"], op["rank"]) for op in ops}:
            of_rank = [op for op in ops if (op["job"], op["rank"]) == (job, rank)]
            model = Model(of_rank)
            seen["rank without modules"] += not model.calls
            for call in model.calls:
                path = model.path(call["event_id"])
                seen["deep"] += len(path) > 3
                seen["in itself"] += path.count(path[-1]) > 1
                again = call["is_backward"] and call["module_id"] is None
                seen["again, at its place"] += again and len(path) > 1
                seen["again, but first"] += again and len(path) == 1
                seen["crossed"] += call.get("cut_ns") is not None
            for row in tables["gpu_activities"]:
                if (row["job"], row["rank"]) != (job, rank):
                    continue
                path, is_backward = model.owner(row)
                launch = model.ops.get(row["launch_id"])
                seen["in a module", is_backward] += bool(path)
                seen["in none", is_backward] += not path
                seen["by the forward operator"] += bool(path) and launch["module_id"] is None
                seen["of both"] += bool(path) and (
                    launch["module_id"] is not None and launch["forward_id"] is not None
                )
    assert min(seen.values()) > 4, seen
