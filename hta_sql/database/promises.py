"""Tests what a query's header promises on the query's result."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb

from hta_sql.catalogue.query import Query
from hta_sql.errors import from_duckdb


def broken_promises(query: Query, found: duckdb.DuckDBPyRelation) -> Iterator[str]:
    """One line for each promise that `found`, the result of the query, breaks."""
    declared = [(column.name, column.type) for column in query.columns]
    seen = [(name, str(kind)) for name, kind in zip(found.columns, found.types, strict=True)]
    if seen != declared:
        yield f"{query}: the columns are {seen}, but the header declares {declared}"
        return
    grain = ", ".join(f'"{name}"' for name in query.grain)
    failing = "".join(f", count_if(NOT ({check}))" for check in query.checks)
    try:
        [(rows, distinct, *failed)] = found.aggregate(
            f"count(*), count(DISTINCT row({grain})){failing}"
        ).fetchall()
    except duckdb.Error as error:
        raise from_duckdb(error, f"{query.name}: ") from error
    if distinct < rows:
        repeated = f"{rows - distinct} of {rows} rows repeat the grain of another row"
        yield f"{query}: {repeated} ({', '.join(query.grain)})"
    for check, count in zip(query.checks, failed, strict=True):
        if count:
            [first] = found.filter(f"NOT ({check})").project(grain).limit(1).fetchall()
            where = ", ".join(f"{k} {v}" for k, v in zip(query.grain, first, strict=True))
            yield f"{query}: {count} of {rows} rows fail '{check}', first at {where}"
