"""The statements of sql/ingest."""

from __future__ import annotations

from functools import cache

import duckdb

from hta_sql.catalogue.root import sql_root


@cache
def enrichment(name: str) -> str:
    return (sql_root() / "ingest" / f"{name}.sql").read_text()


def run_file(con: duckdb.DuckDBPyConnection, name: str) -> None:
    con.execute(enrichment(name))
