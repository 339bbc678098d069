"""Says what an archive lacks that a query needs: after a result without rows, and for a list."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import duckdb

from hta_sql.catalogue.needs import ARCHIVE, NEEDS
from hta_sql.catalogue.query import Query
from hta_sql.database.selection import (
    JOBS,
    RANKS,
    STEPS,
    check_steps,
    named_in,
    ranks_by_job,
    some,
    steps_of,
    unknown,
)
from hta_sql.errors import from_duckdb

if TYPE_CHECKING:
    from hta_sql.database.session import Session

Met = dict[str, dict[int | None, set[str]]]
# To name other jobs that a query has rows for, all jobs are read; in larger archives none is named.
_MOST_JOBS_READ = 64
# Jobs that lack the same are one group.
_SHOWN_GROUPS = 3


def why_no_rows(session: Session, query: Query, values: Mapping[str, Any]) -> list[str]:
    """Why a call has no rows, one line per reason; nothing if the archive has all that it needs.

    Raises BadParameter if the call names steps that no trace of the archive has.
    """
    try:
        return [f"{query.name} has no rows: {why}" for why in _reasons(session, query, values)]
    finally:
        session.see(values.get("only_jobs"))


def lacking_of_all(session: Session) -> dict[str, list[str]]:
    """What the archive lacks for each query: one line per need, and none if it lacks nothing."""
    met, there = _met(session, NEEDS, None), ranks_by_job(session)
    return {
        name: [
            "; ".join(filter(None, lack))
            for lack in _lacks(query.needs_of({}), met, there, None, None)
        ]
        for name, query in session.catalog.newest.items()
    }


def _reasons(session: Session, query: Query, values: Mapping[str, Any]) -> Iterator[str]:
    for name in (*JOBS, *RANKS, *STEPS):
        if values.get(name) == []:
            yield f"{name} is an empty list, which selects nothing"
            return
    check_steps(session, values)
    there = ranks_by_job(session)
    jobs, ranks = _chosen(query, values, there)
    if jobs is not None and ranks is not None:
        known = sorted({rank for job in jobs for rank in there.get(job, ())})
        if not set(ranks) & set(known):
            yield unknown(_subject(jobs, None), "rank", ranks, known)
            return
    # lacking_results says so, even if some jobs have stored results.
    needs = [need for need in query.needs_of(values) if need != "stored_results"]
    met = _met(session, needs, jobs)
    lacks = list(_lacks(needs, met, jobs or there, ranks, jobs))
    if not lacks:
        yield from _lacking_steps(session, values, jobs)
        return
    elsewhere = _elsewhere(session, needs, met, there, jobs, ranks)
    for lack, remedy in lacks:
        remedies = ", or ".join(filter(None, (elsewhere, remedy)))
        yield f"{lack}; {remedies}" if remedies else lack


def _chosen(
    query: Query, values: Mapping[str, Any], there: Collection[str]
) -> tuple[list[str] | None, list[int] | None]:
    """The jobs and ranks that a call is about; None stands for all."""
    if "base_job" in {parameter.name for parameter in query.parameters} and there:
        names = sorted(there)
        sides = values.get("base_job") or names[0], values.get("test_job") or names[-1]
        return list(dict.fromkeys(sides)), None
    return named_in(values, JOBS) or None, named_in(values, RANKS) or None


def _met(session: Session, needs: Iterable[str], jobs: Collection[str] | None) -> Met:
    """The needs that are met, by job and rank; those of a whole job have the rank None."""
    macros = sorted({NEEDS[need].macro for need in needs})
    session.refresh()
    known = session.facts.setdefault(
        ("needs", session.only_jobs, None if jobs is None else frozenset(jobs)), {}
    )
    if unknown_ones := [macro for macro in macros if macro not in known]:
        known |= dict.fromkeys(unknown_ones, []) | _rows_of(session, unknown_ones, jobs)
    met: Met = {}
    for macro in macros:
        for job, rank, need in known[macro]:
            met.setdefault(job, {}).setdefault(rank, set()).add(need)
    return met


def _rows_of(
    session: Session, macros: list[str], jobs: Collection[str] | None
) -> dict[str, list[tuple[str, int | None, str]]]:
    """The job, rank and need of each row of these macros."""
    if jobs is None or macros != [ARCHIVE]:
        session.see(jobs)
    session.load(macros)
    parts = " UNION ALL ".join(
        f"SELECT '{macro}', * FROM {macro}($jobs::VARCHAR[], NULL)" for macro in macros
    )
    try:
        rows = session.con.execute(parts, {"jobs": None if jobs is None else list(jobs)}).fetchall()
    except duckdb.Error as error:
        raise from_duckdb(error) from error
    found: dict[str, list[tuple[str, int | None, str]]] = {}
    for macro, *row in rows:
        found.setdefault(macro, []).append(tuple(row))
    return found


def _unmet(
    needs: Iterable[str], of_job: Mapping[int | None, set[str]], ranks: Iterable[int] | None
) -> list[str]:
    """The needs that a job does not meet, or its ranks among `ranks`."""
    counted = of_job if ranks is None else {None, *ranks} & set(of_job)
    has = {need for rank in counted for need in of_job[rank]}
    return [need for need in needs if need not in has]


def _lacks(
    needs: list[str],
    met: Met,
    jobs: Collection[str],
    ranks: Collection[int] | None,
    chosen: Collection[str] | None,
) -> Iterator[tuple[str, str]]:
    """What all these jobs lack, and what to do. Nothing if one of them has everything."""
    if needs and not jobs:
        needs = ["traces"]
    unmet = {job: _unmet(needs, met.get(job, {}), ranks) for job in jobs}
    if not needs or any(not lacking for lacking in unmet.values()):
        return
    lacking_all = [need for need in needs if all(need in of for of in unmet.values())]
    for name in lacking_all:
        need = NEEDS[name]
        subject = need.whole if chosen is None and ranks is None else _has(chosen, ranks)
        yield f"{subject} {need.lack}", need.remedy
    if not lacking_all:
        alike: dict[tuple[str, ...], list[str]] = {}
        for job, lacking in unmet.items():
            alike.setdefault(tuple(lacking), []).append(job)
        nearest = sorted(alike.items(), key=lambda item: (len(item[0]), len(item[1]), item[1]))
        parts = [
            f"{f'job {of[0]!r} has' if len(of) == 1 else f'{len(of):,} jobs have'} "
            f"{' and '.join(NEEDS[name].lack for name in lacking)}"
            for lacking, of in nearest[:_SHOWN_GROUPS]
        ]
        yield f"no job has everything that the query needs: {', '.join(parts)}", ""


def _subject(jobs: Collection[str] | None, ranks: Collection[int] | None) -> str:
    """The chosen jobs and ranks in words."""
    if jobs is None or len(jobs) > 2:
        of_jobs = "the chosen jobs"
    else:
        of_jobs = f"job{'s' * (len(jobs) > 1)} {' and '.join(map(repr, jobs))}"
    if ranks is None:
        return of_jobs
    which = f"rank {next(iter(ranks))}" if len(ranks) == 1 else "the chosen ranks"
    return which if jobs is None else f"{which} of {of_jobs}"


def _has(jobs: Collection[str] | None, ranks: Collection[int] | None) -> str:
    chosen = jobs if ranks is None else ranks
    return f"{_subject(jobs, ranks)} {'has' if len(chosen or ()) == 1 else 'have'}"


def _elsewhere(
    session: Session,
    needs: list[str],
    met: Met,
    there: Mapping[str, list[int]],
    jobs: Collection[str] | None,
    ranks: Collection[int] | None,
) -> str:
    """What to choose instead, if other ranks of the jobs or other jobs have everything."""
    if ranks is not None:
        others = {
            rank
            for job in jobs or there
            for rank in there.get(job, ())
            if not _unmet(needs, met.get(job, {}), [rank])
        }
        if others:
            return f"choose rank {some(others)}"
    if jobs is not None and len(there) <= _MOST_JOBS_READ:
        everywhere = _met(session, needs, None)
        found = [job for job in there if not _unmet(needs, everywhere.get(job, {}), None)]
        if found:
            return f"choose job {some(found)}"
    return ""


def _lacking_steps(
    session: Session, values: Mapping[str, Any], jobs: Collection[str] | None
) -> Iterator[str]:
    """That the chosen jobs do not have the chosen steps, which other jobs have."""
    steps = named_in(values, STEPS)
    if steps and jobs is not None:
        known = steps_of(session, jobs)
        if not set(steps) & known:
            yield unknown(_subject(jobs, None), "step", steps, known)
