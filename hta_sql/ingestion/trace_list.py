"""A CSV or Parquet file that lists traces: path, job and rank; all other columns are tags."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from hta_sql.errors import IngestError, one_line
from hta_sql.places.storage import Place, is_remote, place, reader_of

NEVER = 2**31  # every rank is lower


@dataclass(frozen=True)
class Listed:
    """A row, as far as its fields have text; `error` says why it cannot be used."""

    path: Place
    job: str | None
    rank: int | None
    tags: dict[str, str]
    error: str | None


def is_list(path: Place) -> bool:
    """Whether a file that the user names lists traces."""
    return path.suffix.lower() in (".csv", ".parquet") and path.is_file()


def read_list(file: Place) -> Iterator[Listed]:
    """The rows of a list. Paths are relative to its folder, and fields without text do not count.

    Raises IngestError if the file is not such a list.
    """
    folder = file.absolute().parent
    for number, row in enumerate(rows_of(file), start=1):
        tags = {name: value.strip() for name, value in row.items() if value and value.strip()}
        text, job, rank = tags.pop("path", None), tags.pop("job", None), tags.pop("rank", None)
        where = f"(row {number} of {file.name})"
        if text is None:
            yield Listed(file, job, None, tags, f"no path {where}")
            continue
        given = place(text)
        path = given if is_remote(given) or given.is_absolute() else folder / text
        error = None
        if not is_remote(path) and not path.is_file():
            error = f"{'not a file' if path.exists() else 'no such file'} {where}"
        if rank is not None and not (rank.isdecimal() and int(rank) < NEVER):
            error, rank = f"{rank!r} is not a rank (0 to {NEVER - 1}) {where}", None
        yield Listed(path, job, None if rank is None else int(rank), tags, error)


def rows_of(file: Place) -> list[dict[str, str | None]]:
    """All fields as text."""
    try:
        content = reader_of(file.read_bytes())
        if file.suffix.lower() == ".parquet":
            table = pq.read_table(content)
        else:
            names = csv.open_csv(content).schema.names
            content.seek(0)
            as_text = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()))
            table = csv.read_csv(content, convert_options=as_text)
        names = [name.strip() for name in table.column_names]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise IngestError(
                f"{file}: a list of traces has each column once; this one has column "
                f"{twice[0]!r} twice: rename one or leave it out"
            )
        columns = {
            name: column.cast(pa.string())
            for name, column in zip(names, table.columns, strict=True)
            if name
        }
    except (pa.ArrowException, OSError) as error:
        raise IngestError(
            f"{file}: cannot be read as a list of traces: {one_line(error)}"
        ) from error
    if "path" not in columns:
        raise IngestError(
            f"{file}: a list of traces needs a column path; this one has only {', '.join(columns)}"
        )
    return pa.table(columns).to_pylist()
