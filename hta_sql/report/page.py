"""Writes a report as one HTML file, which contains everything that it needs."""

from __future__ import annotations

import base64
import pkgutil
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
from zlib_ng import gzip_ng

from hta_sql.catalogue.catalog import Catalog
from hta_sql.diagnosis.html import findings_html, split_html
from hta_sql.plot.drawing import Drawing, merged
from hta_sql.report.parts import (
    Bars,
    Cards,
    Chart,
    Facts,
    Findings,
    Part,
    Picture,
    Table,
    Text,
    Warnings,
)
from hta_sql.report.two import bars_html, cards_html
from hta_sql.show.html import style, table_html
from hta_sql.show.units import counted
from hta_sql.version import __version__

if TYPE_CHECKING:
    from hta_sql.report.subject import Answer, Subject
    from hta_sql.report.write import Section

# Longer names are cut in tables; a click shows them.
_LONGEST = 56
# Tables of more rows have a field that filters them.
_FEW = 8

# Without JavaScript, what does nothing is hidden.
_WITHOUT_SCRIPT = (
    "<noscript><style>header .buttons, figure .filter, .chart, .step { display: none; }</style>"
    '<p class="warning">Pictures, sorting and filters need JavaScript. Tables do not.</p>'
    "</noscript>"
)


def page(subject: Subject, sections: list[Section]) -> str:
    """The whole document. It fetches nothing."""
    shown = [section for section in sections if section.parts or section.problems]
    empty = [section.title for section in sections if not (section.parts or section.problems)]
    heading = subject.job
    if subject.base is not None:
        heading += f" compared with {subject.base}"
    links = "".join(
        f'<a href="#{s.name}" title="{escape(s.title)}">{escape(s.link)}</a>' for s in shown
    )
    made = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, hta_sql {__version__}"
    titles = {section.name: section.title for section in shown}
    compared, alone = (
        "".join(_section(section, titles) for section in shown if section.is_of_two == of_two)
        for of_two in (True, False)
    )
    if compared:
        alone = f'<p class="silent">The test alone, {escape(subject.job)}:</p>{alone}'
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>hta_sql: {escape(heading)}</title><style>{style()}"
        f"{_file('step/step.css')}{_file('two.css')}</style></head>"
        f"<body><header><h1>{escape(heading)}</h1><p>{escape(made)}</p>"
        '<div class="buttons"><button type="button" id="all">Open all sections</button>'
        '<button type="button" id="theme" title="Dark or light" aria-label="Dark or light">◐'
        "</button></div></header>"
        f'<nav aria-label="Sections">{links}<a href="#sql">SQL</a></nav>'
        f"<main>{_WITHOUT_SCRIPT}{compared}{alone}{_without_data(empty)}"
        f"{_queries(subject.queries)}</main>"
        f"{_packed(_plotly_script(), 'plotly')}"
        f"<script>{_file('step/step.js')}{_file('table.js')}{_file('page.js')}</script>"
        "</body></html>\n"
    )


def _section(section: Section, titles: Mapping[str, str]) -> str:
    problems = "".join(
        f'<p class="warning">This section is incomplete: {escape(problem)}</p>'
        for problem in section.problems
    )
    parts = "".join(_part(part, titles) for part in section.parts)
    is_open = " open" * (section.is_open or bool(section.problems))
    return (
        f'<section id="{section.name}"><details{is_open}><summary><h2>{escape(section.title)}</h2>'
        f"</summary>{parts}{problems}</details></section>"
    )


def _packed(data: bytes, name: str = "") -> str:
    """Data that the page's script inflates when it is needed."""
    text = base64.b64encode(gzip_ng.compress(data, 5, mtime=0)).decode()
    of = f' id="{name}"' if name else ""
    return f'<script type="application/octet-stream"{of}>{text}</script>'


def _part(part: Part, titles: Mapping[str, str]) -> str:
    if isinstance(part, Facts):
        return (
            '<dl class="facts">'
            + "".join(
                f"<div><dt>{escape(what)}</dt><dd>{escape(value)}<small>{escape(word)}</small></dd>"
                "</div>"
                for what, value, word in part.items
            )
            + "</dl>"
        )
    if isinstance(part, Text):
        kind = ' class="warning"' if part.is_warning else ""
        return "".join(f"<p{kind}>{escape(line)}</p>" for line in part.lines)
    if isinstance(part, Warnings):
        return _warnings(part)
    if isinstance(part, Chart):
        return (
            f"<figure><figcaption>{escape(part.caption)}</figcaption>"
            f"{_drawn(part.drawing, part.caption)}{_source(part.answer)}</figure>"
        )
    if isinstance(part, Picture):
        data = _packed(orjson.dumps(part.data))
        return (
            f"<figure><figcaption>{escape(part.caption)}</figcaption>"
            f'<div class="step"></div>{data}{_source(part.answer)}</figure>'
        )
    if isinstance(part, Bars):
        return f"<figure>{bars_html(part)}{_source(part.answer)}</figure>"
    if isinstance(part, Cards):
        return cards_html(part)
    return _findings(part, titles) if isinstance(part, Findings) else _table(part)


def _warnings(part: Warnings) -> str:
    first, *others = (f"<p>{escape(line)}</p>" for line in part.lines)
    if others:
        summary = f"{counted(len(others), 'more warning')} about {escape(part.about)}"
        first += f"<details><summary>{summary}</summary>{''.join(others)}</details>"
    return f'<div class="warning">{first}</div>'


def _findings(part: Findings, titles: Mapping[str, str]) -> str:
    """The findings, with links to those sections that the page has."""
    links = {
        rule: (f"#{name}", titles[name]) for rule, name in part.sections.items() if name in titles
    }
    return (
        f"{split_html(part.diagnosis)}{findings_html(part.diagnosis, links)}{_source(part.answer)}"
    )


def _drawn(drawing: Drawing, caption: str) -> str:
    """A drawing as data, which the page's script draws. The caption above replaces its title."""
    has_legend_above = drawing.layout["legend"]["yanchor"] == "bottom"
    top = {"title": {"text": ""}, "margin": {"t": 40 if has_legend_above else 8}}
    shown = Drawing(drawing.traces, merged(drawing.layout, top))
    # Without "<", the data can neither end the script nor begin a comment in it.
    data = shown.json().replace("<", "\\u003c")
    return (
        f'<div class="chart" role="img" aria-label="{escape(caption)}" '
        f'style="height:{drawing.layout["height"]:.0f}px"></div>'
        f'<script type="application/json">{data}</script>'
    )


def _table(part: Table) -> str:
    rows = part.rows
    more = part.answer.table.num_rows - len(rows)
    cut = f"<p><small>{more:,} more; the command below gives all rows</small></p>" if more else ""
    caption = escape(part.caption)
    field = (
        f'<div class="filter"><input type="search" placeholder="filter rows" '
        f'aria-label="Filter rows: {caption}"><output></output></div>'
        if len(rows) > _FEW
        else ""
    )
    return (
        f'<figure class="table"><figcaption>{caption}</figcaption>{field}<div class="scroll" '
        f'tabindex="0" role="region" aria-label="{caption}">'
        f"{table_html(part.names, rows, _LONGEST, part.heads)}</div>{cut}"
        f"{_source(part.answer)}</figure>"
    )


def _source(answer: Answer) -> str:
    """The SQL and the command behind a figure. Query names in the SQL are links to their files."""
    sql = escape(answer.sql)
    known = Catalog.load().newest
    sql = re.sub(
        r"\b(\w+)(?=\()",
        lambda m: f'<a href="#sql-{m[1]}">{m[1]}</a>' if m[1] in known else m[1],
        sql,
    )
    return (
        f'<details class="source"><summary>SQL and command</summary><pre>{sql}</pre>'
        f"<pre>{escape(answer.command)}</pre></details>"
    )


def _without_data(titles: list[str]) -> str:
    if not titles:
        return ""
    return f'<p class="silent">Sections without data: {escape(", ".join(titles))}.</p>'


def _queries(names: set[str]) -> str:
    """The complete files of all queries that the report used."""
    files = "".join(
        f'<details id="sql-{name}"><summary>{name}: {escape(query.summary)}</summary>'
        f"<pre>{escape(query.sql)}</pre></details>"
        for name, query in Catalog.load().newest.items()
        if name in names
    )
    return (
        '<section id="sql"><details><summary><h2>SQL of the queries</h2></summary>'
        f"{files}</details></section>"
    )


def _plotly_script() -> bytes:
    """As plotly.offline.get_plotlyjs, an import of which takes long."""
    script = pkgutil.get_data("plotly", "package_data/plotly.min.js")
    assert script is not None
    return script


@cache
def _file(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")
