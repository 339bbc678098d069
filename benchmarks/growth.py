"""How time grows with the events, for ingest and every query, on hard shapes and real traces.

    python benchmarks/growth.py                                  # all: hours
    python benchmarks/growth.py --shapes 'steps|nccl' --queries idle --events 50000

Each trace is made twice, once with four times the events, and asked in a process of its own, on
one core. A line with `!` took more than 5 times as long; CPU seconds, the best of several calls.
"""

import argparse
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cases
import measure
import repeats
import shapes
from data import ROOT, say
from measure import Failed

TIMES = 4
TOLERATED = 5.0
# Below this a time tells nothing of growth: calls have costs of their own.
TOLD_FROM_S = 0.15
REPEATS = 3
TRACES = ROOT.parent / "shared" / "traces"
# With spans that cross, and large ones without.
REAL = {
    "vllm_decode_capture": "graph_capture_rank_0.1773709742341309550.pt.trace.json.gz",
    "sglang_prefill": "sglang_Qwen3-8B_prefilldecode.json.gz",
    "b200_eager": "rank0.json.gz",
    "mtia_inference": "rank_0.json.gz",
    "h100_bert": "trace.json.gz",
    "mi300_bert": "trace.json.gz",
    "nccl": "rank0.json.gz",
    "ns_resolution": "rank-0.pt.trace.json.gz",
    "trace_diff/control": "rank3.json.gz",
}
# Beside the queries; before those that read what it keeps.
PATH = "compute_critical_path"


def traces(events: int) -> dict[str, Callable[[int, Path], None]]:
    """How to write each trace with n times `events`, by its name; of the real ones, n copies."""
    drawn = {
        name: lambda times, out, name=name: shapes.draw(name, times * events, out)
        for name in shapes.SHAPES
    }
    real = {
        folder: lambda times, out, path=TRACES / folder / file: repeat(path, times, events, out)
        for folder, file in REAL.items()
    }
    return drawn | real


def repeat(path: Path, times: int, events: int, out: Path) -> None:
    """Small traces often enough to have about `events` to begin with."""
    with repeats.opened(path, "rb") as file:
        count = file.read().count(b'"ph"')
    repeats.repeated(path, max(1, round(events / count)) * times, out)


def asked(pattern: str) -> dict[str, tuple[str, dict[str, Any]]]:
    calls = {PATH: (PATH, {})} | cases.calls()
    return {name: call for name, call in calls.items() if re.search(pattern, name)}


def grown(
    write: Callable[[int, Path], None], calls: dict[str, Any], folder: Path, limit_s: float
) -> dict[str, list[dict[str, Any]]]:
    """What ingest and each call cost at n and at 4n."""
    found: dict[str, list[dict[str, Any]]] = {}
    for times in (1, TIMES):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        trace, archive = folder / "trace.json.gz", folder / "archive"
        write(times, trace)
        cost = measure.run_child(
            "ingested", traces=[str(trace)], archive=str(archive), job="grown", limit_s=10 * limit_s
        )
        rows = cost.said["rows"][0]["event_count"]
        found.setdefault("ingest", []).append({"cpu_s": cost.cpu_s, "rows": rows})
        answers = measure.run_child(
            "limited", archive=str(archive), calls=calls, call_limit_s=limit_s, repeats=REPEATS
        )
        memory = {"cpu_s": answers.cpu_s, "rows": answers.peak_bytes >> 20}
        found.setdefault("(all queries, MB)", []).append(memory)
        for name, answer in answers.said.items():
            found.setdefault(name, []).append(answer)
    shutil.rmtree(folder, ignore_errors=True)
    return found


def line(shape: str, name: str, before: dict[str, Any], after: dict[str, Any]) -> tuple[str, bool]:
    """A line of the table, and whether it tells of bad growth."""
    errors = [told["error"] for told in (before, after) if "error" in told]
    if errors:
        return f"! {shape:<20} {name:<28} {errors[-1]}", True
    times = after["cpu_s"] / max(before["cpu_s"], 1e-6)
    is_bad = times > TOLERATED and after["cpu_s"] > TOLD_FROM_S
    text = (
        f"{'!' if is_bad else ' '} {shape:<20} {name:<28} {before['cpu_s']:8.3f}"
        f" {after['cpu_s']:8.3f} {times:6.1f} {after['rows']:>10,}"
    )
    return text, is_bad


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", default="", metavar="REGEX", help="of these traces only")
    parser.add_argument("--queries", default="", metavar="REGEX", help="and these queries")
    parser.add_argument(
        "--events",
        type=int,
        default=25_000,
        metavar="N",
        help="about as many at first, and then four times as many [default: 25000]",
    )
    parser.add_argument(
        "--limit",
        type=float,
        default=60,
        metavar="S",
        help="end a query after as many seconds [default: 60]",
    )
    parser.add_argument("--bad-only", action="store_true", help="print only what grows too fast")
    folder = ROOT / "bench-data" / "growth"
    parser.add_argument(
        "--data",
        type=Path,
        default=folder,
        metavar="DIR",
        help="where traces and archives are meanwhile [bench-data/growth]",
    )
    options = parser.parse_args()
    calls = asked(options.queries)
    bad_count = 0
    print(f"  {'trace':<20} {'query':<28} {'n':>8} {'4n':>8} {'times':>6} {'rows at 4n':>10}")
    for name, write in traces(options.events).items():
        if not re.search(options.shapes, name):
            continue
        say(name)
        try:
            found = grown(write, calls, options.data, options.limit)
        except Failed as error:
            found = {"": [{"error": str(error)}] * 2}
        for query, (before, after) in found.items():
            text, is_bad = line(name, query, before, after)
            bad_count += is_bad
            if is_bad or not options.bad_only:
                print(text, flush=True)
    return 1 if bad_count else 0


if __name__ == "__main__":
    sys.exit(main())
