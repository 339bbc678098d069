"""Options and arguments that commands share."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from hta_sql.engines.start import ENGINES
from hta_sql.show.formats import FORMATS


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
