"""Traces to an archive: find, tell ranks, read in parallel, publish one file at a time."""

from __future__ import annotations

import contextlib
import fcntl
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from hta_sql import SCHEMA_VERSION, __version__
from hta_sql.database import check_searchable
from hta_sql.errors import ArchiveError, IngestError
from hta_sql.ingest.attachments import attachment_claim, in_words, settle_attachments
from hta_sql.ingest.find import TRACE_NAME, Candidate, find_candidates, shown
from hta_sql.ingest.manifest import Manifest
from hta_sql.ingest.pool import run_tasks
from hta_sql.ingest.ranks import NEVER, TRACE, Claim, claim_of, settle
from hta_sql.ingest.stream import ByteStream, NotATrace
from hta_sql.ingest.trace import describe, partition, place


@dataclass(frozen=True)
class Outcome:
    """What became of one file: `row` is its row of `traces`, or of `attachments` where it is of
    another `kind`; `error` says why it has none."""

    path: Path
    job: str
    rank: int | None
    status: str  # ingested, replaced, unchanged, failed
    seconds: float = 0.0
    row: dict | None = field(default=None, repr=False)
    error: str | None = None
    kind: str = TRACE


@dataclass(frozen=True)
class IngestSummary:
    """The outcomes of one ingest, a file each: traces, what goes with them, and what does not."""

    traces: list[Outcome]
    skipped: list[tuple[Path, str]]
    attachments: list[Outcome] = field(default_factory=list)

    @property
    def failed(self) -> int:
        return sum(outcome.status == "failed" for outcome in [*self.traces, *self.attachments])


@dataclass(frozen=True)
class Task:
    """One file for one worker."""

    path: Path
    job: str
    rank: int
    rank_source: str
    archive: Path
    staging: Path
    kind: str = TRACE


def ingest(
    traces: str | Path | Iterable[str | Path],
    archive: str | Path,
    *,
    job: str | None = None,
    workers: int | None = None,
    force: bool = False,
    ranks: Mapping[int, str | Path | Iterable[str | Path]] | None = None,
    report: Callable[[str], None] = lambda line: None,
    finished: Callable[[Outcome], None] = lambda outcome: None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> IngestSummary:
    """Read Kineto traces into an archive of Parquet files, made where there is none.

    `traces` are files, folders or patterns; `job` names them all as one job; `workers` processes
    read a trace each (default: one a core, as far as memory goes), with the cores that fewer
    traces leave; `force` reads unchanged files again; `ranks` maps ranks to the file, or files,
    that do not tell theirs. `report` gets warnings, `finished` each outcome, `progress` the bytes
    read and their total.

    Execution traces and memory timelines found among them go with the traces of their job.

    A file that fails is recorded in the summary and stops no other. Raises IngestError where
    nothing can be read, or where two traces claim one rank of a job, before anything is written.
    """
    archive = checked_archive(Path(archive))
    inputs = [traces] if isinstance(traces, str | Path) else list(traces)
    given = list(told_files(ranks or {}))
    told = told_ranks(given)
    candidates = find_candidates([*inputs, *(path for _, path in given)], job)
    manifest, attached = Manifest(archive), Manifest(archive, "attachments")
    claims, outcomes, skipped = read_claims(candidates, told, report)
    for outcome in outcomes:
        finished(outcome)
    before = {(row["job"], row["rank"]): row for row in manifest.rows()}
    settled = settle(
        [claim for claim in claims if claim.kind == TRACE],
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

    def read(planned: list[Task | Outcome]) -> None:
        """Do what is to be done; an outcome is already known."""
        tasks = [item for item in planned if isinstance(item, Task)]
        for item in planned:
            if isinstance(item, Outcome):
                outcomes.append(item)
                finished(item)
        for task, result, seconds in run_tasks(tasks, workers, progress):
            outcomes.append(publish(task, result, seconds, manifest, attached))
            finished(outcomes[-1])

    planned = [
        planned_for(claim, rank, before.get((claim.candidate.job, rank)), force, archive, staging)
        for claim, rank in settled
    ]
    manifest.make()
    clear_abandoned(archive)
    with in_use(staging):
        read(planned)
        others = [claim for claim in claims if claim.kind != TRACE]
        if others:
            read(planned_attachments(others, manifest, attached, force, staging, report))
    jobs = {claim.candidate.job for claim in claims}
    report_lonely(manifest.rows(), attached.rows(), jobs, report)
    from hta_sql.database import write_database

    write_database(archive)
    order = {candidate.path: at for at, candidate in enumerate(candidates)}
    outcomes.sort(key=lambda outcome: order[outcome.path])
    return IngestSummary(
        [outcome for outcome in outcomes if outcome.kind == TRACE],
        skipped,
        [outcome for outcome in outcomes if outcome.kind != TRACE],
    )


def report_lonely(
    traces: list[dict], attached: list[dict], jobs: set[str], report: Callable[[str], None]
) -> None:
    """Tell files that go with a rank of which their job has no trace; with others it may have."""
    for row in attached:
        ranks = [trace["rank"] for trace in traces if trace["job"] == row["job"]]
        if row["job"] in jobs and ranks and row["rank"] not in ranks:
            report(
                f"{Path(row['path']).name}: taken as rank {row['rank']} of '{row['job']}', which "
                f"has no trace of that rank; --force --rank N={Path(row['path']).name} changes it"
            )


def checked_archive(archive: Path) -> Path:
    """An absolute path that is an archive or may become one."""
    archive = archive.absolute()
    check_searchable(archive)
    if archive.exists() and not archive.is_dir():
        raise ArchiveError(f"{archive}: is a file; an archive is a folder")
    if archive.is_dir() and not (archive / "traces.parquet").exists():
        strange = [p.name for p in archive.iterdir() if not p.name.startswith(".")]
        known = {
            "events", "host_ops", "gpu_activities", "quarantine", "hta.duckdb",
            "attachments.parquet", "execution_nodes", "memory_events", "critical_paths.parquet",
            "path_edges", "job_path_edges", "what_if_times",
        }  # fmt: skip
        if set(strange) - known:
            raise ArchiveError(
                f"{archive}: holds files but is no archive ({sorted(strange)[0]}, …); "
                "name a new or empty folder"
            )
    return archive


def told_files(
    ranks: Mapping[int, str | Path | Iterable[str | Path]],
) -> Iterator[tuple[int, str | Path]]:
    """(rank, file) of what the user says."""
    for rank, paths in ranks.items():
        for path in [paths] if isinstance(paths, str | Path) else paths:
            yield rank, path


def told_ranks(given: Iterable[tuple[int, str | Path]]) -> dict[Path, int]:
    """{file: rank} of it."""
    told: dict[Path, int] = {}
    for rank, path in given:
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
        rank = told.get(candidate.path.resolve())
        try:
            claims.append(attachment_claim(candidate, rank) or claim_of(candidate, rank))
        except (NotATrace, OSError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            # A name that ends in .raw may be of anything.
            is_other = type(error) is NotATrace or not TRACE_NAME.search(candidate.path.name)
            if candidate.named or not is_other:
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


def planned_for(
    claim: Claim, rank: int, row: dict | None, force: bool, archive: Path, staging: Path
) -> Task | Outcome:
    """What to do about a file; `row` is of the one that the archive has in its place."""
    candidate, kind = claim.candidate, claim.kind
    if row and not force:
        if is_unchanged(candidate.path, row):
            return Outcome(
                candidate.path, candidate.job, rank, "unchanged", row=row, kind=kind
            )
        if row["path"] != shown(candidate.path):
            what = "" if kind == TRACE else f"the {in_words(kind)} of "
            raise IngestError(
                f"{shown(candidate.path)}: the archive has {what}rank {rank} of job "
                f"'{candidate.job}' from {row['path']}; name another job with --job, "
                "or replace it with --force"
            )
    return Task(
        candidate.path, candidate.job, rank, claim.source, archive, staging / uuid.uuid4().hex, kind
    )


def planned_attachments(
    claims: list[Claim],
    manifest: Manifest,
    attached: Manifest,
    force: bool,
    staging: Path,
    report: Callable[[str], None],
) -> list[Task | Outcome]:
    """What to do about files that go with traces; one that has no place has failed."""
    rows = attached.rows()
    before = {attached.key(row): row for row in rows}
    planned: list[Task | Outcome] = []
    archive = manifest.archive
    for claim, rank, error in settle_attachments(claims, archive, manifest.rows(), rows, report):
        candidate = claim.candidate
        row = before.get((candidate.job, rank, claim.kind))
        try:
            if error:
                raise IngestError(f"{shown(candidate.path)}: {error}")
            planned.append(planned_for(claim, rank, row, force, archive, staging))
        except IngestError as problem:
            reason = str(problem).removeprefix(f"{shown(candidate.path)}: ")
            planned.append(failure(candidate.path, candidate.job, rank, reason, kind=claim.kind))
    return planned


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


def failure(
    path: Path, job: str, rank: int | None, error: str, seconds: float = 0.0, kind: str = TRACE
) -> Outcome:
    return Outcome(path, job, rank, "failed", seconds, error=error, kind=kind)


def publish(task: Task, result, seconds: float, traces: Manifest, attached: Manifest) -> Outcome:
    """Give a file's tables their names and then the row that makes them count."""
    if isinstance(result, str):
        return failure(task.path, task.job, task.rank, result, seconds, task.kind)
    # Of this ingest alone: files of one name never change.
    file_id = uuid.uuid4().hex[:16]
    row = result.facts | {
        "job": task.job,
        "rank": task.rank,
        "rank_source": task.rank_source,
        "hta_sql_version": __version__,
        "ingested_at": datetime.now(UTC).replace(tzinfo=None),
    }
    if task.kind == TRACE:
        manifest = traces
        row |= describe(result.metadata) | {"trace_id": file_id}
    else:
        manifest = attached
        row |= {"kind": task.kind, "file_id": file_id}
    with manifest.locked():
        place(result, task.archive, task.job, task.rank, file_id)
        displaced = manifest.add(row)
        in_archive = {row["trace_id"] for row in traces.rows()}
        in_archive |= {row["file_id"] for row in attached.rows()}
        in_archive |= {row["path_id"] for row in Manifest(task.archive, "critical_paths").rows()}
        # Also what a killed ingest has left for this rank.
        for rank in {task.rank} | displaced:
            for file in task.archive.glob(f"*/{partition(task.job, rank)}/*.parquet"):
                if file.stem not in in_archive:
                    file.unlink()
    status = "replaced" if displaced else "ingested"
    return Outcome(task.path, task.job, task.rank, status, seconds, row, kind=task.kind)


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
