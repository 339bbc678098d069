"""Sections of the fleet page that are over several jobs. A section without rows is left out."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from hta_sql.diagnosis.words import percent
from hta_sql.show.visible import visible_cell

# The head of each column, and what it shows: text, count or share.
_RULES = {
    "rule": ("finding", "text"),
    "job_count": ("jobs", "count"),
    "median_gain_frac": ("median gain", "share"),
    "largest_gain_frac": ("largest gain", "share"),
    "job": ("job", "text"),
    "title": ("title", "text"),
}


def rules(columns: Mapping[str, list[Any]]) -> str:
    """Findings across jobs."""
    said = (
        "Rules with a finding that gains 1 % of a step or more. Job and title are those of the "
        "finding with the largest gain."
    )
    return _section("findings", "Findings across jobs", [said], _RULES, columns)


def _section(
    name: str,
    title: str,
    said: list[str],
    shown: Mapping[str, tuple[str, str]],
    columns: Mapping[str, list[Any]],
) -> str:
    rows = list(zip(*(columns[column] for column in shown), strict=True))
    if not rows:
        return ""
    kinds = [kind for _, kind in shown.values()]
    heads = "".join(
        f'<th scope="col" class="{"text" if kind == "text" else "number"}">{head}</th>'
        for head, kind in shown.values()
    )
    lines = "".join(
        f"<tr>{''.join(_cell(kind, value) for kind, value in zip(kinds, row, strict=True))}</tr>"
        for row in rows
    )
    paragraphs = "".join(f"<p>{escape(sentence)}</p>" for sentence in said)
    return (
        f'<section id="{name}" class="across"><h2>{title}</h2>{paragraphs}'
        f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>'
        "</div></section>"
    )


def _cell(kind: str, value: Any) -> str:
    if kind == "text":
        return f'<td class="text">{escape(visible_cell(value))}</td>'
    return f'<td class="number">{"-" if value is None else _FORMATS[kind](value)}</td>'


_FORMATS = {"count": lambda value: f"{value:,}", "share": percent}
