"""Results as text tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from hta_sql.show.cut import cut, cut_apart
from hta_sql.show.units import heads, humane, is_quantity

if TYPE_CHECKING:
    import pyarrow as pa

# Texts are first cut to this length. Kernels can look the same if their names are cut further.
_TEXT = 40
_SHORT_TEXT = 30
_READABLE_TEXT = 20
_SHORTEST_TEXT = 12
# The texts that stay longest: name, and such as job and kind at the left.
_NAMING_TEXTS = 3


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
    the right. It leaves out ids first, which only joins need; then texts except `name` and the
    first others, which name the rows; then places, such as streams, steps and instants, except the
    first, which is mostly the rank; then numbers except the first four, and the first three; then
    any column.
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
    for pick, least in _LEAVE_OUT:
        while len(columns) > 1 and _width(columns) > width and (column := pick(columns)):
            left_out.append(column)
            columns.remove(column)
        _cut_texts(columns, width, least)
    _cut_texts(columns, width, 1)
    height = max(len(column.heads) for column in columns)
    heads = [[""] * (height - len(column.heads)) + column.heads for column in columns]
    head = [_line(list(line), columns) for line in zip(*heads, strict=True)]
    return FittedTable(
        [above, *head] if above else head,
        list(_body(columns)),
        [column.name for column in sorted(left_out, key=lambda c: names.index(c.name))],
    )


def _id(columns: list[_Column]) -> _Column | None:
    return _last([c for c in columns if c.name.endswith("_id") or c.name == "correlation"])


def _minor_text(columns: list[_Column]) -> _Column | None:
    texts = [c for c in columns if c.is_text]
    others = [c for c in texts if c.name != "name"]
    return _last(others[_NAMING_TEXTS - (len(texts) - len(others)) :])


def _place(columns: list[_Column]) -> _Column | None:
    return _last([c for c in columns if c.is_place][1:])


def _minor_number(columns: list[_Column], kept: int) -> _Column | None:
    return _last([c for c in columns if c.is_number][kept:])


def _last(columns: list[_Column]) -> _Column | None:
    return columns[-1] if columns else None


# What is left out, in this order, and the length that texts keep after each.
_LEAVE_OUT = (
    (_id, _SHORT_TEXT),
    (_minor_text, _SHORT_TEXT),
    (_place, _SHORT_TEXT),
    (partial(_minor_number, kept=4), _READABLE_TEXT),
    (partial(_minor_number, kept=3), _SHORTEST_TEXT),
    (_last, _SHORT_TEXT),
)


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
