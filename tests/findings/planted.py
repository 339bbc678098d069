"""Jobs with planted faults: what the generator says, and what `findings` finds."""

import json
from dataclasses import dataclass
from pathlib import Path

import hta_sql
from hta_sql.demo import write_job

TOLERANCE = 0.25


@dataclass(frozen=True)
class Fault:
    """What the generator says of a fault: its gain per step comes from a job without it."""

    rule: str
    ranks: list[int] | None
    gain_ns: int


@dataclass(frozen=True)
class Planted:
    """The faults of a job, the largest first, and the rows of `findings`."""

    faults: list[Fault]
    rows: list[dict]

    def row_of(self, rule: str) -> dict:
        """The first row of a rule."""
        return next(row for row in self.rows if row["rule"] == rule)


def planted_jobs(folder: Path, jobs: dict[str, dict]) -> dict[str, Planted]:
    """Write these jobs (name: arguments of write_job), ingest them together, and ask once."""
    faults = {}
    for name, arguments in jobs.items():
        write_job(folder / "traces" / name, **{"straggler": None} | arguments)
        truth = folder / "traces" / name / "truth.json"
        faults[name] = [
            Fault(fault["rule"], fault["ranks"], fault["gain_ns"])
            for fault in json.loads(truth.read_text()).get("faults", [])
        ]
        truth.unlink()
    hta_sql.ingest(folder / "traces", folder / "archive")
    with hta_sql.open(folder / "archive") as run:
        rows = run.findings().to_pylist()
    return {
        name: Planted(faults[name], [row for row in rows if row["job"] == name]) for name in jobs
    }


def assert_found(planted: Planted) -> None:
    """Each fault is there, in the order of its gain, at its ranks, with about its gain."""
    rules = [fault.rule for fault in planted.faults]
    found = [row["rule"] for row in planted.rows if row["severity"] != "info"]
    assert found[: len(rules)] == rules, planted.rows
    for fault in planted.faults:
        row = planted.row_of(fault.rule)
        assert row["rank"] == (fault.ranks[0] if fault.ranks else None) or _is_alone(planted), row
        gain = row["estimated_gain_ns"]
        assert abs(gain - fault.gain_ns) <= TOLERANCE * fault.gain_ns, (fault, row)


def _is_alone(planted: Planted) -> bool:
    """Whether the job has one rank. Its findings name the rank."""
    return all(row["rank"] == 0 for row in planted.rows)
