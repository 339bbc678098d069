"""The commands that list and describe the queries."""

import json
import shutil
import textwrap
from collections.abc import Iterable, Mapping

import click

from hta_sql.catalogue.catalog import Catalog
from hta_sql.catalogue.query import Query
from hta_sql.cli.results import open_archives


@click.command("list")
@click.option(
    "--for",
    "archive",
    metavar="ARCHIVE",
    help="Say which queries have an answer in this archive, and what it lacks for the others.",
)
def list_(archive: str | None) -> None:
    """List all queries by theme, with one sentence on each.

    \b
    Example:
      hta-sql list
      hta-sql list --for archive
    """
    queries = Catalog.load().newest
    if archive is None:
        _print_by_theme(queries.values(), {name: [q.summary] for name, q in queries.items()})
    else:
        lacking = _lacking(archive)
        _print_by_theme(
            [query for name, query in queries.items() if not lacking[name]],
            {name: [query.summary] for name, query in queries.items()},
        )
        if any(lacking.values()):
            click.echo("\nNo answer in this archive:\n")
        _print_by_theme([query for name, query in queries.items() if lacking[name]], lacking)
    click.echo("\nTo see what a query does: hta-sql run QUERY --help")
    click.echo("To run a query: hta-sql run QUERY ARCHIVE")


def _print_by_theme(queries: Iterable[Query], texts: Mapping[str, list[str]]) -> None:
    """Print each query with its texts, below the name of its theme."""
    width = max((len(name) for name in texts), default=0)
    columns = shutil.get_terminal_size((120, 0)).columns
    theme = None
    for query in queries:
        if query.theme != theme:
            click.echo(("\n" if theme else "") + query.theme)
            theme = query.theme
        for number, text in enumerate(texts[query.name]):
            line = f"  {'' if number else query.name:{width}}  {text}"
            click.echo(textwrap.fill(line, columns, subsequent_indent=" " * (width + 4)))


def _lacking(archive: str) -> dict[str, list[str]]:
    """What the archive lacks for each query, by the query's name."""
    from hta_sql.database.no_data import lacking_of_all

    with open_archives((archive,)) as opened:
        return lacking_of_all(opened.session)


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
