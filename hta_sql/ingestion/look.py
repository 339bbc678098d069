"""What each file is, by as little of it as tells: a claim to a rank, as before, or of no use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain

from hta_sql.errors import HtaSqlError, one_line
from hta_sql.ingestion.attachments import attachment_claim
from hta_sql.ingestion.find import TRACE_NAME, Candidate, shown
from hta_sql.ingestion.ranks import TRACE, Claim, claim_of
from hta_sql.ingestion.stream import ByteStream, NotATrace, TraceStream
from hta_sql.ingestion.tasks import Outcome, failure
from hta_sql.places.storage import Place, stamp
from hta_sql.store.manifest import Manifest
from hta_sql.version import SCHEMA_VERSION

# Of a file's beginning, what may be needed to tell its kind, and how much is read at a time.
HEAD_BYTES = 1 << 16
CLAIM_READ_BYTES = 1 << 17
# Files are looked at so many at a time: most of it is waiting where they are on another machine.
LOOKS = 8
# What an attachment's rank cannot change by, while the file does not.
SURE = ("given", "file name")


@dataclass(frozen=True)
class Skipped:
    """Other JSON, found in a folder and not named."""

    path: Place
    reason: str


class Known:
    """What the archive has, to be found by file and by rank."""

    def __init__(self, manifest: Manifest, attached: Manifest):
        traces, attachments = manifest.rows(), attached.rows()
        self.rows = {
            (row.get("kind", TRACE), row["job"], row["rank"]): row
            for row in [*traces, *attachments]
        }
        sure = [row for row in attachments if row["rank_source"] in SURE]
        self.by_file = {(row["job"], row["path"]): row for row in [*sure, *traces]}
        self.ranks: dict[str, list[int]] = defaultdict(list)
        for row in traces:
            self.ranks[row["job"]].append(row["rank"])

    def of(self, candidate: Candidate) -> dict | None:
        return self.by_file.get((candidate.job, shown(candidate.path)))

    def rank_of(self, candidate: Candidate) -> int | None:
        row = self.of(candidate)
        return row and row["rank"]


def look_at_all(
    candidates: list[Candidate], known: Known, force: bool
) -> Iterator[Claim | Outcome | Skipped]:
    """What each file is, in their order."""
    with ThreadPoolExecutor(LOOKS) as pool:
        yield from pool.map(lambda candidate: look_at(candidate, known, force), candidates)


def look_at(candidate: Candidate, known: Known, force: bool) -> Claim | Outcome | Skipped:
    """A file that is as the archive has it is not opened. Other JSON is skipped where it was found,
    not named; what else is no trace has failed."""
    path, job = candidate.path, candidate.job
    if candidate.error:
        return failure(path, job, candidate.rank, candidate.error)
    row = known.of(candidate)
    try:
        if row and not force and candidate.rank in (None, row["rank"]):
            size, modified_ns = stamp(path)
            if is_same(path, row, size, modified_ns):
                return unchanged(candidate, row, modified_ns)
        return claimed(candidate)
    except (HtaSqlError, OSError) as error:
        reason = reason_of(error)
        # A name that ends in .raw may be of anything.
        is_other = type(error) is NotATrace or not TRACE_NAME.search(path.name)
        if candidate.named or not is_other:
            return failure(path, job, None, reason)
        return Skipped(path, reason)


def reason_of(error: HtaSqlError | OSError) -> str:
    """Why a file cannot be read, without its name where that is possible."""
    if isinstance(error, FileNotFoundError) and not error.strerror:  # of object storage
        return "no such object"
    return getattr(error, "strerror", None) or one_line(error)


def claimed(candidate: Candidate) -> Claim:
    """What a file says it is, by as little of it as tells. Raises HtaSqlError or OSError."""
    stream = ByteStream(candidate.path, CLAIM_READ_BYTES)
    chunks = iter(stream)
    head = b""
    while len(head) < HEAD_BYTES and (chunk := next(chunks, b"")):
        head += chunk
    return attachment_claim(candidate, head) or claim_of(
        candidate, TraceStream(stream, chunks=chain([head], chunks))
    )


def is_same(path: Place, row: dict, size: int, modified_ns: int) -> bool:
    """Whether a file is the one that was read: same size and time, or else same content."""
    if size != row["file_bytes"] or row["schema_version"] != SCHEMA_VERSION:
        return False
    if modified_ns and modified_ns == row["modified_ns"] and shown(path) == row["path"]:
        return True
    stream = ByteStream(path)
    for _ in stream:
        pass
    return stream.fingerprint == row["fingerprint"]


def unchanged(candidate: Candidate, row: dict, modified_ns: int) -> Outcome:
    """The outcome, with what its row has to be now: of other tags, or of a file only touched."""
    kind = row.get("kind", TRACE)
    status, before = "unchanged", row
    if kind == TRACE and candidate.tags is not None and tags_of(row) != dict(candidate.tags):
        row = row | {"tags": dict(candidate.tags)}
        status = "retagged"
    if row["modified_ns"] != modified_ns:
        row = row | {"modified_ns": modified_ns}
    return Outcome(
        candidate.path,
        candidate.job,
        row["rank"],
        status,
        row=row,
        kind=kind,
        is_amended=row is not before,
    )


def tags_of(row: dict | None) -> dict[str, str]:
    return dict((row and row.get("tags")) or {})
