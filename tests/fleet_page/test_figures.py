"""Figures and sentences of the fleet page, beside figures worked out by hand."""

from fleet_page.stored import MS, summary, write_stored

import hta_sql
from hta_sql.fleet_page.jobs import Jobs
from hta_sql.fleet_page.words import facts, lead


def jobs_of(folder, summaries, ranks=(), more=(), **given) -> Jobs:
    names = [row["job"] for row in summaries] + list(more)
    root = write_stored(
        folder / "jobs", {name: {} for name in names}, summaries, ranks=ranks, **given
    )
    with hta_sql.open(root) as run:
        return Jobs.of(run)


def of_rank(job, rank, span, steps, step) -> dict:
    return {
        "job": job,
        "rank": rank,
        "gpu_span_ns": span * MS,
        "step_count": steps,
        "step_mean_ns": step and step * MS,
    }


def test_steps_that_last_longer_than_the_gpu_works_are_gpu_time(tmp_path):
    """In `idle`, two ranks have steps of 400 and 30 ms, and 1 and 40 ms of GPU activity."""
    jobs = jobs_of(
        tmp_path,
        [summary("idle", 41, 41), summary("busy", 100, 80, kernel_wait=20)],
        [
            of_rank("idle", 0, 1, 4, 100),
            of_rank("idle", 1, 40, 3, 10),
            of_rank("idle", 2, 0, 1, 500),  # without a GPU
            of_rank("busy", 0, 100, 0, None),
        ],
    )
    assert jobs.columns["is_at_most"] == [True, None]  # rank 1 works 10 ms past its steps
    names = ("job", "gpu_time_ns", "without_compute_ns", "reason", "outside_ns", "busy_frac")
    assert [jobs.columns[name] for name in names] == [
        ["idle", "busy"],
        [440 * MS, 100 * MS],
        [399 * MS, 20 * MS],
        ["outside", "kernel_wait"],
        [399 * MS, 0],
        [41 / 440, 0.8],
    ]
    told = lead(jobs)
    assert (told.before + told.job + told.after, told.more[0]) == (
        "Begin with job idle: it has the most GPU time without computation, 399 ms of the 419 ms "
        "in 2 jobs.",
        "The largest part of it is step time before the first or after the last GPU activity: "
        "399 ms.",
    )
    assert [fact[:2] for fact in facts(jobs)[1:4]] == [
        ("GPU time", "540 ms"),
        ("utilisation", "22.4 %"),
        ("without computation", "419 ms"),
    ]


def test_without_stored_results_nothing_is_told(tmp_path):
    jobs = jobs_of(tmp_path, [], more=["a", "b"])
    assert facts(jobs) == [("jobs", "2", "2 without stored results")]


def test_one_rank_has_none_to_wait_for(tmp_path):
    jobs = jobs_of(tmp_path, [summary("one", 100, 90, host_wait=10)], rank_count=1)
    assert jobs.columns["lost_ns"] == [None]
    assert facts(jobs)[4] == ("waiting for late ranks", "-", "no job has traces of several ranks")
    told = lead(jobs)
    assert told.job + told.after == (
        "one: 10.0 ms of its 100 ms of GPU time is without computation."
    )


def test_waits_for_late_ranks_are_exposed_and_can_be_unknown(tmp_path):
    """Of 30 ms of waits, 20 ms are exposed communication, as the reason says, too."""
    lost = summary("known", 100, 80, lost=30, communication=20)
    unknown = summary("unknown", 100, 90, communication=10) | {"lost_gpu_ns": None}
    jobs = jobs_of(tmp_path, [lost, unknown])
    assert jobs.columns["lost_ns"] == jobs.columns["straggler_ns"][:1] + [None] == [20 * MS, None]
    assert facts(jobs)[4][1:] == (
        "20.0 ms",
        "20.0 % of the GPU time of 1 job with several ranks, where it is known",
    )
