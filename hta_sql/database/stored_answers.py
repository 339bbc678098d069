"""Calls of queries whose results an archive stores: stored rows are read where they are current.

A row is current if its job's traces have not changed, and if it was made with what this session
has: the same SQL files and rules of the user (column `made_with` of stored_results).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

import duckdb

from hta_sql.database.findings import compute_findings, with_findings
from hta_sql.database.stored_macros import columns_of, stored_macro

if TYPE_CHECKING:
    from hta_sql.catalogue.query import Query
    from hta_sql.database.session import Session


def with_stored(
    session: Session, query: Query, sql: str, values: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    """The call of a query and its values, for the rows that are not stored.

    What the query reads beside the archive, such as findings, is computed before.
    """
    jobs = values.get("only_jobs")
    current = current_jobs(session, query) if values.keys() <= {"only_jobs"} else set()
    stored = current if jobs is None else current & set(jobs)
    if not stored:
        return with_findings(session, query, sql, values)
    lacking = sorted((all_jobs(session) if jobs is None else set(jobs)) - stored)
    rows = f"{columns_of(query)} FROM stored_{query.name} AS s"
    if not lacking and jobs is None:
        return f"{rows} ORDER BY {query.order}", {}
    found = f"{rows} WHERE list_contains($stored_jobs, s.job)", {"stored_jobs": sorted(stored)}
    if lacking:
        rest = query.call({"only_jobs": lacking})
        rest_sql, rest_values = with_findings(session, query, *rest)
        session.see(jobs)
        session.load([query.macro])
        found = (f"FROM ({found[0]} UNION ALL BY NAME FROM ({rest_sql}))", found[1] | rest_values)
    return f"{found[0]} ORDER BY {query.order}", found[1]


def prepare(session: Session, words: Collection[str]) -> None:
    """Let the queries that an SQL text calls read stored rows, if all jobs have them, or on a small
    archive the findings that are kept."""
    for query in {query.macro: query for query in _called(session, words)}.values():
        if current_jobs(session, query) >= all_jobs(session):
            session.shared.put(query.macro, stored_macro(query, "shared"))
    if session.is_small and {"findings", "findings_v1", "found_by_rules"} & set(words):
        compute_findings(session, None)
        session.shared.put(
            "found_by_rules",
            "CREATE MACRO shared.found_by_rules(only_jobs) AS TABLE FROM main.computed_findings "
            "AS f WHERE (only_jobs IS NULL OR list_contains(only_jobs, f.job))",
        )


def _called(session: Session, words: Collection[str]) -> Iterable[Query]:
    """The queries with stored results among the words that only take jobs."""
    for word in words:
        query, _ = session.catalog.macros.get(word, (None, ""))
        if query and [p.name for p in query.parameters] == ["only_jobs"]:
            yield query


def current_jobs(session: Session, query: Query) -> set[str]:
    """The jobs with current stored rows of a query, among those that the session sees."""
    if session.catalog.stored.get(query.name) != query.macro or not session.made_with:
        return set()
    session.load()
    key = "stored", session.seen_jobs
    if key not in session.facts:
        session.facts[key] = _current_of_all(session)
    return session.facts[key].get(query.macro, set())


def _current_of_all(session: Session) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    if not session.reads("stored_results"):
        return found
    try:
        rows = session.con.execute(
            "SELECT query, job FROM stored_results WHERE made_with = $1", [session.made_with]
        ).fetchall()
    except duckdb.Error:  # then the results are computed
        return found
    for macro, job in rows:
        found.setdefault(macro, set()).add(job)
    return found


def all_jobs(session: Session) -> set[str]:
    """The jobs with traces that the session sees."""
    return {job for (job,) in session.con.execute("SELECT DISTINCT job FROM traces").fetchall()}
