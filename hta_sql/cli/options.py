"""Options and arguments that several commands have."""

import csv
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from hta_sql.catalogue.query import did_you_mean
from hta_sql.engines.start import ENGINES
from hta_sql.show.formats import CSV_SAFE, FORMATS, WIDE_TABLE, format_of


class OneOf(click.Choice):
    """A choice whose error suggests the nearest value."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        hint = did_you_mean(str(value), list(map(str, self.choices)), " ", "?")
        return super().get_invalid_choice_message(value, ctx) + hint.replace("did", "Did")


def with_output(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a command that prints a result."""

    @functools.wraps(command)
    def with_variants(*given: Any, csv_safe: bool, wide: bool, **options: Any) -> Any:
        if wide:
            if format_of(options["output"], options["format"]) != "table":
                raise click.UsageError("--wide is for tables; other formats have all columns")
            options["format"] = WIDE_TABLE
        if csv_safe:
            if format_of(options["output"], options["format"]) != "csv":
                raise click.UsageError("--csv-safe is for CSV: add --format csv, or -o FILE.csv")
            options["format"] = CSV_SAFE
        return command(*given, **options)

    made = click.option(
        "--csv-safe",
        is_flag=True,
        help="In CSV, put ' before texts that a spreadsheet would compute, such as =1+1.",
    )(with_variants)
    made = click.option(
        "--wide", is_flag=True, help="Print all columns of a table, with whole texts."
    )(made)
    made = click.option(
        "-o",
        "--output",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Write to FILE; its extension sets the format.",
    )(made)
    return click.option(
        "--format",
        type=OneOf(FORMATS),
        help="Format of the result. [default: from FILE's extension, else table]",
    )(made)


def with_engine(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a command that can also run on a Ray cluster."""
    command = click.option(
        "--address",
        metavar="ADDRESS",
        help="Address of the Ray cluster. [default: $RAY_ADDRESS, or a new one on this machine]",
    )(command)
    return click.option(
        "--engine",
        type=OneOf(ENGINES),
        default="local",
        show_default=True,
        help="Run the work on this machine (local) or on a Ray cluster (ray).",
    )(command)


def with_models(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option that names the user's own cost models."""
    return click.option(
        "--models",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Cost models of your own, in SQL, for the operators of op_flops and step_mfu.",
    )(command)


archives_argument = click.argument("archives", nargs=-1, required=True, metavar="ARCHIVE...")


def list_option(
    flag: str, kind: click.ParamType, text: str, required: bool = False
) -> click.Option:
    """An option for several values, repeated or separated by commas; None if it is not given."""

    def items(
        ctx: click.Context, option: click.Parameter, values: tuple[str, ...]
    ) -> list[Any] | None:
        try:
            texts = [item for value in values for item in next(csv.reader([value])) or [""]]
        except csv.Error:
            raise click.BadParameter(
                "put a value that has a line break in double quotes", ctx, option
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
