"""The options that choose columns and rows of a query's result."""

from typing import Any

import click

from hta_sql.catalogue.query import Query
from hta_sql.cli.options import list_option

_NAMES = ("columns", "sort", "where", "limit")


class ColumnName(click.ParamType):
    """A column of the query's result."""

    name = "column"

    def __init__(self, query: Query):
        self.query = query


def excerpt_options(query: Query) -> list[click.Option]:
    """The options of a query, whose values `excerpt_of` takes."""
    column = ColumnName(query)
    return [
        list_option("--columns", column, "Columns to show, in this order. [default: all]"),
        list_option(
            "--sort",
            column,
            "Columns to sort by; a minus before a name is for descending order, such as "
            f"-{query.columns[-1].name}. NULLs come last. [default: the query's own order]",
        ),
        click.Option(
            ["--where"],
            metavar="SQL",
            help="SQL condition on the columns; other rows are left out.",
        ),
        click.Option(
            ["--limit"], type=click.IntRange(min=1), metavar="N", help="Show only the first N rows."
        ),
    ]


def excerpt_of(options: dict[str, Any]) -> Any:
    """What these options say, as an Excerpt; they are taken out of `options`."""
    from hta_sql.database.excerpt import Excerpt

    given = {name: options.pop(name) for name in _NAMES}
    return Excerpt(**{name: value for name, value in given.items() if value is not None})
