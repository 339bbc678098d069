"""The commands that maintain an archive."""

from pathlib import Path
from typing import Any

import click

import hta_sql
from hta_sql.cli.export import export
from hta_sql.cli.options import list_option, with_output
from hta_sql.cli.progress import Progress, say
from hta_sql.show.formats import format_of, write
from hta_sql.show.units import counted, humane


@click.command()
@click.argument("archive")
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    metavar="N",
    help="Files to write at the same time, each from several ranks. [default: one per core]",
)
def compact(archive: str, **chosen: Any) -> None:
    """Merge small files, so that queries on many jobs open fewer.

    Afterwards, the ranks of a job share files of up to about 100 MB. In object storage, the command
    also merges the small objects that record each change of the archive. Queries give the same rows
    before, during and after, and ingest can run at the same time.

    Without --only-jobs, the command also deletes files that an ingest left behind when it was
    killed, if they are more than a day old.

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
        say(f"not compacted: {line}")
    ranks, files = counted(done.rank_count, "rank"), counted(done.written_count, "file")
    said = (
        f"{ranks} of {counted(done.job_count, 'job')} merged into {files}, "
        f"{humane('bytes', done.written_bytes)}"
    )
    if done.change_count:
        said += f"; {done.change_count:,} changes of manifests merged"
    if done.unnamed_count:
        said += (
            f"; {done.unnamed_count:,} abandoned files deleted, "
            f"{humane('bytes', done.unnamed_bytes)}"
        )
    say(said)
    if done.left:
        raise click.exceptions.Exit(1)


compact.params.append(list_option("--only-jobs", click.STRING, "Jobs to compact. [default: all]"))


@click.command()
@click.argument("archive")
@click.option("--job", "jobs", multiple=True, metavar="NAME", help="Job to delete; repeatable.")
@click.option(
    "--older-than",
    metavar="AGE",
    help="Delete all jobs older than AGE: hours, days or weeks, such as 12h, 30d or 8w.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would be deleted.")
@with_output
def drop(
    archive: str,
    jobs: tuple[str, ...],
    older_than: str | None,
    dry_run: bool,
    format: str | None,
    output: Path | None,
) -> None:
    """Delete jobs and their files from an archive.

    There is no confirmation and no undo. Use --dry-run to see what would be deleted, and
    `hta-sql export job` to keep a copy.

    \b
    For --older-than, the time of a job is the latest time of its ranks. The
    time of a rank is the first of these that is known:
      1. the date and time at which its trace starts
      2. its tag `time`
      3. the time when it was ingested

    \b
    Example:
      hta-sql drop archive --older-than 30d --dry-run
      hta-sql drop archive --job llama-7b --job llama-13b
    """
    if bool(jobs) == bool(older_than):
        raise click.UsageError("give either --job or --older-than")
    if output:
        format_of(output, format)
        if not output.absolute().parent.is_dir():  # the list of deleted jobs would be lost
            raise click.UsageError(f"{output.parent}: no such folder")
    gone = hta_sql.drop(archive, jobs=jobs or None, older_than=older_than, dry_run=dry_run)
    _write(gone, format, output)
    files, size = (sum(gone[name].to_pylist()) for name in ("file_count", "total_bytes"))
    what = "would be dropped" if dry_run else "dropped"
    say(f"{counted(len(gone), 'job')} {what}: {counted(files, 'file')}, {humane('bytes', size)}")


@click.command()
@click.argument("archive")
@with_output
def usage(archive: str, format: str | None, output: Path | None) -> None:
    """Show the size of each job in an archive, largest first.

    \b
    The column `part` says what the files of a row are:
      job      files of one job
      results  stored results of many jobs (hta-sql materialize)
      unnamed  data files that no query reads: an ingest is still writing
               them, or was killed, or compact has replaced them
      rest     hta.duckdb, manifests (which list the files) and temporary files

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
@click.option(
    "--job", metavar="NAME", help="New name for the job. EXPORTED must then have only one job."
)
@click.option("--force", is_flag=True, help="Replace a job in ARCHIVE that has the same name.")
def import_(exported: str, archive: str, job: str | None, force: bool) -> None:
    """Add the jobs of another archive to an archive.

    EXPORTED is an archive, such as one that `hta-sql export job` made. The command also copies the
    critical paths of its jobs, and the execution traces and memory timelines of its ranks. If
    ARCHIVE does not exist, the command creates it.

    \b
    Example:
      hta-sql import llama-7b-job archive
      hta-sql import s3://bucket/exported archive --job llama-7b-baseline
    """
    for copied in hta_sql.import_job(exported, archive, job=job, force=force):
        _tell(copied, archive)


@export.command("job")
@click.argument("archive")
@click.option("--job", required=True, metavar="JOB", help="Job to copy.")
@click.option(
    "-o",
    "--output",
    "out",
    required=True,
    metavar="OUT",
    help="Folder or URL: a new one, or an archive to add the job to.",
)
def export_job_(archive: str, job: str, out: str) -> None:
    """Copy a job to an archive of its own.

    The copy opens like any other archive. `hta-sql import` adds it to another archive.

    \b
    Example:
      hta-sql export job archive --job llama-7b -o llama-7b-job
      hta-sql export job s3://bucket/archive --job llama-7b -o llama-7b-job
    """
    _tell(hta_sql.export_job(archive, out, job=job), out)


def _tell(copied: Any, archive: str) -> None:
    say(
        f"{copied.job}: {counted(copied.rank_count, 'rank')}, "
        f"{counted(copied.file_count, 'file')}, {humane('bytes', copied.bytes)} in "
        f"{archive}"
    )


def _write(table: Any, format: str | None, output: Path | None) -> None:
    import duckdb

    with duckdb.connect() as con:
        write(con.from_arrow(table), format, output)
