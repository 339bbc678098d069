"""Slow and obviously right counterparts of call_stack and folded_stacks in Python.

They go up and down the links that rows of host_ops and gpu_activities have, and know nothing of
times but the order of callees. They also serve for real traces: what is of a rank is made once.
"""

import unicodedata
from collections import defaultdict
from functools import cache

from queries.brute_force import grouped, selected


class Rank:
    """The call stacks of one rank of a job."""

    def __init__(self, activities, ops) -> None:
        self.ops = {row["event_id"]: row for row in ops}
        self.activities = {row["event_id"]: row for row in activities}
        self.launched = defaultdict(list)
        for row in sorted(activities, key=lambda row: (row["start_ns"], row["event_id"])):
            self.launched[row["launch_id"]].append(row["event_id"])
        # In the order in which they come in a stack: those of the same thread, then others.
        self.callees = defaultdict(list)
        for row in sorted(
            ops,
            key=lambda row: (
                row["parent_id"] is None,
                row["start_ns"],
                -row["end_ns"] if row["parent_id"] is not None else 0,
                row["event_id"],
            ),
        ):
            self.callees[self.caller(row)].append(row["event_id"])
        # Levels of callees, activities and their time of each operation and all that it called.
        self.heights, self.counts, self.times = {}, {}, {}
        for root in self.callees[None]:
            for at in reversed(list(self.down(root))):
                below = self.callees[at]
                launched = [self.activities[one]["dur_ns"] for one in self.launched[at]]
                self.heights[at] = 1 + max([self.heights[callee] for callee in below], default=0)
                self.counts[at] = len(launched) + sum(self.counts[callee] for callee in below)
                self.times[at] = sum(launched) + sum(self.times[callee] for callee in below)

    @staticmethod
    def caller(op) -> int | None:
        return op["caller_id"] if op["parent_id"] is None else op["parent_id"]

    def up(self, op_id) -> list[int]:
        """An operation and its callers, outermost first."""
        found = []
        while op_id is not None:
            found.append(op_id)
            op_id = self.caller(self.ops[op_id])
        return found[::-1]

    def down(self, op_id):
        """An operation and all that it called, depth first."""
        waiting = [op_id]
        while waiting:
            at = waiting.pop()
            yield at
            waiting += reversed(self.callees[at])

    def op_row(self, op_id, relation):
        op = self.ops[op_id]
        return {
            "job": op["job"],
            "rank": op["rank"],
            "event_id": op_id,
            "relation": relation,
            "depth": len(self.up(op_id)) - 1,
            "height": self.heights[op_id],
            "parent_id": self.caller(op),
            "cat": op["cat"],
            "name": op["name"],
            "pid": op["pid"],
            "tid": op["tid"],
            "device": None,
            "stream": None,
            "start_ns": op["start_ns"],
            "dur_ns": op["dur_ns"],
            "kernel_count": self.counts[op_id],
            "kernel_ns": self.times[op_id],
        }

    def activity_row(self, activity_id, relation):
        row = self.activities[activity_id]
        return {
            "job": row["job"],
            "rank": row["rank"],
            "event_id": activity_id,
            "relation": relation,
            "depth": len(self.up(row["launch_id"])),
            "height": 0,
            "parent_id": row["launch_id"],
            "cat": row["cat"],
            "name": row["name"],
            "pid": None,
            "tid": None,
            "device": row["device"],
            "stream": row["stream"],
            "start_ns": row["start_ns"],
            "dur_ns": row["dur_ns"],
            "kernel_count": 1,
            "kernel_ns": row["dur_ns"],
        }

    def call_stack(self, of_event):
        if of_event in self.activities:
            op_id = self.activities[of_event]["launch_id"]
            ancestors = self.up(op_id)
        elif of_event in self.ops:
            op_id = of_event
            ancestors = self.up(op_id)[:-1]
        else:
            return
        yield from (self.op_row(at, "ancestor") for at in ancestors)
        listed = set(ancestors)
        if op_id == of_event:
            for at in self.down(of_event):
                yield self.op_row(at, "self" if at == of_event else "descendant")
                listed.add(at)
                yield from (self.activity_row(id, "activity") for id in self.launched[at])
        else:
            yield self.activity_row(of_event, "self")
        forward_id = None if op_id is None else self.ops[op_id]["forward_id"]
        for at in self.up(forward_id):
            if at not in listed:
                yield self.op_row(at, "forward" if at == forward_id else "forward_ancestor")

    def path(self, op_id, most) -> str:
        """Names from the outermost in; of each thread's own stack no more than so many."""
        own = [op_id]
        while (parent_id := self.ops[own[0]]["parent_id"]) is not None:
            own.insert(0, parent_id)
        caller = self.caller(self.ops[own[0]])
        frames = [] if caller is None else [self.path(caller, most)]
        frames += [frame(self.ops[at]["name"]) for at in own[:most]]
        return ";".join(frames + ["…"] * (most is not None and len(own) > most))

    def own_ns(self, op_id) -> int:
        """Without what it called on its thread, up to where this was crossed."""
        called = [self.ops[at] for at in self.callees[op_id]]
        return self.ops[op_id]["dur_ns"] - sum(
            (op["end_ns"] if op["cut_ns"] is None else op["cut_ns"]) - op["start_ns"]
            for op in called
            if op["parent_id"] == op_id
        )


@cache
def frame(name) -> str:
    """As in a folded stack."""
    plain = "".join(
        ":" if c == ";" else " " if unicodedata.category(c) == "Cc" else c for c in name or ""
    )
    return plain or "[unknown]"


def ranks(activities, ops):
    """(job, rank), its stacks; in order."""
    by_rank = defaultdict(lambda: ([], []))
    for at, rows in enumerate((activities, ops)):
        for row in rows:
            by_rank[row["job"], row["rank"]][at].append(row)
    return [(key, Rank(*by_rank[key])) for key in sorted(by_rank)]


def call_stack(activities, ops, of_event, of_rank=None, only_jobs=None):
    for (job, rank), stacks in ranks(activities, ops):
        if of_rank in (None, rank) and (only_jobs is None or job in only_jobs):
            yield from stacks.call_stack(of_event)


def folded_stacks(activities, ops, weight="gpu", most=None, **only):
    by_rank = dict(ranks(activities, ops))
    weights = defaultdict(int)
    for row in selected(activities if weight == "gpu" else ops, **only):
        job, rank = row["job"], row["rank"]
        stacks = by_rank[job, rank]
        if weight == "gpu":
            stack = frame(row["short_name"])
            if row["launch_id"] is not None:
                stack = f"{stacks.path(row['launch_id'], most)};{stack}"
            weights[job, rank, stack] += row["dur_ns"]
        else:
            stack = stacks.path(row["event_id"], most)
            weights[job, rank, stack] += stacks.own_ns(row["event_id"])
    rows = [
        {"job": job, "rank": rank, "stack": stack, "weight_ns": weight_ns}
        for (job, rank, stack), weight_ns in weights.items()
    ]
    for _, of_rank in grouped(rows, "job", "rank"):
        yield from sorted(of_rank, key=lambda row: (-row["weight_ns"], row["stack"]))
