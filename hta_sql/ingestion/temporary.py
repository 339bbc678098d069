"""Tables that Python makes and the SQL of sql/ingest reads."""

from __future__ import annotations

import duckdb
import pyarrow as pa


def make_table(con: duckdb.DuckDBPyConnection, name: str, rows: pa.Table) -> None:
    """Make a temporary table of the connection from these rows."""
    con.register("made_by_python", rows)
    try:
        con.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS FROM made_by_python")
    finally:
        con.unregister("made_by_python")
