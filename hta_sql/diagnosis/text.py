"""A diagnosis as text, for a terminal or a file."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Sequence

from hta_sql.diagnosis import words
from hta_sql.diagnosis.job import Diagnosis, Finding, Part
from hta_sql.show.cut import cut_apart
from hta_sql.show.tables import fitted_table, table_lines
from hta_sql.show.visible import all_visible

# Findings that are shown with their evidence, and those below 1 %; the others are counted.
_MOST, _MOST_MINOR = 5, 3
# Longer lines are hard to read.
_WIDEST = 120
# Titles in a table of jobs are not cut below this, unless names of jobs are long, too.
_SHORTEST = 24
_MARKS = {"compute": "█#", "exposed communication": "▓=", "exposed copies": "▒+", "idle": "░."}
_COLOURS = {
    "compute": {"fg": "blue"},
    "exposed communication": {"fg": "yellow"},
    "exposed copies": {"fg": "green"},
    "idle": {"fg": "bright_black"},
    "high": {"fg": "red", "bold": True},
    "medium": {"fg": "yellow", "bold": True},
    "low": {"fg": "cyan"},
    "title": {"bold": True},
    "faint": {"dim": True},
}
# In place of characters that only UTF-8 has.
_ASCII = str.maketrans(
    {"µ": "u", "…": "...", "→": "->"} | {one: two for one, two in _MARKS.values()}
)
# A number before its unit: a line does not break between them.
_NUMBER = re.compile(r"(\d) (?=(?:[nµm]?s|min|h|%|[kMGT]?B)\b|%)")
Paint = Callable[[str, str], str]


def plain(text: str, kind: str) -> str:
    return text


def coloured(text: str, kind: str) -> str:
    import click

    return click.style(text, **_COLOURS[kind]) if kind in _COLOURS else text


def screen(diagnoses: Sequence[Diagnosis], width: int, paint: Paint = plain) -> str:
    """The screen of one job, or a table of several."""
    if not diagnoses:
        return "The archive has no traces.\n"
    diagnoses = all_visible(list(diagnoses))
    width = min(width, _WIDEST)
    if len(diagnoses) == 1:
        return "\n".join(_job(diagnoses[0], width, paint)) + "\n"
    return "\n".join(_jobs(diagnoses, width, paint)) + "\n"


def as_ascii(text: str) -> str:
    """The same for an output that cannot show all characters."""
    return text.translate(_ASCII).encode("ascii", "replace").decode()


def _job(diagnosis: Diagnosis, width: int, paint: Paint) -> Iterator[str]:
    yield from _wrapped(words.answer(diagnosis), width, paint=paint, kind="title")
    yield from _wrapped(words.job_line(diagnosis), width)
    if diagnosis.parts:
        yield ""
        yield words.split_title(diagnosis)
        yield bar(diagnosis.parts, width, paint)
        yield from _legend(diagnosis.parts, width, paint)
    yield from _findings(diagnosis, width, paint)
    yield from _notes(diagnosis, width, paint)


def bar(parts: Sequence[Part], width: int, paint: Paint = plain) -> str:
    """A bar of `width` characters, in which each part has its share."""
    total = sum(part.ns for part in parts)
    sizes = [width * part.ns // total for part in parts]
    left = sorted(range(len(parts)), key=lambda n: -(width * parts[n].ns % total))
    for n in left[: width - sum(sizes)]:
        sizes[n] += 1
    return "".join(
        paint(_MARKS[part.name][0] * size, part.name)
        for part, size in zip(parts, sizes, strict=True)
        if size
    )


def _legend(parts: Sequence[Part], width: int, paint: Paint) -> Iterator[str]:
    """The parts side by side, or in fewer columns if they are too wide."""
    texts = [words.part_words(part) for part in parts]
    marks = [paint(_MARKS[part.name][0], part.name) for part in parts]
    size = max(map(len, texts)) + 2  # with the mark
    count = next((n for n in (4, 2) if n * size + 3 * (n - 1) <= width), 1)
    cells = [f"{mark} {text.ljust(size - 2)}" for mark, text in zip(marks, texts, strict=True)]
    for at in range(0, len(cells), count):
        yield "   ".join(cells[at : at + count]).rstrip()


def _findings(diagnosis: Diagnosis, width: int, paint: Paint) -> Iterator[str]:
    shown = diagnosis.main_findings[:_MOST]
    minor = [finding for finding in diagnosis.findings if finding.severity == "info"]
    minor = minor[:_MOST_MINOR]
    if shown or minor:
        yield ""
        yield words.fix_title(diagnosis) if shown else "Nothing above low. Smaller findings:"
    table = [_cells(diagnosis, finding, n) for n, finding in enumerate([*shown, *minor], 1)]
    sizes = [max(map(len, column)) for column in zip(*table, strict=True)]
    sizes[:1] = [1]
    for finding, cells in zip([*shown, *minor], table, strict=True):
        head = "  ".join(
            cell.rjust(size) if at in (0, 2, 3) else cell.ljust(size)
            for at, (cell, size) in enumerate(zip(cells, sizes, strict=True))
            if size
        )
        is_main = finding.severity != "info"
        room, indent = max(width - len(head) - 2, 20), " " * (len(head) + 2)
        if not is_main:
            short = cut_apart((finding.title for finding in minor), room)[finding.title]
            yield f"{paint(head, finding.severity)}  {short}"
            continue
        first, *rest = _wrapped(finding.title, room)
        yield f"{paint(head, finding.severity)}  {paint(first, 'title')}"
        yield from (indent + paint(line, "title") for line in rest)
        yield from _wrapped(finding.evidence, width, "   ")
        yield from _wrapped(f"→ {finding.advice}", width, "   ", "     ")
        yield "   " + paint(finding.see, "faint")
    left = len(diagnosis.findings) - len(shown) - len(minor)
    if left:
        yield f"   {words.more_words(diagnosis, left)}"


def _cells(diagnosis: Diagnosis, finding: Finding, number: int) -> tuple[str, ...]:
    is_main, gain = finding.severity != "info", finding.estimated_gain_ns
    return (
        str(number) if is_main else "",
        finding.severity,
        "" if gain is None else words.time(gain),
        "" if gain is None else words.percent(finding.estimated_gain_frac),
        words.place_of(diagnosis, finding),
    )


def _notes(diagnosis: Diagnosis, width: int, paint: Paint) -> Iterator[str]:
    """Warnings in full, and the rest by name."""
    if not diagnosis.notes:
        return
    groups = words.grouped(diagnosis.notes)
    names = [note.check.replace("_", " ") for note, _ in groups if note.severity != "warning"]
    also = f": {', '.join(names)}" if names else ""
    yield ""
    yield from _wrapped(f"Quality of the traces{also}", width, "", "   ")
    for note, others in groups:
        if note.severity == "warning":
            said = words.note_words(diagnosis, note, others)
            yield from _wrapped(f"! {said}", width, "   ", "     ")
    yield "   " + paint(diagnosis.command("run trace_quality"), "faint")


def _jobs(diagnoses: Sequence[Diagnosis], width: int, paint: Paint) -> Iterator[str]:
    names, rows = list(words.OVERVIEW), words.overview(diagnoses)
    numbers = table_lines(names[2:], [row[2:] for row in rows])
    room = width - max(map(len, numbers)) - 4
    title = max(room - max(len(row[0]) for row in rows), min(_SHORTEST, room // 2))
    jobs = cut_apart((row[0] for row in rows), max(room - title, 1))
    cut = [(jobs[job], top and _cut(top, title), *others) for job, top, *others in rows]
    table = fitted_table(names, cut, width)
    yield from (paint(line, "faint") for line in table.head)
    yield from table.lines
    yield ""
    yield f"To see one job: {words.one_of_many(diagnoses)}"


def _cut(title: str, size: int) -> str:
    return title if len(title) <= size else title[: size - 1].rstrip() + "…"


def _wrapped(
    text: str,
    width: int,
    indent: str = "",
    hang: str | None = None,
    paint: Paint = plain,
    kind: str = "",
) -> Iterator[str]:
    lines = textwrap.wrap(
        _NUMBER.sub("\\1\xa0", text),
        width,
        initial_indent=indent,
        subsequent_indent=indent if hang is None else hang,
        break_on_hyphens=False,
    )
    return (paint(line.replace("\xa0", " "), kind) for line in lines)
