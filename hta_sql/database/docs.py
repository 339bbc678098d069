"""Generates the page of all queries: ``python -m hta_sql.database.docs > docs/queries.md``."""

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import duckdb

from hta_sql.catalogue.catalog import Catalog
from hta_sql.catalogue.header import column_comments, comment_of
from hta_sql.catalogue.query import Parameter, Query
from hta_sql.database.layers import load_base, load_queries


def page(catalog: Catalog) -> str:
    """The text of docs/queries.md."""
    tables = catalog.published
    with closing(duckdb.connect()) as con:
        load_base(con, catalog)
        load_queries(con, catalog)
        reads = {query: tables_read(con, query.macro) for query in catalog.queries}
        columns = {path: con.execute(f"DESCRIBE {path.stem}").fetchall() for path in tables}
    parts = [
        "# Queries",
        "<!-- Generated: python -m hta_sql.database.docs > docs/queries.md -->",
        "Each query is one SQL file, a method in Python, a command and a table macro in any DuckDB "
        "shell:",
        "```\n"
        "run.temporal_breakdown(only_ranks=[0])                        # Python\n"
        "hta-sql run temporal_breakdown ARCHIVE --only-ranks 0         # command line\n"
        "FROM temporal_breakdown(only_ranks := [0]);                   -- SQL\n"
        "```",
        "A parameter that you do not give has the default of the table. The end of a column's "
        "name gives the unit: `_ns` nanoseconds, `_frac` a share from 0 to 1, `_bytes` bytes, "
        "`_gbps` 1e9 bytes per second, `_count` a number.",
        "A name without a version, such as `kernel_stats`, is the newest version of the query. The "
        "columns of a version, such as `kernel_stats_v1`, and their meaning do not change.",
        "HTA is Holistic Trace Analysis, Meta's Python library for the same traces.",
    ]
    themes = list(dict.fromkeys(query.theme for query in catalog.queries))
    for theme in themes:
        rows = [
            (f"[`{q.name}`](#{q.name})", q.summary)
            for q in catalog.newest.values()
            if q.theme == theme
        ]
        parts += [f"**{theme}**", _table(("query", "gives"), rows)]
    for query in catalog.newest.values():
        parts += _section(catalog, query, reads[query])
    parts += [
        "## Tables",
        "The tables and views of an archive. `FROM hta_queries;` lists the queries.",
    ]
    for path in tables:
        said = column_comments(path)
        rows = [(f"`{name}`", kind, said.get(name, "")) for name, kind, *_ in columns[path]]
        parts += [f"### {path.stem}", comment_of(path), _table(("column", "type", "meaning"), rows)]
    return "\n\n".join(parts) + "\n"


def tables_read(con: duckdb.DuckDBPyConnection, macro: str) -> list[str]:
    """The tables and views that a table macro reads, directly or through other macros."""
    views = {
        name
        for (name,) in con.execute(
            "SELECT view_name FROM duckdb_views() WHERE NOT internal"
        ).fetchall()
    }
    definitions = {
        name: (sql, parameters)
        for name, sql, parameters in con.execute(
            "SELECT function_name, macro_definition, parameters FROM duckdb_functions() "
            "WHERE function_type = 'table_macro'"
        ).fetchall()
    }
    seen: set[str] = set()
    found: set[str] = set()
    todo = [macro]
    while todo:
        name = todo.pop()
        seen.add(name)
        if name in definitions:
            sql, parameters = definitions[name]
            [(tree,)] = con.execute("SELECT json_serialize_sql($1)", [sql]).fetchall()
            tree = json.loads(tree)
            # A CTE or parameter may have the name of a view.
            names = set(_relations(tree)) - (set(_ctes(tree)) & views) - set(parameters)
            found |= names & views
            todo += names - seen - views
    return sorted(found)


def _relations(node: Any) -> Iterator[str]:
    """All names in the place of a relation: after FROM, or as an argument of a table macro."""
    if isinstance(node, list):
        for item in node:
            yield from _relations(item)
    elif isinstance(node, dict):
        if node.get("type") == "BASE_TABLE":
            yield node["table_name"]
        elif node.get("type") == "TABLE_FUNCTION":
            yield node["function"]["function_name"]
            for argument in node["function"]["arguments"]:
                yield from argument["expression"].get("column_names", [])
        for item in node.values():
            yield from _relations(item)


def _ctes(node: Any) -> Iterator[str]:
    """The names of CTEs, between WITH and AS."""
    if isinstance(node, list):
        for item in node:
            yield from _ctes(item)
    elif isinstance(node, dict):
        yield from (entry["key"] for entry in node.get("cte_map", {}).get("map", []))
        for item in node.values():
            yield from _ctes(item)


def _section(catalog: Catalog, query: Query, reads: list[str]) -> Iterator[str]:
    yield f"## {query.name}"
    yield query.summary
    if query.text:
        yield query.text
    if query.deprecated:
        yield f"**Deprecated:** {query.deprecated}"
    arguments = ",".join(f"\n    {parameter}" for parameter in query.parameters)
    end = "\n" if arguments else ""
    yield f"```sql\n{query.name}({arguments}{end})\n```"
    if query.parameters:
        yield _table(
            ("parameter", "type", "default", "meaning"),
            [(f"`{p.name}`", p.type, _default(p), p.text) for p in query.parameters],
        )
    yield _table(
        ("column", "type", "unit", "meaning"),
        [(f"`{c.name}`", c.type, "" if c.unit == "-" else c.unit, c.text) for c in query.columns],
    )
    facts = [f"One row per {', '.join(f'`{name}`' for name in query.grain)}."]
    if reads:
        facts += [f"Reads {', '.join(f'`{name}`' for name in reads)}."]
    if query.needs:
        facts += [f"Needs {', '.join(f'`{need}`' for need in query.needs)}."]
    facts += [f"Since {query.since}."]
    older = [q for q in catalog.versions(query.name) if q is not query]
    for old in older:
        facts += [f"Older: `{old}`{f' ({old.deprecated})' if old.deprecated else ''}."]
    yield " ".join(facts)
    if query.checks:
        yield "Always true: " + "; ".join(f"`{check}`" for check in query.checks) + "."


def _default(parameter: Parameter) -> str:
    if parameter.default is None:
        return "required"
    if parameter.shown_default == parameter.default:
        return f"`{parameter.default}`"
    return f"{parameter.shown_default} (`{parameter.default}`)"


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    # A | inside a cell would end the cell.
    cells = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


if __name__ == "__main__":
    print(page(Catalog.load()), end="")
