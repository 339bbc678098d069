"""The commands of the queries, made from the catalogue, and what they share with `sql`."""

import csv
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hta_sql.catalogue.catalog import Catalog
from hta_sql.catalogue.query import Parameter, Query
from hta_sql.engines.engine import ENGINES
from hta_sql.show.output import FORMATS, write

if TYPE_CHECKING:
    from hta_sql.archive import Archive

_TYPES = {"DOUBLE": click.FLOAT, "VARCHAR": click.STRING, "BOOLEAN": click.BOOL}


class QueryGroup(click.Group):
    """One command a query, made from the catalogue."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(Catalog.load().newest)

    def get_command(self, ctx: click.Context, name: str) -> click.Command:
        return query_command(name, Catalog.load().versions(name))


def with_output(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every command that prints a result."""
    command = click.option(
        "-o",
        "--output",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Write to a file; its name's ending tells the format.",
    )(command)
    return click.option(
        "--format", type=click.Choice(FORMATS), help="Form of the result. [default: table]"
    )(command)


def with_engine(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every command whose work other machines can do."""
    command = click.option(
        "--address",
        metavar="ADDRESS",
        help="Address of the Ray cluster. [default: $RAY_ADDRESS, or one made on this machine]",
    )(command)
    return click.option(
        "--engine",
        type=click.Choice(ENGINES),
        default="local",
        show_default=True,
        help="Where the work is done: by this machine or by a Ray cluster.",
    )(command)


archives_argument = click.argument("archives", nargs=-1, required=True, metavar="ARCHIVE...")


def open_archives(
    archives: tuple[str, ...], engine: str = "local", address: str | None = None
) -> "Archive":
    from hta_sql.archive import Archive

    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        archive = Archive(*archives, engine=engine, address=address)
    for warning in found:
        click.echo(f"Warning: {warning.message}", err=True)
    return archive


def write_result(
    archive: "Archive", relation: Any, format: str | None, output: Path | None
) -> None:
    """Write a result from another thread, since Arrow waits for DuckDB deaf to Ctrl-C."""
    with archive._unmoved(), ThreadPoolExecutor(1) as pool:
        writing = pool.submit(lambda: write(relation, format, output))
        try:
            writing.result()
        except KeyboardInterrupt:
            archive._con.interrupt()
            raise


def query_command(name: str, versions: list[Query]) -> click.Command:
    """The command of a query, with the parameters of all its versions as options."""
    newest = versions[-1]
    parameters = {p.name: p for query in versions for p in query.parameters}

    @archives_argument
    @with_output
    @with_engine
    @click.option("--version", type=int, metavar="N", help="Version. [default: the newest]")
    def command(
        archives: tuple[str, ...],
        format: str | None,
        output: Path | None,
        engine: str,
        address: str | None,
        version: int | None,
        **options: Any,
    ) -> None:
        query = Catalog.load().find(name, version)
        if query.deprecated:
            click.echo(f"Warning: {query}: {query.deprecated}", err=True)
        given = {key: value for key, value in options.items() if value is not None}
        query.call(given)  # a wrong option is told before the archive is opened
        with open_archives(archives, engine, address) as archive:
            relation = archive._query_relation(query, given)
            if lacking := archive._lacking_results([query.macro]):
                click.echo(lacking, err=True)
            write_result(archive, relation, format, output)

    paragraphs = [newest.summary, *filter(None, newest.text.split("\n\n"))]
    # An indented paragraph is a drawing, which click would otherwise fill like text.
    paragraphs = [f"\b\n{p}" if p.startswith(" ") else p for p in paragraphs]
    required = "".join(f" --{_dashed(p.name)} VALUE" for p in newest.required)
    paragraphs += [f"\b\nExample:\n  hta-sql run {name} archive{required}"]
    command.__doc__ = "\n\n".join(paragraphs)
    made = click.command(name)(command)
    made.params += [_option(parameter) for parameter in parameters.values()]
    return made


def _option(parameter: Parameter) -> click.Option:
    flag = f"--{_dashed(parameter.name)}"
    kind = parameter.type.removesuffix("[]")
    default = "" if parameter.default in (None, "NULL") else f" [default: {parameter.default}]"
    required = parameter.default is None
    text = parameter.text + default
    if kind == "BOOLEAN" and not parameter.is_list:
        return click.Option([f"{flag}/--no-{flag[2:]}"], default=None, help=text)
    plain = _TYPES.get(kind, click.INT)
    if not parameter.is_list:
        return click.Option([flag], type=plain, required=required, help=text)
    return list_option(flag, plain, text, required)


def list_option(
    flag: str, kind: click.ParamType, text: str, required: bool = False
) -> click.Option:
    """An option that takes several values, repeated or with commas; None where it is not given."""

    def items(
        ctx: click.Context, option: click.Parameter, values: tuple[str, ...]
    ) -> list[Any] | None:
        try:
            texts = [item for value in values for item in next(csv.reader([value])) or [""]]
        except csv.Error:
            raise click.BadParameter(
                "put a value with line ends in double quotes", ctx, option
            ) from None
        return [kind.convert(text.strip(), option, ctx) for text in texts] or None

    return click.Option(
        [flag],
        multiple=True,
        required=required,
        metavar=f"{kind.name.upper()},...",
        help=text,
        callback=items,
    )


def _dashed(name: str) -> str:
    return name.replace("_", "-")
