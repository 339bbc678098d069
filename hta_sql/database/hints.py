"""Hints for SQL that names a table or query that does not exist."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hta_sql.database.session import Session

_MISSING = re.compile(r"(?:Table|Table Function) with name (\w+) does not exist")


def hint_of(session: Session, error: str) -> str | None:
    """What to write instead of a table or query that does not exist."""
    missing = _MISSING.search(error)
    if not missing:
        return None
    name = missing[1]
    views = session.con.execute(
        "SELECT view_name FROM duckdb_views() WHERE NOT internal "
        "AND NOT regexp_matches(view_name, '_by_(rank|job)$') ORDER BY view_name"
    ).fetchall()
    tables = [view for (view,) in views]
    queries = session.catalog.macros
    if name in queries:
        return f"{name} is a query; write FROM {name}()"
    if name in tables:
        return f"{name} is a table, not a query; write FROM {name}"
    near = get_close_matches(name, [*tables, *queries], n=1)
    guess = f"; did you mean {near[0]}{'()' * (near[0] in queries)}?" if near else ";"
    return f"no table {name!r}{guess} the tables are {', '.join(tables)}"
