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
    "--jobs",
    "all_jobs",
    is_flag=True,
    help="With --fleet, write the report of each job beside the page.",
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
    all_jobs: bool,
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

    With --fleet, the page lists all jobs, to sort and filter, and says in which job to begin. It
    links to the reports beside it. If a report fails, the others are still written.

    \b
    Example:
      hta-sql report archive
      hta-sql report archive -o tuesday.html --job monday --job tuesday
      hta-sql report --fleet archive -o fleet
      hta-sql report --fleet archive -o fleet --jobs
    """
    if fleet:
        _fleet(archives, output or Path("fleet"), jobs, all_jobs, step)
        return
    if all_jobs:
        raise click.UsageError("--jobs is for the page with all jobs; add --fleet")
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
    archive: Any,
    output: Path,
    job: tuple[str, ...],
    base: str | None,
    step: int | None,
    of_job: str = "",
) -> list[str]:
    """Write the report on a job; says what is incomplete, and returns these lines.

    `of_job` is what its lines begin with, if there are several reports.
    """
    from hta_sql.report import write_report

    bar = Progress()

    def progress(title: str, done: int, total: int) -> None:
        bar.show(f"{of_job}{done} of {total}: {title}")

    try:
        problems = write_report(
            archive, output, job=job[0] if job else None, base=base, step=step, progress=progress
        )
    finally:
        bar.clear()
    for problem in problems:
        say(f"Warning: {of_job}{problem}")
    return problems


def _fleet(
    archives: tuple[str, ...], folder: Path, jobs: tuple[str, ...], all_jobs: bool, step: int | None
) -> None:
    """Write reports on some jobs into a folder, and the page with all jobs, which links them."""
    if step is not None:
        raise click.UsageError("--step is for the report on a job; leave it out with --fleet")
    if jobs and all_jobs:
        raise click.UsageError("--jobs writes the reports of all jobs; leave out --job")
    from hta_sql.database.selection import check_selection
    from hta_sql.fleet_page import INDEX, lacking, make_folder, write_fleet_page

    with open_archives(archives) as archive:
        check_selection(archive.session, {"only_jobs": list(jobs) or None})
        make_folder(archive, folder)
        chosen = list(dict.fromkeys(jobs))
        if all_jobs:
            chosen = archive.sql("SELECT DISTINCT job FROM traces ORDER BY job")["job"].to_pylist()
        failed = _reports(archive, folder, chosen)
        began = time.monotonic()
        found = write_fleet_page(archive, folder)
    if found.without_results:
        say(f"Warning: {lacking(found)}; `hta-sql materialize ARCHIVE` stores them")
    _told(folder / INDEX, began)
    for job, reason in failed:
        say(f"{job}: failed: {reason}")
    if failed:
        raise click.exceptions.Exit(1)


def _reports(archive: Any, folder: Path, jobs: list[str]) -> list[tuple[str, str]]:
    """Write the reports of jobs; returns (job, reason) for each that fails or has damaged files."""
    if not jobs:
        return []
    import hta_sql.report  # noqa: F401  # without the extra viz, this is one error and not many
    from hta_sql.errors import HtaSqlError, is_interrupt
    from hta_sql.fleet_page import make_folder, report_of

    failed = []
    for at, job in enumerate(jobs, start=1):
        began = time.monotonic()
        output = folder / report_of(job)
        try:
            make_folder(archive, output.parent)
            of_job = f"{at:,} of {len(jobs):,} jobs, {job}: "
            problems = _report(archive, output, (job,), None, None, of_job)
        except HtaSqlError as error:
            if is_interrupt(error):
                raise
            failed.append((job, str(error)))
            continue
        failed += [(job, problem) for problem in problems if DAMAGED in problem]
        _told(output, began)
    return failed


def _told(output: Path, began: float) -> None:
    size = humane("bytes", output.stat().st_size)
    say(f"{output}: {size}; {time.monotonic() - began:.1f} s")
