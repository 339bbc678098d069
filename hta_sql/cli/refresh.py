"""The command that derives the tables of an archive again."""

import click

import hta_sql
from hta_sql.cli.ingest import Talk
from hta_sql.cli.options import list_option, with_engine


@click.command()
@click.argument("archive")
@click.option(
    "--steps",
    metavar="REGEX",
    help="Names of the annotations that are steps; a group is the step's number; '' for the rules "
    "of ingest. [default: what each trace was ingested with]",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    metavar="N",
    help="Ranks to read at the same time. [default: one per core]",
)
@with_engine
def refresh(
    archive: str,
    steps: str | None,
    workers: int | None,
    only_jobs: list[str] | None,
    engine: str,
    address: str | None,
) -> None:
    """Derive an archive's tables again, without traces.

    The command reads only the events that the archive has.

    Do this to choose other steps, or after an update of hta_sql, to give an old archive what ingest
    derives now. All ranks of a job change at the same moment. Then run critical-path and
    materialize again, since their results are outdated.

    \b
    Example:
      hta-sql refresh archive
      hta-sql refresh archive --only-jobs llama-7b --steps '^train_step (\\d+)'
    """
    talk = Talk()
    summary = hta_sql.refresh(
        archive,
        only_jobs=only_jobs,
        steps=steps,
        workers=workers,
        engine=engine,
        address=address,
        planned=talk.planned,
        finished=talk.finished,
        progress=talk.progress,
    )
    talk.summarize(summary)
    if summary.failed:
        raise click.exceptions.Exit(1)


refresh.params.append(list_option("--only-jobs", click.STRING, "Jobs to refresh. [default: all]"))
