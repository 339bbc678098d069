"""Which files are capture traces, and of which trace."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from hta_sql.ingestion.captures import stamped
from hta_sql.ingestion.find import Candidate, candidates_at, matches, shown
from hta_sql.ingestion.ranks import TRACE, Claim
from hta_sql.places.storage import Place

NAME = re.compile(r"^(graph[-_]?captures?|capture[-_]traces?)([-_.]|$)", re.IGNORECASE)


@dataclass
class CaptureFiles:
    """The capture traces of an ingest, by job and rank. The rank is None if the file does not give
    it: then it is of the only rank of its job. The job is None if the user names the file: then it
    is of all jobs."""

    claims: list[Claim] = field(default_factory=list)
    named: list[Claim] = field(default_factory=list)

    def of(self, job: str, rank: int, is_only: bool) -> tuple[Place, ...]:
        """The capture traces of a rank; `is_only` says that its job has no other."""
        of_job = [claim for claim in self.claims if claim.candidate.job == job]
        return tuple(
            claim.candidate.path
            for claim in [*of_job, *self.named]
            if claim.rank == rank or claim.rank is None and is_only
        )

    def are_in(self, row: dict, is_only: bool) -> bool:
        """Whether the archive's row of a trace has all of them, as they are now."""
        there = json.loads(row.get("graph_captures") or "[]")
        known = [(one["path"], one["file_bytes"], one["modified_ns"]) for one in there]
        wanted = map(stamped, self.of(row["job"], row["rank"], is_only))
        return all(tuple(one.values()) in known for one in wanted)


def apart(
    candidates: list[Candidate], jobs: Iterable[str], is_trace: Callable[[Candidate], bool]
) -> tuple[list[Candidate], list[Candidate]]:
    """The candidates without capture traces, and the capture traces.

    A file is one by the name of its folder, or by its own, if its job has another trace: here, or
    in the archive, which has traces of `jobs`. If the archive has it as a trace, it stays one.
    """
    likely = [c for c in candidates if is_likely(c) and not is_trace(c)]
    others = Counter(c.job for c in candidates)
    others.subtract(c.job for c in likely)
    with_others = {job for job, count in others.items() if count > 0} | set(jobs)
    captures = [c for c in likely if job_beside(c) in with_others or c.job in with_others]
    paths = {c.path for c in captures}
    rest = [c for c in candidates if c.path not in paths]
    return rest, [replace(c, job=job_beside(c)) if in_folder(c) else c for c in captures]


def in_company(
    ready: list[Candidate], settled: list[Candidate]
) -> tuple[list[Candidate], list[Candidate]]:
    """Of files that arrive one by one: what is to be taken now, and the capture traces that wait
    for the first trace of their job.

    `ready` are new or changed, and `settled` are all that are whole. A trace needs the capture
    traces of its job, and a capture trace is of use only to the traces of its job.
    """
    with_traces = {c.job for c in settled if not is_likely(c)}
    taken, waiting = [], []
    for c in ready:
        (waiting if is_likely(c) and job_beside(c) not in with_traces else taken).append(c)
    jobs = {job_beside(c) for c in taken}
    with_new_captures = {job_beside(c) for c in taken if is_likely(c)}
    paths = {c.path for c in ready}
    beside = [
        c
        for c in settled
        if c.path not in paths and job_beside(c) in (jobs if is_likely(c) else with_new_captures)
    ]
    return taken + beside, waiting


def is_likely(candidate: Candidate) -> bool:
    by_name = in_folder(candidate) or bool(NAME.match(candidate.path.name))
    return by_name and not candidate.is_listed


def in_folder(candidate: Candidate) -> bool:
    return bool(NAME.match(candidate.path.parent.name)) or candidate.path.parent.name == "capture"


def job_beside(candidate: Candidate) -> str:
    """The job of the files beside the folder of capture traces."""
    job = candidate.job
    folder = candidate.path.parent.name
    if not in_folder(candidate) or not job.endswith(folder):
        return job
    return job.removesuffix(folder).rstrip("/") or shown(candidate.path.parent.parent.name)


def named_files(paths: Iterable[str | Path]) -> Iterator[Candidate]:
    """The files that the user names as capture traces: files, folders or patterns."""
    for text in paths:
        for path in matches(text):
            yield from candidates_at(path.absolute(), None)


def trace_claims(found: Iterable[object], report: Callable[[str], None]) -> list[Claim]:
    """Those that are traces; the others are reported."""
    claims: dict[Place, Claim] = {}
    for item in found:
        if isinstance(item, Claim) and item.kind == TRACE:
            claims.setdefault(item.candidate.path, item)
        else:
            path = item.candidate.path if isinstance(item, Claim) else item.path
            why = getattr(item, "error", None) or getattr(item, "reason", None) or "no trace"
            report(f"{shown(path)}: cannot be used as a capture trace: {why}")
    return list(claims.values())


def faults(row: dict | None) -> Iterator[str]:
    """A warning for each capture trace of a trace that is not read, or only in part."""
    for one in json.loads((row or {}).get("graph_captures") or "[]"):
        status, lost = one.get("status", "complete"), one.get("quarantined_count", 0)
        if status != "complete" or lost:
            left = f"; {lost:,} pieces cannot be used" if lost else ""
            yield f"{one['path']}: capture trace: {status}{left}"


def lonely(captures: CaptureFiles, ranks: dict[str, set[int]]) -> Iterator[str]:
    """A warning for each capture trace whose job has no trace of its rank."""
    by_job: dict[str, set[int]] = defaultdict(set, ranks)
    for claim in captures.claims:
        job, rank = claim.candidate.job, claim.rank
        has_one = len(by_job[job]) == 1 if rank is None else rank in by_job[job]
        if by_job[job] and not has_one:
            of = "which rank it is of is not known" if rank is None else f"has no rank {rank}"
            yield f"{shown(claim.candidate.path)}: left out: job '{job}' {of}"
