"""The archives that same_answers.py asks: of real traces, and of made-up jobs of many kinds.

Only what hta_sql offers to everybody is used, so that the code of any commit can make them.
"""

import gzip
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import same_drawn

import hta_sql
from hta_sql.demo import write_job

TRACES = Path(__file__).resolve().parents[2] / "shared" / "traces"
DAY_NS = 86_400_000_000_000
BASE = re.compile(r'("baseTimeNanoseconds": )(\d+)')

SMALL = {"ranks": 2, "steps": 3, "layers": 2}
PLANTED: dict[str, dict[str, Any]] = {
    "plain": SMALL,
    **{
        f"bound by {name}": SMALL | {"bottleneck": name}
        for name in ("launch", "compute", "communication", "data_loading")
    },
    **{
        f"with {name}": SMALL | {"change": name}
        for name in ("slow_kernel", "inserted_op", "other_shapes", "other_kernel")
    },
    "other noise": SMALL | {"seed": 1},
    "whole us": SMALL | {"time_format": "integer"},
    "python frames": SMALL | {"python_frames": 5},
    "8 ranks, seq": SMALL | {"ranks": 8, "collective_ids": "seq"},
    "8 ranks, no ids": SMALL | {"ranks": 8, "collective_ids": "none"},
}
RANKS16 = {"ranks": 16, "steps": 4, "layers": 4}


def real(folder: Path, archive: Path) -> None:
    """All real traces as they lie there, a folder a job."""
    ingest([TRACES], archive)


def attached(folder: Path, archive: Path) -> None:
    """A trace with its execution trace and a memory timeline beside it."""
    job = folder / "attached"
    shutil.copytree(TRACES / "execution_trace", job)
    shutil.copy(TRACES / "memory_timeline" / "memory_timeline.raw.gz", job)
    ingest([job], archive)


def planted(folder: Path, archive: Path) -> None:
    """A small job of each kind that can be made up, and one without steps."""
    for name, arguments in PLANTED.items():
        write_job(folder / name, **arguments)
    without_steps(folder / "plain", folder / "no steps")
    ingest([folder], archive)


def ranks16(folder: Path, archive: Path) -> None:
    """A job of 16 ranks that all are ingested, for what is asked across ranks."""
    write_job(folder / "ranks16", **RANKS16)
    ingest([folder], archive)


def messages(folder: Path, archive: Path) -> None:
    """Ranks that send to each other, with ids and without, and calls that do not fit together."""
    same_drawn.write_job(folder / "with ids")
    same_drawn.write_job(folder / "without ids", seed=1, with_ids=False)
    same_drawn.write_job(folder / "with faults", seed=2, with_faults=True)
    ingest([folder], archive)


def runs(folder: Path, archive: Path) -> None:
    """One training that ran on eight days, slower from the sixth on, and another one, with tags."""
    for day in range(8):
        change = "slow_kernel" if day > 4 else None
        for model, layers in (("llama", 2), ("tiny", 1)):
            job = folder / f"{model}-{day}"
            write_job(job, ranks=1, steps=3, layers=layers, seed=day, change=change)
            later(job, day)
            ingest([job], archive, tags={"model": model, "team": "a" if day % 2 else "b"})


ARCHIVES: dict[str, Callable[[Path, Path], None]] = {
    "real": real,
    "attached": attached,
    "planted": planted,
    "ranks16": ranks16,
    "messages": messages,
    "runs": runs,
}
OF_REAL_TRACES = ("real", "attached")
# Before and after, among the jobs of these archives.
PAIRS = {
    "real": [
        ("trace_diff/control", "trace_diff/test"),
        ("trace_compare/base", "trace_compare/test"),
        ("h100_bert", "mi300_bert"),
    ],
    "planted": [
        *(("plain", name) for name in PLANTED if name.startswith("with ")),
        ("plain", "plain"),
        ("plain", "other noise"),
        ("8 ranks, seq", "no steps"),
    ],
    "runs": [("llama-0", "llama-7")],
}


def make(name: str, folder: Path) -> Path:
    """Write the traces of an archive, as far as they are made up, and ingest them."""
    archive = folder / name
    traces = folder / "traces" / name
    for stale in (archive, traces):
        shutil.rmtree(stale, ignore_errors=True)
    traces.mkdir(parents=True)
    ARCHIVES[name](traces, archive)
    shutil.rmtree(traces)
    prepare(archive)
    return archive


def ingest(traces: list[Path], archive: Path, **more: Any) -> None:
    for outcome in hta_sql.ingest(traces, archive, **more).traces:
        if outcome.error:
            raise SystemExit(f"{outcome.path}: {outcome.error}")


def prepare(archive: Path) -> None:
    """Compute what queries read: critical paths of a step and of whole traces, stored results."""
    with hta_sql.open(archive) as run:
        first_steps = run.sql("SELECT job, min(step) AS step FROM steps GROUP BY job ORDER BY job")
        for row in first_steps.to_pylist():
            run.compute_critical_path(step=row["step"], only_jobs=[row["job"]])
        for row in run.sql("SELECT DISTINCT job FROM jobs ORDER BY job").to_pylist():
            try:
                run.compute_critical_path(only_jobs=[row["job"]])
            except hta_sql.HtaSqlError:
                continue  # a job that has no spans
        run.materialize()


def without_steps(job: Path, out: Path) -> None:
    """The traces of a job, less the events that say what is a step."""
    out.mkdir()
    for path in sorted(job.glob("rank_*.json.gz")):
        trace = json.loads(gzip.decompress(path.read_bytes()))
        trace["traceEvents"] = [
            event
            for event in trace["traceEvents"]
            if not str(event.get("name")).startswith("ProfilerStep")
        ]
        (out / path.name).write_bytes(gzip.compress(json.dumps(trace).encode(), 1, mtime=0))


def later(job: Path, days: int) -> None:
    """Let a job run so many days later."""
    for path in job.glob("rank_*.json.gz"):
        text = gzip.decompress(path.read_bytes()).decode()
        moved = BASE.sub(lambda found: f"{found[1]}{int(found[2]) + days * DAY_NS}", text)
        path.write_bytes(gzip.compress(moved.encode(), 1, mtime=0))
