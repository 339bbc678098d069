"""Write a result: as a table for people, or as JSON, CSV, Parquet or Arrow for machines."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache, partial
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click
import orjson

from hta_sql.errors import HtaSqlError

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

FORMATS = ("table", "json", "csv", "parquet", "arrow")
_BINARY = ("parquet", "arrow")
_BY_SUFFIX = {
    ".txt": "table",
    ".json": "json",
    ".csv": "csv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
}
_ROWS_ON_TERMINAL = 50
# Each write to a terminal or pipe takes as long as many lines.
_LINES_AT_ONCE = 1000
# Before a line that takes the place of one about progress.
CLEAR_LINE = "\r\x1b[K"


# Neither Python nor Arrow's CSV holds all values of these.
_ODD_TYPE = re.compile(r"TIME|DATE|INTERVAL|BIT|BIGNUM|UHUGEINT|VARIANT|UNION")
# DuckDB gives values of these as Arrow does, but without the time that Arrow takes to start.
_PLAIN_TYPE = re.compile(
    r"(VARCHAR|BOOLEAN|DOUBLE|FLOAT|U?(TINYINT|SMALLINT|INTEGER|BIGINT))(\[\])*"
    r"|HUGEINT|DECIMAL\(\d+,\d+\)|BLOB"
)


def counted(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def format_of(path: Path | None, format: str | None) -> str:
    """The format, unless given that of the file's name; HtaSqlError if that does not tell it."""
    format = format or (_BY_SUFFIX.get(path.suffix.lower()) if path else "table")
    if format is None:
        raise HtaSqlError(
            f"{path}: its name does not tell the format; give --format "
            f"{'|'.join(FORMATS)} or end it in {', '.join(_BY_SUFFIX)}"
        )
    return format


def write(relation: duckdb.DuckDBPyRelation, format: str | None, path: Path | None) -> None:
    """Write all rows to `path`, or to stdout; the format, unless given, follows the file's name.

    HtaSqlError where that leaves the format open or would put bytes on a terminal.
    """
    format = format_of(path, format)
    if format not in _BINARY:
        relation = _printable(relation)
    if format == "json" and (twice := _first_twice(relation.columns)):
        raise HtaSqlError(f"two columns are named {twice!r}; give one another name with AS")
    if format == "table" and not path:
        _print_table(relation.columns, _rows(relation), sys.stdout.isatty())
        return
    reader = relation.to_arrow_reader()
    if path:
        try:
            with path.open("wb") as out:
                _WRITERS[format](reader, out, True)
        except BaseException:
            if path.is_file():  # and not a device or a pipe
                path.unlink()
            raise
    elif format in _BINARY and sys.stdout.isatty():
        raise HtaSqlError(f"{format} is not for terminals: add -o FILE, or pipe it on")
    else:
        _WRITERS[format](reader, sys.stdout.buffer, False)
        sys.stdout.buffer.flush()


def write_table(table: pa.Table, path: Path) -> None:
    """Write a table to a file, in the format that its name tells; whole or not at all."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with new.open("wb") as out:
            _WRITERS[format_of(path, None)](table.to_reader(), out, True)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def _printable(relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """The same rows, with values that DuckDB alone can print as it prints them."""
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


def _first_twice(names: list[str]) -> str | None:
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


def _csv(reader: pa.RecordBatchReader, out: BinaryIO, _: bool) -> None:
    import pyarrow as pa
    from pyarrow import csv

    schema = reader.schema
    odd = [
        i
        for i, f in enumerate(schema)  # has no form in CSV: lists, structs, bytes
        if pa.types.is_nested(f.type) or pa.types.is_binary(f.type)
    ]
    for i in odd:
        schema = schema.set(i, schema.field(i).with_type(pa.string()))
    with csv.CSVWriter(out, schema) as writer:
        for batch in reader:
            for i in odd:
                cells = [_cell(value) for value in batch.column(i).to_pylist()]
                batch = batch.set_column(i, schema.field(i), pa.array(cells, pa.string()))
            writer.write_batch(batch)


def _parquet(reader: pa.RecordBatchReader, out: BinaryIO, _: bool) -> None:
    from pyarrow import parquet

    with parquet.ParquetWriter(out, reader.schema, compression="zstd") as writer:
        for batch in reader:
            writer.write_batch(batch)


def _arrow(reader: pa.RecordBatchReader, out: BinaryIO, is_file: bool) -> None:
    """The IPC file form where the reader can seek, the stream form in a pipe."""
    from pyarrow import ipc

    new = ipc.new_file if is_file else ipc.new_stream
    with new(out, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)


_WRITERS: dict[str, Callable[..., None]] = {
    "table": _table,
    "json": _json,
    "csv": _csv,
    "parquet": _parquet,
    "arrow": _arrow,
}


def _cell(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, bytes):
        return value.hex()
    return orjson.dumps(value, default=_as_json).decode()


def _as_json(value: Any) -> Any:
    """What orjson does not know: DuckDB's HUGEINT and DECIMAL, bytes."""
    if isinstance(value, Decimal):
        number = _number(value)
        return number if isinstance(number, float) else orjson.Fragment(str(number))
    return value.hex() if isinstance(value, bytes) else str(value)


def _number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)


def _rows(relation: duckdb.DuckDBPyRelation) -> Iterator[tuple[Any, ...]]:
    """Its rows, with values as Arrow gives them."""
    if all(_PLAIN_TYPE.fullmatch(str(kind)) for kind in relation.types):
        yield from relation.iter_rows()
    else:
        for batch in relation.to_arrow_reader():
            yield from rows_of(batch)


def _print_table(names: list[str], rows: Iterator[tuple[Any, ...]], terminal: bool) -> None:
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


def humane(name: str, value: Any) -> str:
    """A cell for people, in the unit that the column's name ends in; `-` for NULL.

    Sizes are decimal: 1 MB is 1,000,000 bytes, as a GB/s is 1e9 bytes a second.
    """
    if value is None:
        return "-"
    if isinstance(value, str):
        return value if value.isprintable() else re.sub(r"[\x00-\x1f\x7f]", " ", value)
    if isinstance(value, Decimal):
        value = _number(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return str(value)
    return _in_unit_of(name)(value)


@cache
def _in_unit_of(name: str) -> Callable[[int | float], str]:
    """How numbers of a column are shown."""
    if re.search(r"(^|_)(start|end|at|base|modified)_ns$", name):
        return lambda value: _instant(int(value))
    for ending, units in _UNITS.items():
        if f"_{name}".endswith(f"_{ending}"):
            return partial(_scaled, units=units)
    if name.endswith("_frac"):
        return lambda value: f"{100 * value:.1f} %"
    if name.endswith("_gbps"):
        return lambda value: f"{value:.4g} GB/s"
    whole = "{:,}" if name.endswith("_count") or name == "count" else "{}"
    return lambda value: f"{value:.4g}" if isinstance(value, float) else whole.format(value)


_TIME_UNITS = ((3600e9, "h"), (60e9, "min"), (1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns"))
_END_OF_CALENDAR_S = 253_402_300_800  # the year 10000
_OPERATION_UNITS = ((1e15, "PFLOP"), (1e12, "TFLOP"), (1e9, "GFLOP"), (1e6, "MFLOP"), (1, "FLOP"))
_SIZE_UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "B"))

_UNITS = {"ns": _TIME_UNITS, "bytes": _SIZE_UNITS, "flops": _OPERATION_UNITS}


def _scaled(value: float, units: tuple[tuple[float, str], ...]) -> str:
    """Three digits and a unit."""
    for size, unit in units[:-1]:
        scaled = value / size
        if abs(scaled) >= 0.9995:  # what would print as 1000 takes the next unit up
            short = f"{scaled:,.0f}" if abs(scaled) >= 99.95 else f"{scaled:#.3g}"
            return f"{short} {unit}"
    return f"{value:.0f} {units[-1][1]}"


def _instant(ns: int) -> str:
    """A point in time to the nanosecond: UTC, or seconds where the trace tells no date."""
    seconds, rest = divmod(abs(ns), 10**9)
    if not 10**8 <= seconds < _END_OF_CALENDAR_S:
        return f"{'-' * (ns < 0)}{seconds}.{rest:09} s"
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S}.{rest:09}"
