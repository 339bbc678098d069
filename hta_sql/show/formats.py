"""Writes results: as a table for people, or as JSON, CSV, Parquet or Arrow for machines.

markdown.py and xlsx.py write the other formats.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import orjson

from hta_sql.errors import HtaSqlError
from hta_sql.show.files import whole_file
from hta_sql.show.screen import print_table
from hta_sql.show.tables import rows_of, table_lines
from hta_sql.show.units import number

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

FORMATS = ("table", "json", "csv", "parquet", "arrow", "markdown", "xlsx")
# A table with all columns and whole texts, however wide.
WIDE_TABLE = "wide table"
# CSV for spreadsheets, which compute cells that begin like this.
CSV_SAFE = "csv for spreadsheets"
_FORMULA = r"^\s*[=+\-@＝＋－＠]|^[\t\r]"
_BINARY = ("parquet", "arrow", "xlsx")
# These keep all types of DuckDB.
_TYPED = ("parquet", "arrow")
_BY_SUFFIX = {
    ".txt": "table",
    ".json": "json",
    ".csv": "csv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".md": "markdown",
    ".xlsx": "xlsx",
}
# Neither Python nor Arrow's CSV can represent all values of these types.
_ODD_TYPE = re.compile(r"TIME|DATE|INTERVAL|BIT|BIGNUM|UHUGEINT|VARIANT|UNION")
# DuckDB returns values of these types as Arrow does, and without Arrow's start-up time.
_PLAIN_TYPE = re.compile(
    r"(VARCHAR|BOOLEAN|DOUBLE|FLOAT|U?(TINYINT|SMALLINT|INTEGER|BIGINT))(\[\])*"
    r"|HUGEINT|DECIMAL\(\d+,\d+\)|BLOB"
)


def format_of(path: Path | None, format: str | None) -> str:
    """The format, by default that of the file's extension. HtaSqlError if it has none."""
    format = format or (_BY_SUFFIX.get(path.suffix.lower()) if path else "table")
    if format is None:
        raise HtaSqlError(
            f"{path}: unknown format; give --format {'|'.join(FORMATS)}, or a file name that ends "
            f"in {', '.join(_BY_SUFFIX)}"
        )
    return format


def write(
    relation: duckdb.DuckDBPyRelation,
    format: str | None,
    path: Path | None,
    if_empty: Callable[[], None] = lambda: None,
    most_rows: int | None = None,
    if_cut: Callable[[], None] = lambda: None,
    how: str = "--wide",
) -> None:
    """Write all rows to `path` or stdout, by default in the format of the file's extension.

    Calls `if_empty` before it writes a result without rows, and `if_cut` after the first
    `most_rows` if there are more. HtaSqlError if the extension has no format, or if binary output
    would go to a terminal. `how` says how to see columns that a table leaves out.
    """
    format = format_of(path, format)
    if most_rows is not None:
        relation = relation.limit(most_rows + 1)
    if format not in _TYPED:
        relation = printable(relation)
    if format == "json" and (twice := first_twice(relation.columns)):
        raise HtaSqlError(f"two columns are named {twice!r}; rename one of them with AS")
    if format in ("table", WIDE_TABLE) and not path:
        rows = _seen(_first(_rows(relation), most_rows, if_cut), if_empty)
        print_table(relation.columns, rows, sys.stdout.isatty(), format == WIDE_TABLE, how)
        return
    reader = _reader(relation.to_arrow_reader(), if_empty, most_rows, if_cut)
    if path:
        with whole_file(path) as out:
            _WRITERS[format](reader, out, True)
    elif format in _BINARY and sys.stdout.isatty():
        raise HtaSqlError(f"{format} is not for terminals; add -o FILE, or pipe it to a program")
    else:
        _WRITERS[format](reader, sys.stdout.buffer, False)
        sys.stdout.buffer.flush()


def _seen(rows: Iterable[Any], if_empty: Callable[[], None]) -> Iterator[Any]:
    """The same items; calls `if_empty` at once if there are none."""
    rows = iter(rows)
    first = list(islice(rows, 1))
    if not first:
        if_empty()
    return chain(first, rows)


def _first(
    rows: Iterable[Any], most: int | None, if_cut: Callable[[], None]
) -> Iterator[tuple[Any, ...]]:
    """The first `most` rows; calls `if_cut` if there are more."""
    for count, row in enumerate(rows):
        if count == most:
            if_cut()
            return
        yield row


def _first_batches(
    batches: Iterable[pa.RecordBatch], most: int | None, if_cut: Callable[[], None]
) -> Iterator[pa.RecordBatch]:
    """The same with batches of rows."""
    left = most
    for batch in batches:
        if left is not None and batch.num_rows > left:
            if_cut()
            batch = batch.slice(0, left)
        if batch.num_rows:
            yield batch
        if left is not None:
            left -= batch.num_rows


def _reader(
    reader: pa.RecordBatchReader,
    if_empty: Callable[[], None],
    most_rows: int | None,
    if_cut: Callable[[], None],
) -> pa.RecordBatchReader:
    """The same batches, without those that have no rows; calls `if_empty` if none has any."""
    import pyarrow as pa

    batches = _seen(_first_batches(reader, most_rows, if_cut), if_empty)
    return pa.RecordBatchReader.from_batches(reader.schema, batches)


def write_table(table: pa.Table, path: Path) -> None:
    """Write a table to a file, in the format of its extension. The file is complete or missing."""
    with whole_file(path) as out:
        _WRITERS[format_of(path, None)](table.to_reader(), out, True)


def printable(relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """The same rows. Values that only DuckDB can print become text, as DuckDB prints it."""
    odd = [bool(_ODD_TYPE.search(str(kind))) for kind in relation.types]
    if not any(odd):
        return relation
    columns = [
        f"{f'CAST(#{at} AS VARCHAR)' if is_odd else f'#{at}'} AS {_quoted(name)}"
        for at, (name, is_odd) in enumerate(zip(relation.columns, odd, strict=True), 1)
    ]
    return relation.project(", ".join(columns))


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def first_twice(names: list[str]) -> str | None:
    return next((name for at, name in enumerate(names) if name in names[:at]), None)


def _table(reader: pa.RecordBatchReader, out: BinaryIO, _: bool) -> None:
    table = reader.read_all()
    for line in table_lines(table.column_names, rows_of(table)):
        out.write(line.encode() + b"\n")


def _json(reader: pa.RecordBatchReader, out: BinaryIO, _: bool) -> None:
    before = b"[\n"
    for batch in reader:
        for row in batch.to_pylist():
            out.write(before + orjson.dumps(row, default=_as_json))
            before = b",\n"
    out.write(b"[]\n" if before == b"[\n" else b"\n]\n")


def _csv(reader: pa.RecordBatchReader, out: BinaryIO, _: bool, is_safe: bool = False) -> None:
    import pyarrow as pa
    from pyarrow import csv

    schema = reader.schema
    odd = [
        i
        for i, f in enumerate(schema)  # types without a form in CSV: lists, structs, bytes
        if pa.types.is_nested(f.type) or pa.types.is_binary(f.type)
    ]
    for i in odd:
        schema = schema.set(i, schema.field(i).with_type(pa.string()))
    with csv.CSVWriter(out, schema) as writer:
        for batch in reader:
            for i in odd:
                cells = [_cell(value) for value in batch.column(i).to_pylist()]
                batch = batch.set_column(i, schema.field(i), pa.array(cells, pa.string()))
            writer.write_batch(_without_formulas(batch) if is_safe else batch)


def _without_formulas(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The same with an apostrophe before each text that a spreadsheet would compute."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for i, field in enumerate(batch.schema):
        if pa.types.is_string(field.type):
            texts = batch.column(i)
            quoted = pc.binary_join_element_wise("'", texts, "")
            safe = pc.if_else(pc.match_substring_regex(texts, _FORMULA), quoted, texts)
            batch = batch.set_column(i, field, safe)
    return batch


def _parquet(reader: pa.RecordBatchReader, out: BinaryIO, _: bool) -> None:
    from pyarrow import parquet

    with parquet.ParquetWriter(out, reader.schema, compression="zstd") as writer:
        for batch in reader:
            writer.write_batch(batch)


def _arrow(reader: pa.RecordBatchReader, out: BinaryIO, is_file: bool) -> None:
    """The IPC file format for a file, whose readers can seek, and the stream format for a pipe."""
    from pyarrow import ipc

    new = ipc.new_file if is_file else ipc.new_stream
    with new(out, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)


def _markdown(reader: pa.RecordBatchReader, out: BinaryIO, _: bool) -> None:
    from hta_sql.show.markdown import write_markdown

    write_markdown(reader, out)


def _xlsx(reader: pa.RecordBatchReader, out: BinaryIO, _: bool) -> None:
    from hta_sql.show.xlsx import write_xlsx

    write_xlsx(reader, out, _text)


_WRITERS: dict[str, Callable[..., None]] = {
    "table": _table,
    WIDE_TABLE: _table,
    "json": _json,
    "csv": _csv,
    CSV_SAFE: partial(_csv, is_safe=True),
    "parquet": _parquet,
    "arrow": _arrow,
    "markdown": _markdown,
    "xlsx": _xlsx,
}


def _cell(value: Any) -> str | None:
    return None if value is None else _text(value)


def _text(value: Any) -> str:
    """A value without a form of its own, such as a list, as text."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, int | float):
        return str(value)
    return orjson.dumps(value, default=_as_json).decode()


def _as_json(value: Any) -> Any:
    """Values of types that orjson does not know: DuckDB's HUGEINT and DECIMAL, and bytes."""
    if isinstance(value, Decimal):
        plain = number(value)
        return plain if isinstance(plain, float) else orjson.Fragment(str(plain))
    return value.hex() if isinstance(value, bytes) else str(value)


def _rows(relation: duckdb.DuckDBPyRelation) -> Iterator[tuple[Any, ...]]:
    """The rows, with the values that Arrow would return."""
    if all(_PLAIN_TYPE.fullmatch(str(kind)) for kind in relation.types):
        yield from relation.iter_rows()
    else:
        for batch in relation.to_arrow_reader():
            yield from rows_of(batch)
