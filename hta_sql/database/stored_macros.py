"""Macros that read stored rows in place of computing them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import duckdb

from hta_sql.database.stored_relations import put_stored
from hta_sql.version import __version__

if TYPE_CHECKING:
    from hta_sql.catalogue.catalog import Catalog
    from hta_sql.catalogue.query import Query


def made_with(catalog: Catalog, rules: object) -> str:
    """What results are made with; `rules` are those of the user."""
    return hashlib.sha256(f"{__version__} {catalog.digest} {rules!r}".encode()).hexdigest()[:16]


def stored_macro(query: Query, schema: str, condition: str = "") -> str:
    """The statement that makes a macro of stored rows in place of the query's."""
    parameters = ", ".join(map(str, query.parameters))
    return (
        f"CREATE OR REPLACE MACRO {schema}.{query.macro}({parameters}) AS TABLE "
        f"{columns_of(query)} FROM stored_{query.name} AS s "
        f"WHERE (only_jobs IS NULL OR list_contains(only_jobs, s.job)) {condition} "
        f"ORDER BY {query.order}"
    )


def columns_of(query: Query) -> str:
    """A SELECT of the query's columns from stored rows `s`, up to its FROM."""
    return "SELECT " + ", ".join(f's."{column.name}"' for column in query.columns)


def read_stored(con: duckdb.DuckDBPyConnection, catalog: Catalog, made_with: str) -> None:
    """Let queries and relations read stored rows if all jobs have current ones.

    To compute instead is a part of the plan, also if it computes nothing, and takes seconds to
    plan. If traces change before the file is written again, these queries raise an error.
    """
    [(job_count,)] = con.execute("SELECT count(DISTINCT job) FROM traces").fetchall()
    counts = con.execute(
        "SELECT query, count(*), count(*) FILTER (made_with = $1) FROM stored_results "
        "GROUP BY query",
        [made_with],
    ).fetchall()
    for macro, stored_count, current_count in counts:
        is_right = f"results_are_current('{macro}')"
        query, _ = catalog.macros.get(macro, (None, ""))
        if query and current_count == job_count and len(query.parameters) == 1:
            con.execute(stored_macro(query, "main", f"AND {is_right}"))
        elif not query and stored_count == job_count:
            put_stored(con, catalog, macro, is_right)
