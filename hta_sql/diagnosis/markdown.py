"""Diagnoses as Markdown, such as for a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hta_sql.diagnosis import words
from hta_sql.diagnosis.job import Diagnosis, Finding
from hta_sql.show.markdown import plain as _plain
from hta_sql.show.units import heads, humane
from hta_sql.show.visible import all_visible


def markdown(diagnoses: Sequence[Diagnosis]) -> str:
    """One job in full, or a table of several."""
    if not diagnoses:
        return "The archive has no traces.\n"
    diagnoses = all_visible(list(diagnoses))
    lines = _job(diagnoses[0]) if len(diagnoses) == 1 else _jobs(diagnoses)
    return "\n".join(lines) + "\n"


def _jobs(diagnoses: Sequence[Diagnosis]) -> Iterator[str]:
    yield f"| {' | '.join(heads(words.OVERVIEW))} |"
    yield f"|{' --- |' * len(words.OVERVIEW)}"
    for row in words.overview(diagnoses):
        cells = (humane(name, value) for name, value in zip(words.OVERVIEW, row, strict=True))
        yield f"| {' | '.join(map(_plain, cells))} |"
    yield ""
    yield f"To see one job: `{words.one_of_many(diagnoses)}`"


def _job(diagnosis: Diagnosis) -> Iterator[str]:
    yield f"## {_plain(diagnosis.job)}"
    yield ""
    yield f"**{_plain(words.answer(diagnosis))}**"
    yield ""
    yield _plain(words.job_line(diagnosis))
    yield ""
    if diagnosis.parts:
        yield f"| {words.split_title(diagnosis)} | time | share |"
        yield "| --- | ---: | ---: |"
        for part in diagnosis.parts:
            yield f"| {part.name} | {words.time(part.ns)} | {words.percent(part.frac)} |"
        yield ""
    if diagnosis.findings:
        yield f"### {words.fix_title(diagnosis)}"
        yield ""
    for number, finding in enumerate(diagnosis.findings, 1):
        yield from _finding(diagnosis, finding, number)
    if diagnosis.notes:
        yield "### Quality of the traces"
        yield ""
        for note, others in words.grouped(diagnosis.notes):
            yield f"- {note.severity}: {_plain(words.note_words(diagnosis, note, others))}"
        yield ""


def _finding(diagnosis: Diagnosis, finding: Finding, number: int) -> Iterator[str]:
    facts = [finding.severity, words.gain_words(finding), words.place_of(diagnosis, finding)]
    yield f"{number}. **{_plain(finding.title)}** ({', '.join(filter(None, facts))})"
    yield ""
    if finding.severity != "info":
        for text in (_plain(finding.evidence), _plain(finding.advice), _code(finding.see)):
            yield f"   {text}"
            yield ""


def _code(text: str) -> str:
    fence = "``" if "`" in text else "`"
    return f"{fence}{text}{fence}"
