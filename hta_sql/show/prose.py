"""Wraps the text of a SQL header to the width of a terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

_ITEM = re.compile(r" +\* ")
# The last column of a drawing or a list of terms: the text after the last gap.
_LAST_COLUMN = re.compile(r"^(.*\S {2,})\S", re.DOTALL)


# A line of a list below a term, such as `pipeline: pp, pipe`.
_TERM = re.compile(r" +\w+: ")


def filled(text: str, width: int) -> str:
    """The text with paragraphs and list items wrapped. Other indented lines stay as they are.

    If a line of a drawing is longer than `width`, it continues below its last column.
    """
    paragraphs = (_joined(paragraph.split("\n")) for paragraph in text.split("\n\n"))
    return "\n\n".join(
        "\n".join(_wrapped(line, width) for line in paragraph) for paragraph in paragraphs
    )


def _joined(lines: list[str]) -> Iterator[str]:
    """The lines of a paragraph, each joined with the lines that continue it."""
    whole = ""
    for line in lines:
        if whole and _indent(line) == _hang(whole) and not _TERM.match(line):
            whole += f" {line.strip()}"
        else:
            if whole:
                yield whole
            whole = line
    yield whole


def _wrapped(line: str, width: int) -> str:
    hang = _hang(line)
    if hang is None:
        hang = _indent(line) + 2
    longest = max(map(len, line.split()), default=0)
    return textwrap.fill(
        line,
        width,
        subsequent_indent=" " * min(hang, width * 3 // 4, width - longest),
        replace_whitespace=False,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _hang(line: str) -> int | None:
    """The indent of lines that continue this one. None if no line can."""
    if item := _ITEM.match(line):
        return item.end()
    if not line.startswith(" "):
        return 0
    column = _LAST_COLUMN.match(line.strip(" "))
    return _indent(line) + len(column[1]) if column else None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
