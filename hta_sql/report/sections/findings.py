"""What costs the job the most time, and what to do about it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hta_sql.diagnosis.read import diagnosis
from hta_sql.diagnosis.words import answer, grouped, note_words
from hta_sql.report.parts import Findings, Part, Text, Warnings

if TYPE_CHECKING:
    from hta_sql.diagnosis.job import Diagnosis
    from hta_sql.report.subject import Subject

TITLE = "What to fix first"
LINK = "Fix first"
PLACE = 5
IS_OPEN = True
# The section with the figures of each rule. Other rules have none.
SECTIONS = {
    "data_loading": "idle",
    "exposed_communication": "communication",
    "expert_imbalance": "side_by_side",
    "far_from_roofline": "operators",
    "full_precision": "operators",
    "gpu_sync": "idle",
    "host_bound": "idle",
    "launch_overhead": "kernels",
    "layout_copies": "operators",
    "load_imbalance": "side_by_side",
    "memory_thrash": "idle",
    "pageable_copies": "over_time",
    "pipeline_bubble": "communication",
    "recompute": "operators",
    "slow_collectives": "communication",
    "slow_launches": "idle",
    "small_collectives": "communication",
    "stalled_after_launch": "idle",
    "step_variance": "breakdown",
    "straggler": "communication",
    "unfused_elementwise": "operators",
    "unfused_optimizer": "operators",
    "warm_up": "breakdown",
}


def parts(subject: Subject) -> Iterator[Part]:
    if lines := warnings_of(subject):
        yield Warnings("these traces", lines)
    findings = subject.ask("findings")
    found = _diagnosis(subject, findings.rows)
    yield Text([answer(found)])
    if found.facts.mean_ns is None:
        return
    yield Findings(found, findings, SECTIONS)


def warnings_of(subject: Subject) -> list[str]:
    """What is wrong with the traces, a damaged file first: it may be the reason for the others."""
    found = _diagnosis(subject, [])
    wrong = [note for note in found.notes if note.severity == "warning"]
    wrong.sort(key=lambda note: note.check != "incomplete_trace")
    return [note_words(found, *one) for one in grouped(wrong)]


def _diagnosis(subject: Subject, findings: list[dict[str, Any]]) -> Diagnosis:
    [facts] = subject.sql("FROM job_splits([{job}])").rows
    quality = subject.ask("trace_quality").rows
    return diagnosis(facts, findings, quality, shlex.join(subject.archives), False)
