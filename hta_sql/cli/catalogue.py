"""The commands that tell which queries there are."""

import json
import shutil
import textwrap

import click

from hta_sql.catalogue.catalog import Catalog


@click.command("list")
def list_() -> None:
    """List the queries with a sentence each, by theme.

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


@click.command()
@click.argument("query")
@click.option("--version", type=int, metavar="N", help="Version. [default: the newest]")
def show(query: str, version: int | None) -> None:
    """Print a query's SQL file, which is its documentation.

    \b
    Example:
      hta-sql show temporal_breakdown
    """
    click.echo(Catalog.load().find(query, version).sql, nl=False)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="As JSON, which is the only form so far.")
def catalog(as_json: bool) -> None:
    """Print all that is known of the queries, for programs.

    \b
    Example:
      hta-sql catalog --json
    """
    click.echo(json.dumps(Catalog.load().as_json(), indent=2))
