"""Diagnoses as HTML: a page of its own, a part of a notebook, or a section of a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from hta_sql.diagnosis import words
from hta_sql.diagnosis.job import Diagnosis, Finding
from hta_sql.show.html import style, table_html
from hta_sql.show.units import counted

# The colours that charts of reports use for these parts, too.
PART_COLOURS = {
    "compute": "#3b82c4",
    "exposed communication": "#e69f00",
    "exposed copies": "#009e73",
    "idle": "#a3a8b3",
}


def page(diagnoses: Sequence[Diagnosis]) -> str:
    """A whole document. It fetches nothing."""
    title = diagnoses[0].job if len(diagnoses) == 1 else "hta_sql doctor"
    body = "".join(f"<section>{part}</section>" for part in _parts(diagnoses))
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style()}</style></head><body><main>"
        f"{body}</main></body></html>\n"
    )


def fragment(diagnoses: Sequence[Diagnosis]) -> str:
    """The same without a style, for notebooks."""
    return "".join(_parts(diagnoses))


def _parts(diagnoses: Sequence[Diagnosis]) -> Iterator[str]:
    """A table if there are several jobs, and each job."""
    if not diagnoses:
        yield "<p>The archive has no traces.</p>"
    if len(diagnoses) > 1:
        table = table_html(words.OVERVIEW, words.overview(diagnoses))
        yield f'<div class="scroll">{table}</div>'
    yield from map(_job, diagnoses)


def _job(diagnosis: Diagnosis) -> str:
    notes = "".join(
        f"<li>{escape(words.note_words(diagnosis, note, others))}</li>"
        for note, others in words.grouped(diagnosis.notes)
    )
    quality = f"<h3>Quality of the traces</h3><ul>{notes}</ul>" if notes else ""
    return (
        f"<h2>{escape(diagnosis.job)}</h2><p><strong>{escape(words.answer(diagnosis))}</strong></p>"
        f"<p>{escape(words.job_line(diagnosis))}</p>{split_html(diagnosis)}"
        f"{findings_html(diagnosis)}{quality}"
    )


def split_html(diagnosis: Diagnosis) -> str:
    """The parts of the mean step as a bar with a legend."""
    if not diagnosis.parts:
        return ""
    bar = "".join(
        f'<span style="flex:{part.ns} 0 0;background:{PART_COLOURS[part.name]}"></span>'
        for part in diagnosis.parts
    )
    legend = "".join(
        f'<li><span style="color:{PART_COLOURS[part.name]}">■</span> '
        f"{escape(words.part_words(part))}</li>"
        for part in diagnosis.parts
    )
    return (
        f'<div class="split"><h3>{escape(words.split_title(diagnosis))}</h3>'
        f'<div style="display:flex;height:22px">{bar}</div><ul>{legend}</ul></div>'
    )


def findings_html(diagnosis: Diagnosis, links: Mapping[str, tuple[str, str]] | None = None) -> str:
    """All findings as a list, of which those of severity info are folded if there are others.
    `links` has a URL and its text for some rules."""
    if not diagnosis.findings:
        return ""
    per = "per step" if diagnosis.facts.unit == "step" else "in the trace"
    main = len(diagnosis.main_findings)
    items = [_finding(diagnosis, finding, links or {}) for finding in diagnosis.findings]
    minor = (
        f"<details{' open' * (not main)}><summary>"
        f"{counted(len(items) - main, 'smaller finding')}, below 1 %</summary>"
        f'<ol class="findings" start="{main + 1}">{"".join(items[main:])}</ol></details>'
        if items[main:]
        else ""
    )
    shown = f'<ol class="findings">{"".join(items[:main])}</ol>' if main else ""
    return f"<p>Findings by their gain {per}. Gains do not add up.</p>{shown}{minor}"


def _finding(diagnosis: Diagnosis, finding: Finding, links: Mapping[str, tuple[str, str]]) -> str:
    facts = [
        words.gain_words(finding),
        words.place_of(diagnosis, finding),
        finding.gain_method and f"method: {finding.gain_method}",
        f"{finding.confidence} confidence",
    ]
    link = links.get(finding.rule)
    more = f'<p>Figures: <a href="{escape(link[0])}">{escape(link[1])}</a></p>' if link else ""
    return (
        f'<li class="{finding.severity}"><h3><b>{finding.severity}</b> {escape(finding.title)}'
        f"</h3><p><small>{escape(', '.join(filter(None, facts)))}</small></p>"
        f"<p>{escape(finding.evidence)}</p><p>{escape(finding.advice)}</p>{more}"
        f"<details><summary>Command</summary><pre>{escape(finding.see)}</pre></details></li>"
    )
