"""Results as tables of text."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from hta_sql.show.units import humane

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS_ON_TERMINAL = 50
# Each write to a terminal or pipe takes as long as many lines.
_LINES_AT_ONCE = 1000


def print_table(names: list[str], rows: Iterator[tuple[Any, ...]], terminal: bool) -> None:
    shown = list(islice(rows, _ROWS_ON_TERMINAL if terminal else None))
    count = len(shown) + sum(1 for _ in rows)
    width = shutil.get_terminal_size().columns if terminal else None
    head, *lines = table_lines(names, shown, width)
    turned = []
    if width and len(head) > width:
        turned = turned_lines(names, shown)
    if turned and max(map(len, turned)) <= width:
        lines = turned
    else:
        click.echo(click.style(head, dim=True))
    for at in range(0, len(lines), _LINES_AT_ONCE):
        click.echo("\n".join(lines[at : at + _LINES_AT_ONCE]))
    if not count:
        click.echo("no rows", err=True)
    if len(shown) < count:
        click.echo(
            f"the first {len(shown)} of {count:,} rows; -o FILE or --format csv gives all", err=True
        )


def rows_of(table: pa.Table | pa.RecordBatch) -> list[tuple[Any, ...]]:
    columns = [column.to_pylist() for column in table.columns]
    return list(zip(*columns, strict=True)) if columns else []


def table_lines(
    names: list[str], rows: list[tuple[Any, ...]], width: int | None = None
) -> list[str]:
    """A header line and a line a row, aligned; texts are cut in the middle to fit `width`."""
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    cells = [
        _each(partial(humane, name), values) for name, values in zip(names, columns, strict=True)
    ]
    texts = [any(isinstance(value, str) for value in values) for values in columns]
    sizes = [max(map(len, [name, *shown])) for name, shown in zip(names, cells, strict=True)]
    if width is not None:
        sizes = _fitted(sizes, texts, [len(name) for name in names], width)
    fitted = [
        _each(
            lambda cell, t=is_text, s=size: _cut(cell, s).ljust(s) if t else cell.rjust(s),
            [name, *shown],
        )
        for name, shown, is_text, size in zip(names, cells, texts, sizes, strict=True)
    ]
    return ["  ".join(line).rstrip() for line in zip(*fitted, strict=True)]


def _each(work: Callable[[Any], str], values: Sequence[Any]) -> list[str]:
    """What `work` makes of each value; only once for each text and whole number where a long table
    has many equal ones. Others may be equal and look different, as 0.0 and -0.0."""
    kinds = set(map(type, values))
    if len(kinds - {type(None)}) == 1 and kinds <= {str, int, bool, type(None)}:
        distinct = set(values)
        if 2 * len(distinct) < len(values):
            done = {value: work(value) for value in distinct}
            return [done[value] for value in values]
    return [work(value) for value in values]


def turned_lines(names: list[str], rows: list[tuple[Any, ...]]) -> list[str]:
    """A line a column of the result: for few rows of more columns than a terminal is wide."""
    columns = [
        [humane(name, value) for name, value in zip(names, row, strict=True)] for row in rows
    ]
    head = max(map(len, names))
    sizes = [max(map(len, column)) for column in columns]
    return [
        "  ".join([name.ljust(head), *(c.rjust(s) for c, s in zip(cells, sizes, strict=True))])
        for name, *cells in zip(names, *columns, strict=True)
    ]


def _fitted(sizes: list[int], texts: list[bool], least: list[int], width: int) -> list[int]:
    """Take the excess from the widest texts, down to 40 characters or their column's name.

    What is cut further tells one kernel from another no more; rather let lines be too long.
    """
    sizes = list(sizes)
    while sum(sizes) + 2 * (len(sizes) - 1) > width:
        wide = [i for i, text in enumerate(texts) if text and sizes[i] > max(40, least[i])]
        if not wide:
            break
        sizes[max(wide, key=lambda i: sizes[i])] -= 1
    return sizes


def _cut(text: str, size: int) -> str:
    if len(text) <= size:
        return text
    head = size // 2
    return text[:head] + "…" + text[len(text) - (size - head - 1) :]
