"""Prints tables on terminals and into pipes."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator
from itertools import islice
from typing import Any

import click

from hta_sql.show.tables import FittedTable, fitted_table, table_lines
from hta_sql.show.units import counted
from hta_sql.show.visible import visible_cell

_ROWS_ON_TERMINAL = 50
# The width for pipes and files, unless the variable COLUMNS sets another.
_WIDTH = 120
# A write to a terminal or pipe costs as much time as formatting many lines.
_LINES_AT_ONCE = 1000


def print_table(
    names: list[str],
    rows: Iterator[tuple[Any, ...]],
    terminal: bool,
    is_wide: bool = False,
    how: str = "--wide",
) -> None:
    """Print rows for people, as wide as the terminal. stderr names what was left out, and `how` to
    see these columns. If `is_wide`, all columns are there, with whole texts.
    """
    names = list(map(visible_cell, names))
    shown = list(islice(rows, _ROWS_ON_TERMINAL if terminal else None))
    count = len(shown) + sum(1 for _ in rows)
    width = shutil.get_terminal_size((_WIDTH, 0)).columns
    if is_wide:
        head, *lines = table_lines(names, shown)
        table = FittedTable([head], lines, [])
    else:
        table = with_sentences(names, shown, width) or fitted_table(names, shown, width)
    for line in table.head:
        click.echo(click.style(line, dim=True))
    for at in range(0, len(table.lines), _LINES_AT_ONCE):
        click.echo("\n".join(table.lines[at : at + _LINES_AT_ONCE]))
    if not count:
        click.echo("no rows", err=True)
    if len(shown) < count:
        missing = f"{count - len(shown):,} of {count:,} rows"
        click.echo(f"not shown: {missing}; --format csv shows all", err=True)
    if table.left_out and terminal:
        click.echo(_left_out(table.left_out, width, how), err=True)
    elif table.left_out:
        missing = f"{counted(len(table.left_out), 'column')} ({', '.join(table.left_out)})"
        click.echo(f"not shown: {missing}; {how} or --format csv shows them", err=True)


def _left_out(names: list[str], width: int, how: str) -> str:
    """One line that names as many of the columns as fit."""
    verb = "does" if len(names) == 1 else "do"
    said = f"{counted(len(names), 'column')} {verb} not fit ({how})"
    for kept in range(len(names), 0, -1):
        rest = f" and {len(names) - kept} more" if kept < len(names) else ""
        line = f"{said}: {', '.join(names[:kept])}{rest}"
        if len(line) <= width:
            return line
    return said


def with_sentences(names: list[str], rows: list[tuple[Any, ...]], width: int) -> FittedTable | None:
    """The table with the column `text` on lines of its own, and without lists, which are long.

    None without such a column.
    """
    if "text" not in names or not rows:
        return None
    place = names.index("text")
    lists = [at for at in range(len(names)) if any(isinstance(row[at], list) for row in rows)]
    kept = [at for at in range(len(names)) if at != place and at not in lists]
    table = fitted_table(
        [names[at] for at in kept], [tuple(row[at] for at in kept) for row in rows], width
    )
    if len(table.lines) != len(rows):  # turned: a line is a column
        return None
    table.left_out += [names[at] for at in lists]
    lines = []
    for line, row in zip(table.lines, rows, strict=True):
        indent = " " * 4
        said = textwrap.wrap(
            visible_cell(row[place] or ""),
            max(width, 40),
            initial_indent=indent,
            subsequent_indent=indent,
        )
        lines += [line, *said]
    return FittedTable(table.head, lines, table.left_out)
