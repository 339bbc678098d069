"""Sentences on where the GPU time of all jobs is lost."""

from __future__ import annotations

from hta_sql.fleet_page.jobs import REASONS, Jobs
from hta_sql.show.units import humane
from hta_sql.show.visible import visible_cell

# What each reason of low_utilisation_jobs is, in words.
WORDS = {
    "straggler": "waiting for late ranks",
    "communication": "exposed communication",
    "memory": "exposed copies",
    "host_wait": "waiting for the host to launch",
    "launching": "waiting for a launch to return",
    "queued": "waiting for 30 µs or more after a launch",
    "kernel_wait": "waiting for less than 30 µs after a launch",
    "unknown_wait": "idle time before work without a known launch",
}


def lead(jobs: Jobs) -> list[str]:
    """Where most GPU time is lost and in which job to begin; then what is found there."""
    with_results = len(jobs.names) - jobs.without_results
    if not jobs.names:
        return ["The archive has no jobs."]
    if not with_results:
        return ["No job has stored results, so it is not known where GPU time is lost."]
    lost_ns = jobs.total("without_compute_ns")
    if not jobs.total("gpu_span_ns"):
        return ["The traces have no GPU activity, so they do not show where GPU time is lost."]
    if not lost_ns:
        return ["The GPUs compute at all times, from the first activity to the last."]
    reason = max(REASONS, key=lambda name: jobs.total(f"{name}_ns"))
    first = jobs.most(f"{reason}_ns")
    cost = humane("time_ns", jobs.total(f"{reason}_ns"))
    begin = humane("time_ns", jobs.columns[f"{reason}_ns"][first])
    job = visible_cell(jobs.names[first])
    what = WORDS[reason]
    sentences = [
        f"{what[0].upper()}{what[1:]} costs the most GPU time, {cost} of the "
        f"{humane('time_ns', lost_ns)} without computation in {with_results:,} "
        f"job{'s' * (with_results != 1)}; begin with job {job}, which has {begin} of it."
    ]
    title, gain, unit = (
        jobs.columns[name][first] for name in ("top_finding", "top_gain_frac", "gain_unit")
    )
    if title:
        of = "a step" if unit == "step" else "the traced time"
        saves = f" (this could save {humane('gain_frac', gain)} of {of})" if gain else ""
        sentences.append(f"The first finding of this job: {visible_cell(title)}{saves}.")
    return sentences


def lacking(jobs: Jobs) -> str:
    """How many jobs have no stored results."""
    count, total = jobs.without_results, len(jobs.names)
    has = "has" if count == 1 else "have"
    return f"{count:,} of {total:,} job{'s' * (total != 1)} {has} no stored results"


def facts(jobs: Jobs) -> list[tuple[str, str, str]]:
    """The main figures of all jobs: name, value and explanation."""
    span_ns = jobs.total("gpu_span_ns")
    known_ns = sum(
        span
        for span, lost in zip(jobs.columns["gpu_span_ns"], jobs.columns["lost_gpu_ns"], strict=True)
        if lost is not None
    )

    def share(part_ns: int, whole_ns: int) -> str:
        return humane("part_frac", part_ns / whole_ns) if whole_ns else "-"

    return [
        ("jobs", humane("count", len(jobs.names)), f"{jobs.without_results:,} without results"),
        ("GPU time", humane("time_ns", span_ns), "traced, on all GPUs together"),
        ("utilisation", share(jobs.total("busy_ns"), span_ns), "of the GPU time has activity"),
        (
            "without computation",
            humane("time_ns", jobs.total("without_compute_ns")),
            f"{share(jobs.total('without_compute_ns'), span_ns)} of the GPU time",
        ),
        (
            "lost to late ranks",
            humane("time_ns", jobs.total("lost_gpu_ns")),
            f"{share(jobs.total('lost_gpu_ns'), known_ns)} of the GPU time where it is known",
        ),
        (
            "changes",
            humane("count", jobs.columns["is_change"].count(True)),
            "runs at which step times changed",
        ),
    ]
