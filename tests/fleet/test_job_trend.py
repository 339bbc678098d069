"""The runs of a job over time, and where their step times changed."""

import random
from datetime import datetime, timedelta

import pytest
from fleet.stored_tables import StoredTables


@pytest.fixture(scope="module")
def fleet():
    """When a run was is told with its stored row, as if by its traces."""
    tables = StoredTables("job_summary")
    tables.con.execute(
        "CREATE OR REPLACE VIEW jobs AS SELECT job, started_at FROM stored_job_summary"
    )
    return tables


START = datetime(2026, 3, 1)


def runs(steps, name="run", **more):
    """Rows of job_summary, a run a day with these step times."""
    return [
        {
            "job": f"{name}-{at:04}",
            "started_at": START + timedelta(days=at),
            "device_name": "H100",
            "rank_count": 8,
            "step_p50_ns": None if step is None else round(step),
            "busy_frac": 0.5,
            "exposed_communication_frac": 0.1,
            "idle_frac": 0.5,
        }
        | more
        for at, step in enumerate(steps)
    ]


def changes(fleet, steps, **parameters):
    """{run: by how many percent} for each run with which step times changed."""
    rows = runs(steps)
    fleet.keep(job_summary=random.Random(0).sample(rows, len(rows)))
    result = fleet.result("job_trend", **parameters)
    assert [row["job"] for row in result] == [row["job"] for row in rows]
    assert [row["step_ns"] for row in result] == [row["step_p50_ns"] for row in rows]
    return {at: round(100 * row["diff_ratio"]) for at, row in enumerate(result) if row["is_change"]}


def noisy(seed, *levels, scatter=0.01):
    """Step times about these levels, each for so many runs."""
    rng = random.Random(seed)
    return [rng.gauss(1, scatter) * level for level, count in levels for _ in range(count)]


DRAWN = {
    "constant": ([1000] * 20, {}),
    "a step up": ([1000] * 10 + [1100] * 10, {10: 10}),
    "a step up, in noise": (noisy(1, (1e6, 10), (1.1e6, 10)), {10: 10}),
    "up and back down": ([1000] * 8 + [1250] * 8 + [1000] * 8, {8: 25, 16: -20}),
    "up for three runs": ([1000] * 8 + [1250] * 3 + [1000] * 8, {8: 25, 11: -20}),
    "two stairs": ([1000] * 8 + [1100] * 8 + [1210] * 8, {8: 10, 16: 10}),
    "one odd run": ([1000] * 8 + [2000] + [1000] * 8, {}),
    "two odd runs": ([1000] * 8 + [2000] * 2 + [1000] * 8, {}),
    "less than 2 %": ([10000] * 8 + [10190] * 8, {}),
    "just 2 %": ([10000] * 8 + [10200] * 8, {8: 2}),
    "the last three": ([1000] * 10 + [1100] * 3, {10: 10}),
    "the first three": ([1000] * 3 + [1100] * 10, {3: 10}),
    "the last two": ([1000] * 10 + [1100] * 2, {}),
    "a slow drift": ([100_000 + 100 * at for at in range(60)], {}),
    "missing": ([1000, None, 1000, 1000, None, 1100, None, 1100, 1100], {5: 10}),
    "all missing": ([None] * 9, {}),
    "two runs": ([1000, 2000], {}),
    "one run": ([1000], {}),
    "none": ([], {}),
    "nothing": ([0] * 6, {}),
    "from nothing": ([0] * 6 + [10] * 6, {}),
}


@pytest.mark.parametrize("case", DRAWN)
def test_drawn(fleet, case):
    steps, wanted = DRAWN[case]
    if case == "from nothing":  # by how much, no percentage can tell
        fleet.keep(job_summary=runs(steps))
        found = [row for row in fleet.result("job_trend") if row["is_change"]]
        assert [(row["before_ns"], row["after_ns"], row["diff_ratio"]) for row in found] == [
            (0, 10, None)
        ]
        return
    assert changes(fleet, steps) == wanted


def test_a_drift_is_told(fleet):
    fleet.keep(job_summary=runs([100_000 + 100 * at for at in range(60)]))
    result = fleet.result("job_trend")
    assert result[0]["drift_ratio"] == 0
    # Medians of runs 0 to 4 and 55 to 59.
    assert result[55]["drift_ratio"] == pytest.approx(105_700 / 100_200 - 1)


def test_too_few_runs_to_tell(fleet):
    fleet.keep(job_summary=runs([1000, 1000, 1000, 1100, 1100, 1100]))
    result = fleet.result("job_trend")
    assert [row["is_change"] for row in result] == [None, None, None, True, None, None]
    assert [row["before_ns"] for row in result] == [None, 1000, 1000, 1000, 1000, 1000]
    assert [row["after_ns"] for row in result] == [1000, 1100, 1100, 1100, 1100, 1100]


def test_parameters(fleet):
    steps = [1000] * 9 + [1100] * 3 + [1000] * 9
    assert changes(fleet, steps) == {9: 10, 12: -9}
    assert changes(fleet, steps, min_change=0.095) == {9: 10}
    assert changes(fleet, steps, run_limit=9) == {}
    assert changes(fleet, steps, run_limit=3) == {9: 10, 12: -9}
    assert changes(fleet, steps, run_limit=2) == changes(fleet, steps, run_limit=0) == {}


FALSE_ALARMS = {
    "normal": lambda rng: rng.gauss(1, 0.03),
    "skewed": lambda rng: rng.lognormvariate(0, 0.03),
    "heavy tails": lambda rng: 1 + 0.02 * rng.gauss(0, 1) / max(0.3, abs(rng.gauss(0, 1))),
    "small": lambda rng: rng.gauss(1, 0.001),
}


@pytest.mark.parametrize("length", [6, 10, 25, 80])
@pytest.mark.parametrize("noise", FALSE_ALARMS)
def test_noise_alone_is_hardly_ever_a_change(fleet, noise, length):
    """In at most 3 % of 200 series; measured with many more, it is 1 %."""
    rng = random.Random(f"{noise} {length}")
    rows = [
        row
        for series in range(200)
        for row in runs(
            [1e7 * FALSE_ALARMS[noise](rng) for _ in range(length)], name=f"series{series:03}x"
        )
    ]
    fleet.keep(job_summary=rows)
    false = {row["run_of"] for row in fleet.result("job_trend") if row["is_change"]}
    assert len(false) <= 6


@pytest.mark.parametrize("length", [6, 10, 25])
def test_changes_are_found_in_noise(fleet, length):
    """8 % in the middle, in noise of 1 %; and of half a per cent where there are six runs."""
    rng = random.Random(length)
    middle, scatter = length // 2, 0.005 if length == 6 else 0.01
    rows = [
        row
        for series in range(100)
        for row in runs(
            [1e7 * rng.gauss(1, scatter) * (1 + 0.08 * (at >= middle)) for at in range(length)],
            name=f"series{series:03}x",
        )
    ]
    fleet.keep(job_summary=rows)
    found = [row["position"] - 1 for row in fleet.result("job_trend") if row["is_change"]]
    assert found.count(middle) >= 85
    assert len(found) - found.count(middle) <= 5


def test_what_is_a_run_of_what(fleet):
    rows = [
        *runs([1], "bert-2026-11", job="bert-2026-11-03"),
        *runs([2], job="bert-17"),
        *runs([3], job="bert"),
        *runs([4], job="bert-17", rank_count=4),
        *runs([5], job="other name"),
        *runs([6], job="123"),
        *runs([7], job="12", device_name=None),
        *runs([8], job="bert_large-1"),
        *runs([9], job="tägï-9"),
    ]
    rows[3]["job"] = "bert-18"
    fleet.fill(
        traces=[
            {"job": "other name", "tags": {"model": "bert", "team": "x"}},
            {"job": "bert-17", "tags": {"team": "y"}},
        ]
    )
    fleet.keep(job_summary=rows)
    seen = {row["job"]: (row["run_of"], row["rank_count"]) for row in fleet.result("job_trend")}
    assert seen == {
        "bert-2026-11-03": ("bert", 8),
        "bert-17": ("bert", 8),
        "bert": ("bert", 8),
        "bert-18": ("bert", 4),
        "other name": ("bert", 8),
        "123": ("123", 8),
        "12": ("12", 8),
        "bert_large-1": ("bert_large", 8),
        "tägï-9": ("tägï", 8),
    }
    by_team = {row["job"]: row["run_of"] for row in fleet.run("job_trend", of_tag="team")}
    assert (by_team["bert-17"], by_team["other name"], by_team["bert"]) == ("y", "x", "bert")
    named = fleet.run("job_trend", job_contains="bert_")
    assert [row["job"] for row in named] == ["bert_large-1"]
    assert [row["job"] for row in fleet.run("job_trend", only_jobs=["bert"])] == ["bert"]
    fleet.fill()


def test_runs_without_a_date_come_last(fleet):
    rows = runs([1, 2, 3])
    rows[0]["started_at"] = None
    rows[2]["started_at"] = START
    fleet.keep(job_summary=rows)
    assert [row["step_ns"] for row in fleet.result("job_trend")] == [3, 2, 1]
