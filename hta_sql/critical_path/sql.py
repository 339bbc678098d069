"""The SQL files of paths, and how they are told of what."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from hta_sql.catalogue.root import sql_root

if TYPE_CHECKING:
    import duckdb


@cache
def text(name: str) -> str:
    """A file of sql/critical_path by its name, without the suffix."""
    return (sql_root() / "critical_path" / f"{name}.sql").read_text(encoding="utf-8")


@cache
def names(folder: str) -> list[str]:
    """The files in a folder of sql/critical_path, in order."""
    root = sql_root() / "critical_path"
    return [f"{folder}/{file.stem}" for file in sorted((root / folder).glob("*.sql"))]


def run_folder(con: duckdb.DuckDBPyConnection, folder: str) -> None:
    """Make the tables of a folder's files, one after the other."""
    for name in names(folder):
        con.execute(text(name))


def set_variables(con: duckdb.DuckDBPyConnection, **values: object) -> None:
    """What the files read by getvariable()."""
    for name, value in values.items():
        con.execute(f"SET VARIABLE {name} = ?", [value])


def drop_tables(con: duckdb.DuckDBPyConnection) -> None:
    """Give back the memory of all tables that the files make."""
    made = "|".join(text(name) for folder in ("archive", "rank", "job") for name in names(folder))
    for table in re.findall(r"CREATE OR REPLACE TEMP TABLE (\w+)", made + text("output/begin_job")):
        con.execute(f"DROP TABLE IF EXISTS {table}")
