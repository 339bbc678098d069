"""Traces to an archive: find, tell ranks, read in parallel, publish one trace at a time."""

from __future__ import annotations

import contextlib
import fcntl
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from hta_sql import SCHEMA_VERSION, __version__
from hta_sql.database import check_searchable
from hta_sql.errors import ArchiveError, IngestError
from hta_sql.ingest.find import Candidate, find_candidates, shown
from hta_sql.ingest.manifest import Manifest
from hta_sql.ingest.pool import run_tasks
from hta_sql.ingest.ranks import NEVER, Claim, claim_of, settle
from hta_sql.ingest.stream import ByteStream, NotATrace
from hta_sql.ingest.trace import describe, partition, place


@dataclass(frozen=True)
class Outcome:
    """What became of one file: `row` is its row of `traces`, `error` says why it has none."""

    path: Path
    job: str
    rank: int | None
    status: str  # ingested, replaced, unchanged, failed
    seconds: float = 0.0
    row: dict | None = field(default=None, repr=False)
    error: str | None = None


@dataclass(frozen=True)
class IngestSummary:
    """The outcomes of one ingest, a trace each, and the files that were no traces."""

    traces: list[Outcome]
    skipped: list[tuple[Path, str]]

    @property
    def failed(self) -> int:
        return sum(outcome.status == "failed" for outcome in self.traces)


@dataclass(frozen=True)
class Task:
    """One trace for one worker."""

    path: Path
    job: str
    rank: int
    rank_source: str
    archive: Path
    staging: Path


def ingest(
    traces: str | Path | Iterable[str | Path],
    archive: str | Path,
    *,
    job: str | None = None,
    workers: int | None = None,
    force: bool = False,
    ranks: dict[int, str | Path] | None = None,
    report: Callable[[str], None] = lambda line: None,
    finished: Callable[[Outcome], None] = lambda outcome: None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> IngestSummary:
    """Read Kineto traces into an archive of Parquet files, made where there is none.

    `traces` are files, folders or patterns; `job` names them all as one job; `workers` processes
    read a trace each (default: one a core, as far as memory goes); `force` reads unchanged files
    again; `ranks` maps ranks to files that do not tell theirs. `report` gets warnings, `finished`
    each outcome, `progress` the bytes read and their total.

    A trace that fails is recorded in the summary and stops no other. Raises IngestError where
    nothing can be read, or where two files claim one rank of a job, before anything is written.
    """
    archive = checked_archive(Path(archive))
    inputs = [traces] if isinstance(traces, str | Path) else list(traces)
    told = told_ranks(ranks or {})
    candidates = find_candidates([*inputs, *(ranks or {}).values()], job)
    manifest = Manifest(archive)
    claims, outcomes, skipped = read_claims(candidates, told, report)
    for outcome in outcomes:
        finished(outcome)
    before = {(row["job"], row["rank"]): row for row in manifest.rows()}
    settled = settle(
        claims,
        known=lambda candidate: next(
            (
                rank
                for (name, rank), row in before.items()
                if name == candidate.job and row["path"] == shown(candidate.path)
            ),
            None,
        ),
        taken=lambda name: {rank for job_name, rank in before if job_name == name},
        warn=report,
    )
    staging = archive / ".staging" / uuid.uuid4().hex
    tasks = []
    for claim, rank in settled:
        row = before.get((claim.candidate.job, rank))
        if row and not force and is_unchanged(claim.candidate.path, row):
            outcomes.append(unchanged(claim, rank, row))
            finished(outcomes[-1])
            continue
        if row and not force and row["path"] != shown(claim.candidate.path):
            raise IngestError(
                f"{shown(claim.candidate.path)}: the archive has rank {rank} of job "
                f"'{claim.candidate.job}' from {row['path']}; name another job with --job, "
                "or replace it with --force"
            )
        tasks.append(task_of(claim, rank, archive, staging / str(len(tasks))))
    manifest.make()
    clear_abandoned(archive)
    with in_use(staging):
        for task, result, seconds in run_tasks(tasks, workers, progress):
            outcome = publish(task, result, seconds, manifest)
            outcomes.append(outcome)
            finished(outcome)
    from hta_sql.database import write_database

    write_database(archive)
    order = {candidate.path: at for at, candidate in enumerate(candidates)}
    outcomes.sort(key=lambda outcome: order[outcome.path])
    return IngestSummary(outcomes, skipped)


def checked_archive(archive: Path) -> Path:
    """An absolute path that is an archive or may become one."""
    archive = archive.absolute()
    check_searchable(archive)
    if archive.exists() and not archive.is_dir():
        raise ArchiveError(f"{archive}: is a file; an archive is a folder")
    if archive.is_dir() and not (archive / "traces.parquet").exists():
        strange = [p.name for p in archive.iterdir() if not p.name.startswith(".")]
        known = {"events", "host_ops", "gpu_activities", "quarantine", "hta.duckdb"}
        if set(strange) - known:
            raise ArchiveError(
                f"{archive}: holds files but is no archive ({sorted(strange)[0]}, …); "
                "name a new or empty folder"
            )
    return archive


def told_ranks(ranks: dict[int, str | Path]) -> dict[Path, int]:
    """{file: rank} of what the user says."""
    told: dict[Path, int] = {}
    for rank, path in ranks.items():
        if not 0 <= rank < NEVER:
            raise IngestError(f"{shown(path)}: {rank} is no rank (0 to {NEVER - 1})")
        first = told.setdefault(Path(path).resolve(), rank)
        if first != rank:
            raise IngestError(f"{shown(path)}: told to be of rank {first} and of rank {rank}")
    return told


def read_claims(
    candidates: list[Candidate], told: dict[Path, int], report: Callable[[str], None]
) -> tuple[list[Claim], list[Outcome], list[tuple[Path, str]]]:
    """Open every candidate. Other JSON is skipped where found, not named; the rest has failed."""
    claims, failed, skipped = [], [], []
    for candidate in candidates:
        try:
            claims.append(claim_of(candidate, told.get(candidate.path.resolve())))
        except (NotATrace, OSError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            if candidate.named or type(error) is not NotATrace:
                failed.append(failure(candidate.path, candidate.job, None, reason))
            else:
                skipped.append((candidate.path, reason))
                report(f"skipped {shown(candidate.path.name)}: {reason}")
    if not claims:
        only = [f"{shown(outcome.path)}: {outcome.error}" for outcome in failed] + [
            f"{shown(path)}: {reason}" for path, reason in skipped
        ]
        raise IngestError("no traces to read: " + "; ".join(only[:3]))
    return claims, failed, skipped


def is_unchanged(path: Path, row: dict) -> bool:
    """Whether a file is the one that was read: same size and time, or else same content."""
    stat = path.stat()
    if stat.st_size != row["file_bytes"] or row["schema_version"] != SCHEMA_VERSION:
        return False
    if stat.st_mtime_ns == row["modified_ns"] and shown(path) == row["path"]:
        return True
    stream = ByteStream(path)
    for _ in stream:
        pass
    return stream.fingerprint == row["fingerprint"]


def task_of(claim: Claim, rank: int, archive: Path, staging: Path) -> Task:
    candidate = claim.candidate
    return Task(candidate.path, candidate.job, rank, claim.source, archive, staging)


def unchanged(claim: Claim, rank: int, row: dict) -> Outcome:
    return Outcome(claim.candidate.path, claim.candidate.job, rank, "unchanged", row=row)


def failure(path: Path, job: str, rank: int | None, error: str, seconds: float = 0.0) -> Outcome:
    return Outcome(path, job, rank, "failed", seconds, error=error)


def publish(task: Task, result, seconds: float, manifest: Manifest) -> Outcome:
    """Give a trace's files their names and then the row that makes them count."""
    if isinstance(result, str):
        return failure(task.path, task.job, task.rank, result, seconds)
    # Of this ingest alone: files of one name never change.
    trace_id = uuid.uuid4().hex[:16]
    row = (
        result.facts
        | describe(result.metadata)
        | {
            "job": task.job,
            "rank": task.rank,
            "trace_id": trace_id,
            "rank_source": task.rank_source,
            "hta_sql_version": __version__,
            "ingested_at": datetime.now(UTC).replace(tzinfo=None),
        }
    )
    with manifest.locked():
        place(result, task.archive, task.job, task.rank, trace_id)
        displaced = manifest.add(row)
        # Also what a killed ingest has left for this rank.
        for rank in {task.rank} | displaced:
            for file in task.archive.glob(f"*/{partition(task.job, rank)}/*.parquet"):
                if file.stem != trace_id:
                    file.unlink()
    status = "replaced" if displaced else "ingested"
    return Outcome(task.path, task.job, task.rank, status, seconds, row)


@contextlib.contextmanager
def in_use(staging: Path) -> Iterator[None]:
    """A folder for this ingest alone, gone afterwards; a lock tells others that it is in use."""
    staging.parent.mkdir(exist_ok=True)
    lock_file = staging.with_suffix(".lock")
    with lock_file.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            staging.mkdir()
            yield
        finally:
            shutil.rmtree(staging, ignore_errors=True)
            lock_file.unlink(missing_ok=True)


def clear_abandoned(archive: Path) -> None:
    """Remove what killed ingests left in staging; their locks are free."""
    for lock_file in (archive / ".staging").glob("*.lock"):
        with contextlib.suppress(OSError), lock_file.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(lock_file.with_suffix(""), ignore_errors=True)
            lock_file.unlink(missing_ok=True)
