"""Sentences on where the GPU time of all jobs is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hta_sql.diagnosis.words import percent
from hta_sql.fleet_page.jobs import REASONS, Jobs
from hta_sql.show.units import counted, humane
from hta_sql.show.visible import visible_cell

# What each reason is, in words.
WORDS = {
    "straggler": "waiting for late ranks",
    "communication": "exposed communication",
    "memory": "exposed copies",
    "host_wait": "waiting for the host to launch",
    "launching": "waiting for a launch to return",
    "queued": "waiting for 30 µs or more after a launch",
    "kernel_wait": "waiting for less than 30 µs after a launch",
    "unknown_wait": "idle time before work without a known launch",
    "outside": "step time before the first or after the last GPU activity",
}


@dataclass(frozen=True)
class Lead:
    """Where to begin: a sentence, which may have the name of a job, and more about this job."""

    before: str
    job: str = ""
    after: str = ""
    more: Sequence[str] = ()


def lead(jobs: Jobs) -> Lead:
    """In which job to begin, the first of the table, and what to do there; then all jobs."""
    if not jobs.names:
        return Lead("The archive has no jobs.")
    if not jobs.with_results:
        return Lead("No job has stored results, so it is not known where GPU time is lost.")
    lost_ns = jobs.total("without_compute_ns")
    if not jobs.total("gpu_time_ns"):
        return Lead("The traces have no GPU activity, so they do not show where GPU time is lost.")
    if not lost_ns:
        return Lead("The GPUs compute all the time, from the first step or activity to the last.")
    first = {name: values[0] for name, values in jobs.columns.items()}
    begin = _time(first["without_compute_ns"])
    after = (
        f": it has the most GPU time without computation, {begin} of the {_time(lost_ns)} in "
        f"{counted(jobs.with_results, 'job')}."
        if jobs.with_results > 1
        else f": {begin} of its {_time(first['gpu_time_ns'])} of GPU time is without computation."
    )
    more = [_advice(first)]
    if jobs.with_results > 1:
        reason = max(REASONS, key=lambda name: jobs.total(f"{name}_ns"))
        more.append(
            f"In all jobs together, the largest part of this time is {WORDS[reason]}: "
            f"{_time(jobs.total(f'{reason}_ns'))}."
        )
    return Lead("Begin with job ", visible_cell(first["job"]), after, more)


def _advice(job: dict[str, Any]) -> str:
    """What a job loses time for, and its first finding."""
    reason = job["reason"]
    most = f"The largest part of it is {WORDS[reason]}: {_time(job[f'{reason}_ns'])}."
    if not job["top_finding"]:
        return most
    of = "a step" if job["gain_unit"] == "step" else "the traced time"
    gain = job["top_gain_frac"]
    saves = f", which could save {percent(gain)} of {of}" if gain else ""
    return f"{most} Fix this first{saves}: {visible_cell(job['top_finding'])}."


def _time(ns: int) -> str:
    return humane("time_ns", ns)


def lacking(jobs: Jobs) -> str:
    """How many jobs have no stored results."""
    count = jobs.without_results
    has = "has" if count == 1 else "have"
    return f"{count:,} of {counted(len(jobs.names), 'job')} {has} no stored results"


def facts(jobs: Jobs) -> list[tuple[str, str, str]]:
    """The main figures of all jobs: name, value and explanation. What is not known is left out."""
    unknown = jobs.without_results
    count = humane("count", len(jobs.names))
    all_jobs = ("jobs", count, f"{unknown:,} without stored results" if unknown else "")
    if not jobs.with_results:
        return [all_jobs]
    time_ns = jobs.total("gpu_time_ns")
    of_jobs = f" of {counted(jobs.with_results, 'job')}" if unknown else ""
    return [
        all_jobs,
        ("GPU time", _time(time_ns), f"traced, on all GPUs{of_jobs} together"),
        (
            "utilisation",
            "≤ " * any(jobs.columns["is_at_most"]) + _share(jobs.total("busy_ns"), time_ns),
            "of the GPU time has activity",
        ),
        (
            "without computation",
            _time(jobs.total("without_compute_ns")),
            f"{_share(jobs.total('without_compute_ns'), time_ns)} of the GPU time",
        ),
        ("waiting for late ranks", *_losses(jobs)),
        ("changes", *_changes(jobs)),
    ]


def _share(part_ns: int, whole_ns: int) -> str:
    return percent(part_ns / whole_ns) if whole_ns else "-"


def _losses(jobs: Jobs) -> tuple[str, str]:
    """The waits for late ranks, and their share of the GPU time of the jobs that can have them."""
    columns = (jobs.columns[name] for name in ("rank_count", "lost_ns", "gpu_time_ns"))
    several = [(lost, time) for ranks, lost, time in zip(*columns, strict=True) if ranks > 1]
    known = [time_ns for lost_ns, time_ns in several if lost_ns is not None]
    if not several:
        return "-", "no job has traces of several ranks"
    if not known:
        return "-", "not known for any job"
    where = ", where it is known" if len(known) < len(several) else ""
    return (
        _time(jobs.total("lost_ns")),
        f"{_share(jobs.total('lost_ns'), sum(known))} of the GPU time of "
        f"{counted(len(known), 'job')} with several ranks{where}",
    )


def _changes(jobs: Jobs) -> tuple[str, str]:
    changes = zip(jobs.columns["is_change"], jobs.columns["diff_ratio"], strict=True)
    known = [is_change and ratio for is_change, ratio in changes if is_change is not None]
    if not known:
        return "-", "too few runs to compare step times"
    if not any(known):
        return "0", "runs at which step times changed beyond noise"
    slower, faster = sum(ratio > 0 for ratio in known), sum(ratio < 0 for ratio in known)
    return (
        humane("count", slower + faster),
        f"runs from which on steps are slower ({slower:,}) or faster ({faster:,})",
    )
