"""Sentences of a diagnosis, the same in all formats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hta_sql.diagnosis.job import Diagnosis, Facts, Finding, Note, Part
from hta_sql.show.units import counted, humane

# A part of a step from this share on is large, as a gain of this share is high.
_LARGE = 0.1
# If the median and the mean step differ by more, sentences say which one they are about: a gain is
# of the median step, and the parts are of the mean step.
_UNEQUAL = 0.1
_DOES = {
    "compute": "computes for",
    "exposed communication": "communicates without computing for",
    "exposed copies": "copies without computing for",
    "idle": "is idle for",
}


def answer(diagnosis: Diagnosis) -> str:
    """Whether the job is efficient, what holds it back, and how much that costs."""
    facts, top = diagnosis.facts, diagnosis.top
    if not facts.mean_ns:
        one = facts.rank_count == 1
        if any(note.check == "incomplete_trace" for note in diagnosis.notes):
            return (
                "The trace is damaged, and what could be read has no GPU activity."
                if one
                else "Traces are damaged, and what could be read has no GPU activity."
            )
        return (
            "The trace has no GPU activity, so it does not show how efficient the job is."
            if one
            else "The traces have no GPU activity, so they do not show how efficient the job is."
        )
    of = "a step" if facts.unit == "step" else "the traced time"
    if top and top.severity in ("high", "medium"):
        what = "A step" if top.gain_unit == "step" else "The traced work"
        if _are_unequal(facts):
            what = f"A typical step of {time(facts.unit_ns)}"
        return (
            f"{what} could take {percent(top.estimated_gain_frac)} less time "
            f"({time(top.estimated_gain_ns)}): {cause(diagnosis, top)}. {_split(diagnosis)}"
        )
    largest = max(diagnosis.parts, key=lambda part: part.ns * (part.name != "compute"))
    if largest.name != "compute" and largest.frac >= _LARGE:
        why = (
            f"no finding explains more than {percent(top.estimated_gain_frac)} of {of}"
            if top
            else "no rule finds why"
        )
        return " ".join(
            [
                f"The GPU {_DOES[largest.name]} {percent(largest.frac)} of {of}, and {why}.",
                *_compute(diagnosis),
                *_before_first(diagnosis),
            ]
        )
    if top:
        return (
            f"Nothing above low: the largest gain is {percent(top.estimated_gain_frac)} of {of} "
            f"({time(top.estimated_gain_ns)}), since {cause(diagnosis, top)}. {_split(diagnosis)}"
        )
    return f"Nothing found to fix: no finding gains 1 % of {of} or more. {_split(diagnosis)}"


def _are_unequal(facts: Facts) -> bool:
    """Whether steps differ so much that a typical one is not like their mean."""
    differ_ns = abs(facts.unit_ns - facts.mean_ns)
    return (facts.step_count or 0) > 1 and differ_ns > _UNEQUAL * facts.mean_ns


def _split(diagnosis: Diagnosis) -> str:
    """What the GPU does, in large parts of a step and while it computes; the largest part first."""
    shown = [p for p in diagnosis.parts if p.name == "compute" or p.frac >= _LARGE]
    shown.sort(key=lambda part: -part.ns)
    said = [f"{_DOES[part.name]} {percent(part.frac)}" for part in shown]
    said[0] += " of the time"
    where = "In a step" if diagnosis.facts.unit == "step" else "In the trace"
    if _are_unequal(diagnosis.facts):
        where = "On average over all steps"
    return f"{where}, the GPU {', '.join(said[:-1])}{' and ' * (len(said) > 1)}{said[-1]}."


def _compute(diagnosis: Diagnosis) -> Iterator[str]:
    """For how much of the time the GPU computes, if it does."""
    for part in diagnosis.parts:
        if part.name == "compute":
            yield f"It computes for {percent(part.frac)}."


def _before_first(diagnosis: Diagnosis) -> Iterator[str]:
    """Says so if most idle time of the only step comes before what the trace shows of the GPU."""
    facts = diagnosis.facts
    if facts.step_count == 1 and facts.before_first_ns >= max(facts.idle_ns / 2, 1):
        yield (
            f"{time(facts.before_first_ns)} of the idle time come before the first GPU activity of "
            "the trace. Record several steps to see whether the GPU still does earlier work then."
        )


def cause(diagnosis: Diagnosis, finding: Finding) -> str:
    """The title as a part of a sentence, with the rank if the job has several."""
    first, blank, rest = finding.title.partition(" ")
    # A word with other letters is a name, such as `aten::mm`, `NCCL` or `DataLoader`.
    title = first.lower() + blank + rest if first.istitle() and first.isalpha() else finding.title
    where = f"rank {finding.rank}"
    if finding.rank is not None and diagnosis.facts.rank_count > 1 and where not in title:
        return f"on {where}, {title}"
    return title


def job_line(diagnosis: Diagnosis) -> str:
    return f"{diagnosis.job}: {', '.join(_facts(diagnosis))}"


def _facts(diagnosis: Diagnosis) -> Iterator[str]:
    f = diagnosis.facts
    if (f.world_size or 0) > f.rank_count:
        yield f"{f.rank_count:,} of {f.world_size:,} ranks"
    else:
        yield counted(f.rank_count, "rank")
    if f.device_name:
        yield f.device_name
    if not f.mean_ns:
        yield "no GPU activity"
        return
    on = f" on rank {f.rank}" if f.rank_count > 1 else ""
    if f.unit == "step":
        of = f"median of {f.step_count:,} steps" if f.step_count > 1 else "one step of"
        yield f"{of} {time(f.unit_ns)}{on}"
    else:
        yield f"no steps, {time(f.unit_ns)} from first to last GPU activity{on}"
    yield f"GPU busy {percent(diagnosis.busy_frac)}"


def split_title(diagnosis: Diagnosis) -> str:
    """What the bar shows."""
    f = diagnosis.facts
    on = f" of rank {f.rank}, which bounds the job" if f.rank_count > 1 else ""
    if f.unit == "step":
        return f"Mean step{on}: {time(f.mean_ns)}"
    return f"Trace{on}: {time(f.mean_ns)}"


def part_words(part: Part) -> str:
    return f"{part.name} {time(part.ns)} {percent(part.frac)}"


def place_of(diagnosis: Diagnosis, finding: Finding) -> str:
    """The rank of a finding; empty for a job of one rank."""
    if diagnosis.facts.rank_count == 1:
        return ""
    if finding.rank is not None:
        return f"rank {finding.rank}"
    ranks = finding.evidence_numbers.get("ranks") or []
    return "all ranks" if len(ranks) in (0, diagnosis.facts.rank_count) else f"{len(ranks)} ranks"


def gain_words(finding: Finding) -> str:
    """The gain in time and share; empty without a gain."""
    if finding.estimated_gain_ns is None:
        return ""
    per = "per step" if finding.gain_unit == "step" else "in the trace"
    share = percent(finding.estimated_gain_frac)
    return f"{time(finding.estimated_gain_ns)} {per} ({share})"


def fix_title(diagnosis: Diagnosis) -> str:
    per = "per step" if diagnosis.facts.unit == "step" else "in the trace"
    return f"What to fix first, by gain {per}. Gains do not add up."


def grouped(notes: Sequence[Note]) -> list[tuple[Note, int]]:
    """The notes, warnings first: the first of each check, and how many other ranks have it."""
    groups: dict[tuple[str, str], list[Note]] = {}
    for note in sorted(notes, key=lambda note: note.severity != "warning"):
        groups.setdefault((note.severity, note.check), []).append(note)
    return [(found[0], len(found) - 1) for found in groups.values()]


def note_words(diagnosis: Diagnosis, note: Note, others: int) -> str:
    """A note with its rank, if the job has several."""
    if note.rank is None or diagnosis.facts.rank_count == 1:
        return note.text
    more = f" and {counted(others, 'more rank')}" if others else ""
    return f"Rank {note.rank}{more}: {note.text}"


def more_words(diagnosis: Diagnosis, left: int) -> str:
    return f"{counted(left, 'more finding')}: {diagnosis.command('run findings')}"


# The columns of a table of jobs.
OVERVIEW = ("job", "top_finding", "gain_frac", "findings", "step_ns", "busy_frac")


def overview(diagnoses: Sequence[Diagnosis]) -> list[tuple]:
    """A row for each job, the largest gain first."""

    def gain(diagnosis: Diagnosis) -> float:
        return (diagnosis.top and diagnosis.top.estimated_gain_frac) or 0

    return [
        (
            one.job,
            one.top and one.top.title,
            one.top and one.top.estimated_gain_frac,
            len(one.main_findings),
            one.facts.unit_ns if one.facts.unit == "step" else None,
            one.busy_frac,
        )
        for one in sorted(diagnoses, key=gain, reverse=True)
    ]


def one_of_many(diagnoses: Sequence[Diagnosis]) -> str:
    """The command that shows one of several jobs."""
    return f"hta-sql doctor {diagnoses[0].words} --only-jobs JOB"


def time(ns: float) -> str:
    return humane("t_ns", ns)


def percent(share: float) -> str:
    """A share as a percentage; one that is not 0 or 1 does not look like 0 or 1."""
    if 0 < share < 0.0005:
        return "<0.1 %"
    return ">99.9 %" if 0.9995 <= share < 1 else humane("_frac", share)
