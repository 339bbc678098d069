"""No number in a trace makes a query fail: every argument gets every extreme, many at once."""

import json
import os

import every_query
import pytest
from hand_written import ingested
from hostile_numbers.extremes import EXTREMES, with_extremes
from seeds import seeds

import hta_sql

# Of the extremes, every fifth makes a job of test_all_extremes.
STEP = int(os.environ.get("SOAK_STEP", 5))


def archive_of(folder, traces, numbers, at_once=0.0):
    for number in numbers:
        job = folder / "traces" / f"extremes {number}"
        job.mkdir(parents=True)
        for rank, text in enumerate(with_extremes(traces, number, at_once)):
            (job / f"rank_{rank}.json").write_text(text)
    summary = hta_sql.ingest(folder / "traces", folder / "archive", workers=1)
    assert not summary.failed, summary
    for outcome in summary.traces:
        row = outcome.row
        assert row["event_count"] > 0.8 * (row["event_count"] + row["quarantined_count"])
    return folder / "archive"


@pytest.mark.parametrize("number", seeds([EXTREMES.index(str(2**62)), 30]))
def test_extremes_of_one_job(tmp_path, plain_traces, number):
    every_query.check(archive_of(tmp_path, plain_traces, [number]), uses_in=tmp_path)


@pytest.mark.queries
@pytest.mark.parametrize("at_once", [0.0, 0.9], ids=["few", "nearly all"])
def test_all_extremes(tmp_path, plain_traces, at_once):
    """Each number in a job of its own, in one archive; `make soak` takes all numbers."""
    numbers = range(0 if at_once else 1, len(EXTREMES), STEP)
    every_query.check(archive_of(tmp_path, plain_traces, numbers, at_once))


@pytest.mark.queries
def test_lists_of_ranks_that_cannot_be(tmp_path, plain_traces):
    """Nearly all groups say that their only member is rank 2^63 - 1, and two ranks are in them."""
    number = EXTREMES.index(str(-(2**63) + 1))
    every_query.check(archive_of(tmp_path, plain_traces, [number], 0.9))


def test_operators_without_a_name(tmp_path, plain_traces):
    """A kernel that one of them launched has no operator, and no shapes."""
    trace = json.loads(json.dumps(plain_traces[0]))
    for event in trace["traceEvents"]:
        if event.get("cat") == "cpu_op":
            event["name"] = None
    with ingested(tmp_path, json.dumps(trace)) as run:
        assert run.check("job_kernels") == []
        assert set(run.job_kernels()["op_name"].to_pylist()) == {None}
