"""Results as HTML, for reports and notebooks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hta_sql.show.cut import cut_apart
from hta_sql.show.tables import rows_of
from hta_sql.show.units import heads, humane

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS_IN_NOTEBOOK = 50
_TEXT_IN_NOTEBOOK = 60  # characters, so that the numbers beside a kernel's name are in sight
_LONG = 30


@cache
def style() -> str:
    """The style of a page."""
    return (Path(__file__).parent / "page.css").read_text(encoding="utf-8")


def table_html(
    names: Sequence[str],
    rows: Sequence[tuple[Any, ...]],
    longest: int | None = None,
    words: Mapping[str, str] | None = None,
) -> str:
    """A table with readable units. Cells with numbers have the exact value, for sorting.

    Texts of more than `longest` characters are cut if they still differ then, and heads break into
    lines. The title of a cell has its whole text. `words` has the heads of some columns in words.
    """
    words = words or {}
    texts = [any(isinstance(row[at], str) for row in rows) for at in range(len(names))]
    part = "_<wbr>" if longest else "_"
    head = "".join(
        f'<th{_side(is_text)} title="{escape(name)}">'
        f"{escape(words.get(name, shown)).replace('_', part)}</th>"
        for name, shown, is_text in zip(names, heads(names), texts, strict=True)
    )
    short = _short((value for row in rows for value in row), longest)
    lines = [
        "<tr>"
        + "".join(_cell(*cell, short) for cell in zip(names, row, texts, strict=True))
        + "</tr>"
        for row in rows
    ]
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def result_html(table: pa.Table) -> str:
    """A result in a notebook: its first rows, and the number of all rows."""
    shown = table.slice(0, _ROWS_IN_NOTEBOOK)
    count = f"{table.num_rows:,} row{'s' * (table.num_rows != 1)}"
    if shown.num_rows < table.num_rows:
        count = f"the first {shown.num_rows} of {count}"
    body = table_html(table.column_names, rows_of(shown), _TEXT_IN_NOTEBOOK)
    # A notebook has none of our styles, and breaks numbers of a wide table before their units.
    body = body.replace(
        '<td style="text-align:right"', '<td style="text-align:right;white-space:nowrap"'
    )
    return f"{body}<p>{count}</p>"


def _short(values: Iterable[Any], longest: int | None) -> dict[str, str]:
    """The texts among the values that are longer, cut. Those that would look the same are left out:
    they stay whole.
    """
    if longest is None:
        return {}
    short = cut_apart(
        {text for text in values if isinstance(text, str) and len(text) > longest}, longest
    )
    count = Counter(short.values())
    return {text: shown for text, shown in short.items() if count[shown] == 1}


def _cell(name: str, value: Any, is_text: bool, short: Mapping[str, str]) -> str:
    # The title has the exact number, or a text that is long enough to be cut.
    says = (
        value is not None
        and not isinstance(value, bool)
        and (not isinstance(value, str) or len(value) > _LONG)
    )
    exact = f' title="{_plain(value)}"' if says else ""
    is_cut = isinstance(value, str) and value in short
    kind = ' class="cut"' if is_cut else ""
    shown = short[value] if is_cut else value
    return f"<td{_side(is_text)}{kind}{exact}>{escape(humane(name, shown))}</td>"


def _side(is_text: bool) -> str:
    return ' style="text-align:left"' if is_text else ' style="text-align:right"'


def _plain(value: Any) -> str:
    return escape(str(value))
