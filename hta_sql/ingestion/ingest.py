"""Read traces into an archive: find files and their ranks, read in parallel, publish."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from hta_sql.database.attach import write_database
from hta_sql.database.roots import new_or_old_root
from hta_sql.engines.engine import Engine
from hta_sql.engines.start import start
from hta_sql.errors import IngestError
from hta_sql.ingestion.find import Candidate, NothingThere, find_candidates, shown
from hta_sql.ingestion.look import Known, Skipped, look_at_all
from hta_sql.ingestion.plan import planned_attachments, planned_traces, with_told
from hta_sql.ingestion.pool import hands, run_tasks
from hta_sql.ingestion.publish import Publisher
from hta_sql.ingestion.ranks import TRACE, Claim
from hta_sql.ingestion.tasks import Outcome, Task
from hta_sql.places.storage import Place, is_remote
from hta_sql.store.manifest import Manifest
from hta_sql.store.staging import clear_abandoned, in_use, staging_of

# An ingest into object storage that finds more parts of a manifest merges them.
MOST_PARTS = 50
# If more files are skipped for the same reason, only one of them is named.
MOST_SKIPPED = 5


@dataclass(frozen=True)
class IngestSummary:
    """The outcomes of one ingest, one per file: traces, files attached to them, skipped files.

    `hands` says how many workers or threads read the traces; it is "" for one.
    """

    traces: list[Outcome]
    skipped: list[tuple[Path, str]]
    attachments: list[Outcome] = field(default_factory=list)
    hands: str = ""

    @property
    def outcomes(self) -> list[Outcome]:
        return [*self.traces, *self.attachments]

    @property
    def failed(self) -> int:
        return sum(outcome.status == "failed" for outcome in self.outcomes)

    def table(self) -> pa.Table:
        """One row per file with its outcome."""
        rows = [outcome_row(outcome) for outcome in self.outcomes]
        rows += [
            {"path": shown(path), "status": "skipped", "error": reason}
            for path, reason in self.skipped
        ]
        return pa.Table.from_pylist(rows, schema=OUTCOME)


OUTCOME = pa.schema(
    [
        ("path", pa.string()),
        ("job", pa.string()),
        ("rank", pa.int32()),
        ("kind", pa.string()),
        ("status", pa.string()),
        ("event_count", pa.int64()),
        ("quarantined_count", pa.int64()),
        ("seconds", pa.float64()),
        ("error", pa.string()),
    ]
)


def outcome_row(outcome: Outcome) -> dict:
    row = outcome.row or {}
    return {
        "path": shown(outcome.path),
        "job": outcome.job,
        "rank": outcome.rank,
        "kind": outcome.kind,
        "status": outcome.status,
        "event_count": row.get("event_count"),
        "quarantined_count": row.get("quarantined_count"),
        "seconds": outcome.seconds,
        "error": outcome.error,
    }


def ingest(
    traces: str | Path | Iterable[str | Path],
    archive: str | Path,
    *,
    job: str | None = None,
    tags: Mapping[str, str] | None = None,
    workers: int | None = None,
    force: bool = False,
    ranks: Mapping[int, str | Path | Iterable[str | Path]] | None = None,
    engine: str = "local",
    address: str | None = None,
    report: Callable[[str], None] = lambda line: None,
    planned: Callable[[Mapping[str, int]], None] = lambda files: None,
    finished: Callable[[Outcome], None] = lambda outcome: None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> IngestSummary:
    """Read Kineto traces into an archive of Parquet files, which is created if there is none.

    `traces` are files, folders, patterns, or CSV and Parquet files that list traces (column path,
    and optionally job and rank; all other columns are tags). `job` puts all traces into one job,
    except those for which a list gives another. `tags` are added to each trace, for example
    {"model": "llama"}. `workers` is the number of processes, which read one trace each (default:
    one per core if memory allows, and fewer if traces are so small that a process takes longer to
    start); fewer workers use several cores each. `force` reads unchanged files again. `ranks` maps
    a rank to the file, or files, that do not give their rank. With `engine` "ray", the workers are
    tasks on the Ray cluster at `address`, or on one that is started here. `report` gets warnings,
    `planned` the number of files of each job before the first is read, `finished` each outcome, and
    `progress` the bytes read and their total.

    Execution traces and memory timelines among the files are attached to the traces of their job.
    An unchanged file keeps its tags if no tags are given; given tags replace them without reading
    the file again.

    A file that fails is recorded in the summary and does not stop the others. Raises IngestError if
    nothing can be read. It also does so before anything is written if two traces claim the same
    rank of the only job; if there are several jobs or a list, these traces fail instead.
    """
    working = start(engine, address)
    archive = new_or_old_root(archive)
    inputs = [traces] if isinstance(traces, str | Path) else list(traces)
    given = list(told_files(ranks or {}))
    candidates = find_candidates([*inputs, *(path for _, path in given)], job)
    with working:
        return take(
            with_told(candidates, given, tags or {}),
            archive,
            working,
            workers=workers,
            force=force,
            is_strict=len({c.job for c in candidates}) == 1
            and not any(c.is_listed for c in candidates),
            report=report,
            planned=planned,
            finished=finished,
            progress=progress,
        )


def take(
    candidates: list[Candidate],
    archive: Place,
    engine: Engine,
    *,
    workers: int | None,
    force: bool,
    is_strict: bool,
    report: Callable[[str], None],
    planned: Callable[[Mapping[str, int]], None],
    finished: Callable[[Outcome], None],
    progress: Callable[[int, int], None],
) -> IngestSummary:
    """Bring an archive up to date with these files. With `is_strict`, it is an error if there is
    nothing to read or a rank is claimed twice; otherwise it is the outcome of the files."""
    manifest, attached = Manifest(archive), Manifest(archive, "attachments")
    known = Known(manifest, attached)
    outcomes: list[Outcome] = []
    skipped: list[tuple[Place, str]] = []
    claims: list[Claim] = []
    as_before: list[Outcome] = []
    for found in look_at_all(candidates, known, force):
        if isinstance(found, Claim):
            claims.append(found)
        elif isinstance(found, Skipped):
            skipped.append((found.path, found.reason))
        else:
            (as_before if found.row else outcomes).append(found)
    report_skipped(skipped, report)
    if not claims and not as_before and (is_strict or not outcomes):
        raise nothing_to_read(outcomes, skipped)

    staging = staging_of(archive)
    traces = planned_traces(
        [claim for claim in claims if claim.kind == TRACE], known, force, archive, staging, report
    )
    if is_strict and (problem := next((i for i in traces if is_failure(i)), None)):
        raise IngestError(f"{shown(problem.path)}: {problem.error}")
    to_read = [item for item in traces if isinstance(item, Task)]
    others = [claim for claim in claims if claim.kind != TRACE]
    planned(
        Counter(item.job for item in [*outcomes, *as_before, *traces])
        + Counter(claim.candidate.job for claim in others)
    )

    def done(outcome: Outcome) -> None:
        outcomes.append(outcome)
        finished(outcome)

    def read(items: list[Task | Outcome]) -> None:
        """Read the tasks. The items that are outcomes are only recorded."""
        unread = [item for item in items if isinstance(item, Outcome)]
        update(manifest, attached, unread)
        for outcome in unread:
            done(outcome)
        publisher = Publisher(archive, done)
        tasks = [item for item in items if isinstance(item, Task)]
        try:
            for task, result, seconds in run_tasks(tasks, workers, progress, engine):
                publisher.take(task, result, seconds)
        finally:
            publisher.flush()

    for outcome in outcomes:
        finished(outcome)
    manifest.make()
    clear_abandoned(archive)
    try:
        with in_use(staging):
            read([*as_before, *traces])
            if others:
                read(planned_attachments(others, manifest, attached, force, staging, report))
    finally:
        if is_remote(archive):
            if len(manifest.parts()) > MOST_PARTS:
                manifest.merge()
        else:
            write_database(archive)
    jobs = {outcome.job for outcome in outcomes if outcome.row}
    report_lonely(manifest.rows(), attached.rows(), jobs, report)
    order = {candidate.path: at for at, candidate in enumerate(candidates)}
    outcomes.sort(key=lambda outcome: order[outcome.path])
    return IngestSummary(
        [outcome for outcome in outcomes if outcome.kind == TRACE],
        skipped,
        [outcome for outcome in outcomes if outcome.kind != TRACE],
        hands(to_read, workers, engine) if to_read else "",
    )


def is_failure(item: Task | Outcome) -> bool:
    return isinstance(item, Outcome) and item.status == "failed"


def nothing_to_read(failed: list[Outcome], skipped: list[tuple[Place, str]]) -> NothingThere:
    only = [f"{shown(outcome.path)}: {outcome.error}" for outcome in failed]
    only += [f"{shown(path)}: {reason}" for path, reason in skipped]
    return NothingThere("no traces to read: " + "; ".join(only[:3]))


def update(manifest: Manifest, attached: Manifest, outcomes: Iterable[Outcome]) -> None:
    """Write new tags and times to the rows of files that are not read again."""
    changed = [outcome for outcome in outcomes if outcome.is_amended]
    for table, columns in ((manifest, ("tags", "modified_ns")), (attached, ("modified_ns",))):
        rows = [o.row for o in changed if (o.kind == TRACE) == (table is manifest)]
        if rows:
            table.amend(rows, columns)


def report_skipped(skipped: Iterable[tuple[Place, str]], report: Callable[[str], None]) -> None:
    """Report one line per file; many files with the same reason get one line with the first."""
    alike: dict[str, list[Place]] = {}
    for path, reason in skipped:
        alike.setdefault(reason, []).append(path)
    for reason, paths in alike.items():
        if len(paths) > MOST_SKIPPED:
            report(f"skipped {len(paths):,} files, such as {shown(paths[0])}: {reason}")
        else:
            for path in paths:
                report(f"skipped {shown(path.name)}: {reason}")


def report_lonely(
    traces: list[dict], attached: list[dict], jobs: set[str], report: Callable[[str], None]
) -> None:
    """Warn of attachments to a rank without a trace, if their job has traces of other ranks."""
    ranks = {(row["job"], row["rank"]) for row in traces}
    with_traces = {row["job"] for row in traces} & jobs
    for row in attached:
        if row["job"] in with_traces and (row["job"], row["rank"]) not in ranks:
            report(
                f"{Path(row['path']).name}: taken as rank {row['rank']} of job '{row['job']}', "
                "which has no trace of that rank; set another rank with --force --rank "
                f"N={Path(row['path']).name}"
            )


def told_files(
    ranks: Mapping[int, str | Path | Iterable[str | Path]],
) -> Iterator[tuple[int, str | Path]]:
    """The pairs of rank and file that the user gives."""
    for rank, paths in ranks.items():
        for path in [paths] if isinstance(paths, str | Path) else paths:
            yield rank, path
