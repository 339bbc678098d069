"""The command that checks an archive."""

import click

from hta_sql.catalogue.catalog import Catalog
from hta_sql.cli.options import archives_argument
from hta_sql.cli.progress import say
from hta_sql.cli.results import open_archives
from hta_sql.errors import ArchiveError, HtaSqlError


@click.command()
@archives_argument
@click.option(
    "--deep", is_flag=True, help="Also read all files and compare them with their checksums."
)
def check(archives: tuple[str, ...], deep: bool) -> None:
    """Check that no rows are missing and query results are valid.

    \b
    The command checks:
      * With --deep: each file holds what hta_sql wrote. Each damaged file gets
        a line with the command that makes it again.
      * Each table has as many rows as ingest wrote.
      * The result of each query keeps the promises at the top of the query's
        SQL file. It has the columns under `returns`. No two rows have
        the same combination of values in the columns of `grain`. Every row
        meets the conditions after `check`.

    Queries that need a parameter are not checked; a line on stderr names each of them. The exit
    status is 1 if a file is damaged, rows are missing or a promise is broken. If a file is damaged,
    only the files are checked.

    \b
    Example:
      hta-sql check archive
      hta-sql check archive --deep
    """
    if deep and _damaged(archives):
        raise click.exceptions.Exit(1)
    broken, tested, skipped = 0, 0, 0
    with open_archives(archives) as archive:
        try:
            missing = archive.check_tables()
        except ArchiveError as error:  # every query that reads this table would say the same
            say(error, err=False)
            say("the queries are not checked, since a file is damaged")
            raise click.exceptions.Exit(1) from error
        for line in missing:
            say(line, err=False)
        for query in Catalog.load().queries:
            if query.required:
                needs = ", ".join(p.name for p in query.required)
                say(f"{query}: not checked, because it needs {needs}")
                skipped += 1
                continue
            tested += 1
            try:
                lines = archive.check(query.name, query.version)
            except HtaSqlError as error:
                lines = [str(error)]
            broken += bool(lines)
            for line in lines:
                say(line, err=False)
    and_skipped = f"; {skipped} not checked" if skipped else ""
    click.echo(f"{tested - broken} of {tested} queries keep their promises{and_skipped}")
    if not deep:
        say("the contents of files were not compared with their checksums; --deep does that")
    if missing or broken:
        raise click.exceptions.Exit(1)


def _damaged(archives: tuple[str, ...]) -> int:
    """Compare all files with their checksums, print what differs; returns the number of files."""
    from hta_sql.database.roots import archive_root
    from hta_sql.show.units import counted, humane
    from hta_sql.store.verify import verify

    found = 0
    for given in archives:
        done = verify(archive_root(given))
        for damage in done.damages:
            say(f"{damage.path} {damage.problem}: {damage.cure}", err=False)
        found += len(done.damages)
        for name in done.unsealed:
            say(f"{given}: {name} has no checksum beside it, so it was not compared")
        if done.unknown_count:
            say(
                f"{given}: files of {counted(done.unknown_count, 'row')} of its manifests have no "
                "checksums, since an earlier hta_sql wrote them; `hta-sql refresh` adds them"
            )
        say(
            f"{given}: {counted(done.file_count, 'file')}, {humane('bytes', done.bytes)}, "
            f"compared with their checksums; {len(done.damages)} damaged",
            err=False,
        )
    return found
