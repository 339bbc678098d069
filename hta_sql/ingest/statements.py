"""The statements of sql/enrich."""

from __future__ import annotations

from functools import cache

import duckdb

from hta_sql.catalog import sql_root


@cache
def enrichment(name: str) -> str:
    return (sql_root() / "enrich" / f"{name}.sql").read_text()


def run_file(con: duckdb.DuckDBPyConnection, name: str) -> None:
    con.execute(enrichment(name))
