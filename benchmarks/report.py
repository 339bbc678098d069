"""The outcome as a table for people and as dated JSON to compare with."""

import json
import os
import platform
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from measure import best
from session import Session
from targets import figures, judged

RESULTS = Path(__file__).with_name("results")


def result(session: Session) -> dict[str, Any]:
    """Everything that was measured, as plain data, without names of machines or people."""
    found = figures(session)
    before = earlier(session.one.stamp)
    queries = {}
    for name in session.selected:
        query = name.removeprefix("query/")
        if name != query and query in session.queries:
            cost = session.costs.get(name)
            cold = {"cold_s": best(cost).wall_s, "cold_peak_bytes": best(cost).peak_bytes}
            queries[query] = session.queries[query] | (cold if cost else {})
            checksum = before.get(query, {}).get("checksum")
            if checksum and "checksum" in queries[query]:
                queries[query]["as_before"] = checksum == queries[query]["checksum"]
    return {
        "date": date.today().isoformat(),
        "machine": machine() | {"load_average": session.load_average},
        "versions": session.versions,
        "data": {
            "stamp": session.one.stamp,
            "event_count": sum(session.one.event_counts),
            "trace_bytes": session.one.bytes,
            "archive_bytes": session.archive_bytes,
        },
        "costs": {
            name: best(costs).plain() | {"all_wall_s": [cost.wall_s for cost in costs]}
            for name, costs in session.costs.items()
            if not name.startswith("query/")
        },
        "queries": queries,
        "stacks": session.stacks,
        "ranks": session.ranks,
        "diffs": session.diffs,
        "growth": session.growth,
        "figures": found,
        "targets": judged(found),
        "failures": session.failures,
    }


def machine() -> dict[str, Any]:
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    for line in info.read_text().splitlines() if info.exists() else ():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {"cores": os.cpu_count(), "cpu": model, "memory_bytes": memory}


def earlier(stamp: str) -> dict[str, dict[str, Any]]:
    """The queries of the newest recorded run over the same traces."""
    for file in sorted(RESULTS.glob("[0-9]*.json"), reverse=True):
        recorded = json.loads(file.read_text())
        if recorded["data"]["stamp"] == stamp:
            return recorded["queries"]
    return {}


def save(outcome: dict[str, Any]) -> Path:
    RESULTS.mkdir(exist_ok=True)
    file = RESULTS / f"{outcome['date'].replace('-', '')}.json"
    file.write_text(json.dumps(outcome, indent=1, ensure_ascii=False) + "\n")
    return file


def text(outcome: dict[str, Any], judge: bool) -> str:
    """The tables; `judge`: whether the targets are meant for what was measured."""
    about, made = outcome["machine"], outcome["data"]
    lines = [
        f"{about['cores']} cores, {about['cpu']}, {about['memory_bytes'] / 1e9:.0f} GB, "
        f"load average {about['load_average'][0]:.1f} before",
        ", ".join(f"{name} {version}" for name, version in outcome["versions"].items()),
        f"{made['event_count']:,} events, {made['trace_bytes'] / 1e6:.1f} MB gzipped, "
        f"archive {made['archive_bytes'] / 1e6:.1f} MB",
    ]
    if outcome["costs"]:
        rows = [
            [
                name,
                seconds(cost["wall_s"]),
                seconds(cost["cpu_s"]),
                f"{cost['peak_bytes'] / 1e9:.2f}",
                str(len(cost["all_wall_s"])),
            ]
            for name, cost in outcome["costs"].items()
        ]
        lines += ["", *table(["best of runs", "wall s", "CPU s", "peak GB", "runs"], rows)]
    if outcome["queries"]:
        rows = [
            [
                name,
                str(query.get("rows", "–")),
                query.get("checksum", "–"),
                verdict(query),
                *(seconds(query.get(key)) for key in ("cold_s", "warm_s", "hta_s")),
                times(query.get("hta_s"), query.get("warm_s")),
            ]
            for name, query in outcome["queries"].items()
        ]
        titles = ["query", "rows", "checksum", "answer", "cold s", "warm s", "HTA s", "HTA / warm"]
        lines += ["", *table(titles, rows, left=4)]
    if outcome["stacks"]:
        rows = [
            [name, str(query["rows"]), seconds(query["warm_s"])]
            for name, query in outcome["stacks"].items()
        ]
        lines += ["", *table(["with Python's stacks", "rows", "warm s"], rows)]
    if outcome["ranks"]:
        rows = [
            [name, str(query["rows"]), seconds(query["warm_s"]), f"{query['peak_gb']:.2f}"]
            for name, query in outcome["ranks"].items()
        ]
        lines += ["", *table(["across ranks", "rows", "warm s", "peak GB"], rows)]
    if outcome["diffs"]:
        rows = [
            [name, str(query["rows"]), seconds(query["warm_s"]), f"{query['peak_gb']:.2f}"]
            for name, query in outcome["diffs"].items()
        ]
        lines += ["", *table(["two jobs compared", "rows", "warm s", "peak GB"], rows)]
    if outcome["growth"]:
        rows = [
            [name, seconds(of["tenth_s"]), seconds(of["whole_s"]), f"{of['times']:.1f}"]
            for name, of in outcome["growth"].items()
        ]
        lines += ["", *table(["ten times the trace", "before s", "after s", "times"], rows)]
    verdicts = {None: "not measured", True: "met", False: "MISSED"}
    rows = [
        [
            target["text"],
            target["bound"],
            number(target["value"]),
            verdicts[target["met"]] if judge or target["met"] is None else "not judged",
        ]
        for target in outcome["targets"]
    ]
    rows += [
        [f"({name})", "", number(value), ""]
        for name, value in outcome["figures"].items()
        if name not in {target["figure"] for target in outcome["targets"]}
    ]
    lines += ["", *table(["target", "bound", "value", ""], rows)]
    return "\n".join([*lines, *(f"FAILED {failure}" for failure in outcome["failures"])])


def verdict(query: dict[str, Any]) -> str:
    """Held against the generator's plan or else the last recorded run."""
    if "error" in query:
        return "failed"
    if query.get("agrees") is not None:
        return "as planned" if query["agrees"] else "WRONG"
    return {True: "as before", False: "CHANGED", None: "–"}[query.get("as_before")]


def table(titles: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> list[str]:
    """Lines of aligned columns, the first `left` of them to the left."""
    cells = [titles, *rows]
    widths = [max(len(row[at]) for row in cells) for at in range(len(titles))]
    return [
        "  ".join(
            cell.ljust(width) if at < left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}" if value < 1 else f"{value:.2f}"


def times(one: float | None, other: float | None) -> str:
    return f"{one / other:.1f}" if one and other else "–"


def number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"
