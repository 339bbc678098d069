"""Files that go with a trace: which ones they are, and of which rank."""

from __future__ import annotations

import contextlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import count

import pyarrow as pa
import pyarrow.parquet as pq

from hta_sql.errors import HtaSqlError, one_line
from hta_sql.ingestion.elements import SEPARATORS
from hta_sql.ingestion.find import TIMELINE_NAME, Candidate, shown
from hta_sql.ingestion.kinds import NODES, is_element, list_start
from hta_sql.ingestion.metadata import read_keys
from hta_sql.ingestion.ranks import TRACE, Claim, rank_in_name
from hta_sql.ingestion.stream import BYTE_ORDER_MARK
from hta_sql.ingestion.trace import IngestedTrace, as_text
from hta_sql.ingestion.values import value_at
from hta_sql.places.client_errors import plain_errors
from hta_sql.places.storage import Place, at_once, is_remote
from hta_sql.store.layout import place_of

EXECUTION_TRACE = "execution_trace"
MEMORY_TIMELINE = "memory_timeline"
# Where a rank comes from, the surest first.
SURE = ("given", "file name", "pid", "only rank", "order")
NODES_START = list_start(NODES)
VERSION = re.compile(r"\d+\.\d+")
EMPTY_LIST = re.compile(r"\[\s*\]")
# torch.profiler's other export of memory is one: times, and sizes at each.
LIST_OF_LISTS = re.compile(r"\[\s*\[")


def ingester_of(kind: str, threads: int) -> Callable[..., IngestedTrace]:
    """What reads files of this kind, in a worker process; traces with so many threads."""
    from hta_sql.ingestion.execution_trace import ingest_execution_trace
    from hta_sql.ingestion.memory_timeline import ingest_memory_timeline
    from hta_sql.ingestion.trace import ingest_trace

    return {
        TRACE: partial(ingest_trace, threads=threads),
        EXECUTION_TRACE: ingest_execution_trace,
        MEMORY_TIMELINE: ingest_memory_timeline,
    }[kind]


def attachment_claim(candidate: Candidate, head: bytes) -> Claim | None:
    """The claim of an execution trace or a memory timeline, of which these are the first bytes;
    None for any other file."""
    head = head.removeprefix(BYTE_ORDER_MARK).lstrip()
    keys = execution_trace_keys(head)
    if keys is not None:
        kind, pid = EXECUTION_TRACE, as_text(keys.get("pid"))
    elif is_timeline(head.decode("latin-1"), candidate.path.name):
        kind, pid = MEMORY_TIMELINE, None
    else:
        return None
    if candidate.rank is not None:
        return Claim(candidate, candidate.rank, "given", kind, pid)
    rank = rank_in_name(candidate.path)
    return Claim(candidate, rank, "order" if rank is None else "file name", kind, pid)


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
    archive: Place,
    traces: list[dict],
    before: list[dict],
    warn: Callable[[str], None],
) -> list[tuple[Claim, int | None, str | None]]:
    """A rank for each file, or why it can have none; `traces` and `before` are the archive's rows.

    A file that does not tell its rank is of its job's only trace; else of the one whose operations
    ran in the process that wrote it; else of the rank it had, or the next free one.
    """
    claims, errors = with_ranks_of_traces(list(claims), archive, traces)
    owners: dict[tuple[str, int, str], Claim] = {}
    ranks: dict[int, int] = {}
    taken: dict[tuple[str, str], set[int]] = defaultdict(set)
    had: dict[tuple[str, str, str], int] = {}
    for row in before:
        taken[row["job"], row["kind"]].add(row["rank"])
        had[row["job"], row["kind"], row["path"]] = row["rank"]

    def rank_before(claim: Claim) -> int | None:
        """The rank that the archive has this very file as."""
        return had.get((claim.candidate.job, claim.kind, shown(claim.candidate.path)))

    # Those that are sure of it first, and then those that have it.
    def turn(claim: Claim) -> tuple[int, bool]:
        return SURE.index(claim.source), rank_before(claim) is None

    for claim in sorted(claims, key=turn):
        job, kind = claim.candidate.job, claim.kind
        rank = claim.rank
        if id(claim) in errors:
            continue
        if rank is None:
            rank = rank_before(claim)
            if rank is None or (job, rank, kind) in owners:
                used = taken[job, kind]
                rank = next(number for number in count() if number not in used)
                warn(
                    f"{shown(claim.candidate.path.name)}: nothing tells the rank of this "
                    f"{in_words(kind)}; taken as rank {rank} of '{job}' (--rank N=FILE tells "
                    "otherwise)"
                )
        taken[job, kind].add(rank)
        if owners.setdefault((job, rank, kind), claim) is claim:
            ranks[id(claim)] = rank
    settled = []
    for claim in claims:
        error = errors.get(id(claim))
        if id(claim) not in ranks and error is None:
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


def with_ranks_of_traces(
    claims: list[Claim], archive: Place, traces: list[dict]
) -> tuple[list[Claim], dict[int, str]]:
    """The claims with the ranks of the traces that the files go with, where that is clear; and
    why it cannot be told, by the claim's id."""
    of_job: dict[str, list[dict]] = defaultdict(list)
    for row in traces:
        of_job[row["job"]].append(row)
    pids: dict[str, dict[str, set[int]] | str] = {}
    found, errors = [], {}
    for claim in claims:
        job = claim.candidate.job
        rows = of_job[job]
        if claim.rank is None and len(rows) == 1:
            claim = replace(claim, rank=rows[0]["rank"], source="only rank")
        elif claim.rank is None and claim.pid is not None:
            if job not in pids:
                pids[job] = ranks_by_pid(rows, archive)
            if isinstance(pids[job], str):
                errors[id(claim)] = pids[job]
            elif len(ranks := pids[job].get(claim.pid, ())) == 1:
                claim = replace(claim, rank=min(ranks), source="pid")
        found.append(claim)
    return found, errors


def ranks_by_pid(traces: list[dict], archive: Place) -> dict[str, set[int]] | str:
    """For each process in which operations of a job ran, their ranks; or why that is not known."""
    files: dict[str, set[int]] = defaultdict(set)
    for row in traces:
        if row["host_op_count"] != 0:  # else a compacted job may have no file
            files[place_of(row, "host_ops")].add(row["rank"])
    ranks: dict[str, set[int]] = defaultdict(set)
    try:
        for pids in at_once(lambda item: pids_of(archive / item[0], item[1]), files.items()):
            for rank, pid in pids:
                ranks[pid].add(rank)
    except (HtaSqlError, pa.ArrowException, OSError) as error:
        return f"its rank cannot be told by its process: {one_line(error)}; --rank N=FILE tells it"
    return ranks


def pids_of(file: Place, ranks: set[int]) -> set[tuple[int, str]]:
    """(rank, pid) of the operations of these ranks in a file of host_ops."""
    with plain_errors(file), contextlib.ExitStack() as stack:
        source = stack.enter_context(file.fs.open(file.path)) if is_remote(file) else file
        with pq.ParquetFile(source, read_dictionary=["pid"]) as opened:
            is_shared = "rank" in opened.schema_arrow.names
            table = opened.read(["rank", "pid"] if is_shared else ["pid"])
    if not is_shared:  # one rank's
        return {(rank, pid) for rank in ranks for pid in table["pid"].unique().to_pylist()}
    pairs = table.group_by(["rank", "pid"]).aggregate([]).to_pylist()
    # Some in it may have been ingested anew since.
    return {(row["rank"], row["pid"]) for row in pairs if row["rank"] in ranks}
