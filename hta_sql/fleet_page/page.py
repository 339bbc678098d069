"""Writes the fleet page as one HTML file. Its script shows the rows and draws the weeks."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson

from hta_sql.fleet_page.jobs import OF_GPUS, OF_JOBS, OF_RULES, REASONS, Jobs
from hta_sql.fleet_page.sections import rules, slow_gpus
from hta_sql.fleet_page.words import WORDS, facts, lacking, lead
from hta_sql.show.html import style
from hta_sql.show.units import TIME_UNITS, counted
from hta_sql.show.visible import visible_cell
from hta_sql.version import __version__

# How step times changed at a run, by whether they are longer.
_CHANGES = {True: "slower from here on", False: "faster from here on"}
# A tag with more values has no list to choose from. The text filter finds its values.
MOST_VALUES = 60


@dataclass(frozen=True)
class Column:
    """A column of the table: what it shows, and as what."""

    name: str
    head: str
    kind: str  # text, date, count, time, share or trend
    says: str


COLUMNS = (
    Column("job", "job", "text", "Run of a program; a click shows more"),
    Column("started_at", "started", "date", "Start of the job, UTC"),
    Column("rank_count", "ranks", "count", "Ranks with a trace"),
    Column(
        "gpu_time_ns",
        "GPU time",
        "time",
        "Traced time of all GPUs together; of each GPU from its first activity or its first step, "
        "whichever begins earlier, to the last end of these",
    ),
    Column("without_compute_ns", "without compute", "time", "GPU time without computation"),
    Column("reason", "main reason", "text", "What most of the time without computation is"),
    Column(
        "lost_ns",
        "waiting for late ranks",
        "time",
        "GPU time in which a rank only waited for a late one; - for one rank, or if not known",
    ),
    Column("utilisation_frac", "utilisation", "share", "Share of the GPU time with any activity"),
    Column(
        "top_gain_frac",
        "gain",
        "share",
        "What the first finding could save of a step, or of a trace without steps",
    ),
    Column("top_finding", "first finding", "text", "Finding with the largest gain"),
    Column("step_p50_ns", "step", "time", "Median duration of a step"),
    Column(
        "diff_ratio",
        "trend",
        "trend",
        "Median step time of this run and up to 4 runs after it, against up to 5 runs before",
    ),
)
# Of a row, what its details show and the picture adds up.
_MORE = (
    "week",
    "has_results",
    "is_at_most",
    "device_name",
    "compute_ns",
    "before_ns",
    "after_ns",
    "top_kernel",
    "worst_rank",
    "worst_rank_host",
    "damage",
    "damages",
)


def page(jobs: Jobs, folder: str, reports: Mapping[str, str]) -> str:
    """The whole document. It fetches nothing. `reports` has the files of jobs' reports."""
    archives = ", ".join(jobs.archives)
    title = f"Jobs in {archives}"
    made = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, hta_sql {__version__}"
    more = "".join(f"<p>{escape(sentence)}</p>" for sentence in lead(jobs).more)
    # Without "<", the data can neither end the script nor begin a comment in it.
    data = orjson.dumps(_data(jobs, folder, reports)).decode().replace("<", "\\u003c")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style()}{_file('page.css')}</style></head><body>"
        f"<header><h1>{escape(title)}</h1><p>{escape(made)}</p>"
        '<button type="button" id="theme" title="Dark or light" aria-label="Dark or light">◐'
        '</button></header><noscript><p class="warning">The list of jobs needs JavaScript.</p>'
        f'</noscript><main><p class="lead">{_lead(jobs)}</p>{more}{_lacking(jobs)}'
        f'<dl class="facts">{_facts(jobs)}</dl>{_file("jobs.html")}{rules(jobs.rules)}'
        f"{slow_gpus(jobs.gpus)}{_sql(jobs)}</main>"
        f'<script type="application/json" id="data">{data}</script>'
        f"<script>{_file('page.js')}{_file('weeks.js')}</script></body></html>\n"
    )


def _lead(jobs: Jobs) -> str:
    """Where to begin; the name of the job opens its row."""
    said = lead(jobs)
    link = f'<a id="begin" href="#jobs">{escape(said.job)}</a>' if said.job else ""
    return f"{escape(said.before)}{link}{escape(said.after)}"


def _facts(jobs: Jobs) -> str:
    return "".join(
        f"<div><dt>{escape(what)}</dt><dd>{escape(value)}<small>{escape(word)}</small></dd></div>"
        for what, value, word in facts(jobs)
    )


def _lacking(jobs: Jobs) -> str:
    """How many jobs have no figures or a bound, and the commands that compute them."""
    said = ""
    if jobs.without_results:
        said += _to_run(f"{lacking(jobs)}, and no figures here. This computes them:", jobs, "")
    if count := jobs.columns["is_at_most"].count(True):
        said += _to_run(
            f"The results of {counted(count, 'job')} are of an earlier hta_sql, and lack the step "
            "time before the first GPU activity and after the last. This adds it:",
            jobs,
            " --force",
        )
    return said


def _to_run(sentence: str, jobs: Jobs, option: str) -> str:
    commands = [f"hta-sql materialize {shlex.quote(root)}{option}" for root in jobs.archives]
    return f'<p class="warning">{escape(sentence)}</p><pre>{escape(chr(10).join(commands))}</pre>'


def _sql(jobs: Jobs) -> str:
    """The statements behind the figures, to run with `hta-sql sql`."""
    archives = shlex.join(jobs.archives)
    parts = {"Jobs": OF_JOBS, "Findings across jobs": OF_RULES, "Slow GPUs": OF_GPUS}
    statements = "".join(
        f"<details><summary>{part}</summary><pre>{escape(sql)}</pre></details>"
        for part, sql in parts.items()
    )
    return (
        '<section id="sql"><h2>SQL</h2><p>All figures come from these statements, which '
        f"<code>hta-sql sql {escape(archives)}</code> runs.</p>{statements}</section>"
    )


def _data(jobs: Jobs, folder: str, reports: Mapping[str, str]) -> dict[str, Any]:
    """What the script shows: columns of values, one value per job."""
    columns = jobs.columns
    names = [*_MORE, *(column.name for column in COLUMNS), *(f"{name}_ns" for name in REASONS)]
    archives = shlex.join(jobs.archives)
    return {
        "heads": [asdict(column) for column in COLUMNS],
        "columns": {name: [_shown(value) for value in columns[name]] for name in names}
        | {"is_change": columns["is_change"], "tags": [_tags(tags) for tags in columns["tags"]]},
        "filters": list(_filters(columns)),
        "reasons": {name: WORDS[name] for name in REASONS},
        "units": TIME_UNITS,
        # Names as the command line takes them, where others are shown.
        "exact": {
            str(at): job for at, job in enumerate(columns["job"]) if visible_cell(job) != job
        },
        "reports": {
            str(at): quote(reports[job]) for at, job in enumerate(columns["job"]) if job in reports
        },
        "report_command": f"hta-sql report --fleet {archives} -o {shlex.quote(folder)} --job",
        "doctor_command": f"hta-sql doctor {archives} --only-jobs",
    }


def _shown(value: Any) -> Any:
    return visible_cell(value) if isinstance(value, str) else value


def _tags(tags: list[tuple[str, str]]) -> str:
    return ", ".join(f"{_shown(tag)}={_shown(value)}" for tag, value in tags)


def _filters(columns: dict[str, list[Any]]) -> Iterator[dict[str, Any]]:
    """The lists to choose jobs by: tags, the GPU and rules. A job can have several values."""
    of_jobs = [dict(tags) for tags in columns["tags"]]
    for tag in sorted({tag for tags in of_jobs for tag in tags}):
        yield from _filter(_shown(tag), [[t[tag]] if tag in t else [] for t in of_jobs], True)
    yield from _filter("GPU", [[name] if name else [] for name in columns["device_name"]])
    yield from _filter("finding", [rules or [] for rules in columns["rules"]])
    changes = zip(columns["is_change"], columns["diff_ratio"], strict=True)
    words = [[_CHANGES[ratio > 0]] if is_change else [] for is_change, ratio in changes]
    yield from _filter("step time", words)


def _filter(name: str, values: list[list[str]], is_tag: bool = False) -> Iterator[dict[str, Any]]:
    known = {value for of_job in values for value in of_job}
    if known and len(known) <= MOST_VALUES and (len(known) > 1 or [] in values):
        shown = [[_shown(value) for value in of_job] for of_job in values]
        yield {"name": name, "isTag": is_tag, "values": shown}


def _file(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")
