"""What each rank of a job did, and how its kernels compare, on small tables."""

import random
from math import floor, isclose
from statistics import median

import pytest
from fleet.stored_tables import StoredTables
from queries.brute_force import breakdown
from queries.made_job import make
from queries.small_tables import completed
from seeds import seeds


@pytest.fixture(scope="module")
def jobs():
    return StoredTables()


def kernels(rank, *durations, **more):
    """Activities one after the other; the first name is gemm, unless told."""
    return [
        {"rank": rank, "event_id": at, "name": "gemm", "start_ns": 100 * at, "dur_ns": dur_ns}
        | more
        for at, dur_ns in enumerate(durations)
    ]


def column(jobs, name):
    return {row["rank"]: row[name] for row in jobs.result("job_ranks")}


def test_kernels_are_held_against_the_same_kernels(jobs):
    # Rank 1 runs half as many of them, rank 2 is slow, and what rank 3 runs is no other's.
    jobs.fill(
        gpu_activities=[
            *kernels(0, 10, 10, 10, 10),
            *kernels(1, 10, 10),
            *kernels(2, 13, 13, 13, 13),
            *kernels(3, 50, name="relu"),
            *kernels(0, 70, kind="communication"),
        ],
        traces=[{"rank": rank} for rank in range(5)],
    )
    assert column(jobs, "compute_ratio") == {0: 1.0, 1: 1.0, 2: 1.3, 3: None, 4: None}
    assert column(jobs, "compared_ns") == {0: 40, 1: 20, 2: 52, 3: 0, 4: 0}
    assert column(jobs, "expected_ns") == {0: 40, 1: 20, 2: 40, 3: 0, 4: 0}
    assert column(jobs, "kernel_ns") == {0: 40, 1: 20, 2: 52, 3: 50, 4: 0}


@pytest.mark.parametrize(
    "more", [{"name": "relu"}, {"grid": [2, 1, 1]}, {"block": [64, 1, 1]}, {"op_id": 7}]
)
def test_others_are_not_the_same_kernel(jobs, more):
    """A kernel of another name, grid, block or operator; and on a GPU of another name."""
    jobs.fill(
        gpu_activities=[*kernels(0, 10), *kernels(1, 20, **more), *kernels(2, 10), *kernels(3, 40)],
        host_ops=[{"rank": 1, "event_id": 7, "name": "aten::mm", "start_ns": 0, "dur_ns": 1}],
        traces=[
            {"rank": rank, "device_name": "A100" if rank == 3 else "H100"} for rank in range(4)
        ],
    )
    assert column(jobs, "compute_ratio") == {0: 1.0, 1: None, 2: 1.0, 3: None}


@pytest.mark.parametrize(
    ("devices", "wanted"),
    [
        ({0: ("a", 0), 1: ("a", 1), 2: ("b", 0), 3: ("b", 1)}, {0: 0, 1: 1, 2: 0, 3: 1}),
        # Each process sees one GPU alone.
        ({0: ("a", 0), 1: ("a", 0), 2: ("b", 0), 3: ("b", 0)}, {0: 0, 1: 1, 2: 0, 3: 1}),
        # Traces of some ranks alone.
        ({1: ("a", 1), 6: ("b", 2)}, {1: 1, 6: 2}),
        ({0: (None, 0), 1: ("a", 0)}, {0: None, 1: 0}),
        # One without a GPU.
        ({0: ("a", None), 1: ("a", 3), 2: ("a", 5)}, {0: None, 1: 3, 2: 5}),
        ({0: ("a", None), 1: ("a", 0), 2: ("a", 0)}, {0: None, 1: 0, 2: 1}),
    ],
)
def test_which_gpu_of_its_host(jobs, devices, wanted):
    jobs.fill(
        gpu_activities=[
            row
            for rank, (_, device) in devices.items()
            if device is not None
            for row in kernels(rank, 10, device=device)
        ],
        traces=[{"rank": rank, "host": host} for rank, (host, _) in devices.items()],
    )
    assert column(jobs, "local_rank") == wanted


def test_launches_and_steps(jobs):
    def launched(rank, *durations):
        return [
            row | {"launch_id": 50 + at // 2, "launch_start_ns": 0, "launch_end_ns": dur_ns}
            for at, row in enumerate(kernels(rank, *[5] * 2 * len(durations)))
            for dur_ns in [durations[at // 2]]
        ]

    jobs.fill(
        gpu_activities=[*launched(0, 4, 4, 90), *launched(1, 4, 4, 4), *launched(2, 10, 10, 4)],
        host_ops=[
            {
                "rank": 0,
                "event_id": 90 + at,
                "cat": "user_annotation",
                "start_ns": 100 * at,
                "name": f"ProfilerStep#{at}",
                "dur_ns": 70 + at,
            }
            for at in range(2)
        ],
        traces=[{"rank": rank} for rank in range(3)],
    )
    assert column(jobs, "launch_count") == {0: 3, 1: 3, 2: 3}
    assert column(jobs, "launch_p50_ns") == {0: 4, 1: 4, 2: 10}
    assert column(jobs, "launch_ratio") == {0: 1.0, 1: 1.0, 2: 2.5}
    assert column(jobs, "step_count") == {0: 2, 1: 0, 2: 0}
    assert column(jobs, "step_mean_ns") == {0: 71, 1: None, 2: None}


@pytest.mark.parametrize(
    "given",
    [{"straggler": 5}, {"straggler": 2, "cause": "host"}, {"with_steps": False, "messages": True}],
)
def test_what_began_with_a_rank_is_as_in_lost_gpu_time(jobs, given):
    jobs.fill(**make(**given).tables())
    lost = {}
    for row in jobs.run("lost_gpu_time"):
        count, ns = lost.get(row["rank"], (0, 0))
        lost[row["rank"]] = (count + row["late_count"], ns + row["lost_gpu_ns"])
    seen = {
        row["rank"]: (row["late_count"], row["lost_gpu_ns"])
        for row in jobs.result("job_ranks")
        if row["late_count"]
    }
    assert seen == lost and (len(seen) > 1 or "straggler" in given)
    if "straggler" in given:
        assert max(seen, key=lambda rank: seen[rank][1]) == given["straggler"]


def random_job(rng):
    rows = [
        {
            "job": f"j{rng.randint(0, 2)}",
            "rank": rng.randint(0, 4),
            "device": rng.choice([0, 0, 1]),
            "kind": rng.choice(["computation"] * 3 + ["communication", "memory"]),
            "name": rng.choice(["gemm", "relu", None]),
            "grid": rng.choice([[1, 1, 1], None]),
            "start_ns": rng.randint(0, 300),
            "dur_ns": rng.choice([0, 7, 10, 40]),
        }
        for _ in range(rng.choice([0, 10, 80]))
    ]
    traces = [
        {
            "job": f"j{job}",
            "rank": rank,
            "host": rng.choice(["a", "b", None]),
            "device_name": rng.choice(["H100", "H100", None]),
        }
        for job in range(3)
        for rank in range(5)
    ]
    return {
        "gpu_activities": [completed("gpu_activities", row, at) for at, row in enumerate(rows)],
        "traces": [completed("traces", row, at) for at, row in enumerate(traces)],
    }


@pytest.mark.parametrize("seed", seeds(12))
def test_random_jobs(jobs, seed):
    rng = random.Random(seed)
    tables = random_job(rng)
    jobs.fill(**tables)
    result = jobs.result("job_ranks")
    gpu = {(row["job"], row["rank"]): row["device_name"] for row in tables["traces"]}
    assert [(row["job"], row["rank"]) for row in result] == sorted(gpu)
    times = {}
    for row in tables["gpu_activities"]:
        if row["kind"] == "computation":
            at = row["job"], row["rank"]
            key = row["job"], gpu[at], row["name"], str(row.get("grid"))
            times.setdefault(key, {}).setdefault(at, []).append(row["dur_ns"])
    compared = dict.fromkeys(gpu, (0, 0))
    for of_ranks in times.values():
        typical = median(sum(calls) / len(calls) for calls in of_ranks.values())
        for at, calls in of_ranks.items():
            if len(of_ranks) > 1:
                mine, expected = compared[at]
                compared[at] = mine + sum(calls), expected + floor(len(calls) * typical + 0.5)
    of_devices = {}
    for row in breakdown(tables["gpu_activities"], "job", "rank", "device"):
        of_devices.setdefault((row["job"], row["rank"]), []).append(row)
    for row in result:
        at = row["job"], row["rank"]
        mine, expected = compared[at]
        assert (row["compared_ns"], row["expected_ns"]) == (mine, expected)
        ratio = mine / expected if expected else None
        assert row["compute_ratio"] == ratio or isclose(row["compute_ratio"], ratio)
        for column_of in (
            "busy_ns",
            "idle_ns",
            "compute_ns",
            "communication_ns",
            "exposed_communication_ns",
            "exposed_memory_ns",
        ):
            assert row[column_of] == sum(each[column_of] for each in of_devices.get(at, []))
    jobs.fill(**{table: rng.sample(rows, len(rows)) for table, rows in tables.items()})
    assert jobs.run("job_ranks") == result
    some = jobs.run("job_ranks", only_jobs=["j1"])
    assert some == [row for row in result if row["job"] == "j1"]
