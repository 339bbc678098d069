"""Finds what queries read and an archive does not have yet: stored results, critical paths."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import duckdb

from hta_sql.errors import from_duckdb

if TYPE_CHECKING:
    from hta_sql.database.session import Session

# Only `hta-sql critical-path` fills these tables.
_PATH_TABLES = ("path_edges", "what_if_times")


def jobs_without_results(session: Session, macro: str = "") -> list[dict[str, Any]]:
    """The jobs without a current stored result of a macro, or all jobs if there is no macro.

    Returns rows with job, event_count and traces_hash.
    """
    session.load()
    found = session.con.sql("FROM jobs_without_results($name)", params={"name": macro})
    try:
        return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]
    except duckdb.Error as error:
        raise from_duckdb(error) from error


def lacking_stored(session: Session, queries: Iterable[str]) -> list[str]:
    """A warning if some jobs do not have the stored results that these queries read."""
    texts = _texts(session, queries)
    read = [
        macro
        for name, macro in session.catalog.stored.items()
        if any(f"stored_{name}" in text for text in texts)
    ]
    lacking = {row["job"] for other in read for row in jobs_without_results(session, other)}
    if not lacking:
        return []
    count = len(jobs_without_results(session))
    return [
        f"{len(lacking):,} of {count:,} job{'s' * (count > 1)} "
        f"{'has' if len(lacking) == 1 else 'have'} no stored results; "
        "`hta-sql materialize ARCHIVE` stores them"
    ]


def lacking_paths(session: Session, queries: Iterable[str]) -> list[str]:
    """A warning if these queries read critical paths, and no job has one."""
    if not any(table in text for text in _texts(session, queries) for table in _PATH_TABLES):
        return []
    session.load()
    try:
        if session.con.sql("FROM critical_paths LIMIT 1").fetchall():
            return []
    except duckdb.Error as error:
        raise from_duckdb(error) from error
    return ["the archive has no critical path; `hta-sql critical-path ARCHIVE` computes it"]


def _texts(session: Session, queries: Iterable[str]) -> list[str]:
    return [session.catalog.macros[name][0].sql for name in queries]
