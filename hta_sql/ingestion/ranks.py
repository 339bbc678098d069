"""The rank of a trace file: given by the user, from the file, from its name, or the next free."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from hta_sql.ingestion.find import Candidate, shown
from hta_sql.ingestion.kinds import EVENTS_KEY
from hta_sql.ingestion.metadata import split_tail
from hta_sql.ingestion.stream import TraceStream, last_bytes
from hta_sql.ingestion.trace_list import NEVER

IN_NAME = re.compile(r"(?:^|[^a-z])rank[-_.=]?(\d+)", re.IGNORECASE)
LONGEST_TAIL_BYTES = 32 << 20
TRACE = "trace"
REFRESH = "refresh"  # of a trace that the archive has


@dataclass(frozen=True)
class Claim:
    """A file and the rank that it claims; `source` says where the rank comes from."""

    candidate: Candidate
    rank: int | None
    source: str
    kind: str = TRACE
    pid: str | None = None  # of an execution trace


def claim_of(candidate: Candidate, stream: TraceStream) -> Claim:
    """The claim of one trace, whose head has been read."""
    if candidate.rank is not None:
        return Claim(candidate, candidate.rank, "given")
    info = stream.head.keys.get("distributedInfo")
    if info is None:
        info = info_behind_events(candidate.path)
    rank = rank_of(info)
    if rank is not None:
        return Claim(candidate, rank, "distributedInfo")
    rank = rank_in_name(candidate.path)
    return Claim(candidate, rank, "order" if rank is None else "file name")


def rank_in_name(path: Path) -> int | None:
    match = IN_NAME.search(path.name)
    return int(match[1]) if match and int(match[1]) < NEVER else None


def rank_of(info: object) -> int | None:
    if not isinstance(info, dict):
        return None
    value = info.get("rank")
    try:
        rank = int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    if isinstance(value, bool) or rank != float(value):
        return None
    return rank if 0 <= rank < NEVER else None


def info_behind_events(path: Path) -> object:
    """`distributedInfo` from the end of the file, where older profilers put it."""
    end = last_bytes(path, LONGEST_TAIL_BYTES)
    # Most files end without it: search for it before parsing the end.
    if b'"distributedInfo"' not in end:
        return None
    begin = EVENTS_KEY.search(end)  # a small file is here as a whole
    _, tail = split_tail(end[begin.end() :] if begin else end)
    return tail.keys.get("distributedInfo") if tail else None


def settle(
    claims: Iterable[Claim],
    known: Callable[[Candidate], int | None],
    taken: Callable[[str], Collection[int]],
    warn: Callable[[str], None],
) -> Iterator[tuple[Claim, int, str | None]]:
    """A rank for every claim, and an error if several files claim the same rank of a job.

    A file that gives no rank keeps the rank that `known` finds for it, or else gets the next free
    number of its job. `taken` gives the job's ranks in the archive.
    """
    claims = list(claims)
    owners: dict[tuple[str, int], list[Claim]] = defaultdict(list)
    used: dict[str, set[int]] = {}
    for claim in claims:
        job = claim.candidate.job
        if job not in used:
            used[job] = set(taken(job))
        if claim.rank is not None:
            owners[job, claim.rank].append(claim)
            used[job].add(claim.rank)
    for claim in claims:
        job, rank = claim.candidate.job, claim.rank
        if rank is None:
            rank = known(claim.candidate)
            if rank is None or (job, rank) in owners:
                rank = next(number for number in range(NEVER) if number not in used[job])
                warn(
                    f"{shown(claim.candidate.path.name)}: no rank in the file or its name; "
                    f"taken as rank {rank} of job '{job}' (--rank N=FILE sets another)"
                )
            owners[job, rank].append(claim)
            used[job].add(rank)
        first, *others = owners[job, rank]
        error = None
        if others:
            error = (
                f"job '{job}': both {shown(first.candidate.path)} and "
                f"{shown(others[0].candidate.path)} have rank {rank} (by {first.source} and "
                f"{others[0].source}); leave one out, or give one another rank (--rank N=FILE) or "
                "job (--job NAME)"
            )
        yield claim, rank, error
