"""Decides what to do with each file: nothing, change its tags, or read it; or why it fails."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from hta_sql.errors import HtaSqlError
from hta_sql.ingestion.attachments import in_words, settle_attachments
from hta_sql.ingestion.find import shown
from hta_sql.ingestion.look import LOOKS, Known, is_same, reason_of, tags_of, unchanged
from hta_sql.ingestion.own_steps import OwnSteps
from hta_sql.ingestion.ranks import TRACE, Claim, settle
from hta_sql.ingestion.tasks import Outcome, Task, failure
from hta_sql.places.storage import Place, place, stamp
from hta_sql.store.checksums import problems_of
from hta_sql.store.manifest import Manifest


def planned_traces(
    claims: list[Claim],
    known: Known,
    force: bool,
    archive: Place,
    staging: Path,
    report: Callable[[str], None],
) -> list[Task | Outcome]:
    """What to do with each trace. A trace that cannot have its rank has failed."""

    def planned(claim: Claim, rank: int, error: str | None) -> Task | Outcome:
        candidate = claim.candidate
        row = known.rows.get((TRACE, candidate.job, rank))
        again = force or bool(row and known.is_outdated(row))
        tags = tags_of(known.of(candidate))
        item = planned_for(claim, rank, error, row, tags, again, archive, staging)
        if not isinstance(item, Task):
            return item
        ranks = {rank for other, rank, _ in settled if other.candidate.job == candidate.job}
        is_only = len(ranks | set(known.ranks.get(candidate.job, ()))) == 1
        return replace(
            item,
            steps=OwnSteps(known.steps or (row or {}).get("steps_pattern"), known.step_rules),
            captures=known.captures.of(candidate.job, item.rank, is_only),
        )

    settled = list(
        settle(claims, known=known.rank_of, taken=lambda job: known.ranks.get(job, ()), warn=report)
    )
    with ThreadPoolExecutor(LOOKS) as pool:
        items = list(pool.map(lambda item: planned(*item), settled))
    clashes = clashing_folders(settled, items, known)
    return [
        without_mixing(item, rank, clashes.get(folder_of(claim)), known)
        for item, (claim, rank, _) in zip(items, settled, strict=True)
    ]


def folder_of(claim: Claim) -> tuple[str, str]:
    """The job of a file, and its folder."""
    return claim.candidate.job, shown(claim.candidate.path.parent)


def clashing_folders(
    settled: list[tuple[Claim, int, str | None]], items: list[Task | Outcome], known: Known
) -> dict[tuple[str, str], int]:
    """Folders that have the same rank of the same job as another folder, with that rank.

    Files in a list are left out: the list decides that they are one job, in any folder.
    """
    folders: dict[tuple[str, int], set[str]] = defaultdict(set)
    for claim, rank, _ in settled:
        job, folder = folder_of(claim)
        folders[job, rank].add(folder)
        if row := known.rows.get((TRACE, job, rank)):
            folders[job, rank].add(shown(place(row["path"]).parent))
    return {
        folder_of(claim): rank
        for item, (claim, rank, _) in zip(items, settled, strict=True)
        if isinstance(item, Outcome)
        and item.status == "failed"
        and not claim.candidate.is_listed
        and len(folders[claim.candidate.job, rank]) > 1
    }


def without_mixing(
    item: Task | Outcome, rank: int, clash: int | None, known: Known
) -> Task | Outcome:
    """The same item, or a failure if it would add a rank of another run to a job."""
    if clash is None or not isinstance(item, Task):
        return item
    row = known.rows.get((TRACE, item.job, rank))
    if row and row["path"] == shown(item.path):
        return item
    return failure(
        item.path,
        item.job,
        rank,
        f"left out, since job '{item.job}' has rank {clash} from another folder, which may be "
        "another run; name another job with --job",
    )


def planned_attachments(
    claims: list[Claim],
    manifest: Manifest,
    attached: Manifest,
    force: bool,
    staging: Path,
    report: Callable[[str], None],
) -> list[Task | Outcome]:
    """What to do with each attachment. An attachment that cannot have a rank has failed."""
    rows = attached.rows()
    before = {attached.key(row): row for row in rows}
    archive = manifest.archive

    def planned(claim: Claim, rank: int | None, error: str | None) -> Task | Outcome:
        row = before.get((claim.candidate.job, rank, claim.kind))
        again = force or bool(row and problems_of(archive, row))
        return planned_for(claim, rank, error, row, {}, again, archive, staging)

    return [
        planned(claim, rank, error)
        for claim, rank, error in settle_attachments(claims, archive, manifest.rows(), rows, report)
    ]


def planned_for(
    claim: Claim,
    rank: int | None,
    error: str | None,
    row: dict | None,
    tags: Mapping[str, str],
    force: bool,
    archive: Place,
    staging: Path,
) -> Task | Outcome:
    """What to do with a file. `row` is the archive's row for this place, and `tags` are the tags
    that the archive has for the file."""
    candidate, kind = claim.candidate, claim.kind
    path, job = candidate.path, candidate.job
    if error:
        return failure(path, job, rank, error, kind=kind)
    try:
        size, modified_ns = stamp(path)
        if row and not force and is_same(path, row, size, modified_ns):
            return unchanged(candidate, row, row["modified_ns"])
    except (HtaSqlError, OSError) as problem:
        return failure(path, job, rank, reason_of(problem), kind=kind)
    if row and not force and row["path"] != shown(path):
        what = "" if kind == TRACE else f"the {in_words(kind)} of "
        return failure(
            path,
            job,
            rank,
            f"the archive has {what}rank {rank} of job '{job}' from {row['path']}; name another "
            "job with --job, or replace it with --force",
            kind=kind,
        )
    tags = tags if candidate.tags is None else candidate.tags
    return Task(
        path,
        job,
        rank,
        claim.source,
        archive,
        staging / uuid.uuid4().hex,
        kind=kind,
        tags=tuple(sorted(tags.items())),
        file_bytes=size,
    )
