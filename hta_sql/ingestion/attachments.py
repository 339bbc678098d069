"""Files attached to a trace (execution traces, memory timelines): their kind and rank."""

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
from hta_sql.ingestion.described import as_text
from hta_sql.ingestion.elements import SEPARATORS
from hta_sql.ingestion.find import TIMELINE_NAME, Candidate, shown
from hta_sql.ingestion.kinds import NODES, is_element, list_start
from hta_sql.ingestion.metadata import read_keys
from hta_sql.ingestion.ranks import REFRESH, TRACE, Claim, rank_in_name
from hta_sql.ingestion.stream import BYTE_ORDER_MARK
from hta_sql.ingestion.tasks import Task
from hta_sql.ingestion.trace import IngestedTrace
from hta_sql.ingestion.values import value_at
from hta_sql.places.client_errors import plain_errors
from hta_sql.places.storage import Place, at_once, is_remote
from hta_sql.store.layout import place_of

EXECUTION_TRACE = "execution_trace"
MEMORY_TIMELINE = "memory_timeline"
# Where a rank comes from; the most certain source first.
SURE = ("given", "file name", "pid", "only rank", "order")
NODES_START = list_start(NODES)
VERSION = re.compile(r"\d+\.\d+")
EMPTY_LIST = re.compile(r"\[\s*\]")
# torch.profiler's other memory export is such a list: times, and the sizes at each time.
LIST_OF_LISTS = re.compile(r"\[\s*\[")


def ingester_of(task: Task, threads: int) -> Callable[..., IngestedTrace]:
    """The function that does such a task in a worker; only traces use `threads`."""
    from hta_sql.ingestion.execution_trace import ingest_execution_trace
    from hta_sql.ingestion.memory_timeline import ingest_memory_timeline
    from hta_sql.ingestion.trace import ingest_trace

    if task.kind == REFRESH:
        from hta_sql.ingestion.refreshed import refresh_trace

        return lambda path, staging, progress: refresh_trace(
            replace(task, staging=staging), progress, threads
        )
    return {
        TRACE: partial(ingest_trace, threads=threads, steps=task.steps, captures=task.captures),
        EXECUTION_TRACE: ingest_execution_trace,
        MEMORY_TIMELINE: ingest_memory_timeline,
    }[task.kind]


def attachment_claim(candidate: Candidate, head: bytes) -> Claim | None:
    """The claim of a file with these first bytes, if it is an execution trace or a memory timeline.

    None for any other file.
    """
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
    """The keys before the nodes of an execution trace; None if the file is not one."""
    start = NODES_START.search(head)
    if not start or head[:1] != b"{":
        return None
    keys = read_keys(head[: start.start()] + b'"":0}')
    if not keys.is_whole or "traceEvents" in keys.keys:
        return None
    if VERSION.match(str(keys.keys.get("schema"))):
        return keys.keys
    # If the keys are sorted, the schema comes after the nodes. Then the first node decides.
    text = head[start.end() :].decode("latin-1").lstrip()
    return keys.keys if is_element(value_at(text, 0)[0], NODES) else None


def is_timeline(text: str, name: str) -> bool:
    """Whether a text is a list of memory changes, judged by its first elements and its name."""
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
    """A rank for each file, or an error; `traces` and `before` are rows of the archive.

    A file that does not give its rank gets the rank of its job's only trace. If the job has several
    traces, it gets the rank whose operations ran in the process that wrote the file. If that is not
    known, it keeps the rank that it has in the archive, or gets the next free one.
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
        """The rank that this file has in the archive."""
        return had.get((claim.candidate.job, claim.kind, shown(claim.candidate.path)))

    # The most certain sources come first; for equal sources, files that the archive has.
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
                    f"{shown(claim.candidate.path.name)}: found no rank for this "
                    f"{in_words(kind)}; taken as rank {rank} of job '{job}' (--rank N=FILE sets "
                    "another)"
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
                f"rank {claim.rank} of job '{job}' has another {in_words(kind)}, "
                f"{shown(first.candidate.path)}; leave one out, or give one another rank "
                "(--rank N=FILE) or job (--job NAME)"
            )
        settled.append((claim, ranks.get(id(claim)), error))
    return settled


def in_words(kind: str) -> str:
    return kind.replace("_", " ")


def with_ranks_of_traces(
    claims: list[Claim], archive: Place, traces: list[dict]
) -> tuple[list[Claim], dict[int, str]]:
    """The claims, with the rank of the trace that each file belongs to if that is clear.

    Also returns errors by the claim's id.
    """
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
    """The ranks of each process that ran operations of a job, by pid; or an error."""
    files: dict[str, set[int]] = defaultdict(set)
    for row in traces:
        if row["host_op_count"] != 0:  # without operations, there may be no file
            files[place_of(row, "host_ops")].add(row["rank"])
    ranks: dict[str, set[int]] = defaultdict(set)
    try:
        for pids in at_once(lambda item: pids_of(archive / item[0], item[1]), files.items()):
            for rank, pid in pids:
                ranks[pid].add(rank)
    except (HtaSqlError, pa.ArrowException, OSError) as error:
        return f"cannot find its rank by its process: {one_line(error)}; set it with --rank N=FILE"
    return ranks


def pids_of(file: Place, ranks: set[int]) -> set[tuple[int, str]]:
    """(rank, pid) of the operations of these ranks in one file of host_ops."""
    with plain_errors(file), contextlib.ExitStack() as stack:
        source = stack.enter_context(file.fs.open(file.path)) if is_remote(file) else file
        with pq.ParquetFile(source, read_dictionary=["pid"]) as opened:
            is_shared = "rank" in opened.schema_arrow.names
            table = opened.read(["rank", "pid"] if is_shared else ["pid"])
    if not is_shared:  # the file of one rank
        return {(rank, pid) for rank in ranks for pid in table["pid"].unique().to_pylist()}
    pairs = table.group_by(["rank", "pid"]).aggregate([]).to_pylist()
    # The file may still have ranks that were ingested again since.
    return {(row["rank"], row["pid"]) for row in pairs if row["rank"] in ranks}
