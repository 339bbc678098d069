"""Read traces into an archive: find files and their ranks, read in parallel, publish."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from hta_sql.database.own_rules import step_rules_for
from hta_sql.database.roots import new_or_old_root
from hta_sql.database.shell_database import write_database
from hta_sql.engines.engine import Engine
from hta_sql.engines.start import start
from hta_sql.errors import IngestError
from hta_sql.ingestion.capture_files import (
    CaptureFiles,
    apart,
    faults,
    lonely,
    named_files,
    trace_claims,
)
from hta_sql.ingestion.find import Candidate, NothingThere, find_candidates, shown
from hta_sql.ingestion.look import Known, Skipped, look_at_all
from hta_sql.ingestion.plan import planned_attachments, planned_traces, with_told
from hta_sql.ingestion.pool import hands, run_tasks
from hta_sql.ingestion.publish import Publisher
from hta_sql.ingestion.ranks import TRACE, Claim
from hta_sql.ingestion.steps import check_pattern
from hta_sql.ingestion.summary import IngestSummary
from hta_sql.ingestion.tasks import Outcome, Task
from hta_sql.places.storage import Place, is_remote
from hta_sql.show.progress import notebook_progress
from hta_sql.store.jobs import check_name
from hta_sql.store.manifest import Manifest
from hta_sql.store.staging import staging_of, writing

# An ingest into object storage that finds more parts of a manifest merges them.
MOST_PARTS = 50
# If more files are skipped for the same reason, only one of them is named.
MOST_SKIPPED = 5


def ingest(
    traces: str | Path | Iterable[str | Path],
    archive: str | Path,
    *,
    job: str | None = None,
    tags: Mapping[str, str] | None = None,
    workers: int | None = None,
    force: bool = False,
    steps: str | None = None,
    graph_captures: Iterable[str | Path] = (),
    ranks: Mapping[int, str | Path | Iterable[str | Path]] | None = None,
    engine: str = "local",
    address: str | None = None,
    report: Callable[[str], None] = lambda line: None,
    planned: Callable[[Mapping[str, int]], None] = lambda files: None,
    finished: Callable[[Outcome], None] = lambda outcome: None,
    progress: Callable[[int, int], None] | None = None,
) -> IngestSummary:
    """Read Kineto traces into an archive of Parquet files, which is created if there is none.

    Unchanged traces are skipped, changed ones replaced. Execution traces and memory timelines
    among the files are attached to the traces of their job. A file that fails is recorded in the
    summary and does not stop the others.

    Args:
        traces: Files, folders, patterns or URLs; or CSV and Parquet files that list traces (column
            path, and optionally job and rank; all other columns are tags).
        archive: The archive, a folder or URL.
        job: Puts all traces into this job, except those for which a list gives another. The default
            is one job per folder, with the folder's name.
        tags: Added to each trace, such as {"model": "llama"}. Without it, unchanged files keep
            their tags; with it, their tags are replaced without reading the file again.
        workers: Processes, which read one trace each. The default is one per core if memory allows,
            and fewer if the traces are so small that a process takes longer to start.
        force: Reads unchanged files again.
        steps: A regular expression (RE2). The annotations or operators whose names it matches, or
            else the Python functions, are the steps of these traces. A group in it is the number of
            the step, such as "^iteration (\\d+)". The default is ProfilerStep#N, or else the
            annotations of known frameworks.
        graph_captures: Capture traces of the CUDA or HIP graphs that the traces replay: files,
            folders or patterns. Those in a folder `capture_traces` beside a trace are found.
        ranks: Maps a rank to the file, or files, that do not give their rank.
        engine: "local", or "ray" for tasks on a Ray cluster.
        address: The cluster's address. The default is $RAY_ADDRESS, or a cluster started here.
        report: Is called with each warning, a line of text.
        planned: Is called once, before the first file is read, with the number of files per job.
        finished: Is called with each Outcome.
        progress: Is called with the bytes read and the bytes in all. The default shows them in a
            notebook, and nothing elsewhere.

    Returns:
        IngestSummary, with one Outcome per file.

    Raises:
        BadParameter: `steps` is no regular expression, or `job` cannot be a name.
        IngestError: Nothing can be read; or two traces claim the same rank of the only job, in
            which case nothing is written. If there are several jobs or a list, such traces fail
            instead.
        ArchiveError: `archive` is no archive, or cannot be written.

    Examples:
        >>> done = hta_sql.ingest("traces/", "archive", tags={"team": "vision"})
        >>> done.failed
        0
    """
    check_pattern(steps)
    if job is not None:
        check_name(job)
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
            steps=steps,
            graph_captures=list(named_files(graph_captures)),
            is_strict=len({c.job for c in candidates}) == 1
            and not any(c.is_listed for c in candidates),
            report=report,
            planned=planned,
            finished=finished,
            progress=progress or notebook_progress("ingest", "bytes"),
        )


def take(
    candidates: list[Candidate],
    archive: Place,
    engine: Engine,
    *,
    workers: int | None,
    force: bool,
    steps: str | None = None,
    graph_captures: Sequence[Candidate] = (),
    is_strict: bool,
    report: Callable[[str], None],
    planned: Callable[[Mapping[str, int]], None],
    finished: Callable[[Outcome], None],
    progress: Callable[[int, int], None],
) -> IngestSummary:
    """Bring an archive up to date with these files. With `is_strict`, it is an error if there is
    nothing to read or a rank is claimed twice; otherwise it is the outcome of the files."""
    manifest, attached = Manifest(archive), Manifest(archive, "attachments")
    known = Known(manifest, attached, steps)
    known.step_rules = step_rules_for(archive)
    outcomes: list[Outcome] = []
    skipped: list[tuple[Place, str]] = []
    claims: list[Claim] = []
    as_before: list[Outcome] = []
    of_captures = {candidate.path.resolve() for candidate in graph_captures}
    candidates = [c for c in candidates if c.path.resolve() not in of_captures]
    candidates, captures = apart(candidates, known.ranks, lambda c: known.of(c) is not None)
    known.captures = CaptureFiles(
        trace_claims(look_at_all(captures, known, True), report),
        trace_claims(look_at_all(graph_captures, known, True), report),
    )
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
        if outcome.status in ("ingested", "replaced"):
            for line in faults(outcome.row):
                report(line)

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
    with writing(archive, staging):
        try:
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
    ranks: dict[str, set[int]] = defaultdict(set)
    for row in manifest.rows():
        ranks[row["job"]].add(row["rank"])
    for line in lonely(known.captures, ranks):
        report(line)
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
