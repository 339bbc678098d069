"""The command that says what holds a job back."""

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hta_sql.cli.ingest import Talk
from hta_sql.cli.options import OneOf, list_option
from hta_sql.cli.progress import Progress
from hta_sql.errors import HtaSqlError
from hta_sql.show.files import write_text
from hta_sql.show.units import counted

if TYPE_CHECKING:
    from hta_sql.diagnosis.diagnoses import Diagnoses

_FORMATS = ("text", "json", "markdown", "html")
_BY_SUFFIX = {".txt": "text", ".json": "json", ".md": "markdown", ".html": "html"}
# The width for pipes and files, unless the variable COLUMNS sets another.
_WIDTH = 100
_MEANWHILE = "looking for what to fix"
# An exit status in addition to those that all commands have.
_HAS_FINDINGS = 3


@click.command("doctor")
@click.argument("paths", nargs=-1, required=True, metavar="TRACES...|ARCHIVE...")
@click.option(
    "--fail-on",
    type=OneOf(["high", "medium", "low"]),
    help="Exit with status 3 if a finding is of this severity or above.",
)
@click.option(
    "--format",
    "form",
    type=OneOf(_FORMATS),
    help="Format of the result. [default: from FILE's extension, else text]",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write to FILE; its extension (.txt, .json, .md, .html) sets the format.",
)
def doctor(
    paths: tuple[str, ...],
    only_jobs: list[str] | None,
    fail_on: str | None,
    form: str | None,
    output: Path | None,
) -> None:
    """Find what holds a job back, and what to fix first.

    Give traces (files, folders, patterns or URLs, as for ingest) or archives. Traces are ingested
    into a cache folder, which a line on stderr names. The next run with the same paths reads only
    new and changed traces.

    \b
    The screen of a job shows:
      * what would gain the most, and where the time of a step goes
      * the findings, the largest gain first, each with its evidence, advice
        and the command that shows more
      * what is wrong with the traces or missing in them

    A finding has a severity by its gain: high from 10 % of a step, medium from 3 %, low from 1 %,
    else info. Without steps, the gain is of the time from the first GPU activity to the last. Gains
    of different findings do not add up.

    For several jobs, the command prints one row per job; --only-jobs shows the screen of one.

    \b
    Exit status:
      0  done; with --fail-on: no such finding
      1  an error, or a trace that cannot be read
      2  wrong usage
      3  a finding has the severity of --fail-on or above

    \b
    Example:
      hta-sql doctor traces/
      hta-sql doctor archive --only-jobs llama-7b
      hta-sql doctor traces/ --fail-on high --format markdown -o comment.md
    """
    form = form or _format_of(output)
    if output and not output.absolute().parent.is_dir():
        raise click.BadParameter(f"{output.parent}: no such folder", param_hint="-o")
    from hta_sql.diagnosis.doctor import diagnosed

    talk, bar = Talk(is_quiet=True), Progress()

    def say(line: str) -> None:
        talk.say(line)
        bar.show(_MEANWHILE)

    bar.show(_MEANWHILE)
    try:
        found = diagnosed(
            paths,
            only_jobs,
            say,
            planned=talk.planned,
            finished=talk.finished,
            progress=talk.progress,
        )
    finally:
        bar.clear()
    _write(_text(found, form, output), output)
    if fail_on and (count := sum(len(one.of_severity(fail_on)) for one in found)):
        said = f"{counted(count, 'finding')} of this severity or above"
        click.echo(f"--fail-on {fail_on}: {said}", err=True)
        raise click.exceptions.Exit(_HAS_FINDINGS)
    if found.failed:
        raise click.exceptions.Exit(1)


def _format_of(output: Path | None) -> str:
    if output is None:
        return "text"
    if output.suffix.lower() not in _BY_SUFFIX:
        raise HtaSqlError(
            f"{output}: unknown format; give --format {'|'.join(_FORMATS)}, or a file name that "
            f"ends in {', '.join(_BY_SUFFIX)}"
        )
    return _BY_SUFFIX[output.suffix.lower()]


def _text(found: "Diagnoses", form: str, output: Path | None) -> str:
    if form == "json":
        import orjson

        option = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
        return orjson.dumps(found.to_dict(), option=option).decode()
    if form == "markdown":
        from hta_sql.diagnosis.markdown import markdown

        return markdown(found)
    if form == "html":
        from hta_sql.diagnosis.html import page

        return page(found)
    from hta_sql.diagnosis.text import coloured, plain, screen

    is_terminal = output is None and sys.stdout.isatty()
    width = shutil.get_terminal_size((_WIDTH, 0)).columns
    return screen(found, width, coloured if is_terminal else plain)


def _write(text: str, output: Path | None) -> None:
    if output:
        write_text(output, text)
        return
    if "utf" not in (sys.stdout.encoding or "").lower():
        from hta_sql.diagnosis.text import as_ascii

        text = as_ascii(text)
    click.echo(text, nl=False)


doctor.params.insert(1, list_option("--only-jobs", click.STRING, "Jobs to show. [default: all]"))
