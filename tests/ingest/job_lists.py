"""Traces of many jobs, and lists of them."""

import re
from pathlib import Path

from click.testing import CliRunner
from hand_written import rows, span, trace_text

import hta_sql
from hta_sql.cli import cli


def write(path: Path, count: int = 3, before: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(trace_text([span(f"op{at}", ts=at * 10, dur=2) for at in range(count)], before))
    return path


def write_csv(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n")
    return path


def statuses(summary) -> dict[str, str]:
    return {f"{o.job}/{o.path.name}": o.status for o in summary.traces}


def tags(archive: Path) -> dict[tuple, dict]:
    with hta_sql.open(archive) as run:
        return {
            (job, rank): dict(told)
            for job, rank, told in rows(run, "SELECT job, rank, tags FROM traces")
        }


def run_cli(*words: object) -> tuple[int, list[str]]:
    result = CliRunner().invoke(cli, ["ingest", *map(str, words)])
    return result.exit_code, re.sub(r"\d+\.\d s", "N s", result.stderr).splitlines()
