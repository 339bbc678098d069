"""The command that stores results."""

import sys
import time

import click

from hta_sql.cli.queries import list_option, with_engine
from hta_sql.show.output import CLEAR_LINE


@click.command()
@click.argument("archive")
@click.option("--force", is_flag=True, help="Compute again what is stored.")
@with_engine
def materialize(
    archive: str, force: bool, only_jobs: list[str] | None, engine: str, address: str | None
) -> None:
    """Store results of single jobs in the archive, for the queries on all jobs.

    Queries on all jobs, such as fleet_summary, read only what this has stored: megabytes, however
    many traces there are. Computed is what is missing, and what of a job of which a trace was
    ingested anew. A job that fails is reported and does not stop the others.

    \b
    Example:
      hta-sql materialize archive
      hta-sql materialize archive --only-jobs llama-7b --force
    """
    from hta_sql.fleet.materialize import materialize as run

    began = time.monotonic()

    def progress(done: int, total: int) -> None:
        if sys.stderr.isatty():
            click.echo(f"{CLEAR_LINE}{done:,} of {total:,} jobs", err=True, nl=False)

    done = run(archive, only_jobs, force, progress, engine, address)
    if sys.stderr.isatty():
        click.echo(CLEAR_LINE, err=True, nl=False)
    for job, reason in done.failed:
        click.echo(f"{job}: failed: {reason}", err=True)
    failed = f", {len(done.failed):,} failed" if done.failed else ""
    click.echo(
        f"{len(done.jobs):,} job{'s' * (len(done.jobs) != 1)} computed{failed}; "
        f"{time.monotonic() - began:.1f} s",
        err=True,
    )
    if done.failed:
        raise click.exceptions.Exit(1)


materialize.params.append(
    list_option("--only-jobs", click.STRING, "Jobs to compute. [default: all]")
)
