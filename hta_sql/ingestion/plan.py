"""What is to be done about each file: nothing, to tag it anew, to read it; or why it cannot be."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from hta_sql.errors import HtaSqlError, IngestError
from hta_sql.ingestion.attachments import in_words, settle_attachments
from hta_sql.ingestion.find import Candidate, shown
from hta_sql.ingestion.look import LOOKS, Known, is_same, reason_of, tags_of, unchanged
from hta_sql.ingestion.ranks import TRACE, Claim, settle
from hta_sql.ingestion.tasks import Outcome, Task, failure
from hta_sql.ingestion.trace_list import NEVER
from hta_sql.places.storage import Place, place, stamp
from hta_sql.store.manifest import Manifest


def with_told(
    candidates: list[Candidate], given: Iterable[tuple[int, str | Path]], tags: Mapping[str, str]
) -> list[Candidate]:
    """The candidates with the ranks that the user tells of files, and the tags told of all."""
    if tags:
        candidates = [replace(c, tags={**tags, **(c.tags or {})}) for c in candidates]
    told: dict[Place, int] = {}
    for rank, path in given:
        if not 0 <= rank < NEVER:
            raise IngestError(f"{shown(path)}: {rank} is no rank (0 to {NEVER - 1})")
        first = told.setdefault(place(path).resolve(), rank)
        if first != rank:
            raise IngestError(f"{shown(path)}: told to be of rank {first} and of rank {rank}")
    if not told:
        return candidates
    return [replace(c, rank=told.get(c.path.resolve(), c.rank)) for c in candidates]


def planned_traces(
    claims: list[Claim],
    known: Known,
    force: bool,
    archive: Place,
    staging: Path,
    report: Callable[[str], None],
) -> list[Task | Outcome]:
    """What to do about traces; one that has no place has failed."""
    settled = list(
        settle(claims, known=known.rank_of, taken=lambda job: known.ranks.get(job, ()), warn=report)
    )
    with ThreadPoolExecutor(LOOKS) as pool:
        items = list(
            pool.map(
                lambda item: planned_for(
                    item[0],
                    item[1],
                    item[2],
                    known.rows.get((TRACE, item[0].candidate.job, item[1])),
                    tags_of(known.of(item[0].candidate)),
                    force,
                    archive,
                    staging,
                ),
                settled,
            )
        )
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
    """Folders that have a rank of their job in common with another folder, and which rank.

    What a list says to be one job is one, wherever it lies.
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
    """The same, or a failure where the other ranks of a job would be those of another run."""
    if clash is None or not isinstance(item, Task):
        return item
    row = known.rows.get((TRACE, item.job, rank))
    if row and row["path"] == shown(item.path):
        return item
    return failure(
        item.path,
        item.job,
        rank,
        f"left out with rank {clash} beside it, which job '{item.job}' has from another folder: "
        "name another job with --job",
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
    archive = manifest.archive
    return [
        planned_for(
            claim,
            rank,
            error,
            before.get((claim.candidate.job, rank, claim.kind)),
            {},
            force,
            archive,
            staging,
        )
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
    """What to do about a file: `row` is of the one that the archive has in its place, `tags` are
    those it has."""
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
        kind,
        tuple(sorted(tags.items())),
        size,
    )
