"""The diagnosis of one job: its facts, the split of a step, findings and quality notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

SEVERITIES = ("high", "medium", "low", "info")


@dataclass(frozen=True)
class Finding:
    """A row of the query findings.

    `evidence_numbers` is a dict here, and `see` names the archive.
    """

    job: str
    rank: int | None
    rule: str
    subject: str
    severity: str
    title: str
    evidence: str
    evidence_numbers: dict[str, Any]
    estimated_gain_ns: int | None
    estimated_gain_frac: float | None
    gain_unit: str
    gain_method: str | None
    confidence: str
    advice: str
    see: str


@dataclass(frozen=True)
class Note:
    """A row of the query trace_quality."""

    job: str
    rank: int | None
    check: str
    severity: str
    count: int | None
    share_frac: float | None
    text: str
    weakens: list[str]


@dataclass(frozen=True)
class Part:
    """A part of the mean step, or of the trace without steps."""

    name: str
    ns: int
    frac: float


@dataclass(frozen=True)
class Facts:
    """A row of the relation job_splits. All from `rank` on is None without GPU activity."""

    job: str
    rank_count: int
    world_size: int | None
    device_name: str | None
    rank: int | None
    step_count: int | None
    unit_ns: int | None
    unit: str | None
    mean_ns: int | None
    compute_ns: int | None
    exposed_communication_ns: int | None
    exposed_memory_ns: int | None
    idle_ns: int | None
    before_first_ns: int | None


@dataclass(frozen=True)
class Diagnosis:
    """What holds a job back.

    `words` are the archives as they stand in commands, and `is_only_job` says that these archives
    have no other job.
    """

    facts: Facts
    findings: Sequence[Finding]
    notes: Sequence[Note]
    words: str
    is_only_job: bool

    @property
    def job(self) -> str:
        return self.facts.job

    @property
    def parts(self) -> list[Part]:
        """The parts of the mean step that are not 0, in the order in which they are drawn."""
        f = self.facts
        named = (
            ("compute", f.compute_ns),
            ("exposed communication", f.exposed_communication_ns),
            ("exposed copies", f.exposed_memory_ns),
            ("idle", f.idle_ns),
        )
        return [Part(name, ns, ns / f.mean_ns) for name, ns in named if ns and f.mean_ns]

    @property
    def busy_frac(self) -> float | None:
        return 1 - self.facts.idle_ns / self.facts.mean_ns if self.facts.mean_ns else None

    @property
    def top(self) -> Finding | None:
        """The finding with the largest gain, if that is not below 1 % of a step."""
        return self.findings[0] if self.findings and self.findings[0].severity != "info" else None

    @property
    def main_findings(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.severity != "info"]

    def command(self, what: str) -> str:
        """The command that runs a query on the job, or what else `what` says."""
        return f"hta-sql {what} {self.words}{self.selection}"

    @property
    def selection(self) -> str:
        return "" if self.is_only_job else f" --only-jobs {shell_word(self.job)}"

    def of_severity(self, severity: str) -> list[Finding]:
        """The findings of this severity or above."""
        worse = SEVERITIES[: SEVERITIES.index(severity) + 1]
        return [finding for finding in self.findings if finding.severity in worse]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self.facts) | {
            "busy_frac": self.busy_frac,
            "findings": [asdict(finding) for finding in self.findings],
            "quality": [asdict(note) for note in self.notes],
        }


def shell_word(text: str) -> str:
    """A text as one word of a shell command, as the query findings writes it."""
    plain = text and all(c.isascii() and (c.isalnum() or c in "_.+-/") for c in text)
    return text if plain else "'" + text.replace("'", "'\\''") + "'"
