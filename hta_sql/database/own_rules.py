"""Rules of the user, in CSV files: kernel categories, peaks of devices, and names of steps.

They are in the user's configuration folder (~/.config/hta_sql), for all archives, or in an
archive's folder. They are data, and nothing in them runs: patterns are plain text, or regular
expressions that take linear time (RE2).
"""

from __future__ import annotations

import contextlib
import csv
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import duckdb

from hta_sql.database.layers import literal
from hta_sql.errors import ArchiveError
from hta_sql.places.storage import is_remote

if TYPE_CHECKING:
    from hta_sql.places.storage import Place


def positive(text: str) -> float:
    number = float(text)
    if not 0 < number < float("inf"):
        raise ValueError
    return number


def named(text: str) -> str:
    if not text.strip():
        raise ValueError
    return text


def one_of_two(text: str) -> str:
    if text not in ("operator", "kernel"):
        raise ValueError
    return text


def regular_expression(text: str) -> str:
    try:
        duckdb.execute("SELECT regexp_matches('', ?)", [named(text)])
    except duckdb.Error:
        raise ValueError from None
    return text


class Rules(NamedTuple):
    """A file, the view that has its rows if queries read them, and how each column is read, with
    what it should be."""

    file: str
    view: str | None
    columns: dict[str, tuple[Callable[[str], object], str]]


KINDS = (
    Rules(
        "category_rules.csv",
        "user_category_rules",
        {
            "pattern": (named, "a part of a name"),
            "applies_to": (one_of_two, "operator or kernel"),
            "category": (named, "a category"),
        },
    ),
    Rules(
        "device_peaks.csv",
        "user_device_peaks",
        {
            "device_name": (named, "the name of a device"),
            "dtype": (named, "a number format, such as bfloat16"),
            "dense_tflops": (positive, "a number above 0"),
            "memory_gbps": (positive, "a number above 0"),
        },
    ),
)

STEP_RULES = Rules(
    "step_rules.csv",
    None,  # for ingest, which stores the steps
    {
        "name_pattern": (regular_expression, "a regular expression (RE2)"),
        "framework": (named, "the program that writes the annotation"),
    },
)


def config_folder() -> Path | None:
    with contextlib.suppress(RuntimeError):  # no home
        given = os.environ.get("XDG_CONFIG_HOME", "")
        return (Path(given) if os.path.isabs(given) else Path.home() / ".config") / "hta_sql"
    return None


def put_own_rules(
    con: duckdb.DuckDBPyConnection, folders: Iterable[Place | None], before: Collection[str] = ()
) -> dict[str, list[list[object]]]:
    """Make the views with the rules of these folders; those of the first folder come first.

    `before` are the views that have had rules. Returns the rows of each view that has some.

    Raises ArchiveError if a file is not as it should be.
    """
    folders = list(folders)
    found = {}
    for rules in KINDS:
        rows = rows_in(folders, rules)
        if rows:
            found[rules.view] = rows
        elif rules.view not in before:
            continue
        con.execute(f"CREATE OR REPLACE VIEW {rules.view} AS {_select(rules, rows)}")
    return found


def _select(rules: Rules, rows: list[list[object]]) -> str:
    if rows:
        values = ", ".join(f"({', '.join(map(literal, row))})" for row in rows)
        return f"SELECT * FROM (VALUES {values}) AS rules ({', '.join(rules.columns)})"
    nulls = (
        f"NULL::{'DOUBLE' if read is positive else 'VARCHAR'} AS {name}"
        for name, (read, _) in rules.columns.items()
    )
    return f"SELECT {', '.join(nulls)} WHERE false"


def step_rules_for(archive: Place) -> tuple[tuple[str, str], ...]:
    """The name_pattern and framework of each rule for steps; raises ArchiveError as above."""
    rows = rows_in([config_folder(), archive], STEP_RULES)
    return tuple((str(pattern), str(framework)) for pattern, framework in rows)


def rows_in(folders: Iterable[Place | None], rules: Rules) -> list[list[object]]:
    local = [folder for folder in folders if folder is not None and not is_remote(folder)]
    return [row for folder in local for row in rows_of(folder / rules.file, rules)]


def rows_of(path: Path, rules: Rules) -> Iterator[list[object]]:
    try:
        file = path.open(newline="", encoding="utf-8-sig")
    except FileNotFoundError:
        return
    except OSError as error:
        raise ArchiveError(f"{path}: {error.strerror}") from error
    with file:
        reader = csv.DictReader(file)
        try:
            lacking = [name for name in rules.columns if name not in (reader.fieldnames or ())]
            if lacking:
                raise ArchiveError(
                    f"{path}: no column {lacking[0]}; its columns are {', '.join(rules.columns)}"
                )
            for row in reader:
                at = f"{path}, line {reader.line_num}"
                yield [value_of(at, name, row[name], rules) for name in rules.columns]
        except (csv.Error, UnicodeDecodeError) as error:
            raise ArchiveError(f"{path}: not a CSV file in UTF-8: {error}") from error


def value_of(at: str, name: str, text: str | None, rules: Rules) -> object:
    read, wanted = rules.columns[name]
    try:
        return read(text or "")
    except ValueError:
        raise ArchiveError(f"{at}: {name} is {text!r}; give {wanted}") from None
