"""Kernels of a fleet, added up over the stored kernels of its jobs."""

import random
from math import ceil, isclose
from statistics import median

import pytest
from fleet.stored_tables import StoredTables
from seeds import seeds

KEY = ("device_name", "kind", "name", "op_name", "input_dims", "input_types", "concrete_inputs")


@pytest.fixture(scope="module")
def fleet():
    return StoredTables("job_kernels")


def kernel(job, count, total_ns, tflops=None, **more):
    """A row of job_kernels: a matrix product on an H100 unless told."""
    return {
        "job": job,
        "device_name": "H100",
        "kind": "computation",
        "name": "gemm",
        "op_name": "aten::mm",
        "input_dims": "[[2,3],[3,4]]",
        "input_types": "[]",
        "is_rest": False,
        "count": count,
        "total_ns": total_ns,
        "achieved_tflops": tflops,
    } | more


def test_speeds_of_jobs_and_what_is_lost_by_them(fleet):
    # Job j has j + 1 calls that take 100 + 10 j ns each. A tenth of 11 jobs is reached with the
    # second one, the half with the sixth.
    rows = [kernel(f"j{j}", j + 1, (j + 1) * (100 + 10 * j), 20 - j) for j in range(11)]
    rest = {"is_rest": True, "name": None, "op_name": None, "input_dims": None}
    rows.append(kernel("j0", 1, 44_000, **rest))
    fleet.keep(job_kernels=rows)
    [row] = fleet.result("fleet_kernels")
    assert (row["job_count"], row["count"]) == (11, 66)
    assert (row["total_ns"], row["total_frac"]) == (11_000, 0.2)
    assert [row[f"mean_{at}_ns"] for at in ("min", "p10", "p50", "max")] == [100, 110, 150, 200]
    assert [row[f"tflops_{at}"] for at in ("min", "p50", "max")] == [10, 15, 20]
    assert row["saved_p10_ns"] == sum((j + 1) * 10 * (j - 1) for j in range(2, 11))
    assert row["saved_p50_ns"] == sum((j + 1) * 10 * (j - 5) for j in range(6, 11))


def test_gpus_of_other_names_are_other_rows(fleet):
    fleet.keep(
        job_kernels=[
            kernel("a", 1, 50),
            kernel("a", 1, 200, device_name="A100"),
            kernel("b", 1, 100),
            kernel("b", 1, 50, device_name=None),
        ]
    )
    seen = [
        (row["device_name"], row["job_count"], row["total_frac"], row["saved_p10_ns"])
        for row in fleet.result("fleet_kernels")
    ]
    assert seen == [("A100", 1, 0.5, 0), ("H100", 2, 0.375, 50), (None, 1, 0.125, 0)]


@pytest.mark.parametrize(
    "more", [{"kind": "communication"}, {"input_dims": None}, {"op_name": None, "input_dims": None}]
)
def test_calls_of_any_size_and_waiting_ones_are_not_held_against_each_other(fleet, more):
    fleet.keep(job_kernels=[kernel("a", 1, 50, **more), kernel("b", 1, 100, **more)])
    [row] = fleet.result("fleet_kernels")
    assert (row["saved_p10_ns"], row["saved_p50_ns"]) == (None, None)
    assert (row["mean_min_ns"], row["mean_max_ns"]) == (50, 100)


def counted(rows, only_jobs=None, top_k=100, min_jobs=1):
    """The query's rows in plain Python."""
    rows = [row for row in rows if only_jobs is None or row["job"] in only_jobs]
    everything = sum(row["total_ns"] for row in rows)
    groups = {}
    for row in rows:
        if not row["is_rest"]:
            groups.setdefault(tuple(row.get(column) for column in KEY), []).append(row)
    result = []
    for key, of_jobs in groups.items():
        means = sorted(int(row["total_ns"] / row["count"] + 0.5) for row in of_jobs)
        speeds = [s for row in of_jobs if (s := row["achieved_tflops"]) is not None]
        n = len(means)
        p10, p50 = means[ceil(n / 10) - 1], means[ceil(n / 2) - 1]
        told = key[1] != "communication" and key[4] is not None
        saved = [
            sum(max(0, row["total_ns"] - row["count"] * best) for row in of_jobs) if told else None
            for best in (p10, p50)
        ]
        total = sum(row["total_ns"] for row in of_jobs)
        result.append(
            dict(zip(KEY, key, strict=True))
            | {
                "job_count": n,
                "count": sum(row["count"] for row in of_jobs),
                "total_ns": total,
                "total_frac": total / everything if everything else None,
                "mean_min_ns": means[0],
                "mean_p10_ns": p10,
                "mean_p50_ns": p50,
                "mean_max_ns": means[-1],
                "tflops_min": min(speeds, default=None),
                "tflops_p50": median(speeds) if speeds else None,
                "tflops_max": max(speeds, default=None),
                "saved_p10_ns": saved[0],
                "saved_p50_ns": saved[1],
            }
        )
    result = [row for row in result if row["job_count"] >= min_jobs]
    result.sort(key=lambda row: (-row["total_ns"], [(row[c] is None, row[c] or "") for c in KEY]))
    return [row | {"position": at} for at, row in enumerate(result[:top_k], start=1)]


@pytest.mark.parametrize("seed", seeds(30))
def test_random_fleets(fleet, seed):
    rng = random.Random(seed)
    rows, seen = [], set()
    for _ in range(rng.randint(0, 120)):
        row = kernel(
            f"j{rng.randint(0, 25)}",
            count := rng.randint(1, 4),
            rng.choice([0, 7, 60]) * count,
            rng.choice([None, 1.0, 2.5]),
            device_name=rng.choice(["H100", "A100", None]),
            kind=rng.choice(["computation", "communication", "memory"]),
            name=rng.choice(["gemm", None]),
            input_dims=rng.choice([None, "[]", "[[1]]"]),
            is_rest=rng.random() < 0.1,
        )
        if row["is_rest"]:
            row |= dict.fromkeys(KEY[2:])
        grain = (row["job"], row["is_rest"], *(row.get(column) for column in KEY))
        if grain not in seen:
            seen.add(grain)
            rows.append(row)
    for given in ({}, {"top_k": 3, "min_jobs": 2, "only_jobs": [f"j{j}" for j in range(12)]}):
        fleet.keep(job_kernels=rows)
        result, wanted = fleet.result("fleet_kernels", **given), counted(rows, **given)
        assert len(result) == len(wanted)
        for one, other in zip(result, wanted, strict=True):
            assert one.keys() == other.keys()
            for column, value in other.items():
                same = isclose(one[column], value) if type(value) is float else one[column] == value
                assert same, (column, one, other)
        fleet.keep(job_kernels=rng.sample(rows, len(rows)))
        assert fleet.run("fleet_kernels", **given) == result
