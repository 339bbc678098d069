"""The command that stores the results of single jobs."""

import time

import click

import hta_sql
from hta_sql.cli.options import list_option, with_engine
from hta_sql.cli.progress import Progress, say


@click.command()
@click.argument("archive")
@click.option(
    "--force", is_flag=True, help="Compute all results again, even those that are stored."
)
@with_engine
def materialize(
    archive: str, force: bool, only_jobs: list[str] | None, engine: str, address: str | None
) -> None:
    """Store results of each job, for queries on all jobs.

    Queries on all jobs, such as fleet_summary, read only these stored results, which are
    much smaller than the tables of the traces.

    The command computes results that are missing, and results of jobs with traces that were
    ingested again. If a job fails, it is reported, and the other jobs are still computed.

    \b
    Example:
      hta-sql materialize archive
      hta-sql materialize archive --only-jobs llama-7b --force
    """
    began = time.monotonic()
    bar = Progress()

    def progress(done: int, total: int) -> None:
        bar.show(f"{done:,} of {total:,} jobs")

    done = hta_sql.materialize(
        archive, only_jobs=only_jobs, force=force, engine=engine, address=address, progress=progress
    )
    bar.clear()
    for job, reason in done.failed:
        say(f"{job}: failed: {reason}")
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
