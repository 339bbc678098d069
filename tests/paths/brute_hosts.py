"""The threads of a rank's window by the plainest means: every question asked of every row."""

from collections import defaultdict
from functools import cmp_to_key

LOADING = "enumerate(DataLoader)"
WAITS = ("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize")


class Host:
    """Everything in a window of one rank, and the edges of its threads."""

    def __init__(self, ops, activities, syncs, start, end, training=None):
        self.start, self.end = start, end
        self.all_activities = activities
        launched = {a.get("launch_id") for a in activities}
        loading = {
            o["event_id"] for o in ops if o["cat"] == "user_annotation" and LOADING in o["name"]
        }
        self.ops = [
            o
            for o in ops
            if start <= o["start_ns"] < end
            and (o["cat"] in ("cpu_op", "cuda_runtime") or o["event_id"] in loading)
            and (o["dur_ns"] > 0 or o["event_id"] in launched)
        ]
        self.loading = {
            o["event_id"]
            for o in ops
            if o["event_id"] in loading or o.get("annotation_id") in loading
        }
        self.op = {o["event_id"]: o for o in self.ops}
        self.acts = [
            a
            for a in activities
            if a.get("launch_id") in self.op
            or (a.get("launch_id") is None and start <= a["start_ns"] < end)
        ]
        self.act = {a["event_id"]: a for a in self.acts}
        self.all_ops, self.syncs, self.training = ops, syncs, training
        self.edges = []
        self.host_edges()
        self.handoffs()
        self.gpu_edges()
        self.from_outside()
        self.delays()

    def at(self, node):
        event, is_start = node
        if event is None:
            return self.start if is_start else self.end
        row = self.op.get(event) or self.act[event]
        return row["start_ns"] if is_start else row["start_ns"] + row["dur_ns"]

    def add(self, source, target, edge, event=None, time=0, why=None):
        self.edges.append(
            {
                "source": source,
                "target": target,
                "edge": edge,
                "event_id": event,
                "time_ns": max(0, time),
                "why": why,
            }
        )

    def points(self, thread):
        """In order: ends before starts at one instant, spans of no length within what begins."""
        nodes = [
            (o["event_id"], is_start)
            for o in self.ops
            if o["tid"] == thread
            for is_start in (True, False)
        ]

        def compare(a, b):
            (one, one_starts), other = a, b[0]
            if self.at(a) != self.at(b):
                return self.at(a) - self.at(b)
            phase = [
                (1 if starts else 0) if self.op[event]["dur_ns"] else (2 if starts else 3)
                for event, starts in (a, b)
            ]
            if phase[0] != phase[1]:
                return phase[0] - phase[1]
            length = self.op[other]["dur_ns"] - self.op[one]["dur_ns"] or one - other
            return length if one_starts else -length

        return sorted(nodes, key=cmp_to_key(compare))

    def host_edges(self):
        takes_nothing = {
            o["event_id"]
            for o in self.ops
            if o["cat"] == "cuda_runtime" and o["name"] in (*WAITS, "cudaEventQuery")
        }
        takes_nothing |= {a["launch_id"] for a in self.acts if self.is_waited_for(a)}
        for thread in {o["tid"] for o in self.ops}:
            points, stack = self.points(thread), []
            for before, after in zip([None, *points], points, strict=False):
                event, is_start = after
                if before:
                    time = self.at(after) - self.at(before)
                    if is_start and not stack:
                        self.add(before, after, "dependency")
                    else:
                        whose = before[0] if before[1] else event if not is_start else stack[-1]
                        if not is_start and event in takes_nothing:
                            time = 0
                        self.add(before, after, "operator", whose, time)
                if is_start:
                    stack.append(event)
                else:
                    stack.remove(event)

    def training_thread(self):
        if self.training in {o["tid"] for o in self.ops}:
            return self.training
        counts = defaultdict(int)
        for o in self.ops:
            counts[o["tid"]] += not o.get("is_backward")
        return min(counts, key=lambda tid: (-counts[tid], tid), default=None)

    def handoffs(self):
        taking_part = {o["tid"] for o in self.ops if o.get("is_backward")} | {
            self.training_thread()
        }
        outermost = []
        for thread in taking_part - {None}:
            level = 0
            for node in self.points(thread):
                level += 1 if node[1] else -1
                if level == (1 if node[1] else 0):
                    outermost.append((self.at(node), node[1], thread, len(outermost), node))
        outermost.sort(key=lambda row: row[:4])
        for one, other in zip(outermost, outermost[1:], strict=False):
            if not one[1] and other[1] and one[2] != other[2]:
                self.add(one[4], other[4], "dependency")

    def end_of(self, activity):
        return activity["start_ns"] + activity["dur_ns"]

    def previous(self, activity):
        key = activity["start_ns"], activity["event_id"]
        return max(
            (
                a
                for a in self.all_activities
                if a["stream"] == activity["stream"] and (a["start_ns"], a["event_id"]) < key
            ),
            key=lambda a: (a["start_ns"], a["event_id"]),
            default=None,
        )

    def is_waited_for(self, activity):
        """A copy into pageable memory behind other work of its stream."""
        previous = self.previous(activity)
        return (
            activity.get("launch_id") is not None
            and "Pageable" in activity["name"]
            and "DtoH" in activity["name"]
            and previous is not None
            and self.end_of(previous) >= activity["launch_start_ns"]
            and self.end_of(activity) - activity["launch_end_ns"] < 100_000
        )

    def given_before(self, stream, at):
        given = [
            a
            for a in self.acts
            if a["stream"] == stream and a.get("launch_id") and a["launch_start_ns"] <= at
        ]
        return max(given, key=lambda a: (a["start_ns"], a["event_id"]), default=None)
