"""How the rank that bounds a job spends a step: the relation job_splits."""

import pytest
from written_archives import activity

import hta_sql

PARTS = ("compute_ns", "exposed_communication_ns", "exposed_memory_ns", "idle_ns")


def step(number: int, start: int, end: int, **given) -> dict:
    return {
        "event_id": 1000 + number,
        "cat": "user_annotation",
        "name": f"ProfilerStep#{number}",
        "start_ns": start,
        "dur_ns": end - start,
    } | given


def work(start: int, end: int, of_step: int | None = None, kind="computation", **given) -> dict:
    return activity(start_ns=start, dur_ns=end - start, step=of_step, kind=kind, **given)


@pytest.fixture
def row_of(make_archive):
    """The row of a job with these steps and activities, and its parts."""

    def row_of(activities: list[dict], steps: list[dict] = ()) -> tuple[dict, list[int]]:
        numbered = [row | {"event_id": at} for at, row in enumerate(activities)]
        tables = {"host_ops": steps} if steps else {}
        with hta_sql.open(make_archive(gpu_activities=numbered, **tables)) as run:
            [row] = run.sql("FROM job_splits(NULL)").to_pylist()
        return row, [row[part] for part in PARTS]

    return row_of


def test_a_step_lasts_until_its_last_activity_ends(row_of):
    """
    host    [   1   )[   2   )[   3   )
    device    [==1====)  [2 2 )  [==3====)
    steps            [   2    )[   3     )
    """
    row, parts = row_of(
        [
            work(10, 110, 1),
            work(120, 150, 2),
            work(140, 170, 2, "communication"),
            work(165, 180, 2, "memory"),
            work(205, 210, None, "memory"),  # without a launch
            work(210, 320, 3),
        ],
        [step(1, 0, 100), step(2, 100, 200), step(3, 200, 300)],
    )
    # Step 2 is from 110 to 200, and step 3 from 200 to 320. Step 1 is left out: it is the first.
    assert (row["step_count"], row["unit"], row["unit_ns"], row["mean_ns"]) == (2, "step", 100, 105)
    assert parts == [(30 + 110) // 2, 20 // 2, (10 + 5) // 2, 105 - 70 - 10 - 7]


def test_time_between_recordings_is_in_no_step(row_of):
    row, parts = row_of(
        [work(0, 100, 1), work(110, 160, 2), work(1010, 1040, 11)],
        [step(1, 0, 100), step(2, 100, 200), step(11, 1000, 1100)],
    )
    assert row["mean_ns"] == 100
    assert parts == [(50 + 30) // 2, 0, 0, 60]


def test_without_steps_the_trace_is_split(row_of):
    row, parts = row_of(
        [work(5, 15), work(25, 35, None, "communication"), work(30, 45, None, "memory")]
    )
    assert (row["step_count"], row["unit"], row["mean_ns"]) == (None, "trace", 40)
    assert parts == [10, 10, 10, 10]


def test_devices_of_a_rank_count_alike(row_of):
    row, parts = row_of([work(0, 100, 1), work(0, 50, 1, device=1)], [step(1, 0, 100)])
    assert row["mean_ns"] == 100 and parts == [75, 0, 0, 25]


@pytest.mark.parametrize(
    ("steps", "more", "before_ns"),
    [
        ([step(1, 0, 100)], [], (30 + 60) // 2),
        ([step(1, 0, 100), step(2, 100, 200)], [work(130, 200, 2)], 0),  # only step 2 is measured
        ([], [], 0),
    ],
)
def test_idle_time_before_the_first_activity(row_of, steps, more, before_ns):
    """Device 0 begins after 30 of 100, device 1 after 60."""
    activities = [work(30, 40, 1), work(50, 100, 1), work(60, 100, 1, device=1)]
    row, _ = row_of([*activities, *more], steps)
    assert row["before_first_ns"] == before_ns


def test_the_rank_that_waits_least_bounds_the_job(row_of):
    activities, steps = [], []
    for rank, waits in enumerate((50, 20, 40)):
        activities += [
            work(0, 100 - waits, 1, rank=rank),
            work(100 - waits, 100, 1, "communication", rank=rank),
        ]
        steps += [step(1, 0, 100, rank=rank)]
    row, parts = row_of(activities, steps)
    assert (row["rank"], row["rank_count"]) == (1, 3) and parts == [80, 20, 0, 0]


def test_a_job_without_gpu_activity_has_a_row(make_archive):
    with hta_sql.open(make_archive(host_ops=[step(1, 0, 10)])) as run:
        [row] = run.sql("FROM job_splits(NULL)").to_pylist()
    assert row["job"] == "job" and row["rank_count"] == 1 and row["world_size"] is None
    assert {row[name] for name in (*PARTS, "rank", "unit", "mean_ns")} == {None}


@pytest.mark.parametrize("job", ["nccl", "event_sync", "trace_diff/control", "two_ranks"])
def test_real_steps(real_run, job):
    """Each stretch between two boundaries is asked which activities run in it."""
    [row] = real_run.sql("FROM job_splits($jobs)", {"jobs": [job]}).to_pylist()
    chosen = {"job": job, "rank": row["rank"]}
    where = "WHERE job = $job AND rank = $rank"
    activities = real_run.sql(
        f"SELECT step, kind, start_ns, end_ns FROM gpu_activities {where}", chosen
    ).to_pylist()
    steps = real_run.sql(f"FROM step_spans(NULL, NULL, NULL) {where} ORDER BY start_ns", chosen)
    windows, until = [], 0
    for one in steps.to_pylist():
        ends = [a["end_ns"] for a in activities if a["step"] == one["step"]]
        begin = max(one["start_ns"], until)
        until = max(one["start_ns"] + one["step_ns"], *ends, until)
        windows.append((begin, until))
    measured = windows[-row["step_count"] :]
    sums = dict.fromkeys(PARTS, 0)
    for low, high in measured:
        inside = [a for a in activities if a["start_ns"] < high and a["end_ns"] > low]
        bounds = {low, high} | {a[end] for a in inside for end in ("start_ns", "end_ns")}
        bounds = sorted(at for at in bounds if low <= at <= high)
        running, changes = {}, {}
        for a in inside:
            for at, by in ((max(low, a["start_ns"]), 1), (min(high, a["end_ns"]), -1)):
                changes.setdefault(at, []).append((a["kind"], by))
        for at, after in zip(bounds, bounds[1:], strict=False):
            for kind, by in changes.get(at, ()):
                running[kind] = running.get(kind, 0) + by
            kinds = ("computation", "communication", "memory")
            first = next((n for n, kind in enumerate(kinds) if running.get(kind)), 3)
            sums[PARTS[first]] += after - at
    assert row["mean_ns"] == sum(high - low for low, high in measured) // len(measured)
    for part in PARTS[:3]:
        assert row[part] == sums[part] // len(measured)
    assert sum(row[part] for part in PARTS) == row["mean_ns"]
