"""Derives the tables of an archive again from its own events, without the traces."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from hta_sql.database.own_rules import step_rules_for
from hta_sql.database.roots import archive_root
from hta_sql.database.shell_database import write_database
from hta_sql.engines.start import start
from hta_sql.ingestion.own_steps import OwnSteps, check_pattern
from hta_sql.ingestion.pool import run_tasks
from hta_sql.ingestion.publish import Publisher
from hta_sql.ingestion.ranks import REFRESH
from hta_sql.ingestion.summary import IngestSummary
from hta_sql.ingestion.tasks import Outcome, Task, failure
from hta_sql.ingestion.trace import IngestedTrace
from hta_sql.places.storage import Place, is_remote
from hta_sql.store.jobs import check_jobs
from hta_sql.store.layout import file_of, place_of
from hta_sql.store.manifest import Manifest
from hta_sql.store.staging import writing


def refresh(
    archive: str | os.PathLike[str] | Place,
    *,
    only_jobs: Iterable[str] | None = None,
    steps: str | None = None,
    workers: int | None = None,
    engine: str = "local",
    address: str | None = None,
    finished: Callable[[Outcome], None] = lambda outcome: None,
    planned: Callable[[Mapping[str, int]], None] = lambda ranks: None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> IngestSummary:
    """Derive all tables again from the archive's own events, without its traces.

    Old archives get what later versions of ingest derive, and other steps. All ranks of a job
    change at the same moment. If one fails, the job stays as it was. Results that are computed from
    a job (`materialize`, critical paths) are outdated afterwards.

    Args:
        archive: The archive, a folder or URL.
        only_jobs: Jobs to refresh. The default is all.
        steps: A regular expression (RE2) for the names of steps, as in `ingest`. The default is the
            one that the archive has for each trace; "" means none.
        workers: Processes, which read one rank each. The default is as in `ingest`.
        engine: "local", or "ray" for tasks on a Ray cluster.
        address: The cluster's address. The default is $RAY_ADDRESS, or a cluster started here.
        finished: Is called with each Outcome.
        planned: Is called once with the number of ranks of each job.
        progress: Is called with the bytes read and the bytes in all.

    Returns:
        IngestSummary, with one Outcome per rank; its status is refreshed or failed.

    Raises:
        ArchiveError: `archive` is no archive, cannot be written, or has no such job.
        BadParameter: `steps` is no regular expression.

    Examples:
        >>> hta_sql.refresh("archive", steps="^iteration (\\\\d+)").failed
        0
    """
    check_pattern(steps)
    archive = archive_root(archive)
    jobs = None if only_jobs is None else set(check_jobs(archive, only_jobs))
    rows = [row for row in Manifest(archive).rows() if jobs is None or row["job"] in jobs]
    planned(Counter(row["job"] for row in rows))
    rules = step_rules_for(archive)
    outcomes: list[Outcome] = []

    def done(outcome: Outcome) -> None:
        outcomes.append(outcome)
        finished(outcome)

    with start(engine, address) as working, writing(archive) as staging:
        tasks = [task_of(row, archive, staging, steps, rules) for row in rows]
        publisher = JobPublisher(archive, tasks, done)
        for task, result, seconds in run_tasks(tasks, workers, progress, working):
            publisher.take(task, result, seconds)
        if not is_remote(archive):
            write_database(archive)
    outcomes.sort(key=lambda outcome: (outcome.job, outcome.rank))
    return IngestSummary(outcomes, [])


def task_of(
    row: dict, archive: Place, staging: Path, steps: str | None, rules: tuple[tuple[str, str], ...]
) -> Task:
    events = archive / place_of(row, "events")
    return Task(
        events,
        row["job"],
        row["rank"],
        row["rank_source"],
        archive,
        staging / file_of(row) / str(row["rank"]),
        REFRESH,
        # Bytes are only for the progress; an event takes about 50.
        file_bytes=50 * (row["event_count"] or 1),
        steps=OwnSteps(row.get("steps_pattern") if steps is None else steps or None, rules),
        row=row,
    )


class JobPublisher:
    """Publishes the ranks of a job together. A job with a rank that failed stays as it was."""

    def __init__(self, archive: Place, tasks: list[Task], finished: Callable[[Outcome], None]):
        self._archive, self._finished = archive, finished
        self._left = Counter(task.job for task in tasks)
        self._done: dict[str, list[tuple[Task, IngestedTrace | str, float]]] = defaultdict(list)

    def take(self, task: Task, result: IngestedTrace | str, seconds: float) -> None:
        self._left[task.job] -= 1
        self._done[task.job].append((task, result, seconds))
        if self._left[task.job]:
            return
        ranks = self._done.pop(task.job)
        bad = [(task, result) for task, result, _ in ranks if isinstance(result, str)]
        for task, result, seconds in ranks:
            if bad:
                first, why = bad[0]
                error = result if isinstance(result, str) else f"rank {first.rank} failed: {why}"
                self._finished(failure(task.path, task.job, task.rank, error, seconds, REFRESH))
        if not bad:
            Publisher(self._archive, self._finished).publish(ranks)
