"""Reads a query file: a comment block above one `CREATE OR REPLACE MACRO`.

The block has a summary, text, and the keys `since`, `grain`, `returns`, `check` and so on. A file
in another form raises a CatalogError that starts with `path:line`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from hta_sql.catalogue.needs import Requirement
from hta_sql.catalogue.query import Column, Parameter, Query
from hta_sql.errors import CatalogError

_FILE = re.compile(r"([a-z][a-z0-9_]*)\.v([1-9][0-9]*)\.sql")
_KEY = re.compile(r"-- (since|grain|returns|check|needs|deprecated|reads):(?: +(.*))?")
_COLUMN = re.compile(r"(\w+) +(\S+) +(\S+) +(\S.*)")
_MACRO = re.compile(r"CREATE OR REPLACE MACRO (\w+)\((\) AS TABLE)?")
_PARAMETER = re.compile(r"    (\w+) ([A-Z]+(?:\[\])?)(?: := ('[^']*'|[\w.-]+))?,?(?: +-- (.*\S))?")
# The options that `hta-sql run` has for every query.
OPTIONS = frozenset(
    {
        *("columns", "sort", "where", "limit", "format", "output", "csv_safe", "engine"),
        *(
            "address",
            "models",
            "wide",
            "version",
            "timeout",
            "memory_limit",
            "threads",
            "archives",
            "help",
        ),
    }
)
_SHOWN_DEFAULT = re.compile(r"(.*\S) +\[default: ([^]]+)\]")
_READS = re.compile(r"^-- reads: (.*(?:\n--   .*)*)$", re.MULTILINE)
_COLUMN_COMMENT = re.compile(r"^    (?:\S.* AS |\w+\.)?(\w+),? +-- (\S.*)$", re.MULTILINE)


def named_by(path: Path, root: Path) -> tuple[str, int]:
    """The name and version of the query in a file; CatalogError for another form of path."""
    found = _FILE.fullmatch(path.name)
    if not found or path.parent.parent != root / "queries":
        raise CatalogError(
            f"{shown(path, root)}:1: the name of a query file has to be "
            "queries/<theme>/<name>.v<N>.sql"
        )
    return found[1], int(found[2])


def read_query(path: Path, root: Path) -> Query:
    """Parse one query file."""

    def wrong(line: int, what: str) -> NoReturn:
        raise CatalogError(f"{shown(path, root)}:{line}: {what}")

    named = named_by(path, root)
    sql = path.read_text(encoding="utf-8")
    lines = sql.splitlines()
    size = next((n for n, line in enumerate(lines) if not line.startswith("--")), len(lines))
    header, body = list(enumerate(lines[:size], start=1)), lines[size:]

    start = next((i for i, (_, line) in enumerate(header) if _KEY.fullmatch(line)), size)
    prose = [line[3:] for _, line in header[:start]]
    if not prose or not prose[0].endswith(".") or len(prose[0]) > 100:
        wrong(
            1,
            "the first line has to be a one-sentence summary: '-- …', at most 100 characters, "
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
            wrong(number, f"neither a header key nor an indented continuation line: {line!r}")
    for key in ("since", "grain", "returns"):
        if len(said.get(key, [])) != 1:
            wrong(
                1, f"the header has {len(said.get(key, []))} lines '-- {key}:'; write exactly one"
            )
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
    name, version = named
    parameters = tuple(_parameters(f"{name}_v{version}", body, size + 1, wrong))
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
        parameters=parameters,
        checks=tuple(values("check")),
        needs=tuple(
            need
            for (number, _, _), text in zip(said.get("needs", []), values("needs"), strict=True)
            for need in _needs(text, {parameter.name for parameter in parameters}, number, wrong)
        ),
        deprecated=next(iter(values("deprecated")), None),
        sql=sql,
    )


def _columns(lines: list[tuple[int, str]], wrong: Any) -> Iterator[Column]:
    """The columns in a returns block. A line with more indent continues the text above it."""
    columns: list[list[str]] = []
    for number, line in lines:
        if line.startswith("     ") and columns:
            columns[-1][3] += " " + line.strip()
        elif match := _COLUMN.fullmatch(line.strip()):
            columns.append(list(match.groups()))
        else:
            wrong(number, f"not a column (name TYPE unit text): {line.strip()!r}")
    return (Column(*column) for column in columns)


def _needs(text: str, parameters: set[str], number: int, wrong: Any) -> Iterator[Requirement]:
    """The needs in a line `needs: NAME, NAME if PARAMETER = VALUE`."""
    for part in text.split(","):
        try:
            need = Requirement.read(part.strip())
        except ValueError as error:
            wrong(number, str(error))
        if need.parameter not in {None, *parameters}:
            wrong(number, f"{need}: the query has no parameter {need.parameter!r}")
        yield need


def _parameters(macro: str, body: list[str], at: int, wrong: Any) -> list[Parameter]:
    """The parameters in a macro's signature: one per line, each with a comment."""
    first = _MACRO.fullmatch(body[0]) if body else None
    if not first:
        wrong(at, f"expected 'CREATE OR REPLACE MACRO {macro}(' right below the header")
    if first[1] != macro:
        wrong(at, f"the macro is {first[1]!r}, but the file name says {macro!r}")
    again = next((n for n, line in enumerate(body) if n and line[:7] == "CREATE "), None)
    if again or not body[-1].endswith(";"):
        wrong(at + (again or len(body) - 1), "a query file has to be one statement, ended by ';'")
    signature: list[list[str | None]] = []
    for number, line in enumerate([] if first[2] else body[1:], start=at + 1):
        if line == ") AS TABLE":
            return [_parameter(*parts) for parts in signature]
        if signature and line.strip().startswith("-- "):
            signature[-1][3] += f" {line.strip()[3:]}"
        elif (match := _PARAMETER.fullmatch(line)) and match[4]:
            if match[1] in OPTIONS:
                wrong(number, f"{match[1]!r} is an option of every query; name it otherwise")
            signature.append(list(match.groups()))
        else:
            wrong(number, f"not a parameter (    name TYPE := default,  -- text): {line.strip()!r}")
    return []


def _parameter(name: str, kind: str, default: str | None, text: str) -> Parameter:
    """A parameter. Its comment may end with the default in words: `[default: …]`."""
    if said := _SHOWN_DEFAULT.fullmatch(text):
        return Parameter(name, kind, default, *said.groups())
    return Parameter(name, kind, default, text, "all" if default == "NULL" else default)


def column_comments(path: Path) -> dict[str, str]:
    """The comments on the columns of a table or view, each on the line of its column."""
    return dict(_COLUMN_COMMENT.findall(path.read_text(encoding="utf-8")))


def names_read(text: str) -> list[str]:
    """The names in the line `-- reads:` of a file's leading comment."""
    found = _READS.search(text)
    return re.findall(r"\w+", found[1].replace("--", " ")) if found else []


def comment_of(path: Path) -> str:
    """The first paragraph of a file's leading comment, on one line."""
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("-- "):
            break
        lines.append(line[3:])
    return " ".join(lines)


def shown(path: Path, root: Path) -> str:
    """A path in the form of error messages: relative to the folder above sql/."""
    return path.relative_to(root.parent).as_posix()
