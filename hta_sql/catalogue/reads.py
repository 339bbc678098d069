"""Finds which files under sql/ read which others, by parsing them with DuckDB.

A file in sql/tables, sql/relations, sql/findings or sql/queries defines macros and views with
`CREATE OR REPLACE` statements. It may read what other files define, but not in a circle; each file
runs after those that it reads. The leading comment of a file has the names that it reads, as
`-- reads: …`.
"""

from __future__ import annotations

import contextlib
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

import duckdb
import orjson

from hta_sql.catalogue.findings import rule_files
from hta_sql.catalogue.root import sql_root
from hta_sql.catalogue.statements import definition, statements
from hta_sql.errors import CatalogError, one_line

_READS = re.compile(r"(?:^--\n)?^-- reads: .*\n(?:--   .*\n)*", re.MULTILINE)
_WIDTH = 100


def readers(root: Path) -> dict[Path, str]:
    """The files that may read each other, and their texts."""
    folders = (root / name for name in ("tables", "relations", "queries"))
    paths = sorted(path for folder in folders for path in folder.rglob("*.sql"))
    return {path: path.read_text(encoding="utf-8") for path in paths} | rule_files(root)


def in_order(
    con: duckdb.DuckDBPyConnection,
    files: Mapping[Path, str],
    read: Mapping[str, set[str]] | None = None,
) -> list[Path]:
    """The files, each after all that it reads, otherwise by path; CatalogError for a circle.

    `read` has what read_by_each returns for them, if it is known.
    """
    ordering = TopologicalSorter()
    for path, homes in _reads_of(files, read or read_by_each(con, files)).items():
        ordering.add(path, *sorted(homes.values()))
    try:
        ordering.prepare()
    except CycleError as error:
        circle = " reads ".join(path.name for path in reversed(error.args[1]))
        raise CatalogError(f"{circle}: files must not read each other in a circle") from None
    ordered: list[Path] = []
    while ordering.is_active():
        ready = sorted(ordering.get_ready())
        ordered += ready
        ordering.done(*ready)
    return ordered


def reads_of(
    con: duckdb.DuckDBPyConnection, files: Mapping[Path, str]
) -> dict[Path, dict[str, Path]]:
    """For each file, the names that it reads of other files, and the files that define them."""
    return _reads_of(files, read_by_each(con, files))


def read_by_each(con: duckdb.DuckDBPyConnection, files: Mapping[Path, str]) -> dict[str, set[str]]:
    """For each macro and view in these files, all names that it reads."""
    homes: dict[str, Path] = {}
    read: dict[str, set[str]] = {}
    for path, sql in files.items():
        found = statements(sql)
        if not found or not _are_all(con, path, sql, found):
            raise CatalogError(
                f"{path.name}: each statement has to begin a line with CREATE OR REPLACE MACRO or "
                "VIEW, and only its last line may end with ;"
            )
        for name, body in map(definition, found):
            if homes.setdefault(name, path) != path:
                raise CatalogError(
                    f"{path.name}: {homes[name].name} already defines {name}; rename one"
                )
            read.setdefault(name, set()).update(_names(con, path, body))
    return read


def _reads_of(
    files: Mapping[Path, str], read: Mapping[str, set[str]]
) -> dict[Path, dict[str, Path]]:
    defined = {
        path: [definition(statement)[0] for statement in statements(sql)]
        for path, sql in files.items()
    }
    homes = {name: path for path, names in defined.items() for name in names}
    return {
        path: {
            name: homes[name]
            for name in sorted(set().union(*(read[own] for own in names)))
            if homes.get(name, path) != path
        }
        for path, names in defined.items()
    }


def with_reads(sql: str, names: Iterable[str]) -> str:
    """A file's text with the names that it reads in its leading comment: above `CREATE`, or in a
    query after the other keys of its header."""
    sql = _READS.sub("", sql, count=1)
    if not names:
        return sql
    wrapped = textwrap.wrap(
        "reads: " + ", ".join(names), _WIDTH - 5, break_on_hyphens=False, break_long_words=False
    )
    lines = "".join(f"-- {line}\n" if not n else f"--   {line}\n" for n, line in enumerate(wrapped))
    header = re.match(r"(?:--.*\n)*", sql)[0]
    is_query = re.search(r"^-- since: ", header, re.MULTILINE)
    return header + ("" if is_query else "--\n") + lines + sql[len(header) :]


def _are_all(con: duckdb.DuckDBPyConnection, path: Path, sql: str, found: list[str]) -> bool:
    """Whether DuckDB finds exactly these statements in a file."""
    try:
        seen = [statement.query.rstrip(" \n;") for statement in con.extract_statements(sql)]
    except duckdb.Error as error:
        raise CatalogError(f"{path.name}: {one_line(error)}") from error
    return len(seen) == len(found) and all(
        whole.endswith(statement.removesuffix(";"))
        for whole, statement in zip(seen, found, strict=True)
    )


def _names(con: duckdb.DuckDBPyConnection, path: Path, body: str) -> Iterator[str]:
    """All names that a SELECT reads: tables, views and macros, but not its own CTEs."""
    [(text,)] = con.execute("SELECT json_serialize_sql($1::VARCHAR)", [body]).fetchall()
    parsed = orjson.loads(text)
    if parsed["error"]:
        raise CatalogError(f"{path.name}: {one_line(parsed['error_message'])}")
    yield from _in_node(parsed["statements"], frozenset())


def _in_node(node: Any, ctes: frozenset[str]) -> Iterator[str]:
    """The names below a node of the parsed statement; `ctes` are the CTEs that it can read."""
    if isinstance(node, list):
        for item in node:
            yield from _in_node(item, ctes)
        return
    if not isinstance(node, dict):
        return
    for entry in (node.get("cte_map") or {}).get("map", []):
        # A CTE can read the CTEs above it, and itself if it is recursive.
        query = entry["value"]["query_node"]
        own = {entry["key"]} if query["type"] == "RECURSIVE_CTE_NODE" else set()
        yield from _in_node(query, ctes | own)
        ctes = ctes | {entry["key"]}
    if node.get("type") == "BASE_TABLE":
        yield from {node["table_name"]} - ctes
    elif node.get("type") == "TABLE_FUNCTION":
        # A table macro gets the names of tables as text.
        given = [argument["expression"] for argument in node["function"]["arguments"]]
        texts = {value["literal"]["text"] for value in given if value["class"] == "CONSTANT"}
        yield from texts - ctes
    elif node.get("class") == "FUNCTION":
        yield node["function_name"]
    for key, value in node.items():
        if key != "cte_map":
            yield from _in_node(value, ctes)


def main() -> None:
    """Rewrite the lines `-- reads:` of all files."""
    files = readers(sql_root())
    with contextlib.closing(duckdb.connect()) as con:
        for path, names in reads_of(con, files).items():
            if path.exists() and (text := with_reads(files[path], names)) != files[path]:
                path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
