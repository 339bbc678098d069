"""thread_stats over random rows, against plain Python."""

import random
from collections import Counter

import pytest
from queries.brute_threads import KINDS, category, is_loader, thread_stats
from queries.stacked import with_places
from seeds import seeds

SEEDS = range(24)


CATS = ["cpu_op", "Operator", "user_annotation", "python_function", "cuda_runtime", "cuda_driver"]


NAMES = [
    None,
    "aten::mm",
    "cudaStreamSynchronize",
    "autograd::x",
    "ProfilerStep#1",
    "enumerate(DataLoader)#It.__next__",
]


THREADS = [("1", "1"), ("1", "2"), ("2", "1"), (None, "2"), ("1", None)]


def random_tables(rng: random.Random) -> dict[str, list[dict]]:
    ops, activities, events = [], [], []
    for job, rank in [("i", 0), ("j", 0), ("j", 2)][: rng.choice([1, 3])]:
        ids = rng.sample(range(100), 60)
        for pid, tid in rng.sample(THREADS, rng.choice([1, 3])):
            for _ in range(rng.choice([1, 4, 12, 18])):
                start = rng.randrange(40)
                ops.append(
                    {
                        "job": job,
                        "rank": rank,
                        "event_id": ids.pop(),
                        "pid": pid,
                        "tid": tid,
                        "cat": rng.choice(CATS),
                        "name": rng.choice(NAMES),
                        "step": rng.choice([None, 1, 1, 2]),
                        "start_ns": start,
                        "end_ns": start + rng.choice([0, 1, 2, 5, 9, 20, 40]),
                    }
                )
        launches = [
            op for op in ops if (op["job"], op["rank"]) == (job, rank) and category(op) == "runtime"
        ]
        for _ in range(rng.choice([0, 5, 20])):
            launch = rng.choice([None, *launches])
            start = rng.randrange(60)
            activities.append(
                {
                    "job": job,
                    "rank": rank,
                    "event_id": 100 + len(activities),
                    "device": rng.choice([None, 0, 1]),
                    "stream": rng.choice([None, 7]),
                    "launch_id": launch and launch["event_id"],
                    "step": launch and launch["step"],
                    "launch_pid": launch and launch["pid"],
                    "launch_tid": launch and launch["tid"],
                    "start_ns": start,
                    "end_ns": start + rng.choice([0, 1, 2, 5, 20]),
                }
            )
        for _ in range(rng.choice([0, 4])):
            pid, tid = rng.choice(THREADS)
            events.append(
                {
                    "job": job,
                    "rank": rank,
                    "event_id": 200 + len(events),
                    "pid": pid,
                    "tid": tid,
                    "ph": rng.choice(["M", "M", "M", "X"]),
                    "name": rng.choice(["thread_name", "x"]),
                    "args": rng.choice([None, "{", '{"name": "one"}', '{"name": "two"}']),
                }
            )
    for row in ops + activities:
        row["dur_ns"] = row["end_ns"] - row["start_ns"]
    with_places(ops)
    return {"gpu_activities": activities, "host_ops": ops, "events": events}


def random_selection(rng: random.Random) -> dict:
    given = {"only_jobs": ["j"], "only_ranks": [0, 1], "only_steps": rng.choice([[1], [2, 3]])}
    return {name: value for name, value in given.items() if rng.random() < 0.4}


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_random_rows(host, seed):
    rng = random.Random(seed)
    tables = random_tables(rng)
    given = random_selection(rng) if seed % 3 == 0 else {}
    wanted = thread_stats(*tables.values(), **given)
    host.compare("thread_stats", wanted, tables, seed, **given)


@pytest.mark.seeds
def test_random_rows_are_worth_it():
    """Every case that the query has to tell apart comes up."""
    seen = Counter()
    for seed in SEEDS:
        tables = random_tables(random.Random(seed))
        found = thread_stats(*tables.values())
        for row in found:
            seen["role", row["role"]] += 1
            seen["named"] += row["thread_name"] is not None
            seen["overlapping kernels"] += row["kernel_busy_ns"] < row["kernel_ns"]
            seen["several of a launch"] += row["launch_count"] < row["kernel_count"]
            seen["idle"] += row["busy_ns"] < row["span_ns"]
            for kind in KINDS:
                seen[kind] += row[f"{kind}_ns"] > 0
        of_step = thread_stats(*tables.values(), only_steps=[1])
        seen["thread without the step"] += len(of_step) < len(found)
        seen["loaders"] += sum(map(is_loader, tables["host_ops"]))
        seen["crossed"] += sum("cut_ns" in op for op in tables["host_ops"])
        seen["equal spans"] += len(tables["host_ops"]) - len(
            {
                (op["job"], op["rank"], op["pid"], op["tid"], op["start_ns"], op["end_ns"])
                for op in tables["host_ops"]
            }
        )
    assert min(seen.values()) > 4, seen
