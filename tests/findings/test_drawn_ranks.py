"""Rules about communication and late ranks, on drawn jobs. Gains are counted in the drawings."""

from __future__ import annotations

import pytest
from findings.drawn_communication import communication_jobs
from findings.drawn_late import late_jobs
from queries.small_tables import SmallTables

RULES = (
    "exposed_communication",
    "slow_collectives",
    "small_collectives",
    "straggler",
    "load_imbalance",
    "expert_imbalance",
    "pipeline_bubble",
)


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, dict]]:
    """The findings of all drawn jobs, from one call: by job and rule."""
    small, drawn = SmallTables(), [*communication_jobs(), *late_jobs()]
    small.fill(
        gpu_activities=[row for job in drawn for row in job.activities],
        host_ops=[row for job in drawn for row in job.host_ops],
    )
    rows: dict[str, dict[str, dict]] = {job.job: {} for job in drawn}
    for row in small.run("findings"):
        if row["rule"] in RULES:
            rows[row["job"]].setdefault(row["rule"], row)
    return rows


@pytest.mark.parametrize(
    ("job", "rank", "gains"),
    [
        ("waits", None, {"exposed_communication": 200}),
        # The second call transfers 400, of which 150 are hidden. The first one is hidden for 150 of
        # 200, and the second one goes on at the same time: together they are exposed from 1000 on.
        ("partly_hidden", None, {"exposed_communication": 250}),
        # Twice 400 more than usual. What is left: eight times 100, and 500.
        ("slow_calls", None, {"slow_collectives": 800, "exposed_communication": 1300}),
        # Four of five latencies.
        ("small", None, {"small_collectives": 200, "exposed_communication": 50}),
        ("apart", None, {"exposed_communication": 250}),
        # 120 is the shortest of the calls of the first two sizes or more, 300 of the third. Fewer
        # than three calls tell nothing: there are three from the first size on.
        ("alone", 0, {"exposed_communication": 120}),
        ("alone_twice", None, {}),
        ("hidden", None, {}),
    ],
)
def test_gain_of_communication(found, job, rank, gains):
    assert {rule: row["estimated_gain_ns"] for rule, row in found[job].items()} == gains
    assert {row["rank"] for row in found[job].values()} <= {rank}


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        # 590 take 885 on rank 2, so the other ranks wait 295.
        ("slow", {"straggler": (2, 295)}),
        # a takes 400 on rank 2, and 100 on the others: 200 on average.
        ("heavy", {"load_imbalance": (2, 200)}),
        # Rank 2 takes 600, 300 and 435, of which a third is its factor of 1.5. With the mean of 200
        # for a, it would take 1.5 times 200 less.
        ("both", {"straggler": (2, 445), "load_imbalance": (2, 300)}),
        # One of the two slow ranks alone gains nothing: the other one stays.
        ("two_slow", {"straggler": (3, 295)}),
        # Experts take 400 on rank 2, and 200 on average.
        ("experts", {"expert_imbalance": (2, 200)}),
        # Twice 300 instead of a mean of 200, on another rank each time.
        ("rotating", {"expert_imbalance": (None, 200)}),
        # Sent at 100 instead of 200, the first micro-batch makes the step 100 shorter.
        ("late_send", {"pipeline_bubble": (None, 100)}),
    ],
)
def test_gain_of_late_ranks(found, job, expected):
    gains = {
        rule: (row["rank"], row["estimated_gain_ns"])
        for rule, row in found[job].items()
        if rule != "exposed_communication"
    }
    assert gains == {
        rule: (rank, pytest.approx(gain, abs=gain // 20)) for rule, (rank, gain) in expected.items()
    }


@pytest.mark.parametrize(
    "job", ["even", "late_start", "more_calls", "prompt_send", "unknown", "one_rank"]
)
def test_nobody_is_late(found, job):
    """Equal ranks, a rank that is late because its device was idle, a rank that runs a kernel more
    often, a pipeline that sends at once, collectives without arguments, and a rank alone."""
    assert set(found[job]) <= {"exposed_communication"}


def test_text_of_communication(found):
    slow = found["slow_calls"]["slow_collectives"]
    assert slow["subject"] == "all_reduce in default_pg"
    assert "Of 8 calls of all_reduce in default_pg in the trace, 2 take far" in slow["evidence"]
    assert "500 ns for 4.00 MB (8000.0 GB/s) instead of 100 ns" in slow["evidence"]
    assert found["waits"]["exposed_communication"]["confidence"] == "medium"
    bound = found["alone"]["exposed_communication"]
    assert bound["confidence"] == "low" and "Other members have no trace" in bound["evidence"]


def test_text_of_late_ranks(found):
    slow = found["slow"]["straggler"]
    assert slow["title"] == "All kernels are slower on rank 2 than on its peers"
    assert "take 1.50 times as long as on most other ranks: 295 ns more" in slow["evidence"]
    assert found["two_slow"]["straggler"]["subject"] == "ranks 3, 4"
    heavy = found["heavy"]["load_imbalance"]
    assert heavy["subject"] == "a"
    assert "Rank 2 spends 400 ns in the trace in a, and the other ranks 100 ns" in heavy["evidence"]
    late = found["late_send"]["pipeline_bubble"]["evidence"]
    assert "A good schedule of 2 stages and 2 micro-batches needs waits of 200 ns." in late
