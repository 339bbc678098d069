"""The command that writes a report."""

import time
from pathlib import Path

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
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    default="report.html",
    show_default=True,
    help="HTML file to write.",
)
@click.option(
    "--job",
    "jobs",
    multiple=True,
    metavar="NAME",
    help="Job to report; if given twice, the second job is compared with the first. "
    "[default: the archive's only job, or its two jobs]",
)
@click.option(
    "--step",
    type=click.IntRange(min=0),
    metavar="N",
    help="Step whose timeline is shown. [default: the middle step]",
)
def report(
    archives: tuple[str, ...], output: Path, jobs: tuple[str, ...], step: int | None
) -> None:
    """Write a report on a job as one HTML file.

    The file opens in any browser, without a network. Each section has its SQL and the command that
    prints its table.

    \b
    The report shows:
      * headline figures and breakdowns of GPU time
      * the ranks side by side, and causes of idle time
      * kernels and operators
      * communication and stragglers
      * the timeline of a step
      * what was quarantined
      * for two jobs, what changed

    \b
    Example:
      hta-sql report archive
      hta-sql report archive -o tuesday.html --job monday --job tuesday
    """
    if len(jobs) > 2 or len(set(jobs)) < len(jobs):
        raise click.BadParameter(
            "give one job, or two different jobs to compare", param_hint="--job"
        )
    from hta_sql.report import write_report

    began = time.monotonic()
    bar = Progress()

    def progress(title: str, done: int, total: int) -> None:
        bar.show(f"{done} of {total}: {title}")

    with open_archives(archives) as archive:
        problems = write_report(
            archive,
            output,
            job=jobs[-1] if jobs else None,
            base=jobs[0] if len(jobs) > 1 else None,
            step=step,
            progress=progress,
        )
    bar.clear()
    for problem in problems:
        say(f"Warning: {problem}")
    size = humane("bytes", output.stat().st_size)
    say(f"{output}: {size}; {time.monotonic() - began:.1f} s")
    if any(DAMAGED in problem for problem in problems):
        raise click.exceptions.Exit(1)
