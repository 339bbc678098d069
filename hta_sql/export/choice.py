"""Finds the job and the ranks whose traces are exported."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hta_sql.database.selection import unknown
from hta_sql.errors import BadParameter, HtaSqlError

if TYPE_CHECKING:
    from hta_sql.archive import Archive


def chosen_ranks(
    run: Archive, job: str | None, only_ranks: Iterable[int] | None
) -> tuple[str, list[int]]:
    """The job and its ranks.

    Raises BadParameter if they are not in the archive. Raises HtaSqlError if a job must be chosen.
    """
    jobs = {
        row["job"]: row["ranks"]
        for row in run.sql(
            "SELECT job, list(rank ORDER BY rank) AS ranks FROM traces GROUP BY job ORDER BY job"
        ).to_pylist()
    }
    if not jobs:
        raise HtaSqlError("the archive has no traces; `hta-sql ingest TRACES ARCHIVE` adds some")
    if job is None and len(jobs) > 1:
        raise HtaSqlError(
            f"the archive has {len(jobs)} jobs ({_some(jobs)}); choose one with --job"
        )
    job = job if job is not None else next(iter(jobs))
    if job not in jobs:
        raise BadParameter(unknown("the archive", "job", [job], jobs))
    there = jobs[job]
    if only_ranks is None:
        return job, there
    wanted = sorted(set(only_ranks))
    if missing := [rank for rank in wanted if rank not in there]:
        raise BadParameter(unknown(f"job {job!r}", "rank", missing, there))
    return job, wanted


def chosen_rank(run: Archive, job: str | None, only_ranks: Iterable[int] | None) -> tuple[str, int]:
    """The job and its only or chosen rank; raises HtaSqlError if there are several ranks."""
    job, ranks = chosen_ranks(run, job, only_ranks)
    if len(ranks) > 1:
        raise HtaSqlError(
            f"this export takes one rank, not {len(ranks)} ({_some(ranks)}); choose one with "
            "--only-ranks"
        )
    return job, ranks[0]


def _some(values: Iterable[object]) -> str:
    shown = [str(value) for value in values]
    return ", ".join(shown[:6]) + (", …" if len(shown) > 6 else "")
