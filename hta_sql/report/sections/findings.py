"""What costs the job the most time, and what to do about it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hta_sql.diagnosis.read import diagnosis
from hta_sql.diagnosis.words import answer, grouped, note_words
from hta_sql.report.parts import Findings, Part, Text

if TYPE_CHECKING:
    from hta_sql.report.subject import Subject

TITLE = "What to fix first"
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
    [facts] = subject.sql("FROM job_splits([{job}])").rows
    findings = subject.ask("findings")
    quality = subject.ask("trace_quality").rows
    found = diagnosis(facts, findings.rows, quality, shlex.join(subject.archives), False)
    wrong = [note for note in found.notes if note.severity == "warning"]
    # A damaged file comes first: it may be the reason for the others.
    wrong.sort(key=lambda note: note.check != "incomplete_trace")
    if wrong:
        yield Text([note_words(found, *one) for one in grouped(wrong)], is_warning=True)
    yield Text([answer(found)])
    if facts["mean_ns"] is None:
        return
    yield Findings(found, findings, SECTIONS)
