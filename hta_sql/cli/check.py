"""The command that checks an archive."""

import click

from hta_sql.catalogue.catalog import Catalog
from hta_sql.cli.options import archives_argument
from hta_sql.cli.results import open_archives
from hta_sql.errors import HtaSqlError


@click.command()
@archives_argument
def check(archives: tuple[str, ...]) -> None:
    """Check that no rows are missing and query results are valid.

    \b
    The command checks two things:
      * Each table has as many rows as ingest wrote.
      * The result of each query keeps the promises at the top of the query's
        SQL file. It has the columns under `returns`. No two rows have
        the same combination of values in the columns of `grain`. Every row
        meets the conditions after `check`.

    Queries that need a parameter are not checked; a line on stderr names each of them. The exit
    status is 1 if rows are missing or a promise is broken.

    \b
    Example:
      hta-sql check archive
    """
    broken, tested, skipped = 0, 0, 0
    with open_archives(archives) as archive:
        missing = archive.check_tables()
        for line in missing:
            click.echo(line)
        for query in Catalog.load().queries:
            if query.required:
                needs = ", ".join(p.name for p in query.required)
                click.echo(f"{query}: not checked, because it needs {needs}", err=True)
                skipped += 1
                continue
            tested += 1
            try:
                lines = archive.check(query.name, query.version)
            except HtaSqlError as error:
                lines = [str(error)]
            broken += bool(lines)
            for line in lines:
                click.echo(line)
    and_skipped = f"; {skipped} not checked" if skipped else ""
    click.echo(f"{tested - broken} of {tested} queries keep their promises{and_skipped}")
    if missing or broken:
        raise click.exceptions.Exit(1)
