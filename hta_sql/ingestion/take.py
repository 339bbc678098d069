"""Brings an archive up to date with files: looks at each, reads the new ones, publishes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from hta_sql.database.own_rules import step_rules_for
from hta_sql.database.shell_database import write_database
from hta_sql.engines.engine import Engine
from hta_sql.errors import IngestError
from hta_sql.ingestion.capture_files import CaptureFiles, apart, faults, lonely, trace_claims
from hta_sql.ingestion.find import Candidate, NothingThere, shown
from hta_sql.ingestion.look import Known, Skipped, look_at_all
from hta_sql.ingestion.ranks import TRACE, Claim
from hta_sql.ingestion.summary import IngestSummary
from hta_sql.ingestion.tasks import Outcome, Task
from hta_sql.places.storage import Place, is_remote
from hta_sql.show.progress import notebook_progress
from hta_sql.store.manifest import Manifest
from hta_sql.store.staging import staging_of, writing

# An ingest into object storage that finds more parts of a manifest merges them.
MOST_PARTS = 50
# If more files are skipped for the same reason, only one of them is named.
MOST_SKIPPED = 5


def take(
    candidates: list[Candidate],
    archive: Place,
    engine: Engine,
    *,
    workers: int | None = None,
    force: bool = False,
    steps: str | None = None,
    graph_captures: Sequence[Candidate] = (),
    is_strict: bool,
    has_shell: bool = True,
    report: Callable[[str], None] = lambda line: None,
    planned: Callable[[Mapping[str, int]], None] = lambda files: None,
    finished: Callable[[Outcome], None] = lambda outcome: None,
    progress: Callable[[int, int], None] | None = None,
) -> IngestSummary:
    """Bring an archive up to date with these files. With `is_strict`, it is an error if there is
    nothing to read or a rank is claimed twice; otherwise it is the outcome of the files. Without
    `has_shell`, the archive gets no hta.duckdb. The others are as those of `ingest`.

    What reads files is imported if a file has to be read.
    """
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
    of_traces = [claim for claim in claims if claim.kind == TRACE]
    traces: list[Task | Outcome] = []
    if of_traces:
        from hta_sql.ingestion.plan import planned_traces

        traces = planned_traces(of_traces, known, force, archive, staging, report)
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
        tasks = [item for item in items if isinstance(item, Task)]
        if not tasks:
            return
        from hta_sql.ingestion.pool import run_tasks
        from hta_sql.ingestion.publish import Publisher

        publisher = Publisher(archive, done)
        shown_progress = progress or notebook_progress("ingest", "bytes")
        try:
            for task, result, seconds in run_tasks(tasks, workers, shown_progress, engine):
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
                from hta_sql.ingestion.plan import planned_attachments

                read(planned_attachments(others, manifest, attached, force, staging, report))
        finally:
            if is_remote(archive):
                if len(manifest.parts()) > MOST_PARTS:
                    manifest.merge()
            elif has_shell:
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
        _hands(to_read, workers, engine),
    )


def _hands(tasks: list[Task], workers: int | None, engine: Engine) -> str:
    if not tasks:
        return ""
    from hta_sql.ingestion.pool import hands

    return hands(tasks, workers, engine)


def of_one_job(candidates: Iterable[Candidate]) -> bool:
    """Whether files, none of a list, are of one job: then two of one rank are a mistake."""
    return len({c.job for c in candidates}) == 1 and not any(c.is_listed for c in candidates)


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
