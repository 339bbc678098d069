"""Cases about many ranks, or two jobs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import data
import measure
from data import say
from measure import COLD_ROUNDS, GROWTH_REPEATS, HTA_SCRIPT, LOAD_ROUNDS, Cost, Failed

from hta_sql.catalogue.catalog import Catalog

if TYPE_CHECKING:
    from session import Session

# Ranks, and all-reduces of all of them. Of a timeline people ask for a window.
RANKS = {"full": {"ranks": 64, "collectives": 20_000}, "small": {"ranks": 8, "collectives": 500}}
PATH_STEP = 1
# Steps of the base and of the test whose operators are aligned: 100,000 of 11,000 a step.
ALIGNED = {"base_steps": [*range(9)], "test_steps": [*range(2, 11)]}
RANKS_PARAMETERS: dict[str, dict[str, Any]] = {
    "kernel_timeline": {"window_from_ns": 1_000_000_000, "window_until_ns": 2_000_000_000}
}


def across_ranks(session: Session) -> None:
    """Every query across ranks over an archive of many, each in a process of its own."""
    parameters = RANKS[session.size]
    archive = session.folder / f"ranks-{parameters['ranks']}-{parameters['collectives']}"
    if not (archive / "traces.parquet").is_file():
        say("writing the archive of many ranks")
        measure.run_child("ranks", out=str(archive), parameters=parameters, one_core=False)
    for name, query in Catalog.load().newest.items():
        if query.theme != "comm":
            continue
        call = {name: (name, RANKS_PARAMETERS.get(name, {}))}
        session.measure(
            f"ranks/{name}",
            lambda c=call: measure.run_child(
                "warm", archive=str(archive), calls=c, repeats=GROWTH_REPEATS
            ),
        )
        for cost in session.costs.get(f"ranks/{name}", []):
            found = cost.said[name]
            if "error" in found:
                session.failures.append(f"ranks/{name}: {found['error']}")
            else:
                session.ranks[name] = found | {"peak_gb": cost.peak_bytes / 1e9}


def path(session: Session) -> None:
    """The critical path of a step of 60,000 events, in turns with HTA's.

    HTA's time is that of its call alone, its trace loaded; ours, of a fresh process.
    """
    job, archive = data.job(session.folder, session.size, "path"), session.folder / "archive-path"
    session.measure("path/ingest", lambda: session.ingest(job, archive))
    for _ in range(LOAD_ROUNDS):
        session.measure(
            "path/ours", lambda: measure.run_child("path", archive=str(archive), step=PATH_STEP)
        )
        if session.with_hta:
            session.measure("path/hta", lambda: hta_path(str(job.traces[0])))


def hta_path(trace: str) -> Cost:
    call = {"rank": 0, "annotation": "ProfilerStep", "instance_id": PATH_STEP}
    cost = measure.run_child(
        "load",
        python=data.hta_python(),
        script=HTA_SCRIPT,
        trace=trace,
        calls={"critical_path_analysis": call},
        repeats=1,
        enough_s=1,
    )
    wall_s = cost.said["calls"]["critical_path_analysis"]
    if wall_s is None:
        raise Failed("HTA's critical_path_analysis failed")
    return Cost(wall_s, cost.cpu_s, cost.peak_bytes)


def diff(session: Session) -> None:
    """Every query that compares two jobs, of 2 million events each, in a process of its own.

    HTA's time is that of its compare_traces alone, its traces loaded.
    """
    jobs = [session.one, data.job(session.folder, session.size, "other")]
    archive = session.folder / "archive-two"
    folders = [str(job.folder) for job in jobs]
    program = [sys.executable, "-m", "hta_sql.cli"]
    session.measure(
        "diff/ingest", lambda: measure.run([*program, "ingest", *folders, str(archive)])
    )
    asked = {
        name: (name, ALIGNED if name == "op_alignment" and session.size == "full" else {})
        for name, query in Catalog.load().newest.items()
        if query.theme == "compare"
    }
    for name, call in asked.items():
        session.measure(
            f"diff/{name}",
            lambda c={name: call}: measure.run_child(
                "warm", archive=str(archive), calls=c, repeats=GROWTH_REPEATS
            ),
        )
        for cost in session.costs.get(f"diff/{name}", []):
            found = cost.said[name]
            if "error" in found:
                session.failures.append(f"diff/{name}: {found['error']}")
            else:
                session.diffs[name] = found | {"peak_gb": cost.peak_bytes / 1e9}
    names = [f"{archive}::{job.folder.name}" for job in jobs]
    for _ in range(COLD_ROUNDS):
        session.measure("diff/cli", lambda: measure.run([*program, "diff", *names]))
    if session.with_hta:
        session.measure("diff/hta", lambda: hta_diff(folders))


def hta_diff(folders: list[str]) -> Cost:
    cost = measure.run_child(
        "diff", python=data.hta_python(), script=HTA_SCRIPT, traces=folders, repeats=GROWTH_REPEATS
    )
    return Cost(cost.said["s"], cost.cpu_s, cost.peak_bytes)


def shown(session: Session) -> None:
    """The report on a job of 64 ranks of 100,000 events, and one step of it for Perfetto."""
    job, archive = data.job(session.folder, session.size, "many"), session.folder / "archive-many"
    program = [sys.executable, "-m", "hta_sql.cli"]
    session.measure(
        "shown/ingest",
        lambda: measure.run([*program, "ingest", str(job.folder), str(archive)], one_core=False),
    )
    out = str(session.folder / "report.html")
    trace = str(session.folder / "step.json.gz")
    for _ in range(COLD_ROUNDS):
        session.measure(
            "shown/report", lambda: measure.run([*program, "report", str(archive), "-o", out])
        )
        session.measure(
            "shown/perfetto",
            lambda: measure.run(
                [*program, "export", "perfetto", str(archive), trace, "--step", "1"]
            ),
        )
