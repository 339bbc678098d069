"""What was planted in made-up jobs is what the fleet's queries find, from traces to results."""

from itertools import combinations

import pytest
from queries.plans import bad_joins

import hta_sql
from hta_sql.demo import write_job

pytestmark = pytest.mark.queries

HOSTS = ("h1", "h2", "h3", "h4")
SLOW = "h2"
CHANGED = 4  # of as many runs before it and from it on


def with_other_text(trace, *pairs):
    text = trace.read_text()
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    trace.write_text(text)


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    """Jobs of three ranks on three of four hosts, and runs of a job that become slower at once."""
    folder = tmp_path_factory.mktemp("fleet")
    jobs = {}
    for seed, hosts in enumerate(combinations(HOSTS, 3)):
        jobs[f"on {' '.join(hosts)}"] = (
            hosts,
            {"straggler": hosts.index(SLOW) if SLOW in hosts else None, "seed": seed},
        )
    for run in range(2 * CHANGED):
        jobs[f"nightly-{run}"] = (
            ("h5",),
            {"seed": 100 + run, "bottleneck": "data_loading" if run >= CHANGED else None},
        )
    for at, (job, (hosts, given)) in enumerate(jobs.items()):
        traces = write_job(folder / job, ranks=len(hosts), steps=2, layers=1, gzip=False, **given)
        base = int(traces[0].read_text().split('"baseTimeNanoseconds": ')[1].split(",")[0])
        for host, trace in zip(hosts, traces, strict=True):
            with_other_text(
                trace,
                ('"host_name": "demo-node-0"', f'"host_name": "{host}"'),
                (
                    f'"baseTimeNanoseconds": {base}',
                    f'"baseTimeNanoseconds": {base + at * 86_400_000_000_000}',
                ),
            )
    hta_sql.ingest([folder / job for job in jobs], folder / "archive", workers=1)
    with hta_sql.open(folder / "archive") as archive:
        archive.materialize()
    with hta_sql.open(folder / "archive") as archive:
        yield archive


def test_the_slow_host_is_found_and_no_other(fleet):
    result = fleet.host_outliers().to_pylist()
    judged = {row["host"]: row["is_outlier"] for row in result if row["is_outlier"] is not None}
    assert judged == {host: host == SLOW for host in HOSTS}
    slow, *others = result
    # Its kernels take 20 % longer; of ranks that all do the same, the median is a healthy one.
    assert slow["compute_ratio"] == pytest.approx(1.2, abs=0.03)
    assert slow["lost_gpu_ns"] > 2 * max(
        row["lost_gpu_ns"] for row in others if row["host"] != SLOW
    )
    assert fleet.host_outliers(min_jobs=4).column("is_outlier").to_pylist().count(True) == 0


def test_the_run_that_became_slower_is_found_and_no_other(fleet):
    result = fleet.job_trend(job_contains="nightly").to_pylist()
    assert [row["job"] for row in result] == [f"nightly-{run}" for run in range(2 * CHANGED)]
    assert {row["run_of"] for row in result} == {"nightly"}
    assert [row["job"] for row in result if row["is_change"]] == [f"nightly-{CHANGED}"]


def test_kernels_of_the_fleet_are_those_of_its_jobs(fleet):
    kept = fleet.sql(
        "SELECT sum(count)::BIGINT AS n, sum(total_ns)::BIGINT AS ns "
        "FROM fleet_kernels(top_k := 1000000)"
    ).to_pylist()
    seen = fleet.sql(
        "SELECT count(*) AS n, sum(dur_ns)::BIGINT AS ns FROM gpu_activities"
    ).to_pylist()
    assert kept == seen
    for query in ("fleet_kernels", "host_outliers", "job_trend", "job_kernels", "job_ranks"):
        assert fleet.check(query) == []


def test_no_join_grows_with_the_square(fleet):
    assert bad_joins(fleet.con, "FROM job_trend()") == []
    # With one row each, the fleet's total and what all GPUs are held against.
    for query in ("fleet_kernels", "host_outliers"):
        assert set(bad_joins(fleet.con, f"FROM {query}()")) == {"CROSS_PRODUCT"}
