"""The command that writes reports."""

import time
from pathlib import Path
from typing import Any

import click

from hta_sql.cli.options import archives_argument
from hta_sql.cli.progress import Progress, say
from hta_sql.cli.results import open_archives
from hta_sql.errors import DAMAGED
from hta_sql.show.units import humane


@click.command("report")
@archives_argument
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="HTML file to write; with --fleet, a folder. [default: report.html, or fleet]",
)
@click.option(
    "--fleet",
    is_flag=True,
    help="Write a page with all jobs, index.html, from the results that `hta-sql materialize` "
    "has stored.",
)
@click.option(
    "--job",
    "jobs",
    multiple=True,
    metavar="NAME",
    help="Job to report; if given twice, the second job is compared with the first. With --fleet, "
    "each job given gets a report beside the page. [default: the archive's only job, or its two "
    "jobs; with --fleet, none]",
)
@click.option(
    "--step",
    type=click.IntRange(min=0),
    metavar="N",
    help="Step that the picture shows first. [default: a typical step]",
)
def report(
    archives: tuple[str, ...],
    output: Path | None,
    fleet: bool,
    jobs: tuple[str, ...],
    step: int | None,
) -> None:
    """Write a report on a job as one HTML file, or a page with all jobs.

    The file opens in any browser, without a network. Each section has its SQL and the command that
    prints its table.

    \b
    The report shows:
      * what to fix first, as hta-sql doctor says it
      * a step as one picture, its critical path, and what-ifs
      * headline figures and breakdowns of GPU time
      * the ranks side by side, and causes of idle time
      * kernels and operators
      * communication and stragglers
      * what was quarantined
      * for two jobs, what changed

    With --fleet, the page lists all jobs, to sort and filter, and says in which job to begin.

    \b
    Example:
      hta-sql report archive
      hta-sql report archive -o tuesday.html --job monday --job tuesday
      hta-sql report --fleet archive -o fleet
    """
    if fleet:
        _fleet(archives, output or Path("fleet"), jobs, step)
        return
    if len(jobs) > 2 or len(set(jobs)) < len(jobs):
        raise click.BadParameter(
            "give one job, or two different jobs to compare", param_hint="--job"
        )
    began = time.monotonic()
    output = output or Path("report.html")
    with open_archives(archives) as archive:
        problems = _report(archive, output, jobs[-1:], jobs[0] if len(jobs) > 1 else None, step)
    _told(output, began)
    if any(DAMAGED in problem for problem in problems):
        raise click.exceptions.Exit(1)


def _report(
    archive: Any, output: Path, job: tuple[str, ...], base: str | None, step: int | None
) -> list[str]:
    """Write the report on a job; says what is incomplete, and returns these lines."""
    from hta_sql.report import write_report

    bar = Progress()

    def progress(title: str, done: int, total: int) -> None:
        bar.show(f"{done} of {total}: {title}")

    problems = write_report(
        archive, output, job=job[0] if job else None, base=base, step=step, progress=progress
    )
    bar.clear()
    for problem in problems:
        say(f"Warning: {problem}")
    return problems


def _fleet(
    archives: tuple[str, ...], folder: Path, jobs: tuple[str, ...], step: int | None
) -> None:
    """Write reports on some jobs into a folder, and the page with all jobs, which links them."""
    if step is not None:
        raise click.UsageError("--step is for the report on a job; leave it out with --fleet")
    from hta_sql.database.selection import check_selection
    from hta_sql.fleet_page import INDEX, lacking, make_folder, report_of, write_fleet_page

    with open_archives(archives) as archive:
        check_selection(archive.session, {"only_jobs": list(jobs) or None})
        for job in dict.fromkeys(jobs):
            began = time.monotonic()
            output = folder / report_of(job)
            make_folder(archive, output.parent)
            _report(archive, output, (job,), None, None)
            _told(output, began)
        began = time.monotonic()
        found = write_fleet_page(archive, folder)
    if found.without_results:
        say(f"Warning: {lacking(found)}; `hta-sql materialize ARCHIVE` stores them")
    _told(folder / INDEX, began)


def _told(output: Path, began: float) -> None:
    size = humane("bytes", output.stat().st_size)
    say(f"{output}: {size}; {time.monotonic() - began:.1f} s")
