"""Real traces, repeated: their load, a first session with them, and small commands.

    python benchmarks/real.py                    # about 30 minutes
    python benchmarks/real.py --only 'session' --no-hta

The traces are those in ../shared/traces, which are not part of the project.
"""

import argparse
import json
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import data
import measure
import report
import shapes
from data import add_folder, say
from growth import REAL, TRACES
from measure import Cost, Failed, best
from targets import Target

PROGRAM = [sys.executable, "-m", "hta_sql.cli"]
# How often each is repeated, for about 1.9 million events and for 250,000.
LOADS = {"vllm_decode_capture": 15, "ns_resolution": 25, "trace_diff/control": 18}
SESSIONS = {"sglang_prefill": 4, "nccl": 6}
SMALL = TRACES / "simple_add" / "trace.json.gz"
# Six analyses by us and by HTA.
ANALYSES = {
    "temporal_breakdown": ("get_temporal_breakdown", {"visualize": False}),
    "comm_comp_overlap": ("get_comm_comp_overlap", {"visualize": False}),
    "kernel_stats": ("get_gpu_kernel_breakdown", {"visualize": False}),
    "idle_time_breakdown": ("get_idle_time_breakdown", {"visualize": False}),
    "launch_stats": ("get_cuda_kernel_launch_stats", {"visualize": False}),
    "queue_length_summary": ("get_queue_length_summary", {}),
}
HTA_SCRIPT = str(Path(__file__).with_name("hta_child.py"))
ROUNDS = 3
SMALL_ROUNDS = 5


def targets() -> list[Target]:
    loads = [
        target
        for name in LOADS
        for target in (
            Target(f"{name} cpu", "our CPU, one core / gzip + orjson", most=0.75),
            Target(f"{name} wall", "our wall, all cores / gzip + orjson", most=0.55),
            Target(f"{name} peak_gb", "our peak memory, GB", most=1),
            Target(f"{name} hta", "HTA's load / ours, one core", least=6),
        )
    ]
    sessions = [
        target
        for name in SESSIONS
        for target in (
            Target(f"{name} process", "HTA's load and six calls / ours, one process", least=2.5),
            Target(f"{name} commands", "the same / seven commands of ours", least=1.5),
        )
    ]
    return [
        *loads,
        *sessions,
        Target("first_s", "1,348 events into a new archive, a process, s", most=1.2),
        Target("next_s", "the next trace into it, s", most=0.8),
        Target("open_s", "hta_sql.open, in process, s", most=0.12),
        Target("run_s", "`hta-sql run temporal_breakdown`, a process, s", most=0.4),
    ]


@dataclass
class Session:
    only: str
    folder: Path
    with_hta: bool
    costs: dict[str, list[Cost]] = field(default_factory=dict)
    figures: dict[str, float] = field(default_factory=dict)

    def run(self) -> None:
        for name, times in LOADS.items():
            self.load(name, times)
        for name, times in SESSIONS.items():
            self.session(name, times)
        self.small()

    def measure(self, name: str, run: Callable[[], Cost], rounds: int = 1) -> Cost | None:
        if not re.search(self.only, name):
            return None
        for _ in range(rounds):
            try:
                cost = run()
            except Failed as error:
                say(f"{name}: {error}")
                continue
            self.costs.setdefault(name, []).append(cost)
            say(
                f"{name}: {cost.wall_s:.2f} s, {cost.cpu_s:.2f} s CPU, "
                f"{cost.peak_bytes / 1e9:.2f} GB"
            )
        return best(self.costs[name]) if name in self.costs else None

    def trace(self, name: str, times: int) -> str:
        out = self.folder / f"{name.replace('/', '-')}-{times}.json.gz"
        if not out.is_file():
            self.folder.mkdir(parents=True, exist_ok=True)
            shapes.repeated(TRACES / name / REAL[name], times, out)
        return str(out)

    def ingest(self, trace: str, one_core: bool, workers: int | None) -> Cost:
        archive = self.folder / "archive"
        shutil.rmtree(archive, ignore_errors=True)
        return measure.run_child(
            "ours", traces=[trace], archive=str(archive), workers=workers, one_core=one_core
        )

    def hta(self, trace: str, calls: dict[str, Any]) -> Cost:
        """HTA's load and calls, a process from its start to its end."""
        cost = measure.run_child(
            "load",
            python=data.hta_python(),
            script=HTA_SCRIPT,
            trace=trace,
            calls=calls,
            repeats=1,
            enough_s=1,
        )
        failed = [name for name, took in cost.said["calls"].items() if took is None]
        if failed:
            say(f"HTA failed in {', '.join(failed)}")
        return cost

    def load(self, name: str, times: int) -> None:
        """In turns, so that a busy minute of the machine hits all of them."""
        contestants: dict[str, tuple[int, Callable[[str], Cost]]] = {
            "json": (ROUNDS, lambda t: measure.run_child("json_alone", trace=t, collect=True)),
            "ours": (ROUNDS, lambda t: self.ingest(t, one_core=True, workers=1)),
            "cores": (ROUNDS, lambda t: self.ingest(t, one_core=False, workers=None)),
            "hta": (1 if self.with_hta else 0, lambda t: self.hta(t, {})),
        }
        wanted = {
            key: value
            for key, value in contestants.items()
            if re.search(self.only, f"load {name} {key}")
        }
        trace = self.trace(name, times) if wanted else ""
        for turn in range(ROUNDS):
            for key, (rounds, run) in wanted.items():
                if turn < rounds:
                    self.measure(f"load {name} {key}", lambda r=run: r(trace))
        cost = {
            key: best(self.costs[f"load {name} {key}"])
            for key in wanted
            if f"load {name} {key}" in self.costs
        }
        if {"json", "ours"} <= cost.keys():
            self.figures[f"{name} cpu"] = cost["ours"].cpu_s / cost["json"].cpu_s
            self.figures[f"{name} peak_gb"] = cost["ours"].peak_bytes / 1e9
        if {"json", "cores"} <= cost.keys():
            self.figures[f"{name} wall"] = cost["cores"].wall_s / cost["json"].wall_s
        if {"hta", "ours"} <= cost.keys():
            self.figures[f"{name} hta"] = cost["hta"].wall_s / cost["ours"].wall_s

    def session(self, name: str, times: int) -> None:
        """A trace into a new archive and six analyses; on one core."""
        if not re.search(self.only, f"session {name}"):
            return
        trace, archive = self.trace(name, times), str(self.folder / "archive")
        process = commands = hta = None
        for _ in range(ROUNDS):
            shutil.rmtree(archive, ignore_errors=True)
            process = self.measure(
                f"session {name} process",
                lambda: measure.run_child(
                    "session", trace=trace, archive=archive, queries=[*ANALYSES]
                ),
            )
            commands = self.measure(f"session {name} commands", lambda: seven(trace, archive))
            if self.with_hta:
                calls = dict(ANALYSES.values())
                hta = self.measure(f"session {name} hta", lambda c=calls: self.hta(trace, c))
        if process and commands and hta:
            self.figures[f"{name} process"] = hta.wall_s / process.wall_s
            self.figures[f"{name} commands"] = hta.wall_s / commands.wall_s

    def small(self) -> None:
        archive = self.folder / "archive"
        other = shutil.copy(SMALL, self.folder / "rank_1.json.gz")

        def first() -> Cost:
            shutil.rmtree(archive, ignore_errors=True)
            return measure.run([*PROGRAM, "ingest", str(SMALL), str(archive)])

        def opened() -> Cost:
            cost = measure.run_child("opened", archive=str(archive))
            return Cost(cost.said, cost.said, cost.peak_bytes)

        for _ in range(SMALL_ROUNDS):
            costs = {
                "first_s": self.measure("small first", first),
                "next_s": self.measure(
                    "small next",
                    lambda: measure.run(
                        [*PROGRAM, "ingest", str(other), str(archive), "--job", "other"]
                    ),
                ),
                "open_s": self.measure("small open", opened),
                "run_s": self.measure(
                    "small run",
                    lambda: measure.run([*PROGRAM, "run", "temporal_breakdown", str(archive)]),
                ),
            }
            self.figures |= {name: cost.wall_s for name, cost in costs.items() if cost}


def seven(trace: str, archive: str) -> Cost:
    """An ingest and six questions, a process each."""
    shutil.rmtree(archive, ignore_errors=True)
    commands = [["ingest", trace, archive], *(["run", query, archive] for query in ANALYSES)]
    costs = [measure.run([*PROGRAM, *command]) for command in commands]
    return Cost(
        sum(cost.wall_s for cost in costs),
        sum(cost.cpu_s for cost in costs),
        max(cost.peak_bytes for cost in costs),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="REGEX", help="run these cases only")
    parser.add_argument("--no-hta", action="store_true", help="leave HTA out")
    add_folder(parser, "real")
    options = parser.parse_args()
    session = Session(options.only, options.data.resolve(), not options.no_hta)
    session.run()
    rows = [
        [
            name,
            report.seconds(best(costs).wall_s),
            report.seconds(best(costs).cpu_s),
            f"{best(costs).peak_bytes / 1e9:.2f}",
            str(len(costs)),
        ]
        for name, costs in session.costs.items()
    ]
    print("\n".join(report.table(["best of runs", "wall s", "CPU s", "peak GB", "runs"], rows)))
    rows = [
        [
            target.figure,
            target.text,
            target.bound,
            report.number(session.figures[target.figure]),
            "met" if target.met_by(session.figures[target.figure]) else "MISSED",
        ]
        for target in targets()
        if target.figure in session.figures
    ]
    print("", *report.table(["figure", "what", "bound", "value", ""], rows, left=2), sep="\n")
    if not (options.only or options.no_hta):
        outcome = {
            "date": date.today().isoformat(),
            "machine": report.machine(),
            "costs": {name: best(costs).plain() for name, costs in session.costs.items()},
            "figures": session.figures,
        }
        file = report.RESULTS / f"real-{outcome['date'].replace('-', '')}.json"
        file.write_text(json.dumps(outcome, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
