"""What one ingest did, file by file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from hta_sql.ingestion.find import shown
from hta_sql.ingestion.tasks import Outcome


@dataclass(frozen=True)
class IngestSummary:
    """The result of one ingest.

    Attributes:
        traces: One Outcome per trace.
        skipped: Path and reason of each file that is JSON but not a trace.
        attachments: One Outcome per execution trace and memory timeline.
        hands: How many workers or threads read the traces, in words; "" for one.
    """

    traces: list[Outcome]
    skipped: list[tuple[Path, str]]
    attachments: list[Outcome] = field(default_factory=list)
    hands: str = ""

    @property
    def outcomes(self) -> list[Outcome]:
        return [*self.traces, *self.attachments]

    @property
    def failed(self) -> int:
        return sum(outcome.status == "failed" for outcome in self.outcomes)

    def table(self) -> pa.Table:
        """One row per file with its outcome."""
        rows = [outcome_row(outcome) for outcome in self.outcomes]
        rows += [
            {"path": shown(path), "status": "skipped", "error": reason}
            for path, reason in self.skipped
        ]
        return pa.Table.from_pylist(rows, schema=OUTCOME)


OUTCOME = pa.schema(
    [
        ("path", pa.string()),
        ("job", pa.string()),
        ("rank", pa.int32()),
        ("kind", pa.string()),
        ("status", pa.string()),
        ("event_count", pa.int64()),
        ("quarantined_count", pa.int64()),
        ("seconds", pa.float64()),
        ("error", pa.string()),
    ]
)


def outcome_row(outcome: Outcome) -> dict:
    row = outcome.row or {}
    return {
        "path": shown(outcome.path),
        "job": outcome.job,
        "rank": outcome.rank,
        "kind": outcome.kind,
        "status": outcome.status,
        "event_count": row.get("event_count"),
        "quarantined_count": row.get("quarantined_count"),
        "seconds": outcome.seconds,
        "error": outcome.error,
    }
