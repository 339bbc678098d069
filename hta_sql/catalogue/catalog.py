"""The catalogue: all queries, tables and relations under sql/, read without DuckDB.

Each query is one file, ``queries/<theme>/<name>.v<N>.sql`` (see header.py).

Tables, relations and queries may read each other, but not in a circle. Each is loaded after what it
reads (see catalogue/reads.py). A query does not read other queries. A table is an empty stub at
first; if an archive has files of the table, views that read them replace the stub. Python runs the
files in ingest, critical_path, export and compat one by one (see database/sql_files.py).
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from hta_sql.catalogue.columns import columns_of
from hta_sql.catalogue.header import named_by, read_query, shown
from hta_sql.catalogue.query import Query, did_you_mean
from hta_sql.catalogue.root import sql_root
from hta_sql.catalogue.statements import definition, statements
from hta_sql.errors import CatalogError, UnknownQuery

_STORED_OF = re.compile(r"query = '(\w+)'")
_FILES_ASKED_FOR = re.compile(r"read_parquet\(\s*(\w+)\('(\w+)'\)")


@dataclass(frozen=True)
class FileView:
    """A view of sql/tables that reads the files of `table`; `macro` returns their names."""

    path: Path
    sql: str = field(repr=False)
    macro: str
    table: str

    @property
    def stub(self) -> str:
        """The statement for an empty view, if there are no files."""
        return f"CREATE OR REPLACE VIEW {self.view} AS FROM {self.table}_schema();"

    @property
    def view(self) -> str:
        return definition(self.sql)[0]

    @property
    def plain(self) -> str:
        """The statement for the same view if no file lacks a column. DuckDB plans it in half of
        the time: the stub, which has the columns that files lack, is left out."""
        rows = definition(self.sql)[1].split("UNION ALL BY NAME", 1)[1]
        columns = ", ".join(f'"{name}"' for name in columns_of(self.path))
        return f"CREATE OR REPLACE VIEW {self.view} AS SELECT {columns} FROM ({rows})"


class _File:
    """A query's file, which is read when the query is asked for, once."""

    def __init__(self, path: Path, root: Path, query: Query | None = None) -> None:
        self.path, self._root, self._query = path, root, query

    def read(self) -> Query:
        self._query = self._query or read_query(self.path, self._root)
        return self._query


class _Lazily(Mapping[str, Any]):
    """A mapping that makes a value when it is asked for it: most commands need one query."""

    def __init__(self, make: dict[str, Callable[[], Any]]) -> None:
        self._make = make

    def __getitem__(self, name: str) -> Any:
        return self._make[name]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._make)

    def __len__(self) -> int:
        return len(self._make)


@dataclass(frozen=True)
class Catalog:
    """All queries, and the files of the other layers. `given` stands for all queries, if not None;
    else they are read when they are needed."""

    root: Path
    given: tuple[Query, ...] | None = None

    @staticmethod
    @cache
    def load() -> "Catalog":
        """The catalogue of this version of hta_sql, read once."""
        return Catalog(sql_root())

    @staticmethod
    def read(root: Path) -> "Catalog":
        """Read all query files; raises CatalogError for the first that breaks the rules."""
        return Catalog(root, Catalog(root).queries)

    @cached_property
    def _files(self) -> dict[str, dict[int, _File]]:
        """The file of each query by name and version, ordered by theme and name."""
        if self.given is not None:
            found = {
                (query.theme, query.name, query.version): _File(query.path, self.root, query)
                for query in self.given
            }
        else:
            paths = (self.root / "queries").rglob("*.sql")
            found = {
                (path.parent.name, *named_by(path, self.root)): _File(path, self.root)
                for path in sorted(paths)
            }
        files: dict[str, dict[int, _File]] = {}
        for (_, name, version), file in sorted(found.items(), key=lambda item: item[0]):
            twin = files.setdefault(name, {}).setdefault(version, file)
            if twin is not file:
                at, there = (shown(one.path, self.root) for one in (file, twin))
                raise CatalogError(f"{at}:1: {name}_v{version} is also in {there}")
        return files

    @cached_property
    def queries(self) -> tuple[Query, ...]:
        """All queries, ordered by theme, name and version."""
        return tuple(file.read() for files in self._files.values() for file in files.values())

    @cached_property
    def tables(self) -> list[Path]:
        """The files of sql/tables, one for each table."""
        return sorted((self.root / "tables").glob("*.sql"))

    @cached_property
    def relations(self) -> list[Path]:
        """The files of sql/relations, one folder per concept."""
        return sorted((self.root / "relations").rglob("*.sql"))

    @cached_property
    def newest(self) -> Mapping[str, Query]:
        """The newest version of every query, by name; ordered by theme and name."""
        return _Lazily({name: file.read for name, file in self._newest.items()})

    @cached_property
    def _newest(self) -> dict[str, _File]:
        return {name: files[max(files)] for name, files in self._files.items()}

    @cached_property
    def macros(self) -> Mapping[str, tuple[Query, str]]:
        """All names of queries in SQL, each with its query and the statement that defines it.

        Each version has a name with its number; the newest version also has the name without one.
        """
        numbered = {
            f"{name}_v{version}": lambda file=file: (file.read(), file.read().sql)
            for name, files in self._files.items()
            for version, file in files.items()
        }
        short = {
            name: lambda file=file: (file.read(), file.read().alias)
            for name, file in self._newest.items()
        }
        return _Lazily(numbered | short)

    @cached_property
    def published(self) -> list[Path]:
        """The files of tables, and of relations that are views: users read these by name."""
        views = [p for p in self.relations if f"VIEW {p.stem} AS" in p.read_text(encoding="utf-8")]
        return [*self.tables, *sorted(views, key=lambda path: path.stem)]

    @cached_property
    def sources(self) -> dict[str, FileView]:
        """The statements of sql/tables that read files, by the name of their view."""
        return {
            definition(statement)[0]: FileView(path, statement, *asked.groups())
            for path in self.tables
            for statement in statements(path.read_text(encoding="utf-8"))
            if (asked := _FILES_ASKED_FOR.search(statement))
        }

    @cached_property
    def joined(self) -> dict[str, tuple[str, list[str]]]:
        """The tables whose view joins two others: of files with one rank each, and of files of
        `compact`. Each with the statement of its view and the names of these two."""
        return {
            path.stem: (statement, parts)
            for path in self.tables
            if path.stem not in self.sources
            for statement in statements(path.read_text(encoding="utf-8"))
            if definition(statement)[0] == path.stem
            for parts in [[view for view, of in self.sources.items() if of.path == path]]
        }

    @cached_property
    def digest(self) -> str:
        """A hash of the SQL files."""
        # os.walk, since rglob takes longer than the rest of this function.
        files = sorted(
            os.path.join(folder, name)
            for folder, _, names in os.walk(self.root)
            for name in names
            if name.endswith(".sql")
        )
        parts = []
        for file in files:
            with open(file, "rb") as opened:
                parts += [file.removeprefix(str(self.root)).encode(), opened.read()]
        return hashlib.sha256(b"\0".join(parts)).hexdigest()

    @cached_property
    def stored(self) -> dict[str, str]:
        """The queries and relations whose results archives store per job, each with its macro.

        Each has a table stored_<name>. The name of the macro has a version.
        """
        return {
            view.removeprefix("stored_"): found[1]
            for view, source in self.sources.items()
            if view.startswith("stored_") and (found := _STORED_OF.search(source.sql))
        }

    @cached_property
    def chosen(self) -> dict[str, str]:
        """The macros <name>_of, which read stored rows of a relation and compute the others."""
        names = {f"{name}_of" for name in self.stored}
        files = (path for path in self.relations if path.stem in names)
        return {path.stem: path.read_text(encoding="utf-8") for path in files}

    def versions(self, name: str) -> list[Query]:
        """All versions of a query, oldest first; raises UnknownQuery if there is none."""
        self.find(name)
        files = self._files[name]
        return [files[version].read() for version in sorted(files)]

    def find(self, name: str, version: int | None = None) -> Query:
        """The newest version of a query, or `version`; raises UnknownQuery if it does not exist."""
        if name not in self.newest:
            hint = did_you_mean(name, self.newest, "; ", "?")
            if name in (path.stem for path in self.published):
                hint = f"; it is a table: hta-sql sql ARCHIVE 'FROM {name}'"
            raise UnknownQuery(
                f"no query {name!r}{hint} (hta-sql list shows all {len(self.newest)})"
            )
        if version is None:
            return self.newest[name]
        versions = {query.version: query for query in self.versions(name)}
        if version not in versions:
            there = ", ".join(map(str, versions))
            raise UnknownQuery(f"no version {version} of {name}; its versions are {there}")
        return versions[version]

    def as_json(self) -> list[dict[str, Any]]:
        """The catalogue as plain data, one object per version of a query."""
        plain = (
            "name",
            "version",
            "theme",
            "summary",
            "text",
            "since",
            "grain",
            "checks",
            "deprecated",
        )
        return [
            {key: getattr(query, key) for key in plain}
            | {"needs": [str(need) for need in query.needs]}
            | {"parameters": [vars(p) for p in query.parameters]}
            | {"columns": [vars(c) for c in query.columns]}
            for query in self.queries
        ]
