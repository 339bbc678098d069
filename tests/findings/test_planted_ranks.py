"""The rules of communication and late ranks on jobs with planted faults, alone and in pairs."""

from __future__ import annotations

import gzip
import json

import orjson
import pytest
from findings.planted import TOLERANCE, Planted, assert_found, planted_jobs

import hta_sql
from hta_sql.demo import write_job

RULES = {
    "exposed_communication": "all_gather",
    "slow_collectives": "all_reduce",
    "small_collectives": "all_reduce",
    "straggler": "rank",
    "load_imbalance": "aten::_embedding_bag",
    "pipeline_bubble": "stages",
    "expert_imbalance": "aten::_grouped_mm",
}
PAIRS = (
    "straggler,load_imbalance",
    "exposed_communication,straggler",
    "slow_collectives,small_collectives",
)
APART = (  # two faults on different ranks, of which one can hide the other
    "straggler@1,host_bound@3",
    "host_bound@3,straggler@1",
    "straggler@1,full_precision@3",
    "load_imbalance@1,gpu_sync@2",
    "expert_imbalance@1,host_bound@2",
)
ELSEWHERE = ("straggler@0", "load_imbalance@1", "expert_imbalance@1")
JOBS = {
    **{rule: {"ranks": 2, "layers": 2, "bottleneck": rule} for rule in RULES},
    **{fault: {"ranks": 3, "layers": 2, "bottleneck": fault} for fault in ELSEWHERE},
    **{pair: {"ranks": 4, "layers": 2, "bottleneck": pair} for pair in PAIRS},
    **{pair: {"ranks": 4, "bottleneck": pair} for pair in APART},
    "slower_there": {"ranks": 2, "layers": 2, "bottleneck": "full_precision@1"},
    "healthy": {"ranks": 5, "layers": 2},
}


@pytest.fixture(scope="module")
def jobs(tmp_path_factory) -> dict[str, Planted]:
    return planted_jobs(tmp_path_factory.mktemp("ranks"), JOBS)


@pytest.mark.parametrize("rule", RULES)
def test_fault_is_found_first_with_its_gain(jobs, rule):
    assert_found(jobs[rule])
    row = jobs[rule].rows[0]
    assert RULES[rule] in row["subject"] + row["title"]


@pytest.mark.parametrize("fault", ELSEWHERE)
def test_fault_is_found_at_its_rank(jobs, fault):
    assert_found(jobs[fault])
    assert jobs[fault].rows[0]["rank"] == int(fault[-1])


@pytest.mark.parametrize("pair", PAIRS)
def test_two_faults_are_both_there(jobs, pair):
    assert_found(jobs[pair])


@pytest.mark.parametrize("pair", APART)
def test_faults_of_different_ranks_gain_what_the_job_gains(jobs, pair):
    """One rank hides what the other loses, in all or in part. A gain that is 0 can be an info."""
    job = jobs[pair]
    for fault in job.faults:
        rows = [row for row in job.rows if row["rule"] == fault.rule]
        gain = rows[0]["estimated_gain_ns"] if rows else 0
        assert abs(gain - fault.gain_ns) <= max(TOLERANCE * fault.gain_ns, 60_000), (fault, rows)
    largest = max(job.faults, key=lambda fault: fault.gain_ns)
    assert (job.rows[0]["rule"], job.rows[0]["rank"]) == (largest.rule, largest.ranks[0])


def test_ranks_that_do_not_communicate_do_not_wait_for_each_other(tmp_path):
    """The gain of one rank is its own, as for replicas of a service."""
    write_job(tmp_path / "job", ranks=2, layers=2, bottleneck="host_bound@1", straggler=None)
    [fault] = json.loads((tmp_path / "job/truth.json").read_text())["faults"]
    for file in (tmp_path / "job").glob("rank_*.json.gz"):
        trace = orjson.loads(gzip.decompress(file.read_bytes()))
        trace["traceEvents"] = [
            event for event in trace["traceEvents"] if "nccl" not in event["name"].lower()
        ]
        file.write_bytes(gzip.compress(orjson.dumps(trace)))
    hta_sql.ingest(tmp_path / "job", tmp_path / "archive")
    with hta_sql.open(tmp_path / "archive") as run:
        rows = run.findings().to_pylist()
    [row] = [row for row in rows if (row["rule"], row["rank"]) == ("host_bound", 1)]
    assert row["estimated_gain_ns"] == pytest.approx(fault["gain_ns"], rel=TOLERANCE)


@pytest.mark.parametrize("job", ["healthy", "slower_there"])
def test_none_without_its_fault(jobs, job):
    """slower_there: other kernels on one rank are a finding about these kernels."""
    above = [row for row in jobs[job].rows if row["severity"] not in ("info", "low")]
    assert not [row for row in above if row["rule"] in RULES]
