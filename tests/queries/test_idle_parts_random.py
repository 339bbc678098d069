"""Idle times cut at the launch, over random jobs, against plain Python."""

import random

import pytest
from queries import brute_idle_parts
from queries.idle import placed
from queries.small_tables import completed
from seeds import seeds

SEEDS = range(4)
JOBS = 24
UNIX = 1_712_151_111_631_234_567
QUERIES = ("idle_time_breakdown", "idle_gaps", "idle_reasons")
PYTHON = (
    "train.py(1): <module>",
    "train.py(9): main",
    "model.py(4): forward",
    "/lib/python3.11/threading.py(975): run",
    "/lib/python3.11/threading.py(975): wait",
    "multiprocessing/process.py(314): _bootstrap",
    "/lib/torch/utils/data/dataloader.py(630): __next__",
    "/lib/torch/utils/data/dataloader.py(630): other",
)
NAMES = (
    ("cpu_op", ("aten::mm", "aten::add")),
    ("user_annotation", ("forward", "enumerate(DataLoader)#_Iter.__next__", "ProfilerStep#1")),
    ("user_annotation", ("ProfilerStep#2", "ProfilerStep#3")),
    ("cuda_runtime", ("cudaLaunchKernel", "cudaStreamSynchronize")),
    ("python_function", PYTHON),
    ("python_function", PYTHON),
)


def random_launches(rng, base, scale):
    """A few calls that several activities share, as those of a graph do."""
    starts = [rng.randint(0, 70) for _ in range(rng.choice([1, 4, 12]))]
    return [
        {
            "launch_id": 1000 + i,
            "launch_start_ns": base + scale * start,
            "launch_end_ns": base + scale * (start + rng.choice([0, 1, 2, 5, 20])),
            "launch_pid": "1",
            "launch_tid": rng.choice(["1", "1", "2", None]),
        }
        for i, start in enumerate(starts)
    ]


def random_ops(rng, common, base, scale):
    for _ in range(rng.choice([0, 3, 20, 60])):
        cat, names = rng.choice(NAMES)
        yield common | {
            "pid": "1",
            "tid": rng.choice(["1", "1", "2", None]),
            "cat": cat,
            "name": rng.choice(names),
            "start_ns": base + scale * rng.randint(0, 60),
            "dur_ns": scale * rng.choice([0, 1, 2, 3, 5, 8, 13, 40, 90]),
        }
    if rng.random() < 0.3:  # frames around all
        for name in rng.sample(PYTHON, 2):
            yield common | {
                "cat": "python_function",
                "name": name,
                "start_ns": base - 10 * scale,
                "dur_ns": 200 * scale,
            }


def random_tables(rng):
    activities, ops = [], []
    for number in range(JOBS):
        base, scale = rng.choice([0, UNIX]), rng.choice([1, 1, 7, 9_000, 70_000, 3_000_000])
        devices, streams = (
            rng.choice([[0], [0, 1], [None, 7]]),
            rng.choice([[7], [7, 8], [None, 0]]),
        )
        for rank in rng.choice([[0], [0, 1, 3]]):
            common = {"job": f"job{number}", "rank": rank}
            launches = random_launches(rng, base, scale)
            for _ in range(rng.choice([0, 1, 3, 9, 25])):
                launch = rng.choice(launches)
                activities.append(
                    common
                    | {
                        "device": rng.choice(devices),
                        "stream": rng.choice(streams),
                        "step": rng.choice([None, 1, 2]),
                        "name": rng.choice(["gemm", "relu", "add"]),
                        "start_ns": base + scale * rng.randint(0, 80),
                        "dur_ns": scale * rng.choice([0, 1, 2, 3, 9]),
                    }
                    | (launch if rng.random() < 0.85 else dict.fromkeys(launch))
                )
            ops += random_ops(rng, common, base, scale)
    return (
        [completed("gpu_activities", row, i) for i, row in enumerate(activities)],
        placed([completed("host_ops", row, i) for i, row in enumerate(ops)]),
    )


def random_parameters(rng, query):
    parameters = {
        "only_jobs": [f"job{number}" for number in rng.sample(range(JOBS), 14)],
        "only_ranks": rng.choice([[0], [1, 3], [5]]),
        "only_steps": rng.choice([[1], [1, 2], []]),
        "kernel_gap_ns": rng.choice([2, 3, 20]),
    }
    if query == "idle_gaps":
        parameters["min_gap_ns"] = rng.choice([2, 5, 100])
    if query == "idle_reasons":
        parameters["top_k"] = rng.choice([0, 1, 3])
    return {name: value for name, value in parameters.items() if rng.random() < 0.5}


@pytest.mark.parametrize("seed", seeds(SEEDS))
@pytest.mark.parametrize("query", QUERIES)
def test_random_jobs(gpu, query, seed):
    rng = random.Random(seed)
    activities, ops = random_tables(rng)
    tables = {"gpu_activities": activities, "host_ops": ops}
    for given in ({}, {"kernel_gap_ns": 3}, random_parameters(rng, query)):
        wanted = list(getattr(brute_idle_parts, query)(activities, ops, **given))
        gpu.compare(query, wanted, tables, seed, **given)


@pytest.mark.seeds
def test_random_jobs_are_worth_it():
    """Every case that the queries have to tell apart comes up often."""
    tables = [random_tables(random.Random(seed)) for seed in SEEDS]
    gaps, reasons, streams = (
        [row for pair in tables for row in getattr(brute_idle_parts, query)(*pair, kernel_gap_ns=3)]
        for query in ("idle_gaps", "idle_reasons", "idle_time_breakdown")
    )
    causes = {"host_wait", "launching", "queued", "kernel_wait", "unknown"}
    for cause in causes:
        assert sum(row["cause"] == cause for row in gaps) > 30, cause
    assert {row["cause"] for row in streams} == causes | {"dependency"}
    assert sum(row["cause"] == "dependency" for row in streams) > 20
    assert sum(row["host_event_id"] is None for row in gaps) > 100
    assert sum(row["host_event_id"] is not None for row in gaps) > 100
    # A part with several innermost spans, and one without an outermost span.
    assert len(reasons) > 2 * len({(r["job"], r["rank"], r["device"], r["cause"]) for r in reasons})
    assert sum(row["name"] is not None and row["outer_name"] is None for row in reasons) > 20
    assert sum(row["name"] != row["outer_name"] for row in reasons) > 100
    assert {"ProfilerStep", "forward", "train.py(9): main", "aten::mm"} <= {
        row["name"] for row in reasons
    }
    assert sum(row["gap_count"] > 2 for row in reasons) > 10
    long = [row for row in gaps if row["part_ns"] > 2**21]
    assert sum(row["host_event_id"] is not None for row in long) > 20
    shared = [row for pair in tables for row in pair[0] if row["launch_id"] is not None]
    assert len(shared) > 1.3 * len({brute_idle_parts.launch_of(row) for row in shared})
    assert sum(op["cut_ns"] is not None for pair in tables for op in pair[1]) > 100
