"""What each file is, reading as little as possible: a claim to a rank, unchanged, or no trace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain

from hta_sql.errors import HtaSqlError, one_line
from hta_sql.ingestion.capture_files import CaptureFiles
from hta_sql.ingestion.find import TRACE_NAME, Candidate, shown
from hta_sql.ingestion.ranks import TRACE, Claim, claim_of
from hta_sql.ingestion.stream import ByteStream, NotATrace, TraceStream
from hta_sql.ingestion.tasks import Outcome, failure
from hta_sql.places.storage import Place, stamp
from hta_sql.store.checksums import problems_of
from hta_sql.store.manifest import Manifest
from hta_sql.version import SCHEMA_VERSION

# How much of a file's beginning may be needed to find its kind, and how much is read at a time.
HEAD_BYTES = 1 << 16
CLAIM_READ_BYTES = 1 << 17
# Files examined at the same time. If they are on another machine, most of the time is waiting.
LOOKS = 8
# Sources of an attachment's rank that give the same rank as long as the file is the same.
SURE = ("given", "file name")


@dataclass(frozen=True)
class Skipped:
    """Other JSON that was found in a folder, and not named by the user."""

    path: Place
    reason: str


class Known:
    """The rows of the archive, by file and by rank."""

    def __init__(self, manifest: Manifest, attached: Manifest, steps: str | None = None):
        self.archive = manifest.archive
        self.steps = steps  # as the user gives it now
        self.step_rules: tuple[tuple[str, str], ...] = ()
        self.captures = CaptureFiles()
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

    def is_outdated(self, row: dict) -> bool:
        """Whether its files in the archive are gone or have another size; or whether a trace was
        read with another pattern for its steps, or other capture traces."""
        if problems_of(self.archive, row):
            return True
        if row.get("kind", TRACE) != TRACE:
            return False
        is_only = len(self.ranks[row["job"]]) == 1
        return self.steps not in (None, row.get("steps_pattern")) or not self.captures.are_in(
            row, is_only
        )

    def rank_of(self, candidate: Candidate) -> int | None:
        row = self.of(candidate)
        return row and row["rank"]


def look_at_all(
    candidates: Sequence[Candidate], known: Known, force: bool
) -> Iterator[Claim | Outcome | Skipped]:
    """What each file is, in the order of the candidates."""
    with ThreadPoolExecutor(LOOKS) as pool:
        yield from pool.map(lambda candidate: look_at(candidate, known, force), candidates)


def look_at(candidate: Candidate, known: Known, force: bool) -> Claim | Outcome | Skipped:
    """What a file is. A file with the size and time that the archive has is not opened.

    Other JSON that was found in a folder is skipped. Any other file that is not a trace has failed.
    """
    path, job = candidate.path, candidate.job
    if candidate.error:
        return failure(path, job, candidate.rank, candidate.error)
    row = known.of(candidate)
    try:
        is_wanted = force or row and known.is_outdated(row)
        if row and not is_wanted and candidate.rank in (None, row["rank"]):
            size, modified_ns = stamp(path)
            if is_same(path, row, size, modified_ns):
                return unchanged(candidate, row, modified_ns)
        return claimed(candidate)
    except (HtaSqlError, OSError) as error:
        reason = reason_of(error)
        # A file with a name that ends in .raw may be anything.
        is_other = type(error) is NotATrace or not TRACE_NAME.search(path.name)
        if candidate.named or not is_other:
            return failure(path, job, None, reason)
        return Skipped(path, reason)


def reason_of(error: HtaSqlError | OSError) -> str:
    """Why a file cannot be read, without its name if that is possible."""
    if isinstance(error, FileNotFoundError) and not error.strerror:  # from object storage
        return "no such object"
    return getattr(error, "strerror", None) or one_line(error)


def claimed(candidate: Candidate) -> Claim:
    """The claim of a file, reading as little as possible. Raises HtaSqlError or OSError."""
    # Not at the top: unchanged files do not need it.
    from hta_sql.ingestion.attachments import attachment_claim

    stream = ByteStream(candidate.path, CLAIM_READ_BYTES)
    chunks = iter(stream)
    head = b""
    while len(head) < HEAD_BYTES and (chunk := next(chunks, b"")):
        head += chunk
    return attachment_claim(candidate, head) or claim_of(
        candidate, TraceStream(stream, chunks=chain([head], chunks))
    )


def is_same(path: Place, row: dict, size: int, modified_ns: int) -> bool:
    """Whether a file is the one that was read: same path, size and time, or same content."""
    if size != row["file_bytes"] or row["schema_version"] != SCHEMA_VERSION:
        return False
    if modified_ns and modified_ns == row["modified_ns"] and shown(path) == row["path"]:
        return True
    stream = ByteStream(path)
    for _ in stream:
        pass
    return stream.fingerprint == row["fingerprint"]


def unchanged(candidate: Candidate, row: dict, modified_ns: int) -> Outcome:
    """The outcome of an unchanged file. Its row gets new tags and a new time, if there are any."""
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
