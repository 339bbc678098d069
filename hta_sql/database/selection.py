"""Checks the jobs, ranks and steps that a caller names against those of the archives."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import duckdb

from hta_sql.catalogue.query import did_you_mean
from hta_sql.errors import BadParameter, from_duckdb

if TYPE_CHECKING:
    from hta_sql.database.session import Session

# The parameters of queries that name jobs, ranks and steps.
JOBS = ("only_jobs", "base_job", "test_job", "newest_job")
RANKS = ("only_ranks", "base_ranks", "test_ranks", "of_rank")
STEPS = ("only_steps", "base_steps", "test_steps")
_SHOWN = 8


def check_selection(session: Session, values: Mapping[str, Any]) -> None:
    """Raise BadParameter if a call names a job or rank that no part of the archives has."""
    jobs, ranks = named_in(values, JOBS), named_in(values, RANKS)
    if not jobs and not ranks:
        return
    there = ranks_by_job(session)
    if missing := [job for job in jobs if job not in there]:
        raise BadParameter(unknown("the archive", "job", missing, there))
    known = {rank for of_job in there.values() for rank in of_job}
    if missing := [rank for rank in ranks if rank not in known]:
        raise BadParameter(unknown("the archive", "rank", missing, known))


def check_steps(session: Session, values: Mapping[str, Any]) -> None:
    """Raise BadParameter if the archives have steps, but none of those that a call names."""
    steps = named_in(values, STEPS)
    if not steps:
        return
    known = steps_of(session, named_in(values, JOBS) or None)
    if not set(steps) <= known:
        known |= steps_of(session, None)
    if known and (missing := [step for step in steps if step not in known]):
        raise BadParameter(unknown("the archive", "step", missing, known))


def named_in(values: Mapping[str, Any], parameters: Iterable[str]) -> list[Any]:
    """The values of these parameters in a call, each once; lists are joined."""
    given = [values[name] for name in parameters if values.get(name) is not None]
    lists = [value if isinstance(value, list) else [value] for value in given]
    return list(dict.fromkeys(item for items in lists for item in items if item is not None))


def ranks_by_job(session: Session) -> dict[str, list[int]]:
    """The ranks of each job, as far as the archives were opened for the job."""
    session.refresh()
    if "ranks" not in session.facts:
        session.facts["ranks"] = _all_ranks(session)
    only_jobs = session.only_jobs
    return {
        job: ranks
        for job, ranks in session.facts["ranks"].items()
        if only_jobs is None or job in only_jobs
    }


def _all_ranks(session: Session) -> dict[str, list[int]]:
    files = [
        file
        for source in session.sources
        for table in ("traces", "attachments")
        for file in source.manifest(table)
    ]
    if not files:
        return {}
    try:
        rows = session.con.execute(
            "SELECT job, list(DISTINCT rank ORDER BY rank) FROM read_parquet($files, "
            "hive_partitioning = false, union_by_name = true) GROUP BY job ORDER BY job",
            {"files": files},
        ).fetchall()
    except duckdb.Error as error:
        raise from_duckdb(error) from error
    return dict(rows)


def steps_of(session: Session, jobs: Collection[str] | None) -> set[int]:
    """The steps of these jobs, or of all jobs."""
    session.see(jobs)
    session.load()
    try:
        rows = session.con.execute(
            "SELECT DISTINCT step FROM step_spans($jobs::VARCHAR[], NULL, NULL)",
            {"jobs": None if jobs is None else list(jobs)},
        ).fetchall()
    except duckdb.Error as error:
        raise from_duckdb(error) from error
    return {step for (step,) in rows}


def unknown(where: str, what: str, missing: Collection[Any], there: Iterable[Any]) -> str:
    """That `where` has none of the `missing` jobs, ranks or steps, and which ones it has."""
    there = list(there)
    names = ", ".join(_shown(item) for item in list(missing)[:_SHOWN])
    first = next(iter(missing))
    guess = did_you_mean(first, there, " ", "?") if isinstance(first, str) else ""
    plural = "s" * (len(missing) > 1)
    has = f"its {what}s are {some(there)}" if len(there) > 1 else f"it has {some(there)}"
    return f"{where} has no {what}{plural} {names};{guess} {has}"


def some(values: Iterable[Any]) -> str:
    """The values in words: up to eight, and how many more; numbers in a row as first and last."""
    values = sorted(set(values))
    if not values:
        return "none"
    numbers = [value for value in values if isinstance(value, int)]
    if len(numbers) == len(values) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"{numbers[0]} to {numbers[-1]}"
    more = len(values) - _SHOWN
    shown = ", ".join(_shown(value) for value in values[:_SHOWN])
    return f"{shown} and {more:,} more" if more > 0 else shown


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, str) else str(value)
