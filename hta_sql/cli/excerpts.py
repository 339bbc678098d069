"""The options that choose columns and rows of a query's result."""

from typing import Any

import click
from click.shell_completion import CompletionItem

from hta_sql.catalogue.query import Query
from hta_sql.cli.completion import begin_with
from hta_sql.cli.options import list_option

# DuckDB counts rows with 64 bits.
_ROW_COUNT = click.IntRange(1, 2**63 - 1)
_ROW_COUNT.name = "whole number"  # for the message of what is none
_NAMES = ("columns", "sort", "where", "limit")


class ColumnName(click.ParamType):
    """A column of the query's result."""

    name = "column"

    def __init__(self, query: Query):
        self.query = query

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return begin_with(incomplete, (column.name for column in self.query.columns))


def excerpt_options(query: Query) -> list[click.Option]:
    """The options of a query, whose values `excerpt_of` takes."""
    column = ColumnName(query)
    measured = next((c.name for c in query.columns if c.unit != "-"), query.columns[-1].name)
    columns = list_option("--columns", column, "Columns to show, in this order. [default: all]")
    sort = list_option(
        "--sort",
        column,
        f"Columns to sort by, the largest value first after a minus: -{measured}. NULLs come last. "
        "[default: the query's order]",
    )
    columns.type = sort.type = column  # for completion
    return [
        columns,
        sort,
        click.Option(["--where"], metavar="SQL", help="SQL condition that each row has to meet."),
        click.Option(["--limit"], type=_ROW_COUNT, metavar="N", help="Show only the first N rows."),
    ]


def excerpt_of(options: dict[str, Any]) -> Any:
    """What these options say, as an Excerpt; they are taken out of `options`."""
    from hta_sql.database.excerpt import Excerpt

    given = {name: options.pop(name) for name in _NAMES}
    return Excerpt(**{name: value for name, value in given.items() if value is not None})
