"""The commands that keep an archive in order."""

from pathlib import Path
from typing import Any

import click

import hta_sql
from hta_sql.cli.export import export
from hta_sql.cli.options import list_option, with_output
from hta_sql.cli.progress import Progress
from hta_sql.show.formats import format_of, write
from hta_sql.show.units import counted, humane


@click.command()
@click.argument("archive")
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    metavar="N",
    help="Groups of ranks read at a time. [default: one a core]",
)
def compact(archive: str, **chosen: Any) -> None:
    """Put small files together, so that questions on many jobs open fewer.

    Ranks of a job share files up to some 100 MB, and an archive in object storage gets one object
    for many changes of its manifests. Queries give the same rows before, meanwhile and afterwards,
    and ingest goes on as it did. What killed ingests have left goes, too, once it is a day old.

    \b
    Example:
      hta-sql compact archive
      hta-sql compact s3://bucket/archive --only-jobs llama-7b
    """
    bar = Progress()

    def progress(done: int, total: int) -> None:
        bar.show(f"{done} of {total} groups of ranks")

    done = hta_sql.compact(archive, progress=progress, **chosen)
    bar.clear()
    for line in done.left:
        click.echo(f"left as it is: {line}", err=True)
    ranks, files = counted(done.rank_count, "rank"), counted(done.written_count, "file")
    said = (
        f"{ranks} of {counted(done.job_count, 'job')} put together: {files}, "
        f"{humane('bytes', done.written_bytes)}"
    )
    if done.change_count:
        said += f"; {done.change_count:,} changes of manifests"
    if done.unnamed_count:
        said += (
            f"; {done.unnamed_count:,} abandoned files deleted, "
            f"{humane('bytes', done.unnamed_bytes)}"
        )
    click.echo(said, err=True)
    if done.left:
        raise click.exceptions.Exit(1)


compact.params.append(list_option("--only-jobs", click.STRING, "Jobs to look at. [default: all]"))


@click.command()
@click.argument("archive")
@click.option("--job", "jobs", multiple=True, metavar="NAME", help="A job to drop; repeatable.")
@click.option(
    "--older-than",
    metavar="AGE",
    help="All jobs older than this: hours, days or weeks, such as 12h, 30d, 8w.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would go.")
@with_output
def drop(
    archive: str,
    jobs: tuple[str, ...],
    older_than: str | None,
    dry_run: bool,
    format: str | None,
    output: Path | None,
) -> None:
    """Take jobs out of an archive and delete their files.

    A job's time is when its traces began, of its ranks the latest; where they tell no date, its
    tag `time`, or else when they were ingested. Nothing is asked, and nothing brings them back:
    --dry-run shows what would go, and `hta-sql export job` keeps a copy.

    \b
    Example:
      hta-sql drop archive --older-than 30d --dry-run
      hta-sql drop archive --job llama-7b --job llama-13b
    """
    if bool(jobs) == bool(older_than):
        raise click.UsageError("either --job or --older-than says what to drop")
    if output:
        format_of(output, format)
        if not output.absolute().parent.is_dir():  # afterwards nobody could tell what went
            raise click.UsageError(f"{output.parent}: no such folder")
    gone = hta_sql.drop(archive, jobs=jobs or None, older_than=older_than, dry_run=dry_run)
    _write(gone, format, output)
    files, size = (sum(gone[name].to_pylist()) for name in ("file_count", "total_bytes"))
    what = "would go" if dry_run else "dropped"
    click.echo(
        f"{counted(len(gone), 'job')} {what}: {counted(files, 'file')}, {humane('bytes', size)}",
        err=True,
    )


@click.command()
@click.argument("archive")
@with_output
def usage(archive: str, format: str | None, output: Path | None) -> None:
    """Show what each job takes of an archive, the largest first, and what no job owns.

    \b
    Example:
      hta-sql usage archive
      hta-sql usage s3://bucket/archive --format csv
    """
    if output:
        format_of(output, format)
    _write(hta_sql.usage(archive), format, output)


@click.command("import")
@click.argument("exported")
@click.argument("archive")
@click.option("--job", metavar="NAME", help="Another name for the job.")
@click.option("--force", is_flag=True, help="Replace a job of that name.")
def import_(exported: str, archive: str, job: str | None, force: bool) -> None:
    """Add an exported job, or all jobs of another archive, to an archive.

    With it come what was attached to its traces and its critical paths.

    \b
    Example:
      hta-sql import llama-7b-job archive
      hta-sql import s3://bucket/exported archive --job llama-7b-baseline
    """
    for copied in hta_sql.import_job(exported, archive, job=job, force=force):
        _tell(copied, archive)


@export.command("job")
@click.argument("archive")
@click.option("--job", required=True, metavar="JOB", help="Which job.")
@click.option(
    "-o",
    "--output",
    "out",
    required=True,
    metavar="OUT",
    help="A folder or URL: a new one, or an archive to add the job to.",
)
def export_job_(archive: str, job: str, out: str) -> None:
    """Copy a job to an archive of its own.

    It opens like any other archive; `hta-sql import` adds it to another one.

    \b
    Example:
      hta-sql export job archive --job llama-7b -o llama-7b-job
      hta-sql export job s3://bucket/archive --job llama-7b -o llama-7b-job
    """
    _tell(hta_sql.export_job(archive, out, job=job), out)


def _tell(copied: Any, archive: str) -> None:
    click.echo(
        f"{copied.job}: {counted(copied.rank_count, 'rank')}, "
        f"{counted(copied.file_count, 'file')}, {humane('bytes', copied.bytes)} in "
        f"{archive}",
        err=True,
    )


def _write(table: Any, format: str | None, output: Path | None) -> None:
    import duckdb

    with duckdb.connect() as con:
        write(con.from_arrow(table), format, output)
