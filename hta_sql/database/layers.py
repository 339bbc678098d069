"""Runs the files under sql/ in a DuckDB connection, each after the files that it reads."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import duckdb

from hta_sql.catalogue.header import column_comments, comment_of
from hta_sql.catalogue.statements import definition, statements
from hta_sql.errors import CatalogError, one_line

if TYPE_CHECKING:
    from hta_sql.catalogue.catalog import Catalog


class Base(NamedTuple):
    """The files below the queries with their texts, and what each macro and view of them reads."""

    files: Mapping[Path, str]
    read: Mapping[str, set[str]]


def load_base(con: duckdb.DuckDBPyConnection, catalog: Catalog) -> Base:
    """Make the tables, as empty stubs, the relations and the rules, each after what it reads."""
    # Not at the top: opening an archive does not need them.
    from hta_sql.catalogue.findings import rule_files
    from hta_sql.catalogue.reads import in_order, read_by_each

    files = {
        path: path.read_text(encoding="utf-8") for path in [*catalog.tables, *catalog.relations]
    } | rule_files(catalog.root)
    read = read_by_each(con, files)
    for path in in_order(con, files, read):
        for statement in statements(files[path]):
            source = catalog.sources.get(definition(statement)[0])
            run_file(con, catalog, path, source.stub if source else statement)
    rows = [
        (q.name, q.version, q.theme, q.summary, ", ".join(map(str, q.parameters)))
        for q in catalog.queries
    ]
    values = [f"({', '.join(map(literal, row))})" for row in rows or [("", 0, "", "", "")]]
    con.execute(
        f"CREATE OR REPLACE VIEW hta_queries AS FROM (VALUES {', '.join(values)}) "
        f"AS queries (name, version, theme, summary, parameters) LIMIT {len(rows)}"
    )
    return Base(files, read)


def put_sharing(con: duckdb.DuckDBPyConnection, catalog: Catalog, base: Base) -> None:
    """Make the macro hta_sharing, which says what sessions share; see database/shared.py."""
    import orjson

    from hta_sql.catalogue.reads import read_by_each
    from hta_sql.catalogue.sharing import shared_in, sharing

    shared = {
        name: made
        for path, text in base.files.items()
        for name, made in shared_in(path, text).items()
    }
    read = dict(base.read) | read_by_each(con, {query.path: query.sql for query in catalog.queries})
    read |= {name: {query.macro} for name, query in catalog.newest.items()}
    made, needed = sharing(shared, read)
    text = orjson.dumps({"made": made, "needed": needed}, default=list).decode()
    con.execute(f"CREATE OR REPLACE MACRO hta_sharing() AS {literal(text)}")


def load_queries(
    con: duckdb.DuckDBPyConnection, catalog: Catalog, names: Iterable[str] | None = None
) -> None:
    """Make the macros with these names, with or without a version; without names, all macros.

    To make one is to bind it, which one thread does. So two threads make them: first the versions,
    then the names without one, which call a version.
    """
    [(database,)] = con.execute("SELECT current_database()").fetchall()

    def make(some: list[str]) -> None:
        with contextlib.closing(con.cursor()) as cursor:
            cursor.execute(f"USE {database}")
            for name in some:
                query, sql = catalog.macros[name]
                run_file(cursor, catalog, query.path, sql)

    names = set(catalog.macros if names is None else names)
    versions = {query.macro for query in catalog.queries}
    with ThreadPoolExecutor(2) as pool:
        for some in (sorted(names & versions), sorted(names - versions)):
            list(pool.map(make, (some[::2], some[1::2])))


def run_file(con: duckdb.DuckDBPyConnection, catalog: Catalog, path: Path, sql: str) -> None:
    try:
        con.execute(sql)
    except duckdb.Error as error:
        raise at_line(catalog, path, error) from error


def at_line(catalog: Catalog, path: Path, error: duckdb.Error) -> CatalogError:
    """The error with its file and line.

    DuckDB does not count lines from the start of the file, but it quotes the line.
    """
    number = 1
    if quoted := re.search(r"^LINE (\d+): (.*)$", str(error), re.MULTILINE):
        lines = path.read_text(encoding="utf-8").splitlines()
        same = [n for n, line in enumerate(lines, start=1) if line == quoted[2]]
        number = min(same, key=lambda n: abs(n - int(quoted[1])), default=1)
    shown = path.relative_to(catalog.root.parent).as_posix()
    return CatalogError(f"{shown}:{number}: {one_line(error)}")


def comment_on_macros(con: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    """Attach the summaries of the queries to their macros, for users of a shell."""
    con.execute(
        "".join(
            f"COMMENT ON MACRO TABLE {name} IS {literal(query.summary)};"
            for name, (query, _) in catalog.macros.items()
        )
    )


def comment_on_views(
    con: duckdb.DuckDBPyConnection, catalog: Catalog, only: Collection[str] | None = None
) -> None:
    """Attach the comments of the files to all views, or to those in `only`, which are new."""
    comments = []
    for path in catalog.published:
        if only is not None and path.stem not in only:
            continue
        comments.append(f"COMMENT ON VIEW main.{path.stem} IS {literal(comment_of(path))};")
        for column, comment in column_comments(path).items():
            comments.append(f"COMMENT ON COLUMN main.{path.stem}.{column} IS {literal(comment)};")
    con.execute("".join(comments))


def literal(value: object) -> str:
    """A value as an SQL literal, for SET, ATTACH, COMMENT and CREATE, which bind no values."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, int | float):
        return str(value)
    return "'" + str(value).replace("'", "''") + "'"
