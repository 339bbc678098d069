"""A file to be read (Task), and the result for a file (Outcome)."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from pathlib import Path

from hta_sql.ingestion.own_steps import NOT_NAMED, OwnSteps
from hta_sql.ingestion.ranks import TRACE
from hta_sql.places.storage import Place


@dataclass(frozen=True)
class Outcome:
    """The result for one file. `row` is its row of `traces`, or of `attachments` for another
    `kind`; `error` says why it has none. `is_amended`: the file was not read again, but its row
    differs from the archive's."""

    path: Place
    job: str
    rank: int | None
    status: str  # ingested, replaced, retagged, unchanged, failed
    seconds: float = 0.0
    row: dict | None = field(default=None, repr=False)
    error: str | None = None
    kind: str = TRACE
    is_amended: bool = False


@dataclass(frozen=True)
class Task:
    """One file for one worker. If a task is done twice, it writes the same files twice."""

    path: Place
    job: str
    rank: int
    rank_source: str
    archive: Place
    staging: Path
    kind: str = TRACE
    tags: tuple[tuple[str, str], ...] = ()
    steps: OwnSteps = NOT_NAMED
    captures: tuple[Place, ...] = ()  # capture traces of its graphs
    row: dict | None = field(default=None, repr=False, hash=False)  # to refresh: its row of traces
    file_bytes: int = 0
    file_id: str = field(default_factory=lambda: uuid.uuid4().hex[:16])


def failure(
    path: Place, job: str, rank: int | None, error: str, seconds: float = 0.0, kind: str = TRACE
) -> Outcome:
    return Outcome(path, job, rank, "failed", seconds, error=error, kind=kind)
