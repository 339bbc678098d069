"""One run of the selected cases."""

import os
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import data
import measure
import whole_jobs
from cases import COUNTERPARTS, HTA_CALLS, calls, names
from data import say
from measure import COLD_ROUNDS, GROWTH_REPEATS, HTA_SCRIPT, LOAD_ROUNDS, Cost, Failed

CLI_ROUNDS = 5
WARM_REPEATS = 5


@dataclass
class Session:
    """One run of the selected cases; `costs` and `queries` hold what came out."""

    only: str
    size: str
    folder: Path
    with_hta: bool
    with_huge: bool
    hta_rounds: int = 1
    costs: dict[str, list[Cost]] = field(default_factory=dict)
    queries: dict[str, dict[str, Any]] = field(default_factory=dict)
    stacks: dict[str, dict[str, float]] = field(default_factory=dict)
    growth: dict[str, dict[str, float]] = field(default_factory=dict)
    ranks: dict[str, dict[str, float]] = field(default_factory=dict)
    diffs: dict[str, dict[str, float]] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    load_average: list[float] = field(default_factory=list)  # of the machine, before we began

    @property
    def archive(self) -> Path:
        return self.folder / "archive"

    @property
    def archive_bytes(self) -> int:
        return sum(file.stat().st_size for file in self.archive.rglob("*") if file.is_file())

    def run(self) -> None:
        self.selected = [name for name in names() if re.search(self.only, name)]
        self.one = data.job(self.folder, self.size, "one")
        self.trace = str(self.one.traces[0])
        self.versions = measure.run_child("versions").said
        self.load_average = list(os.getloadavg())
        self.load()
        if "load/workers" in self.selected:
            self.workers()
        if "load/huge" in self.selected and self.with_huge:
            self.huge()
        if any(name.startswith(("cli/", "query/")) for name in self.selected):
            self.ask()
        if {"load/stacks", "stacks"} & set(self.selected):
            self.with_stacks()
        if "growth" in self.selected:
            self.grow()
        if "ranks" in self.selected:
            whole_jobs.across_ranks(self)
        if "path" in self.selected:
            whole_jobs.path(self)
        if "shown" in self.selected:
            whole_jobs.shown(self)
        if "diff" in self.selected:
            whole_jobs.diff(self)

    def load(self) -> None:
        """The contestants in turns, so that a busy minute of the machine hits all of them."""
        contestants: list[tuple[str, int, Callable[[], Cost]]] = [
            ("load/ours", LOAD_ROUNDS, lambda: self.ingest(self.one, self.archive)),
            ("load/json", LOAD_ROUNDS, lambda: self.parse(collect=True)),
            ("load/json_without_gc", 1, lambda: self.parse(collect=False)),
            ("load/hta", self.hta_rounds, self.hta),
        ]
        wanted = set(self.selected) - ({"load/hta"} if not self.with_hta else set())
        if self.with_hta and any(f"query/{name}" in wanted for name in COUNTERPARTS):
            wanted.add("load/hta")  # its calls come with its load
        for turn in range(max(LOAD_ROUNDS, self.hta_rounds)):
            for name, rounds, contest in contestants:
                if name in wanted and turn < rounds:
                    self.measure(name, contest)

    def measure(self, name: str, run: Callable[[], Cost]) -> None:
        """Add a cost to a case; a failure is told and stops no other case."""
        try:
            cost = run()
        except Failed as error:
            failure = f"{name}: {error}"
            say(failure)
            if failure not in self.failures:
                self.failures.append(failure)
            return
        self.costs.setdefault(name, []).append(cost)
        say(f"{name}: {cost.wall_s:.2f} s, {cost.cpu_s:.2f} s CPU, {cost.peak_bytes / 1e9:.2f} GB")

    def ingest(self, job: data.Job, archive: Path, workers: int = 1, one_core: bool = True) -> Cost:
        """Into a fresh archive; every event that was generated has to be in it."""
        shutil.rmtree(archive, ignore_errors=True)
        traces = [str(trace) for trace in job.traces]
        cost = measure.run_child(
            "ours", traces=traces, archive=str(archive), workers=workers, one_core=one_core
        )
        counted = ("event_count", "gpu_activity_count", "host_op_count")
        planned = [{key: rank[key] for key in counted} for rank in job.truth["ranks"]]
        if cost.said["rows"] != [row | {"quarantined_count": 0} for row in planned]:
            raise Failed(f"wrong: read {cost.said['rows']}, generated were {planned}")
        return cost

    def parse(self, collect: bool) -> Cost:
        return measure.run_child("json_alone", trace=self.trace, collect=collect)

    def hta(self) -> Cost:
        """HTA's load as it measures itself; the times of its calls go to its queries."""
        said = measure.run_child(
            "load",
            python=data.hta_python(),
            script=HTA_SCRIPT,
            trace=self.trace,
            calls=HTA_CALLS,
            repeats=WARM_REPEATS,
            enough_s=10,
        ).said
        self.versions |= said["versions"]
        for query, call in COUNTERPARTS.items():
            found = self.queries.setdefault(query, {})
            found |= {"hta_call": call, "hta_s": said["calls"][call]}
        return Cost(said["wall_s"], said["cpu_s"], said["peak_bytes"])

    def workers(self) -> None:
        """Two ranks with one and with two workers, on all cores."""
        two = data.job(self.folder, self.size, "two")
        for _ in range(LOAD_ROUNDS):
            for workers, name in ((1, "one_worker"), (2, "two_workers")):
                archive = self.folder / "archive-two"
                self.measure(
                    f"load/{name}",
                    lambda n=workers, a=archive: self.ingest(two, a, n, one_core=False),
                )

    def huge(self) -> None:
        """A plain JSON file of 3 GB, for its memory."""
        huge = data.job(self.folder, self.size, "huge")
        archive = self.folder / "archive-huge"
        self.measure("load/huge", lambda: self.ingest(huge, archive))
        shutil.rmtree(archive, ignore_errors=True)

    def ask(self) -> None:
        """The command line and the queries, over the archive of the one-rank trace."""
        if "load/ours" not in self.costs:
            self.measure("prepare", lambda: self.ingest(self.one, self.archive))
            if "prepare" not in self.costs:
                return
        program = [sys.executable, "-m", "hta_sql.cli"]
        commands = {
            "cli/list": [*program, "list"],
            "cli/run": [*program, "run", "temporal_breakdown", str(self.archive)],
        }
        for _ in range(CLI_ROUNDS):
            for name, command in commands.items():
                if name in self.selected:
                    self.measure(name, lambda c=command: measure.run(c))
        asked = {name: call for name, call in calls().items() if f"query/{name}" in self.selected}
        self.measure("queries/warm", lambda: self.warm(asked))
        for _ in range(COLD_ROUNDS):
            for name, (query, parameters) in asked.items():
                self.measure(
                    f"query/{name}",
                    lambda q=query, p=parameters: measure.run_child(
                        "cold", archive=str(self.archive), query=q, parameters=p
                    ),
                )

    def warm(self, asked: dict[str, Any]) -> Cost:
        cost = measure.run_child(
            "warm",
            archive=str(self.archive),
            calls=asked,
            repeats=WARM_REPEATS,
            truth=str(self.one.truth_file),
        )
        for query, found in cost.said.items():
            self.queries[query] = self.queries.get(query, {}) | found
            if "error" in found:
                self.failures.append(f"query/{query}: {found['error']}")
            elif found["agrees"] is False:
                self.failures.append(f"query/{query}: wrong: it does not say what was generated")
        return cost

    def with_stacks(self) -> None:
        """A trace of which most are Python functions: its ingest, and every query over it."""
        job, archive = data.job(self.folder, self.size, "stacks"), self.folder / "archive-stacks"
        for _ in range(LOAD_ROUNDS):
            self.measure("load/stacks", lambda: self.ingest(job, archive))
        if "load/stacks" not in self.costs or "stacks" not in self.selected:
            return
        self.measure("stacks/warm", lambda: self.warm_of(archive))
        for cost in self.costs.get("stacks/warm", []):
            for query, found in cost.said.items():
                if "error" in found:
                    self.failures.append(f"stacks/{query}: {found['error']}")
                else:
                    self.stacks[query] = found

    def grow(self) -> None:
        """Every query over a trace and over one of ten times its steps."""
        for name in ("tenth", "whole"):
            job, archive = data.job(self.folder, self.size, name), self.folder / f"archive-{name}"
            self.measure(f"growth/{name} ingest", lambda j=job, a=archive: self.ingest(j, a))
            self.measure(f"growth/{name}", lambda a=archive: self.warm_of(a))
            if f"growth/{name}" not in self.costs:
                return
            for query, found in self.costs[f"growth/{name}"][-1].said.items():
                if "error" in found:
                    self.failures.append(f"growth/{query}: {found['error']}")
                else:
                    self.growth.setdefault(query, {})[f"{name}_s"] = found["warm_s"]
        for found in self.growth.values():
            found["times"] = found["whole_s"] / found["tenth_s"]

    def warm_of(self, archive: Path) -> Cost:
        return measure.run_child(
            "warm", archive=str(archive), calls=calls(), repeats=GROWTH_REPEATS
        )
