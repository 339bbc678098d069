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


def test_step_time_before_and_after_the_gpu_works_is_gpu_time(tmp_path):
    """The GPUs of `idle` work for 41 of 440 ms; of `old`, the time of its steps is not known."""
    rows = [
        summary("idle", 41, 41, outside=399),
        summary("busy", 100, 80, kernel_wait=20),
        summary("old", 100, 90, outside=None, kernel_wait=10),
    ]
    jobs = jobs_of(tmp_path, rows)
    names = (
        *("job", "gpu_time_ns", "without_compute_ns", "reason", "outside_ns"),
        *("utilisation_frac", "is_at_most"),
    )
    assert [jobs.columns[name] for name in names] == [
        ["idle", "busy", "old"],
        [440 * MS, 100 * MS, 100 * MS],
        [399 * MS, 20 * MS, 10 * MS],
        ["outside", "kernel_wait", "kernel_wait"],
        [399 * MS, 0, None],
        [41 / 440, 0.8, 0.9],
        [False, False, True],
    ]
    told = lead(jobs)
    assert (told.before + told.job + told.after, told.more[0]) == (
        "Begin with job idle: it has the most GPU time without computation, 399 ms of the 429 ms "
        "in 3 jobs.",
        "The largest part of it is step time before the first or after the last GPU activity: "
        "399 ms.",
    )
    assert [fact[:2] for fact in facts(jobs)[1:4]] == [
        ("GPU time", "640 ms"),
        ("utilisation", "≤ 33.0 %"),
        ("without computation", "429 ms"),
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
