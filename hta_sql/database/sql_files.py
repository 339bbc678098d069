"""Folders of sql/ whose files Python runs one by one: of ingest, critical paths and exports."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from hta_sql.catalogue.root import sql_root

if TYPE_CHECKING:
    import duckdb

_NUMBER = re.compile(r"^\d+_")


class SqlFiles:
    """The files of a folder by names: `<name>`, or `<folder>/<name>` of those in folders below.

    A number before a name tells the order in which files run; the name does without it.
    """

    def __init__(self, folder: str):
        self._folder = folder
        self.text = cache(self._text)

    def _text(self, name: str) -> str:
        below, _, stem = name.rpartition("/")
        folder = sql_root() / self._folder / below
        [file] = [f for f in folder.glob("*.sql") if stem in (f.stem, _NUMBER.sub("", f.stem))]
        return file.read_text(encoding="utf-8")

    def names(self, below: str = "") -> list[str]:
        """The files in the folder, or in one `below` it, in order."""
        files = sorted((sql_root() / self._folder / below).glob("*.sql"))
        return [f"{below}/{file.stem}" if below else file.stem for file in files]

    def run(self, con: duckdb.DuckDBPyConnection, name: str) -> duckdb.DuckDBPyConnection:
        return con.execute(self.text(name))

    def run_all(self, con: duckdb.DuckDBPyConnection, below: str) -> None:
        """Run the files of a folder, one after the other."""
        for name in self.names(below):
            self.run(con, name)

    def drop_tables(self, con: duckdb.DuckDBPyConnection, *below: str) -> None:
        """Give back the memory of all tables that the files of these folders make."""
        for name in [name for folder in below or ("",) for name in self.names(folder)]:
            for table in re.findall(r"CREATE OR REPLACE TEMP TABLE (\w+)", self.text(name)):
                con.execute(f"DROP TABLE IF EXISTS {table}")


def set_variables(con: duckdb.DuckDBPyConnection, **values: object) -> None:
    """What files read by getvariable()."""
    for name, value in values.items():
        con.execute(f"SET VARIABLE {name} = ?", [value])
