"""The columns of manifests."""

from __future__ import annotations

from functools import cache

import pyarrow as pa

from hta_sql.catalogue.columns import columns_of
from hta_sql.catalogue.root import sql_root

_TYPES = {
    "VARCHAR": pa.string(),
    "INTEGER": pa.int32(),
    "BIGINT": pa.int64(),
    "TIMESTAMP": pa.timestamp("us"),
    "MAP(VARCHAR, VARCHAR)": pa.map_(pa.string(), pa.string()),
    "STRUCT(path VARCHAR, bytes BIGINT, sha256 VARCHAR)": pa.struct(
        {"path": pa.string(), "bytes": pa.int64(), "sha256": pa.string()}
    ),
}


@cache
def schema(table: str) -> pa.Schema:
    """The columns of a manifest, from sql/tables.

    To start DuckDB for them takes longer than all else that a small change of an archive needs.
    """
    columns = columns_of(sql_root() / "tables" / f"{table}.sql")
    return pa.schema({name: _arrow(kind) for name, kind in columns.items()})


def _arrow(kind: str) -> pa.DataType:
    """The type that DuckDB gives to Arrow for one of its own."""
    if kind.endswith("[]"):
        return pa.list_(pa.field("l", _arrow(kind[:-2])))
    return _TYPES[kind]
