"""Files that go with a trace: which ones they are, and of which rank."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path

import pyarrow.parquet as pq

from hta_sql.ingest.elements import NODES, SEPARATORS, is_element, value_at
from hta_sql.ingest.find import TIMELINE_NAME, Candidate, shown
from hta_sql.ingest.metadata import read_keys
from hta_sql.ingest.ranks import TRACE, Claim, rank_in_name
from hta_sql.ingest.stream import BYTE_ORDER_MARK, ByteStream, list_start
from hta_sql.ingest.trace import IngestedTrace, as_text, partition

EXECUTION_TRACE = "execution_trace"
MEMORY_TIMELINE = "memory_timeline"
HEAD_BYTES = 1 << 16
# Where a rank comes from, the surest first.
SURE = ("given", "file name", "pid", "only rank", "order")
NODES_START = list_start(NODES)
VERSION = re.compile(r"\d+\.\d+")
EMPTY_LIST = re.compile(r"\[\s*\]")
# torch.profiler's other export of memory is one: times, and sizes at each.
LIST_OF_LISTS = re.compile(r"\[\s*\[")


def reader_of(kind: str, threads: int) -> Callable[..., IngestedTrace]:
    """What reads files of this kind, in a worker process; traces with so many threads."""
    from hta_sql.ingest.execution_trace import ingest_execution_trace
    from hta_sql.ingest.memory_timeline import ingest_memory_timeline
    from hta_sql.ingest.trace import ingest_trace

    return {
        TRACE: partial(ingest_trace, threads=threads),
        EXECUTION_TRACE: ingest_execution_trace,
        MEMORY_TIMELINE: ingest_memory_timeline,
    }[kind]


def attachment_claim(candidate: Candidate, told: int | None) -> Claim | None:
    """The claim of an execution trace or a memory timeline; None for any other file."""
    head = head_of(candidate.path)
    keys = execution_trace_keys(head)
    if keys is not None:
        kind, pid = EXECUTION_TRACE, as_text(keys.get("pid"))
    elif is_timeline(head.decode("latin-1"), candidate.path.name):
        kind, pid = MEMORY_TIMELINE, None
    else:
        return None
    if told is not None:
        return Claim(candidate, told, "given", kind, pid)
    rank = rank_in_name(candidate.path)
    return Claim(candidate, rank, "order" if rank is None else "file name", kind, pid)


def head_of(path: Path) -> bytes:
    head = b""
    for chunk in ByteStream(path):
        head += chunk
        if len(head) >= HEAD_BYTES:
            break
    return head.removeprefix(BYTE_ORDER_MARK).lstrip()


def execution_trace_keys(head: bytes) -> dict | None:
    """The keys before the nodes of an execution trace; None where it is none."""
    start = NODES_START.search(head)
    if not start or head[:1] != b"{":
        return None
    keys = read_keys(head[: start.start()] + b'"":0}')
    if not keys.is_whole or "traceEvents" in keys.keys:
        return None
    if VERSION.match(str(keys.keys.get("schema"))):
        return keys.keys
    # Where keys are sorted, the schema stands behind the nodes: see what these look like.
    text = head[start.end() :].decode("latin-1").lstrip()
    return keys.keys if is_element(value_at(text, 0)[0], NODES) else None


def is_timeline(text: str, name: str) -> bool:
    """Whether a list is one of memory changes: by its first two elements, or else by its name."""
    if text[:1] != "[":
        return False
    at = SEPARATORS.match(text, 1).end()
    first, end, _ = value_at(text, at)
    if any(LIST_OF_LISTS.match(text, place) for place in (at, SEPARATORS.match(text, end).end())):
        return False
    if TIMELINE_NAME.search(name) and (text[at : at + 1] == "[" or EMPTY_LIST.match(text)):
        return True
    return isinstance(first, list) and len(first) == 4 and {type(n) for n in first} == {int}


def settle_attachments(
    claims: Iterable[Claim],
    archive: Path,
    traces: list[dict],
    before: list[dict],
    warn: Callable[[str], None],
) -> list[tuple[Claim, int | None, str | None]]:
    """A rank for each file, or why it can have none; `traces` and `before` are the archive's rows.

    A file that does not tell its rank is of its job's only trace; else of the one whose operations
    ran in the process that wrote it; else of the rank it had, or the next free one.
    """
    claims = [with_rank_of_trace(claim, archive, traces) for claim in claims]
    owners: dict[tuple[str, int, str], Claim] = {}
    ranks: dict[int, int] = {}
    taken: dict[tuple[str, str], set[int]] = defaultdict(set)
    for row in before:
        taken[row["job"], row["kind"]].add(row["rank"])
    # Those that are sure of it first, and then those that have it.
    def turn(claim: Claim) -> tuple[int, bool]:
        return SURE.index(claim.source), rank_before(claim, before) is None

    for claim in sorted(claims, key=turn):
        job, kind = claim.candidate.job, claim.kind
        rank = claim.rank
        if rank is None:
            rank = rank_before(claim, before)
            if rank is None or (job, rank, kind) in owners:
                used = taken[job, kind] | {r for j, r, k in owners if (j, k) == (job, kind)}
                rank = next(number for number in count() if number not in used)
                warn(
                    f"{shown(claim.candidate.path.name)}: nothing tells the rank of this "
                    f"{in_words(kind)}; taken as rank {rank} of '{job}' (--rank N=FILE tells "
                    "otherwise)"
                )
        if owners.setdefault((job, rank, kind), claim) is claim:
            ranks[id(claim)] = rank
    settled = []
    for claim in claims:
        error = None
        if id(claim) not in ranks:
            job, kind = claim.candidate.job, claim.kind
            first = owners[job, claim.rank, kind]
            error = (
                f"{shown(first.candidate.path)} is the {in_words(kind)} of rank {claim.rank} of "
                f"job '{job}', too; leave one out, or tell them apart with --rank N=FILE or "
                "--job NAME"
            )
        settled.append((claim, ranks.get(id(claim)), error))
    return settled


def in_words(kind: str) -> str:
    return kind.replace("_", " ")


def with_rank_of_trace(claim: Claim, archive: Path, traces: list[dict]) -> Claim:
    """The claim with the rank of the trace that the file goes with, where that is clear."""
    if claim.rank is not None:
        return claim
    traces = [row for row in traces if row["job"] == claim.candidate.job]
    if len(traces) == 1:
        return replace(claim, rank=traces[0]["rank"], source="only rank")
    if claim.pid is not None:
        ranks = [row["rank"] for row in traces if ran_in(claim.pid, row, archive)]
        if len(ranks) == 1:
            return replace(claim, rank=ranks[0], source="pid")
    return claim


def ran_in(pid: str, trace: dict, archive: Path) -> bool:
    """Whether some operation of a trace ran in this process; reads little where none did."""
    folder = archive / "host_ops" / partition(trace["job"], trace["rank"])
    file = folder / f"{trace['trace_id']}.parquet"
    found = pq.read_table(file, columns=["pid"], filters=[("pid", "=", pid)], partitioning=None)
    return len(found) > 0


def rank_before(claim: Claim, before: list[dict]) -> int | None:
    """The rank that the archive has this very file as."""
    mine = (claim.candidate.job, claim.kind, shown(claim.candidate.path))
    return next(
        (row["rank"] for row in before if (row["job"], row["kind"], row["path"]) == mine), None
    )
