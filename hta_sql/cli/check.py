"""The command that checks an archive."""

import click

from hta_sql.catalogue.catalog import Catalog
from hta_sql.cli.options import archives_argument
from hta_sql.cli.results import open_archives
from hta_sql.errors import HtaSqlError


@click.command()
@archives_argument
def check(archives: tuple[str, ...]) -> None:
    """Check that rows are complete and query headers hold.

    It compares the rows of each table with the number that ingest wrote. It also runs each query
    and tests what the query's header promises: columns, grain and checks. Queries that need a
    parameter are skipped, with a line on stderr. The exit status is 1 if rows are missing or a
    promise is broken.

    \b
    Example:
      hta-sql check archive
    """
    broken, tested = 0, 0
    with open_archives(archives) as archive:
        missing = archive.check_tables()
        for line in missing:
            click.echo(line)
        for query in Catalog.load().queries:
            if query.required:
                needs = ", ".join(p.name for p in query.required)
                click.echo(f"{query}: not checked, because it needs {needs}", err=True)
                continue
            tested += 1
            try:
                lines = archive.check(query.name, query.version)
            except HtaSqlError as error:
                lines = [str(error)]
            broken += bool(lines)
            for line in lines:
                click.echo(line)
    click.echo(f"{tested - broken} of {tested} queries keep their promises")
    if missing or broken:
        raise click.exceptions.Exit(1)
