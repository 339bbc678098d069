"""The cases: what is measured, and how. Every one is a name that `--only` can select."""

import os
import re
import sys
from pathlib import Path
from typing import Any

import data
import measure
from data import say
from loads import HTA_SCRIPT, LOAD_ROUNDS, WARM_REPEATS, Loads
from measure import Cost, Failed

from hta_sql.catalogue.catalog import Catalog

COLD_ROUNDS = 3
CLI_ROUNDS = 5
GROWTH_REPEATS = 3
# What a query cannot do without; and queries that are worth a second case.
PARAMETERS: dict[str, dict[str, Any]] = {
    "kernel_sequences": {"operator": "aten::linear", "min_length": 1},
    "call_stack": {"of_event": 0},  # the first step, with all that it called
}
SECOND_CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "annotation_stats(host)": ("annotation_stats", {"source": "host"}),
    "folded_stacks(host)": ("folded_stacks", {"weight": "host"}),
    "op_stats(by_shape)": ("op_stats", {"by_shape": True}),
}
# Ranks, and all-reduces of all of them. Of a timeline people ask for a window.
RANKS = {"full": {"ranks": 64, "collectives": 20_000}, "small": {"ranks": 8, "collectives": 500}}
PATH_STEP = 1
# Steps of the base and of the test whose operators are aligned: 100,000 of 11,000 a step.
ALIGNED = {"base_steps": [*range(9)], "test_steps": [*range(2, 11)]}
RANKS_PARAMETERS: dict[str, dict[str, Any]] = {
    "kernel_timeline": {"window_from_ns": 1_000_000_000, "window_until_ns": 2_000_000_000}
}


def calls() -> dict[str, tuple[str, dict[str, Any]]]:
    """What is asked: a query and its parameters, by the name of the case."""
    first = {name: (name, PARAMETERS.get(name, {})) for name in Catalog.load().newest}
    return first | SECOND_CASES


def names() -> list[str]:
    """All cases, in the order in which they are run and shown."""
    load = ["ours", "json", "json_without_gc", "hta", "workers", "huge", "stacks"]
    return [
        *(f"load/{name}" for name in load),
        "cli/list",
        "cli/run",
        *(f"query/{name}" for name in calls()),
        "stacks",
        "growth",
        "ranks",
        "path",
        "diff",
        "shown",
    ]


class Session(Loads):
    """One run of the selected cases; `costs` and `queries` hold what came out."""

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
            self.across_ranks()
        if "path" in self.selected:
            self.path()
        if "shown" in self.selected:
            self.shown()
        if "diff" in self.selected:
            self.diff()

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

    def across_ranks(self) -> None:
        """Every query across ranks over an archive of many, each in a process of its own."""
        parameters = RANKS[self.size]
        archive = self.folder / f"ranks-{parameters['ranks']}-{parameters['collectives']}"
        if not (archive / "traces.parquet").is_file():
            say("writing the archive of many ranks")
            measure.run_child("ranks", out=str(archive), parameters=parameters, one_core=False)
        for name, query in Catalog.load().newest.items():
            if query.theme != "comm":
                continue
            call = {name: (name, RANKS_PARAMETERS.get(name, {}))}
            self.measure(
                f"ranks/{name}",
                lambda c=call: measure.run_child(
                    "warm", archive=str(archive), calls=c, repeats=GROWTH_REPEATS
                ),
            )
            for cost in self.costs.get(f"ranks/{name}", []):
                found = cost.said[name]
                if "error" in found:
                    self.failures.append(f"ranks/{name}: {found['error']}")
                else:
                    self.ranks[name] = found | {"peak_gb": cost.peak_bytes / 1e9}

    def path(self) -> None:
        """The critical path of a step of 60,000 events, in turns with HTA's.

        HTA's time is that of its call alone, its trace loaded; ours, of a fresh process.
        """
        job, archive = data.job(self.folder, self.size, "path"), self.folder / "archive-path"
        self.measure("path/ingest", lambda: self.ingest(job, archive))
        for _ in range(LOAD_ROUNDS):
            self.measure(
                "path/ours", lambda: measure.run_child("path", archive=str(archive), step=PATH_STEP)
            )
            if self.with_hta:
                self.measure("path/hta", lambda: self.hta_path(str(job.traces[0])))

    def hta_path(self, trace: str) -> Cost:
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

    def diff(self) -> None:
        """Every query that compares two jobs, of 2 million events each, in a process of its own.

        HTA's time is that of its compare_traces alone, its traces loaded.
        """
        jobs = [self.one, data.job(self.folder, self.size, "other")]
        archive = self.folder / "archive-two"
        folders = [str(job.folder) for job in jobs]
        program = [sys.executable, "-m", "hta_sql.cli"]
        self.measure(
            "diff/ingest", lambda: measure.run([*program, "ingest", *folders, str(archive)])
        )
        asked = {
            name: (name, ALIGNED if name == "op_alignment" and self.size == "full" else {})
            for name, query in Catalog.load().newest.items()
            if query.theme == "compare"
        }
        for name, call in asked.items():
            self.measure(
                f"diff/{name}",
                lambda c={name: call}: measure.run_child(
                    "warm", archive=str(archive), calls=c, repeats=GROWTH_REPEATS
                ),
            )
            for cost in self.costs.get(f"diff/{name}", []):
                found = cost.said[name]
                if "error" in found:
                    self.failures.append(f"diff/{name}: {found['error']}")
                else:
                    self.diffs[name] = found | {"peak_gb": cost.peak_bytes / 1e9}
        names = [f"{archive}::{job.folder.name}" for job in jobs]
        for _ in range(COLD_ROUNDS):
            self.measure("diff/cli", lambda: measure.run([*program, "diff", *names]))
        if self.with_hta:
            self.measure("diff/hta", lambda: self.hta_diff(folders))

    def hta_diff(self, folders: list[str]) -> Cost:
        cost = measure.run_child(
            "diff",
            python=data.hta_python(),
            script=HTA_SCRIPT,
            traces=folders,
            repeats=GROWTH_REPEATS,
        )
        return Cost(cost.said["s"], cost.cpu_s, cost.peak_bytes)

    def shown(self) -> None:
        """The report on a job of 64 ranks of 100,000 events, and one step of it for Perfetto."""
        job, archive = data.job(self.folder, self.size, "many"), self.folder / "archive-many"
        program = [sys.executable, "-m", "hta_sql.cli"]
        self.measure(
            "shown/ingest",
            lambda: measure.run(
                [*program, "ingest", str(job.folder), str(archive)], one_core=False
            ),
        )
        out = str(self.folder / "report.html")
        trace = str(self.folder / "step.json.gz")
        for _ in range(COLD_ROUNDS):
            self.measure(
                "shown/report", lambda: measure.run([*program, "report", str(archive), "-o", out])
            )
            self.measure(
                "shown/perfetto",
                lambda: measure.run(
                    [*program, "export", "perfetto", str(archive), trace, "--step", "1"]
                ),
            )

    def warm_of(self, archive: Path) -> Cost:
        return measure.run_child(
            "warm", archive=str(archive), calls=calls(), repeats=GROWTH_REPEATS
        )
