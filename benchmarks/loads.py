"""How long it takes to read traces: ours, plain JSON, HTA."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import data
import measure
from data import say
from measure import Cost, Failed

LOAD_ROUNDS = 3
WARM_REPEATS = 5
HTA_SCRIPT = str(Path(__file__).with_name("hta_child.py"))
# What HTA calls our queries. Its kernel breakdown does two of them in one call.
HTA_CALLS: dict[str, dict[str, Any]] = {
    "get_temporal_breakdown": {"visualize": False},
    "get_comm_comp_overlap": {"visualize": False},
    "get_gpu_kernel_breakdown": {"visualize": False},
    "get_profiler_steps": {},
    "get_idle_time_breakdown": {"visualize": False},
    "get_cuda_kernel_launch_stats": {"visualize": False},
    "get_queue_length_time_series": {},
    "get_queue_length_summary": {},
    "get_memory_bw_time_series": {},
    "get_memory_bw_summary": {},
    "get_gpu_user_annotation_breakdown": {"visualize": False},
}
COUNTERPARTS = {
    "temporal_breakdown": "get_temporal_breakdown",
    "comm_comp_overlap": "get_comm_comp_overlap",
    "kernel_kind_breakdown": "get_gpu_kernel_breakdown",
    "kernel_stats": "get_gpu_kernel_breakdown",
    "profiler_steps": "get_profiler_steps",
    "idle_time_breakdown": "get_idle_time_breakdown",
    "launch_stats": "get_cuda_kernel_launch_stats",
    "queue_length_series": "get_queue_length_time_series",
    "queue_length_summary": "get_queue_length_summary",
    "memory_bandwidth_series": "get_memory_bw_time_series",
    "memory_bandwidth_summary": "get_memory_bw_summary",
    "annotation_stats": "get_gpu_user_annotation_breakdown",
}


@dataclass
class Loads:
    """What came out of the selected cases, and those that read traces."""

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
