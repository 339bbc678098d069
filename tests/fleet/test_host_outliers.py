"""GPUs that are slow in job after job, from the stored ranks of the jobs."""

import random
from statistics import median

import pytest
from fleet.stored_tables import StoredTables
from seeds import seeds


@pytest.fixture(scope="module")
def fleet():
    return StoredTables("job_ranks")


def rank(job, host, ratio, number=0, **more):
    """A row of job_ranks: of 1,000 ns that are expected, on GPU 0 of its host unless told."""
    expected = 0 if ratio is None else 1000
    return {
        "job": job,
        "rank": number,
        "host": host,
        "device_name": "H100",
        "local_rank": 0,
        "gpu_span_ns": 2000,
        "compute_ratio": ratio,
        "expected_ns": expected,
        "compared_ns": round(expected * (ratio or 0)),
        "launch_ratio": 1.0,
        "late_count": 0,
        "lost_gpu_ns": 0,
    } | more


def jobs(**hosts):
    """Ranks of jobs: of each job {host: compute_ratio}."""
    return [
        rank(job, host, ratio, at)
        for job, of_job in hosts.items()
        for at, (host, ratio) in enumerate(of_job.items())
    ]


def verdicts(fleet, rows, **parameters):
    """is_outlier of each GPU, by host and local rank where that is not 0."""
    fleet.keep(job_ranks=rows)
    result = fleet.result("host_outliers", **parameters)
    random.Random(0).shuffle(rows)
    fleet.keep(job_ranks=rows)
    assert fleet.run("host_outliers", **parameters) == result
    return {
        row["host"] + (f"/{row['local_rank']}" if row["local_rank"] else ""): row["is_outlier"]
        for row in result
    }


SLOW = {
    "a": {"h1": 1.00, "h2": 1.24, "h3": 1.00},
    "b": {"h1": 1.00, "h2": 1.22, "h4": 0.99},
    "c": {"h2": 1.23, "h3": 1.01, "h4": 1.00},
}


def test_a_host_that_is_slow_in_all_its_jobs(fleet):
    assert verdicts(fleet, jobs(**SLOW)) == {"h1": False, "h2": True, "h3": False, "h4": False}
    first, *_ = fleet.run("host_outliers")
    assert (first["host"], first["compute_ratio"], first["slow_frac"]) == ("h2", 1.23, 1.0)
    # Medians 1, 1.23, 1.005 and 0.995: the middle is 1.0025, the deviations .0025, .2275, .0025
    # and .0075, their median .005.
    assert first["z_score"] == pytest.approx(0.6745 * 0.2275 / 0.005)
    assert (first["job_count"], first["evidence_count"], first["extra_compute_ns"]) == (3, 3, 690)


def test_without_a_gpu_that_can_be_judged_none_is_slow(fleet):
    """There is no middle to be slower than."""
    fleet.keep(job_ranks=jobs(a={"h1": 1.0, "h2": 1.5}))
    assert [row["slow_frac"] for row in fleet.run("host_outliers")] == [None, None]
    assert [row["slow_frac"] for row in fleet.run("host_outliers", min_jobs=1)] == [1.0, 0.0]


@pytest.mark.parametrize(
    ("more", "given", "wanted"),
    [
        # One odd job of three.
        ({"a": {"h1": 1.3, "h3": 1.0}, "d": {"h1": 1.0, "h5": 1.0}}, {}, False),
        # Little slower than others, whatever their scatter.
        ({"a": {"h1": 1.02, "h3": 1.0}, "b": {"h1": 1.02, "h4": 1.0}}, {}, False),
        (
            {"a": {"h1": 1.02, "h3": 1.0}, "b": {"h1": 1.02, "h4": 1.0}},
            {"min_slowdown": 0.01},
            True,
        ),
        # In one job only.
        ({"a": {"h1": 1.5, "h3": 1.0}, "b": {"h4": 1.0}}, {}, None),
        ({"a": {"h1": 1.5, "h3": 1.0}, "b": {"h4": 1.0}}, {"min_jobs": 1}, True),
        # In several, but compared with nobody.
        ({"a": {"h1": None, "h3": 1.0}, "b": {"h1": None, "h4": 1.0}}, {}, None),
    ],
)
def test_evidence(fleet, more, given, wanted):
    others = {f"x{at}": {f"n{at}": 1.0, f"n{at + 1}": 1.0, f"n{at + 2}": 1.0} for at in range(9)}
    assert verdicts(fleet, jobs(**others, **more), **given)["h1"] is wanted


def test_jobs_on_one_host_do_not_hide_that_it_is_slow(fleet):
    """Of its five jobs three are alone on it, and there all its GPUs are alike."""
    alone = [
        rank(f"alone{at}", "h2", 1.0, gpu, local_rank=gpu) for at in range(3) for gpu in range(2)
    ]
    across = [
        rank(f"across{at}", host, 1.2 if host == "h2" else 1.0, number, local_rank=number % 2)
        for at, hosts in enumerate(["h1 h2 h3", "h2 h3 h4", "h1 h3 h4"])
        for number, host in enumerate(host for host in hosts.split() for _ in range(2))
    ]
    found = verdicts(fleet, alone + across)
    assert [name for name, slow in found.items() if slow] == ["h2", "h2/1"]
    row, *_ = fleet.run("host_outliers")
    assert (row["job_count"], row["evidence_count"]) == (5, 2)
    assert (row["host_gpu_count"], row["host_outlier_count"]) == (2, 2)


def test_a_slow_gpu_among_its_neighbours(fleet):
    """Where all jobs are on one host, neighbours are all there is."""
    rows = [
        rank(f"j{host}{at}", host, 1.1 if (host, gpu) == ("h1", 3) else 1.0, gpu, local_rank=gpu)
        for host in ("h1", "h2")
        for at in range(3)
        for gpu in range(4)
    ]
    found = verdicts(fleet, rows)
    assert [name for name, slow in found.items() if slow] == ["h1/3"] and len(found) == 8


def test_what_others_lost(fleet):
    rows = [
        rank("a", "h1", 1.0, 0, lost_gpu_ns=100, late_count=2),
        rank("a", "h2", 1.0, 1, lost_gpu_ns=None),
        rank("b", "h1", 1.0, 0, lost_gpu_ns=500, late_count=3),
        rank("b", "h2", 1.0, 1),
    ]
    fleet.keep(job_ranks=rows)
    seen = {
        row["host"]: (row["late_count"], row["lost_gpu_ns"], row["lost_gpu_frac"])
        for row in fleet.result("host_outliers")
    }
    assert seen == {"h1": (5, 600, 600 / 8000), "h2": (0, None, None)}


def test_ranks_of_no_known_host_or_gpu(fleet):
    rows = jobs(a={"h1": 1.0}) + [
        rank("a", None, 1.0, 1, local_rank=None),
        rank("b", "h2", None, 1, local_rank=None),
    ]
    assert verdicts(fleet, rows) == {"h1": None}


def judged(rows, min_jobs, min_slowdown):
    """(compute_ratio, z_score, is_outlier) of each GPU in plain Python."""
    hosts, gpus = {}, {}
    for row in rows:
        hosts.setdefault(row["job"], set()).add(row["host"])
        if row["host"] is not None:
            gpus.setdefault((row["host"], row["local_rank"]), []).append(row)
    ratios = {}
    for gpu, of_gpu in gpus.items():
        told = [row for row in of_gpu if row["compute_ratio"] is not None]
        across = [row for row in told if len(hosts[row["job"]] - {None}) > 1]
        ratios[gpu] = [
            row["compute_ratio"] for row in (across if len(across) >= min_jobs else told)
        ]
    known = [median(of_gpu) for of_gpu in ratios.values() if len(of_gpu) >= min_jobs]
    middle = median(known) if known else None
    deviation = median(abs(x - middle) for x in known) if known else None
    result = {}
    for gpu, of_gpu in ratios.items():
        ratio, z, verdict = median(of_gpu) if of_gpu else None, None, None
        if len(of_gpu) >= min_jobs:
            z = 0.6745 * (ratio - middle) / deviation if deviation else None
            often = sum(x / middle - 1 >= min_slowdown for x in of_gpu) > len(of_gpu) / 2
            verdict = ratio / middle - 1 >= min_slowdown and often and (z is None or z >= 3.5)
        result[gpu] = (ratio, z, verdict)
    return result


@pytest.mark.parametrize("seed", seeds(30))
def test_random_fleets(fleet, seed):
    rng = random.Random(seed)
    slow = {(f"h{rng.randint(0, 9)}", rng.randint(0, 1)) for _ in range(2)}
    rows = []
    for job in range(rng.randint(0, 40)):
        hosts = rng.sample([f"h{at}" for at in range(10)] + [None], rng.randint(1, 4))
        for number, (host, gpu) in enumerate((host, gpu) for host in hosts for gpu in range(2)):
            ratio = rng.choice([0.99, 1.0, 1.01, 1.02]) + 0.08 * ((host, gpu) in slow)
            rows.append(
                rank(
                    f"j{job}", host, rng.choice([ratio, ratio, ratio, None]), number, local_rank=gpu
                )
            )
    for given in ({"min_jobs": 2, "min_slowdown": 0.03}, {"min_jobs": 4, "min_slowdown": 0.0}):
        fleet.keep(job_ranks=rows)
        result = {
            (row["host"], row["local_rank"]): (
                row["compute_ratio"],
                row["z_score"],
                row["is_outlier"],
            )
            for row in fleet.result("host_outliers", **given)
        }
        wanted = judged(rows, **given)
        assert result.keys() == wanted.keys()
        for gpu, (ratio, z, verdict) in wanted.items():
            assert result[gpu] == (
                None if ratio is None else pytest.approx(ratio, rel=1e-12),
                None if z is None else pytest.approx(z, rel=1e-6, abs=1e-9),
                verdict,
            ), gpu
