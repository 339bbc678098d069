"""The catalogue: what the files under sql/ say about themselves, read without DuckDB.

One query is one file, ``queries/<theme>/<name>.v<N>.sql``: a comment block (summary, text,
``since``, ``grain``, ``returns``, ``check`` …) above one ``CREATE OR REPLACE MACRO``. Whatever
does not keep that form is a CatalogError that starts with ``path:line``.

Tables, relations and queries may read each other, in no circle; they are loaded in that order
(see catalogue/reads.py). A query reads no query. A table begins as an empty stub; its views that
read files take the stub's place when an archive has such files. Ingest alone reads enrich,
critical paths alone paths, exports alone exports.
"""

import difflib
import hashlib
import operator
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NoReturn

from hta_sql.catalogue.statements import definition, statements
from hta_sql.errors import BadParameter, CatalogError, UnknownQuery

_FILE = re.compile(r"([a-z][a-z0-9_]*)\.v([1-9][0-9]*)\.sql")
_KEY = re.compile(r"-- (since|grain|returns|check|needs|deprecated|reads):(?: +(.*))?")
_COLUMN = re.compile(r"(\w+) +(\S+) +(\S+) +(\S.*)")
_MACRO = re.compile(r"CREATE OR REPLACE MACRO (\w+)\((\) AS TABLE)?")
_PARAMETER = re.compile(r"    (\w+) ([A-Z]+(?:\[\])?)(?: := ('[^']*'|[\w.-]+))?,?(?: +-- (.*\S))?")
_COLUMN_COMMENT = re.compile(r"^    (?:\S.* AS |\w+\.)?(\w+),? +-- (\S.*)$", re.MULTILINE)
_FILES_ASKED_FOR = re.compile(r"read_parquet\(\s*(\w+)\('(\w+)'\)")
_INTEGER_BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a query; `default` is SQL text, None where a value must be given."""

    name: str
    type: str
    default: str | None
    text: str

    @property
    def is_list(self) -> bool:
        return self.type.endswith("[]")

    def __str__(self) -> str:
        default = "" if self.default is None else f" := {self.default}"
        return f"{self.name} {self.type}{default}"

    def value(self, given: Any) -> Any:
        """`given` as DuckDB can bind it; ValueError, TypeError where it is of another type."""
        if given is None:
            return None
        if not self.is_list:
            return _scalar(self.type, given)
        alone = isinstance(given, str) or not hasattr(given, "__iter__")
        return [_scalar(self.type[:-2], item) for item in ([given] if alone else given)]


@dataclass(frozen=True)
class Column:
    """One column of a query's result; `unit` is ``-`` where it has none."""

    name: str
    type: str
    unit: str
    text: str


@dataclass(frozen=True)
class Query:
    """One query file."""

    name: str
    version: int
    theme: str
    path: Path
    summary: str
    text: str
    since: str
    grain: tuple[str, ...]
    columns: tuple[Column, ...]
    parameters: tuple[Parameter, ...]
    checks: tuple[str, ...]
    needs: str | None
    deprecated: str | None
    sql: str = field(repr=False)

    @property
    def macro(self) -> str:
        return f"{self.name}_v{self.version}"

    @property
    def alias(self) -> str:
        """The statement that lets the query be called without its number.

        It calls the numbered one: a second copy would double what opening an archive costs.
        """
        parameters = ", ".join(map(str, self.parameters))
        given = ", ".join(f"{p.name} := {p.name}" for p in self.parameters)
        return (
            f"CREATE OR REPLACE MACRO {self.name}({parameters}) AS TABLE "
            f"FROM {self.macro}({given});"
        )

    @property
    def required(self) -> tuple[Parameter, ...]:
        return tuple(p for p in self.parameters if p.default is None)

    def __str__(self) -> str:
        return self.macro

    def call(self, given: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """The SQL that calls this query, and the values it binds; BadParameter if they misfit."""
        known = {p.name: p for p in self.parameters}
        values = {}
        for name, value in given.items():
            if name not in known:
                raise BadParameter(f"{self.name} has no parameter {name!r}; {self._takes(name)}")
            if value is None and known[name].default is not None:
                continue  # to give nothing is to leave it out
            try:
                values[name] = known[name].value(value)
            except (TypeError, ValueError):
                kind = known[name].type
                raise BadParameter(f"{self.name}: {name} is {kind}, not {value!r}") from None
        for parameter in self.required:
            if parameter.name not in values:
                raise BadParameter(f"{self.name} needs {parameter.name}: {parameter.text}")
        arguments = ", ".join(f"{name} := ${name}" for name in values)
        return f"FROM {self.macro}({arguments})", values

    def _takes(self, wrong: str) -> str:
        names = [p.name for p in self.parameters]
        return f"{_did_you_mean(wrong, names)}it takes {', '.join(names) or 'none'}"


@dataclass(frozen=True)
class FileView:
    """A view of sql/tables that reads the files of `table` which `macro` tells."""

    path: Path
    sql: str = field(repr=False)
    macro: str
    table: str

    @property
    def stub(self) -> str:
        """What stands in the view's place where there are no files."""
        return f"CREATE OR REPLACE VIEW {definition(self.sql)[0]} AS FROM {self.table}_schema();"


@dataclass(frozen=True)
class Catalog:
    """Every query, by theme, name and version, and the files of the other layers."""

    root: Path
    queries: tuple[Query, ...]

    @staticmethod
    @cache
    def load() -> "Catalog":
        """The catalogue of this hta_sql, read once."""
        return Catalog.read(sql_root())

    @staticmethod
    def read(root: Path) -> "Catalog":
        """Read all query files; CatalogError at the first that does not keep the rules."""
        queries: dict[tuple[str, int], Query] = {}
        for path in sorted((root / "queries").rglob("*.sql")):
            query = _read(path, root)
            twin = queries.setdefault((query.name, query.version), query)
            if twin is not query:
                raise CatalogError(
                    f"{_shown(path, root)}:1: {query} is also in {_shown(twin.path, root)}"
                )
        ordered = sorted(queries.values(), key=lambda q: (q.theme, q.name, q.version))
        return Catalog(root, tuple(ordered))

    @cached_property
    def tables(self) -> list[Path]:
        """The files of sql/tables, one for each table."""
        return sorted((self.root / "tables").glob("*.sql"))

    @cached_property
    def relations(self) -> list[Path]:
        """The files of sql/relations, by concept."""
        return sorted((self.root / "relations").rglob("*.sql"))

    @cached_property
    def newest(self) -> dict[str, Query]:
        """The newest version of every query, by name; ordered by theme and name."""
        return {query.name: query for query in self.queries}

    @cached_property
    def macros(self) -> dict[str, tuple[Query, str]]:
        """Every name that a query can be called by in SQL, and the statement that makes it so.

        Those are the numbered names and, for the newest version, the bare name too.
        """
        numbered = {query.macro: (query, query.sql) for query in self.queries}
        return numbered | {name: (query, query.alias) for name, query in self.newest.items()}

    @cached_property
    def published(self) -> list[Path]:
        """The files of what people read by name: tables, and relations that are views."""
        views = [p for p in self.relations if f"VIEW {p.stem} AS" in p.read_text(encoding="utf-8")]
        return [*self.tables, *sorted(views, key=lambda path: path.stem)]

    @cached_property
    def sources(self) -> dict[str, FileView]:
        """The statements of sql/tables that read files, by the views that they make."""
        return {
            definition(statement)[0]: FileView(path, statement, *asked.groups())
            for path in self.tables
            for statement in statements(path.read_text(encoding="utf-8"))
            if (asked := _FILES_ASKED_FOR.search(statement))
        }

    @cached_property
    def digest(self) -> str:
        """Tells these SQL files from others."""
        # os.walk, since rglob takes longer than all else that is done here.
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
    def kept(self) -> tuple[Query, ...]:
        """The queries whose results archives store, job by job: those with a table kept_<name>."""
        names = [path.stem.removeprefix("kept_") for path in self.tables]
        return tuple(
            self.newest[name]
            for name in names
            if name in self.newest and (self.root / "tables" / f"kept_{name}.sql").exists()
        )

    def versions(self, name: str) -> list[Query]:
        """All versions of a query, oldest first; UnknownQuery if there is none."""
        self.find(name)
        return [query for query in self.queries if query.name == name]

    def find(self, name: str, version: int | None = None) -> Query:
        """A query by name, of the newest version unless told; UnknownQuery if there is none."""
        if name not in self.newest:
            hint = _did_you_mean(name, self.newest, "; ", "?")
            raise UnknownQuery(
                f"no query {name!r}{hint} (hta-sql list shows all {len(self.newest)})"
            )
        if version is None:
            return self.newest[name]
        versions = {query.version: query for query in self.versions(name)}
        if version not in versions:
            there = ", ".join(map(str, versions))
            raise UnknownQuery(f"no version {version} of {name}; there is {there}")
        return versions[version]

    def as_json(self) -> list[dict[str, Any]]:
        """The catalogue as plain data, one object a query version."""
        plain = (
            "name",
            "version",
            "theme",
            "summary",
            "text",
            "since",
            "grain",
            "checks",
            "needs",
            "deprecated",
        )
        return [
            {key: getattr(query, key) for key in plain}
            | {"parameters": [vars(p) for p in query.parameters]}
            | {"columns": [vars(c) for c in query.columns]}
            for query in self.queries
        ]


def sql_root() -> Path:
    """Where sql/ is: inside the package when installed from a wheel, else beside it."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "_sql"
    return inside if inside.is_dir() else package.parent / "sql"


def column_comments(path: Path) -> dict[str, str]:
    """What a table's or view's file says of its columns, each on the column's line."""
    return dict(_COLUMN_COMMENT.findall(path.read_text(encoding="utf-8")))


def comment_of(path: Path) -> str:
    """The first paragraph of a file's leading comment, on one line."""
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("-- "):
            break
        lines.append(line[3:])
    return " ".join(lines)


def _read(path: Path, root: Path) -> Query:
    """Parse one query file."""

    def wrong(line: int, what: str) -> NoReturn:
        raise CatalogError(f"{_shown(path, root)}:{line}: {what}")

    named = _FILE.fullmatch(path.name)
    if not named or path.parent.parent != root / "queries":
        wrong(1, "a query file is named queries/<theme>/<name>.v<N>.sql")
    sql = path.read_text(encoding="utf-8")
    lines = sql.splitlines()
    size = next((n for n, line in enumerate(lines) if not line.startswith("--")), len(lines))
    header, body = list(enumerate(lines[:size], start=1)), lines[size:]

    start = next((i for i, (_, line) in enumerate(header) if _KEY.fullmatch(line)), size)
    prose = [line[3:] for _, line in header[:start]]
    if not prose or not prose[0].endswith(".") or len(prose[0]) > 100:
        wrong(
            1,
            "the first line is a one-sentence summary: '-- …', at most 100 characters, "
            "ending with a full stop",
        )
    said: dict[str, list[tuple[int, str, list[tuple[int, str]]]]] = {}
    for number, line in header[start:]:
        if key := _KEY.fullmatch(line):
            more: list[tuple[int, str]] = []
            said.setdefault(key[1], []).append((number, key[2] or "", more))
        elif line.startswith("--   "):
            more.append((number, line[4:]))
        elif line.rstrip() != "--":
            wrong(number, f"neither a header key nor an indented continuation: {line!r}")
    for key in ("since", "grain", "returns"):
        if len(said.get(key, [])) != 1:
            wrong(1, f"the header has {len(said.get(key, []))} lines '-- {key}:', not one")
    columns = tuple(_columns(said["returns"][0][2], wrong))

    def values(key: str) -> list[str]:
        return [
            " ".join([value, *(text.strip() for _, text in more)]).strip()
            for _, value, more in said.get(key, [])
        ]

    grain = tuple(name.strip() for name in values("grain")[0].split(","))
    for name in grain:
        if name not in {column.name for column in columns}:
            wrong(said["grain"][0][0], f"grain column {name!r} is not in returns")
    name, version = named[1], int(named[2])
    return Query(
        name,
        version,
        path.parent.name,
        path,
        summary=prose[0],
        text="\n".join(prose[1:]).strip("\n"),
        since=values("since")[0],
        grain=grain,
        columns=columns,
        parameters=tuple(_parameters(f"{name}_v{version}", body, size + 1, wrong)),
        checks=tuple(values("check")),
        needs=next(iter(values("needs")), None),
        deprecated=next(iter(values("deprecated")), None),
        sql=sql,
    )


def _columns(lines: list[tuple[int, str]], wrong: Any) -> Iterator[Column]:
    """The lines of a returns block; a line indented further goes on with the text above it."""
    columns: list[list[str]] = []
    for number, line in lines:
        if line.startswith("     ") and columns:
            columns[-1][3] += " " + line.strip()
        elif match := _COLUMN.fullmatch(line.strip()):
            columns.append(list(match.groups()))
        else:
            wrong(number, f"not a column (name TYPE unit text): {line.strip()!r}")
    return (Column(*column) for column in columns)


def _parameters(macro: str, body: list[str], at: int, wrong: Any) -> list[Parameter]:
    """The parameters in a macro's signature, which has one a line, each with a comment."""
    first = _MACRO.fullmatch(body[0]) if body else None
    if not first:
        wrong(at, f"expected 'CREATE OR REPLACE MACRO {macro}(' right below the header")
    if first[1] != macro:
        wrong(at, f"the macro is {first[1]!r}, but by its file name {macro!r}")
    again = next((n for n, line in enumerate(body) if n and line[:7] == "CREATE "), None)
    if again or not body[-1].endswith(";"):
        wrong(at + (again or len(body) - 1), "a query file is one statement, ended by ';'")
    parameters: list[Parameter] = []
    for number, line in enumerate([] if first[2] else body[1:], start=at + 1):
        if line == ") AS TABLE":
            return parameters
        if parameters and line.strip().startswith("-- "):
            last = parameters.pop()
            more = f"{last.text} {line.strip()[3:]}"
            parameters.append(Parameter(last.name, last.type, last.default, more))
        elif (match := _PARAMETER.fullmatch(line)) and match[4]:
            parameters.append(Parameter(*match.groups()))
        else:
            wrong(number, f"not a parameter (    name TYPE := default,  -- text): {line.strip()!r}")
    return parameters


def _scalar(kind: str, given: Any) -> Any:
    """`given` if it is a `kind`; types other than the usual ones are left to DuckDB."""
    if kind in _INTEGER_BITS:
        number = operator.index(given)
        if isinstance(given, bool) or not -1 <= number >> (_INTEGER_BITS[kind] - 1) <= 0:
            raise ValueError
        return number
    if kind == "DOUBLE":
        if isinstance(given, bool | str):
            raise ValueError
        return float(given)
    if kind in ("VARCHAR", "BOOLEAN") and not isinstance(given, str if kind == "VARCHAR" else bool):
        raise ValueError
    return given


def _did_you_mean(wrong: str, names: Any, before: str = "", after: str = "? ") -> str:
    near = difflib.get_close_matches(wrong, names, n=1)
    return f"{before}did you mean {near[0]!r}{after}" if near else ""


def _shown(path: Path, root: Path) -> str:
    return path.relative_to(root.parent).as_posix()
