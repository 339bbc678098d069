"""The commands that list and describe the queries."""

import json
import shutil
import textwrap

import click

from hta_sql.catalogue.catalog import Catalog


@click.command("list")
def list_() -> None:
    """List all queries by theme, with one sentence on each.

    \b
    Example:
      hta-sql list
    """
    queries = Catalog.load().newest.values()
    width = max((len(query.name) for query in queries), default=0)
    columns = shutil.get_terminal_size((120, 0)).columns
    theme = None
    for query in queries:
        if query.theme != theme:
            click.echo(("\n" if theme else "") + query.theme)
            theme = query.theme
        line = f"  {query.name:{width}}  {query.summary}"
        click.echo(textwrap.fill(line, columns, subsequent_indent=" " * (width + 4)))
    click.echo("\nTo see what a query does: hta-sql run QUERY --help")
    click.echo("To run a query: hta-sql run QUERY ARCHIVE")


@click.command()
@click.argument("query")
@click.option(
    "--version", type=int, metavar="N", help="Version of the query. [default: the newest]"
)
def show(query: str, version: int | None) -> None:
    """Print a query's SQL file, which is its documentation.

    \b
    Example:
      hta-sql show temporal_breakdown
    """
    click.echo(Catalog.load().find(query, version).sql, nl=False)


@click.command()
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, which is the only format so far."
)
def catalog(as_json: bool) -> None:
    """Print the catalogue of queries as JSON, for programs.

    \b
    Example:
      hta-sql catalog --json
    """
    click.echo(json.dumps(Catalog.load().as_json(), indent=2))
