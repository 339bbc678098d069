"""Figures and sentences of the fleet page, beside figures worked out by hand."""

import re

from fleet_page.stored import MS, summary, write_stored

import hta_sql
from hta_sql.fleet_page.jobs import Jobs
from hta_sql.fleet_page.page import page
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


def test_a_regression_and_an_improvement_are_told_at_the_run_where_they_begin(tmp_path):
    """A run a week: bert takes 10 % longer from its seventh run on, llama a tenth less."""
    longer = [100, 101, 100, 99, 101, 100, 111, 109, 110, 111, 110, 110]
    steps = {"bert": longer, "llama": longer[::-1], "steady": longer[:6] * 2}
    runs = {f"{name}-{at:02}": ms for name, of in steps.items() for at, ms in enumerate(of)}
    rows = [summary(job, 10, 10, p50=ms) for job, ms in runs.items()]
    weeks = {job: int(job[-2:]) for job in runs}
    jobs = jobs_of(tmp_path, rows, weeks=weeks)
    names = ("job", "is_change", "before_ns", "after_ns", "diff_ratio")
    changes = [row for row in zip(*map(jobs.columns.get, names), strict=True) if row[1]]
    assert changes == [
        ("bert-06", True, 100 * MS, 110 * MS, 110 / 100 - 1),
        ("llama-06", True, 110 * MS, 100 * MS, 100 / 110 - 1),
    ]
    assert facts(jobs)[5] == (
        "changes",
        "2",
        "runs from which on steps are slower (1) or faster (1)",
    )
    written = page(jobs, "out", {})
    assert written.count('"slower from here on"') == written.count('"faster from here on"') == 1
    assert 'id="gpus"' not in written


def test_a_gpu_that_is_slow_in_its_jobs(tmp_path):
    """Both GPUs of h2 take 1.23 times as long as is typical, and cause 7 ms of waits in each job.

    GPU 0 of h1 does so in one job of three.
    """
    ratios = {"h1": [1.0, 1.23, 1.0], "h2": [1.24, 1.23, 1.22], "h3": [1.0, 0.99, 1.01]}
    ranks = [
        {
            "job": f"j{job}",
            "rank": 2 * at + gpu,
            "host": host,
            "device_name": "H100",
            "local_rank": gpu,
            "gpu_span_ns": 2000 * MS,
            "compute_ratio": of_jobs[job] if (host, gpu) != ("h1", 1) else 1.0,
            "compared_ns": round(1000 * MS * of_jobs[job]),
            "expected_ns": 1000 * MS,
            "lost_gpu_ns": 7 * MS if host == "h2" else 0,
            "late_count": 0,
        }
        for job in range(3)
        for at, (host, of_jobs) in enumerate(ratios.items())
        for gpu in (0, 1)
    ]
    jobs = jobs_of(tmp_path, [summary(f"j{job}", 100, 100) for job in range(3)], ranks=ranks)
    written = page(jobs, "out", {})
    [section] = re.findall('<section id="gpus".*?</section>', written)
    assert "Each of the 2 GPUs of h2 that ran these jobs is slow." in section
    cells = re.findall("<td.*?>(.*?)</td>", section)
    alike = ["23.0 %", "3", "3", "690 ms", "21.0 ms"]
    assert cells == ["h2", "0", "H100", *alike, "h2", "1", "H100", *alike]
