"""Results as text tables."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from hta_sql.show.cut import cut, cut_apart
from hta_sql.show.units import counted, heads, humane, is_quantity
from hta_sql.show.visible import visible_cell

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS_ON_TERMINAL = 50
# The width for pipes and files, unless the variable COLUMNS sets another.
_WIDTH = 120
# Texts are first cut to this length. Kernels can look the same if their names are cut further.
_TEXT = 40
_SHORT_TEXT = 30
_SHORTEST_TEXT = 12
# The columns at the left that stay longest: texts such as job, kind and name, and numbers.
_NAMING_TEXTS = 3
_FIRST_NUMBERS = 4
# A write to a terminal or pipe costs as much time as formatting many lines.
_LINES_AT_ONCE = 1000


def print_table(names: list[str], rows: Iterator[tuple[Any, ...]], terminal: bool) -> None:
    """Print rows for people, as wide as the terminal. stderr names what was left out."""
    names = list(map(visible_cell, names))
    shown = list(islice(rows, _ROWS_ON_TERMINAL if terminal else None))
    count = len(shown) + sum(1 for _ in rows)
    width = shutil.get_terminal_size((_WIDTH, 0)).columns
    table = with_sentences(names, shown, width) or fitted_table(names, shown, width)
    for line in table.head:
        click.echo(click.style(line, dim=True))
    for at in range(0, len(table.lines), _LINES_AT_ONCE):
        click.echo("\n".join(table.lines[at : at + _LINES_AT_ONCE]))
    if not count:
        click.echo("no rows", err=True)
    missing = []
    if len(shown) < count:
        missing += [f"{count - len(shown):,} of {count:,} rows"]
    if table.left_out:
        missing += [f"{counted(len(table.left_out), 'column')} ({', '.join(table.left_out)})"]
    if missing:
        click.echo(f"not shown: {', '.join(missing)}; --format csv shows all", err=True)


def rows_of(table: pa.Table | pa.RecordBatch) -> list[tuple[Any, ...]]:
    columns = [column.to_pylist() for column in table.columns]
    return list(zip(*columns, strict=True)) if columns else []


@dataclass
class FittedTable:
    """A table as text: its head, one line per row, and the names of columns left out."""

    head: list[str]
    lines: list[str]
    left_out: list[str]


def table_lines(names: list[str], rows: list[tuple[Any, ...]]) -> list[str]:
    """A header line and one line per row, aligned, with no limit on the width."""
    columns = _columns(names, rows)
    return [_line([c.head for c in columns], columns), *_body(columns)]


def fitted_table(names: list[str], rows: list[tuple[Any, ...]], width: int) -> FittedTable:
    """The table in `width` characters.

    It takes these measures in this order until it fits: it cuts long texts in the middle, breaks
    heads into several lines, moves columns with the same value in all rows above the table, turns a
    table of few rows so that each column is a line, cuts texts further, and leaves out columns from
    the right. It leaves out ids first, which only joins need; then texts except the first three,
    which name the rows; then places, such as streams, steps and instants, except the first, which
    is mostly the rank; then numbers except the first four; then any column.
    """
    columns = _columns(names, rows)
    above = ""
    _cut_texts(columns, width, _TEXT)
    if _width(columns) > width:
        for column in columns:
            column.wrap_head()
        _cut_texts(columns, width, _TEXT)
    if _width(columns) > width:
        same = [c for c in columns if len(rows) > 1 and len(set(c.cells)) == 1]
        said = ", ".join(f"{c.head} {c.cells[0]}" for c in same)
        if len(same) < len(columns) and len(said) <= width:
            above = said
            columns = [c for c in columns if c not in same]
    if _width(columns) > width and (turned := _turned(names, rows, width)):
        return FittedTable([], turned, [])
    _cut_texts(columns, width, _SHORT_TEXT)
    left_out = []
    for pick in (_id, _minor_text, _place, _minor_number, _last):
        while len(columns) > 1 and _width(columns) > width and (column := pick(columns)):
            left_out.append(column)
            columns.remove(column)
        _cut_texts(columns, width, _SHORTEST_TEXT if pick is _minor_number else _SHORT_TEXT)
    _cut_texts(columns, width, 1)
    height = max(len(column.heads) for column in columns)
    heads = [[""] * (height - len(column.heads)) + column.heads for column in columns]
    head = [_line(list(line), columns) for line in zip(*heads, strict=True)]
    return FittedTable(
        [above, *head] if above else head,
        list(_body(columns)),
        [column.name for column in sorted(left_out, key=lambda c: names.index(c.name))],
    )


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


def _id(columns: list[_Column]) -> _Column | None:
    return _last([c for c in columns if c.name.endswith("_id") or c.name == "correlation"])


def _minor_text(columns: list[_Column]) -> _Column | None:
    return _last([c for c in columns if c.is_text][_NAMING_TEXTS:])


def _place(columns: list[_Column]) -> _Column | None:
    return _last([c for c in columns if c.is_place][1:])


def _minor_number(columns: list[_Column]) -> _Column | None:
    return _last([c for c in columns if c.is_number][_FIRST_NUMBERS:])


def _last(columns: list[_Column]) -> _Column | None:
    return columns[-1] if columns else None


@dataclass(eq=False)
class _Column:
    """A column of a table: its head, in one or more lines, and its cells."""

    name: str
    head: str
    cells: list[str]
    kinds: set[type]

    def __post_init__(self) -> None:
        self.is_text = str in self.kinds
        self.is_number = not self.kinds & {str, bool}
        self.is_place = self.kinds <= {int} and not is_quantity(self.name)
        self.heads = [self.head]
        self.cell_size = max(map(len, self.cells), default=0)
        self.size = max(len(self.head), self.cell_size)

    def wrap_head(self) -> None:
        """Break the head at underscores and blanks, to make it no wider than the cells."""
        words = re.findall(r"[^_ ]+[_ ]?", self.head) or [self.head]
        size = max(self.cell_size, *map(len, words))
        lines = [""]
        for word in words:
            if lines[-1] and len(lines[-1] + word) > size:
                lines.append("")
            lines[-1] += word
        self.heads = [line.rstrip() for line in lines]
        self.size = max(self.cell_size, *map(len, self.heads))


def _columns(names: list[str], rows: list[tuple[Any, ...]]) -> list[_Column]:
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return [
        _Column(
            name, head, _each(partial(humane, name), values), set(map(type, values)) - {type(None)}
        )
        for name, head, values in zip(names, heads(names), columns, strict=True)
    ]


def _width(columns: list[_Column]) -> int:
    return sum(column.size for column in columns) + 2 * (len(columns) - 1)


def _cut_texts(columns: list[_Column], width: int, least: int) -> None:
    """Take the excess from the widest texts, down to `least` characters or their column's head."""
    excess = _width(columns) - width
    while excess > 0:
        wide = [c for c in columns if c.is_text and c.size > max(least, *map(len, c.heads))]
        if not wide:
            return
        widest = max(wide, key=lambda column: column.size)
        widest.size -= 1
        excess -= 1


def _line(cells: list[str], columns: list[_Column]) -> str:
    return "  ".join(map(_aligned, cells, columns)).rstrip()


def _aligned(cell: str, column: _Column) -> str:
    return cut(cell, column.size).ljust(column.size) if column.is_text else cell.rjust(column.size)


def _body(columns: list[_Column]) -> Iterator[str]:
    aligned = [_aligned_cells(column) for column in columns]
    return ("  ".join(line).rstrip() for line in zip(*aligned, strict=True))


def _aligned_cells(column: _Column) -> list[str]:
    if not column.is_text:
        return [cell.rjust(column.size) for cell in column.cells]
    shown = cut_apart(column.cells, column.size)
    return [shown[cell].ljust(column.size) for cell in column.cells]


def _each(work: Callable[[Any], str], values: Sequence[Any]) -> list[str]:
    """`work` of each value. If many texts, integers or booleans are equal, it runs once for each
    distinct value. Other values can be equal and look different, such as 0.0 and -0.0."""
    kinds = set(map(type, values))
    if len(kinds - {type(None)}) == 1 and kinds <= {str, int, bool, type(None)}:
        distinct = set(values)
        if 2 * len(distinct) < len(values):
            done = {value: work(value) for value in distinct}
            return [done[value] for value in values]
    return [work(value) for value in values]


def _turned(names: list[str], rows: list[tuple[Any, ...]], width: int) -> list[str]:
    """One line per column of the result, or no lines if that is wider than `width` too."""
    if not rows or 2 * len(rows) > width:
        return []
    columns = [[head] for head in heads(names)]
    for row in rows:
        for column, name, value in zip(columns, names, row, strict=True):
            column.append(humane(name, value))
    sizes = [max(map(len, cells)) for cells in zip(*columns, strict=True)]
    if sum(sizes) + 2 * len(rows) > width:
        return []
    return [
        "  ".join([head.ljust(sizes[0]), *map(str.rjust, cells, sizes[1:])])
        for head, *cells in columns
    ]
