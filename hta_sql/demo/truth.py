"""The figures that an analysis of the job must give, computed simply from the planned records."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from hta_sql.demo.faults import WITHOUT_GAIN, Fault
from hta_sql.demo.plan import Job
from hta_sql.demo.process import Rank
from hta_sql.demo.records import Activity, StepRecords

MOST_COLLECTIVES = 20_000


def exclusive_ns(activities: list[Activity]) -> Counter:
    """Time with exactly these kinds active, by sorted tuples of kinds. Idle time is left out."""
    edges = []
    for activity in activities:
        edges.append((activity.start_ns, 1, activity.work.kind))
        edges.append((activity.end_ns, -1, activity.work.kind))
    edges.sort()
    active, lasted, before = Counter(), Counter(), 0
    for at, change, kind in edges:
        kinds = tuple(sorted(name for name, count in active.items() if count))
        if kinds and at > before:
            lasted[kinds] += at - before
        active[kind] += change
        before = at
    return lasted


def figures(exclusive: Counter, span_ns: int) -> dict:
    """The breakdown of a device's time, from its exclusive times."""

    def total(test) -> int:
        return sum(ns for kinds, ns in exclusive.items() if test(set(kinds)))

    busy = total(bool)
    return {
        "span_ns": span_ns,
        "busy_ns": busy,
        "idle_ns": span_ns - busy,
        "compute_ns": total(lambda kinds: "computation" in kinds),
        "communication_ns": total(lambda kinds: "communication" in kinds),
        "memory_ns": total(lambda kinds: "memory" in kinds),
        "exposed_communication_ns": total(
            lambda kinds: "communication" in kinds and "computation" not in kinds
        ),
        "exposed_memory_ns": total(lambda kinds: kinds == {"memory"}),
        "overlap_ns": total(lambda kinds: kinds >= {"communication", "computation"}),
        "exclusive_ns": {"+".join(kinds): ns for kinds, ns in sorted(exclusive.items())},
    }


class RankTruth:
    """Collects the figures of one rank, step by step."""

    def __init__(self, rank: Rank):
        self.rank = rank
        self.first_ns = self.last_ns = None
        self.exclusive: Counter = Counter()
        self.steps: list[dict] = []
        self.depths: Counter = Counter()
        self.kernels: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        self.copies: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
        self.gpu_activity_count = 0

    def add(self, records: StepRecords) -> None:
        """Add a step."""
        self.depths.update(op.depth for op in records.host_ops)
        self.depths.update(call.depth for call in records.calls)
        self.gpu_activity_count += len(records.activities)
        for activity in records.activities:
            self._add_name(activity)
        exclusive = exclusive_ns(records.activities)
        self.exclusive += exclusive
        span = 0
        if records.activities:
            first = min(activity.start_ns for activity in records.activities)
            last = max(activity.end_ns for activity in records.activities)
            # Sums over steps are right only if activities of different steps do not overlap.
            if self.last_ns is not None and first < self.last_ns:
                raise ValueError(f"step {records.number} overlaps the step before it on the GPU")
            self.first_ns = first if self.first_ns is None else self.first_ns
            self.last_ns, span = last, last - first
        if records.number is not None:
            step = records.host_ops[0]
            self.steps.append(
                {
                    "step": records.number,
                    "start_ns": step.start_ns,
                    "dur_ns": step.end_ns - step.start_ns,
                    "kernel_count": len(records.activities),
                    "op_count": sum(op.op.category == "cpu_op" for op in records.host_ops),
                    **figures(exclusive, span),
                }
            )

    def _add_name(self, activity: Activity) -> None:
        work, dur = activity.work, activity.end_ns - activity.start_ns
        if work.category == "kernel":
            total = self.kernels[work.name]
        else:
            total = self.copies[work.name]
            total[2] += work.bytes
        total[0] += 1
        total[1] += dur

    def result(self, event_count: int) -> dict:
        """The figures of all steps that were added."""
        span = self.last_ns - self.first_ns if self.first_ns is not None else 0
        return {
            "rank": self.rank.number,
            "clock_offset_ns": self.rank.clock.offset_ns,
            "drift_ppm": self.rank.clock.drift_ppm,
            "event_count": event_count,
            "gpu_activity_count": self.gpu_activity_count,
            "host_op_count": self.depths.total(),
            "device": figures(self.exclusive, span),
            "steps": self.steps,
            "kernels": {
                name: {"count": count, "total_ns": ns}
                for name, (count, ns) in sorted(self.kernels.items())
            },
            "copies": {
                name: {"count": count, "total_ns": ns, "bytes": size}
                for name, (count, ns, size) in sorted(self.copies.items())
            },
            "call_stack": {
                "max_depth": max(self.depths, default=0),
                "root_count": self.depths[0],
                "host_op_count_by_depth": [self.depths[i] for i in range(len(self.depths))],
            },
        }


class JobTruth:
    """Collects the figures of all ranks, and their collectives."""

    def __init__(self, job: Job):
        self.job = job
        self.ranks = [RankTruth(rank) for rank in job.ranks]
        self.collectives: dict[int, dict] = {}

    def add(self, step: list[StepRecords], with_comms_id: bool) -> None:
        """Add a step of all ranks."""
        for rank, (truth, records) in enumerate(zip(self.ranks, step, strict=True)):
            truth.add(records)
            if self.job.collectives > MOST_COLLECTIVES:
                self.collectives.clear()
                continue
            for activity in records.activities:
                if activity.collective:
                    self._add_member(rank, activity, with_comms_id)

    def _add_member(self, rank: int, activity: Activity, with_comms_id: bool) -> None:
        collective, group = activity.collective, activity.collective.group
        if collective.number not in self.collectives:
            self.collectives[collective.number] = {
                "id": collective.number,
                "name": collective.name,
                "process_group": group.name,
                "description": group.description,
                "members": list(group.members),
                "seq": collective.seq,
                "comms_id": collective.comms_id if with_comms_id else None,
                "dtype": "BFloat16",
                "in_nelems": collective.elements_in,
                "out_nelems": collective.elements_out,
                "ranks": {},
            }
        self.collectives[collective.number]["ranks"][str(rank)] = {
            "start_ns": activity.start_ns,
            "dur_ns": activity.end_ns - activity.start_ns,
        }

    def result(self, parameters: dict, event_counts: list[int]) -> dict:
        """The contents of `truth.json`."""
        return {
            "parameters": parameters,
            # A rank's clock shows t + clock_offset_ns + (t - clock_reference_ns) * drift_ppm / 1e6.
            "clock_reference_ns": self.job.ranks[0].clock.reference_ns,
            "tick_ns": self.job.tick_ns,
            "straggler": parameters["straggler"],
            "ranks": [
                truth.result(count) for truth, count in zip(self.ranks, event_counts, strict=True)
            ],
            "collective_count": self.job.collectives,
            "collectives": list(self.collectives.values()),
        }


def fault_truths(
    job: Job, faults: Sequence[Fault], job_with: Callable[[Sequence[Fault]], Job]
) -> list[dict]:
    """What each fault of a planned job names, and how much shorter its steps are without it.

    That comes from the plan of the same job with this fault repaired. The largest gain is first;
    warnings have none, and are last.
    """
    entries = []
    for at, fault in enumerate(faults):
        gain_ns = None
        if fault.rule not in WITHOUT_GAIN:
            without = job_with([*faults[:at], fault.repaired(), *faults[at + 1 :]])
            for _ in without.steps():
                pass
            gain_ns = job.mean_step_ns() - without.mean_step_ns()
        entries.append(
            {
                "rule": fault.rule,
                "ranks": None if fault.ranks is None else list(fault.ranks),
                **job.planted[at],
                "gain_ns": gain_ns,
            }
        )
    return sorted(entries, key=lambda entry: -(entry["gain_ns"] or 0))
