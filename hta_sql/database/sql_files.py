"""Folders of sql/ whose files Python runs one by one, such as those of ingest and exports."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from hta_sql.catalogue.root import sql_root

if TYPE_CHECKING:
    import duckdb

_NUMBER = re.compile(r"^\d+_")


class SqlFiles:
    """The files of a folder by name: `<name>`, or `<folder>/<name>` for files in a subfolder.

    A number at the start of a file name sets the order in which files run. It is not part of the
    name.
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
        """The files in the folder, or in its subfolder `below`, in the order in which they run."""
        files = sorted((sql_root() / self._folder / below).glob("*.sql"))
        return [f"{below}/{file.stem}" if below else file.stem for file in files]

    def run(self, con: duckdb.DuckDBPyConnection, name: str) -> duckdb.DuckDBPyConnection:
        return con.execute(self.text(name))

    def run_all(self, con: duckdb.DuckDBPyConnection, below: str) -> None:
        """Run the files of a subfolder, one after the other."""
        for name in self.names(below):
            self.run(con, name)

    def drop_tables(self, con: duckdb.DuckDBPyConnection, *below: str) -> None:
        """Drop all tables that the files of these subfolders make, to free their memory."""
        for name in [name for folder in below or ("",) for name in self.names(folder)]:
            for table in re.findall(r"CREATE OR REPLACE TEMP TABLE (\w+)", self.text(name)):
                con.execute(f"DROP TABLE IF EXISTS {table}")


def set_variables(con: duckdb.DuckDBPyConnection, **values: object) -> None:
    """Set the variables that files read with getvariable()."""
    for name, value in values.items():
        con.execute(f"SET VARIABLE {name} = ?", [value])
