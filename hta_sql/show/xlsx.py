"""Results as a sheet for Excel and other spreadsheets."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from math import isfinite
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, BinaryIO

from hta_sql.errors import HtaSqlError
from hta_sql.show.tables import rows_of
from hta_sql.show.units import number

if TYPE_CHECKING:
    import pyarrow as pa

# What a sheet can hold.
_MOST_ROWS = 1_048_576
_MOST_COLUMNS = 16_384
_LONGEST_TEXT = 32_767
# Spreadsheets show 15 digits of a number, and keep whole numbers only up to 2^53.
_EXACT_BELOW = 10**15
_WIDEST = 60


def write_xlsx(reader: pa.RecordBatchReader, out: BinaryIO, as_text: Callable[[Any], str]) -> None:
    """Write one sheet with a head. Texts are never formulas or links.

    Whole numbers of more than 15 digits are texts, so that no digit is lost; so are lists, by
    `as_text`, and numbers that are not finite. HtaSqlError if a sheet cannot hold the result, or if
    XlsxWriter is not installed.
    """
    try:
        import xlsxwriter
    except ImportError:
        raise HtaSqlError(
            "writing xlsx needs one more package: pip install 'hta-sql[xlsx]'; or use csv"
        ) from None
    names = reader.schema.names
    if len(names) > _MOST_COLUMNS:
        raise HtaSqlError(f"a sheet holds {_MOST_COLUMNS:,} columns, not {len(names):,}; use csv")
    batches = _all_batches(reader)
    with TemporaryDirectory(prefix="hta-sql-") as folder:
        path = Path(folder, "result.xlsx")  # not `out`, which a failure must leave as it is
        with xlsxwriter.Workbook(path, {"constant_memory": True, "tmpdir": folder}) as book:
            _fill(book, names, batches, as_text)
        with path.open("rb") as written:
            copyfileobj(written, out)


def _all_batches(reader: pa.RecordBatchReader) -> list[pa.RecordBatch]:
    """All rows, if a sheet can hold them: to write them takes much longer than to read them."""
    batches, count = [], 0
    for batch in reader:
        count += batch.num_rows
        if count >= _MOST_ROWS:  # the head is one
            raise HtaSqlError(f"a sheet holds {_MOST_ROWS - 1:,} rows; use csv or parquet")
        batches.append(batch)
    return batches


def _fill(
    book: Any, names: list[str], batches: list[pa.RecordBatch], as_text: Callable[[Any], str]
) -> None:
    sheet = book.add_worksheet("result")
    bold = book.add_format({"bold": True})
    sheet.freeze_panes(1, 0)
    for at, name in enumerate(names):
        sheet.set_column(at, at, min(max(len(name) + 2, 10), _WIDEST))
        sheet.write_string(0, at, name, bold)
    place = 0
    for batch in batches:
        for row in rows_of(batch):
            place += 1
            for at, value in enumerate(row):
                _write(sheet, place, at, value, as_text)


def _write(sheet: Any, row: int, column: int, value: Any, as_text: Callable[[Any], str]) -> None:
    if isinstance(value, Decimal):
        value = number(value)
    if value is None:
        return
    if isinstance(value, bool):
        sheet.write_boolean(row, column, value)
    elif isinstance(value, int | float) and isfinite(value) and _is_exact(value):
        sheet.write_number(row, column, value)
    else:
        text = value if isinstance(value, str) else as_text(value)
        if len(text) > _LONGEST_TEXT:
            raise HtaSqlError(
                f"row {row} has a text of {len(text):,} characters, and a cell holds "
                f"{_LONGEST_TEXT:,}; use csv or parquet"
            )
        sheet.write_string(row, column, text)


def _is_exact(value: int | float) -> bool:
    return isinstance(value, float) or abs(value) < _EXACT_BELOW
