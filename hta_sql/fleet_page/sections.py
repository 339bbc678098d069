"""Sections of the fleet page that are over several jobs. A section without rows is left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from hta_sql.diagnosis.words import percent
from hta_sql.show.units import humane
from hta_sql.show.visible import visible_cell

# The head of each column, and what it shows: text, count, share or time.
_RULES = {
    "rule": ("finding", "text"),
    "job_count": ("jobs", "count"),
    "median_gain_frac": ("median gain", "share"),
    "largest_gain_frac": ("largest gain", "share"),
    "job": ("job", "text"),
    "title": ("title", "text"),
}
_GPUS = {
    "host": ("host", "text"),
    "local_rank": ("GPU", "count"),
    "device_name": ("name", "text"),
    "slower_frac": ("slower", "share"),
    "slow_count": ("slow in jobs", "count"),
    "evidence_count": ("of jobs", "count"),
    "extra_compute_ns": ("longer computation", "time"),
    "lost_gpu_ns": ("waits of other GPUs", "time"),
}


def rules(columns: Mapping[str, list[Any]]) -> str:
    """Findings across jobs."""
    said = (
        "Rules with a finding that gains 1 % of a step or more. Job and title are those of the "
        "finding with the largest gain."
    )
    return _section("findings", "Findings across jobs", [said], _RULES, columns)


def slow_gpus(columns: Mapping[str, list[Any]]) -> str:
    """GPUs that are slow in job after job."""
    said = [
        "These GPUs run the same kernels more slowly than other GPUs of the same jobs do, in more "
        "than half of the jobs. Slower is the median over these jobs. "
        "Other GPUs wait if a rank on the GPU comes late to a collective or message.",
        *_whole_hosts(columns),
    ]
    return _section("gpus", "Slow GPUs", said, _GPUS, columns)


def _whole_hosts(columns: Mapping[str, list[Any]]) -> Iterator[str]:
    """The hosts of which several GPUs ran jobs, and all are slow."""
    names = ("host", "host_gpu_count", "host_outlier_count")
    for host, count, slow in dict.fromkeys(zip(*map(columns.get, names), strict=True)):
        if count == slow > 1:
            yield f"Each of the {count:,} GPUs of {visible_cell(host)} that ran these jobs is slow."


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


_FORMATS = {
    "count": lambda value: f"{value:,}",
    "share": percent,
    "time": lambda value: humane("time_ns", value),
}
