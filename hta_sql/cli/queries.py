"""The commands of the queries, made from the catalogue."""

import textwrap
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from hta_sql.catalogue.catalog import Catalog
from hta_sql.catalogue.query import Parameter, Query
from hta_sql.cli.completion import add_completion, begin_with, queries_with
from hta_sql.cli.excerpts import excerpt_of, excerpt_options
from hta_sql.cli.limits import add_limits
from hta_sql.cli.options import (
    archives_argument,
    list_option,
    with_engine,
    with_models,
    with_output,
)
from hta_sql.cli.results import open_archives, write_answer
from hta_sql.show.prose import filled

# Help is as wide as the terminal, and no wider than the drawings of headers.
_WIDEST = 102
_HTA = "HTA is Meta's Holistic Trace Analysis, a Python library for the same traces."
_TYPES = {"DOUBLE": click.FLOAT, "VARCHAR": click.STRING, "BOOLEAN": click.BOOL}


class QueryGroup(click.Group):
    """One command a query, made from the catalogue."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(Catalog.load().newest)

    def get_command(self, ctx: click.Context, name: str) -> click.Command:
        return query_command(name, Catalog.load().versions(name))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if ctx.resilient_parsing and args[0] not in Catalog.load().newest:
            return None, None, args  # the shell asks for words, and no error
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        return queries_with(incomplete, Catalog.load().newest.values())

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        queries = Catalog.load().newest.values()
        for theme, of_theme in groupby(queries, lambda query: query.theme):
            with formatter.section(f"Queries: {theme}"):
                formatter.write_dl([(query.name, query.summary) for query in of_theme])


@click.group(cls=QueryGroup, subcommand_metavar="QUERY ARCHIVE... [OPTIONS]")
def run() -> None:
    """Run a query on one archive, or on several together.

    \b
    Example:
      hta-sql run temporal_breakdown archive --only-ranks 0,1
      hta-sql run kernel_stats archive --sort -total_ns --limit 5
      hta-sql run kernel_stats archive --columns name,total_ns -o kernels.xlsx
      hta-sql run kernel_stats --help
    """


class QueryCommand(click.Command):
    """A command whose help is the header of its query: text, lists, columns, an example."""

    def __init__(self, query: Query, **rest: Any):
        required = "".join(f" --{_dashed(p.name)} VALUE" for p in query.required)
        self.query = query
        self.example = f"Example:\n  hta-sql run {query.name} archive{required}"
        super().__init__(**rest | {"help": f"{query.summary}\n\n{self.example}"})

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The options; after one minus also the columns, for --sort in descending order."""
        found = super().shell_complete(ctx, incomplete)
        if incomplete.startswith("-") and not incomplete.startswith("--"):
            found += begin_with(incomplete, (column.name for column in self.query.columns))
        return found

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        parts = [self.query.summary, self.query.text, self.example]
        if "HTA" in self.query.text:
            parts.insert(2, _HTA)
        text = filled("\n\n".join(filter(None, parts)), formatter.width - 2)
        formatter.write(f"\n{textwrap.indent(text, '  ')}\n")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(ctx, formatter)
        with formatter.section("Columns"):
            formatter.write_dl([(c.name, c.text) for c in self.query.columns])


def query_command(name: str, versions: list[Query]) -> click.Command:
    """The command of a query, with the parameters of all its versions as options."""
    newest = versions[-1]
    parameters = {p.name: p for query in versions for p in query.parameters}

    @with_output
    @with_engine
    @with_models
    @click.option(
        "--version", type=int, metavar="N", help="Version of the query. [default: the newest]"
    )
    def command(
        archives: tuple[str, ...],
        format: str | None,
        output: Path | None,
        engine: str,
        address: str | None,
        models: Path | None,
        version: int | None,
        **options: Any,
    ) -> None:
        query = Catalog.load().find(name, version)
        if query.deprecated:
            click.echo(f"Warning: {query}: {query.deprecated}", err=True)
        excerpt = excerpt_of(options)
        given = {key: value for key, value in options.items() if value is not None}
        query.call(given)  # a wrong option is an error before the archive is opened
        excerpt.check(query)
        with open_archives(archives, engine, address, models) as archive:
            write_answer(archive, query, given, format, output, excerpt)

    made = click.command(
        name, cls=partial(QueryCommand, newest), context_settings={"max_content_width": _WIDEST}
    )(archives_argument(command))
    own = [_option(parameter) for parameter in parameters.values()]
    made.params[1:1] = own + excerpt_options(newest)
    add_completion(made)
    return add_limits(made)


def _option(parameter: Parameter) -> click.Option:
    flag = f"--{_dashed(parameter.name)}"
    kind = parameter.type.removesuffix("[]")
    required = parameter.default is None
    text = parameter.text + ("" if required else f" [default: {parameter.shown_default}]")
    if kind == "BOOLEAN" and not parameter.is_list:
        return click.Option([f"{flag}/--no-{flag[2:]}"], default=None, help=text)
    plain = _TYPES.get(kind, click.INT)
    if not parameter.is_list:
        return click.Option([flag], type=plain, required=required, help=text)
    return list_option(flag, plain, text, required)


def _dashed(name: str) -> str:
    return name.replace("_", "-")
