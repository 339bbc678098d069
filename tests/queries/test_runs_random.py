"""baseline and regressions over random runs; Student's t."""

import random

import pytest
from queries.brute_runs import baseline, exceeded_by_chance, regressions
from queries.runs import QUANTILES
from queries.small_tables import completed
from seeds import seeds


def test_quantiles(compare):
    # From printed tables, so that this integration can be trusted.
    for freedom, printed in ((1, 636.619), (2, 31.599), (5, 6.869), (10, 4.587), (30, 3.646)):
        assert abs(exceeded_by_chance(freedom) - printed) < 0.0006

    def of_query(freedom):
        return compare.con.execute(f"SELECT student_t({freedom})").fetchall()[0][0]

    for freedom in range(1, 31):
        assert 0 <= of_query(freedom) - exceeded_by_chance(freedom) < 0.0011
    for freedom, t in QUANTILES.items():
        assert 0 <= t - exceeded_by_chance(freedom) < 0.0011
    for freedom in (31, 35, 60, 200):
        assert exceeded_by_chance(freedom) <= of_query(freedom) < 1.01 * exceeded_by_chance(freedom)


# Random runs

SEEDS = range(4)


UNIX = 1_712_151_111_631_234_567  # more digits than a double holds


KERNELS = {  # kind and usual time
    ("gemm<1>", "gemm"): ("computation", 30),
    ("gemm<2>", "gemm"): ("computation", 5),
    ("long", "long"): ("computation", 230),
    ("nccl", "nccl"): ("communication", 40),
    ("copy", "copy"): ("memory", 12),
    (None, None): ("computation", 7),
}


def random_tables(rng):
    """Runs of a program or two; some do other things, some are of other machines."""
    tables = {"gpu_activities": [], "host_ops": [], "traces": []}
    noise_ns = rng.choice([0, 0, 0, 1, 4])
    has_steps = rng.choice([True, True, False, None])
    usual = dict.fromkeys(KERNELS, 0) | {
        kernel: rng.randint(1, 2) for kernel in rng.sample(list(KERNELS), 4)
    }
    devices = {kernel: rng.choice([0, 0, 0, 1, None]) for kernel in KERNELS}
    job_count = rng.choice([4, 6, 8, 14])
    starts = rng.sample(range(100), job_count)
    if rng.random() < 0.7:
        starts.sort()
    for number in range(job_count):
        is_last = starts[number] == max(starts)
        job = f"{'eval' if rng.random() < 0.2 and not is_last else 'train'}-{number}"
        base = rng.choice([0, UNIX])
        began = None if rng.random() < 0.03 else starts[number if rng.random() < 0.9 else 0]
        machine = {
            "device_name": rng.choice(["H100"] * 16 + ["A100", None]),
            "world_size": rng.choice([8] * 16 + [4, None]),
        }
        ranks = rng.choice([[0], [0], [0, 3]])
        steps = rng.choice([1, 2, 4])
        if has_steps is False or (has_steps is None and rng.random() < 0.3):
            steps = 0
        times = dict(usual)  # in each step
        longer = dict.fromkeys(KERNELS, 0)
        for _ in range(3 if is_last else rng.random() < 0.1):
            kernel = rng.choice(list(KERNELS))
            times[kernel] = rng.choice([0, usual[kernel] + 1])
            longer[rng.choice(list(KERNELS))] = rng.choice([-3, 25])
            longer["long", "long"] = rng.choice([0, 1, 1, 3])
        for rank in ranks:
            common = {"job": job, "rank": rank}
            start_ns = began and began + rng.choice([0, 0, 30]) * rank
            tables["traces"].append(common | machine | {"status": "complete", "start_ns": start_ns})
            own_steps = [*range(1, steps + 1)]
            if len(own_steps) > 1 and rng.random() < 0.2:
                own_steps.pop()  # this rank's recording was the shorter one
            for step in [None, *own_steps]:
                at_ns = base + 2000 * (step or 0)
                if step:
                    tables["host_ops"] += random_step(rng, common, step, at_ns, noise_ns)
                elif steps and rng.random() < 0.7:
                    continue
                tables["gpu_activities"] += [
                    common
                    | {
                        "name": name,
                        "short_name": short_name,
                        "kind": kind,
                        "step": step,
                        "device": devices[name, short_name],
                        "start_ns": at_ns + 50 * place + rng.randint(0, noise_ns),
                        "dur_ns": max(
                            0, dur_ns + longer[name, short_name] + rng.randint(-noise_ns, noise_ns)
                        ),
                    }
                    for place, ((name, short_name), (kind, dur_ns)) in enumerate(KERNELS.items())
                    for _ in range(times[name, short_name])
                ]
    return {
        table: [completed(table, row, at) for at, row in enumerate(rows)]
        for table, rows in tables.items()
    }


def random_step(rng, common, step, start_ns, noise_ns):
    """Its annotation, perhaps on two threads; and an operator, which is none."""
    dur_ns = 800 + rng.randint(-noise_ns, noise_ns)
    row = common | {
        "cat": "user_annotation",
        "name": f"ProfilerStep#{step}",
        "step": step,
        "start_ns": start_ns,
        "dur_ns": dur_ns,
    }
    yield row
    if rng.random() < 0.2:
        yield row | {"tid": "2", "start_ns": start_ns + 30}
    yield row | {"cat": "cpu_op", "name": "aten::mm", "dur_ns": 9000}


def random_parameters(rng, tables):
    parameters = {
        "newest_job": rng.choice(tables["traces"])["job"],
        "job_contains": rng.choice(["train", "train", "-1", "eval"]),
        "run_limit": rng.choice([0, 1, 2, 5, 6, 20]),
        "short_names": rng.choice([False, True]),
    }
    return {name: value for name, value in parameters.items() if rng.random() < 0.3}


def random_cases(seed):
    """Tables and the parameters to ask with; each seed has several of both."""
    for number in range(5):
        rng = random.Random(f"{seed} {number}")
        tables = random_tables(rng)
        for given in ({}, random_parameters(rng, tables)):
            yield tables, given


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_random_rows(compare, seed):
    for tables, given in random_cases(seed):
        compare.compare("baseline", baseline(tables, **given), tables, seed, **given)
        compare.compare("regressions", regressions(tables, **given), tables, seed, **given)


@pytest.mark.seeds
def test_random_rows_are_worth_it():
    """Every case that the queries have to tell apart comes up, and more than once."""
    found = dict.fromkeys(
        (
            "added",
            "deleted",
            "increased",
            "decreased",
            "unchanged",
            None,
            "less than 1 %",
            "noisy",
            "some do not count",
            "a kernel that a run has not",
            "no step_time",
            "nothing",
            "step",
            "kernel",
        ),
        0,
    )
    for seed in SEEDS:
        for tables, given in random_cases(seed):
            rows = regressions(tables, **given)
            found["nothing"] += not rows
            found["no step_time"] += "step_time" not in {row["name"] for row in rows}
            for row in rows:
                found[row["change"]] += 1
                if row["change"] == "unchanged" and row["low_ns"] is not None:
                    is_within = row["low_ns"] <= row["test_ns"] <= row["high_ns"]
                    found["noisy" if is_within else "less than 1 %"] += row["diff_ns"] != 0
                found["some do not count"] += row["run_count"] >= 5
                if row["change"] not in (None, "unchanged"):
                    found[row["kind"]] += 1
            found["a kernel that a run has not"] += sum(
                row["kind"] == "kernel" and row["min_ns"] == 0 < row["max_ns"]
                for row in baseline(tables, **given)
            )
    assert min(found.values()) >= 5, found


# Noise

USUAL_NS = {f"kernel{number}": 100_000 * (number + 1) for number in range(10)}


SLOW = "kernel6"


def rows_of_programs(compare, noise, slower=1, programs=60):
    """Of each program, the newest run after 8, in which a kernel takes so many times as long."""
    traces, activities = [], []
    for program in range(programs):
        rng = random.Random(f"noise {program}")
        for run in range(9):
            job, start_ns = f"program{program:02}-run{run}", 0
            traces.append({"job": job, "start_ns": run})
            for name, usual_ns in USUAL_NS.items():
                dur_ns = round(usual_ns * rng.gauss(1, noise))
                if run == 8 and name == SLOW:
                    dur_ns = round(dur_ns * slower)
                activities.append(
                    {"job": job, "name": name, "start_ns": start_ns, "dur_ns": dur_ns}
                )
                start_ns += dur_ns
    compare.fill(activities, traces=traces)
    return [
        compare.run("regressions", job_contains=f"program{program:02}-")
        for program in range(programs)
    ]


def test_noise_is_no_change(compare):
    rows = [row for rows in rows_of_programs(compare, noise=0.03) for row in rows]
    assert {row["run_count"] for row in rows} == {8}
    assert len(rows) > 1000
    assert sum(row["change"] != "unchanged" for row in rows) <= 5


def test_a_slower_kernel_is_the_first_of_the_kernels(compare):
    """Before it may be what it makes longer, as gpu_busy; the others' noise adds to that."""
    for rows in rows_of_programs(compare, noise=0.01, slower=1.2, programs=20):
        first, *others = [row for row in rows if row["kind"] == "kernel"]
        assert (first["name"], first["change"]) == (SLOW, "increased")
        assert 0.14 < first["diff_ratio"] < 0.26
        assert all(
            row["kind"] == "step" and row["change"] == "increased"
            for row in rows[: first["position"] - 1]
        )
        assert sum(row["change"] != "unchanged" for row in others) <= 1
