"""The graph of a rank's window by the plainest means: every question asked of every row.

Rows are dicts as tests write them into archives. Gives edges as dicts, with nodes as pairs of an
event and whether it is its start; the window is None.
"""

from collections import defaultdict

from paths.brute_hosts import WAITS, Host


class Window(Host):
    """Everything in a window of one rank, and the edges between it."""

    def waits(self):
        """(activity waited for, event that waits, whether that is a call)."""
        calls = {o["correlation"]: o for o in self.all_ops if o.get("correlation")}
        found, told = set(), set()
        for sync in self.syncs:
            call = calls.get(sync["correlation"])
            record = calls.get(sync.get("record"))
            if not call:
                continue
            at = call["start_ns"]
            if sync["name"] == "Stream Sync":
                sources = [self.given_before(sync["stream"], at)]
            elif sync["name"] == "Context Sync":
                sources = [self.given_before(s, at) for s in {a["stream"] for a in self.acts}]
            else:
                is_before = record and record["start_ns"] <= at
                sources = [is_before and self.given_before(sync["wait_on"], record["start_ns"])]
            for source in sources:
                if not source:
                    continue
                if sync["name"] != "Stream Wait Event":
                    if self.end_of(source) - self.end_of(call) >= 100_000:
                        continue
                    told.add(call["event_id"])
                    found.add((source["event_id"], call["event_id"], True))
                    continue
                later = [
                    a
                    for a in self.acts
                    if a["stream"] == sync["stream"]
                    and a.get("launch_id")
                    and a["launch_start_ns"] >= at
                ]
                if later:
                    first = min(later, key=lambda a: (a["start_ns"], a["event_id"]))
                    if self.end_of(source) - first["start_ns"] < 100_000:
                        found.add((source["event_id"], first["event_id"], False))
        for o in self.ops:
            if o["cat"] != "cuda_runtime" or o["name"] not in WAITS or o["event_id"] in told:
                continue
            end = o["start_ns"] + o["dur_ns"]
            ended = [a for a in self.acts if self.end_of(a) <= end]
            last = max(ended, key=lambda a: (self.end_of(a), a["event_id"]), default=None)
            given = last and (
                last["launch_start_ns"] if last.get("launch_id") else last["start_ns"]
            )
            if last and self.end_of(last) > o["start_ns"] and given <= o["start_ns"]:
                found.add((last["event_id"], o["event_id"], True))
        for a in self.acts:
            if self.is_waited_for(a):
                found.add((a["event_id"], a["launch_id"], True))
        return found

    def gpu_edges(self):
        waits = self.waits()
        for source, target, is_call in waits:
            if target in self.op or target in self.act:
                self.add(
                    (source, False),
                    (target, not is_call),
                    "sync_dependency",
                    why=None if is_call else "stream",
                )
        for a in self.acts:
            event, start = a["event_id"], a["start_ns"]
            self.add((event, True), (event, False), "operator", event, a["dur_ns"])
            previous = self.previous(a)
            launch = a.get("launch_id")
            launch_ns = a["launch_start_ns"] if launch is not None else None
            waited = [
                self.end_of(self.act[s]) for s, t, is_call in waits if t == event and not is_call
            ]
            known = [
                ns
                for ns in (launch_ns, previous and self.end_of(previous), *waited)
                if ns is not None
            ]
            last = max(known, default=None)
            explained = max(
                [*known, *([a["launch_end_ns"]] if launch is not None else [])], default=None
            )

            def ended(of, start=start):
                of = [o for o in of if self.end_of(o) <= start and o["dur_ns"]]
                return max(of, key=lambda o: (self.end_of(o), o["event_id"]), default=None)

            guess = None
            if known:
                in_graph = "GraphLaunch" in (a.get("launch_name") or "") and ended(
                    [o for o in self.acts if o.get("launch_id") == launch]
                )
                on_device = ended(self.acts)
                if in_graph and self.end_of(in_graph) > last:
                    guess = in_graph
                elif (
                    start - explained >= 100_000
                    and on_device
                    and (self.end_of(on_device) > explained)
                ):
                    guess = on_device
            if guess:
                self.add((guess["event_id"], False), (event, True), "sync_dependency", why="stream")
                reason = "guess"
            elif known:
                reason = (
                    "wait"
                    if last in waited
                    else "previous"
                    if previous and self.end_of(previous) == last
                    else "launch"
                )
            else:
                reason = None
            if launch is not None:
                delay = start - launch_ns
                edge = (
                    "order"
                    if reason != "launch"
                    else "dependency"
                    if delay >= 1_500_000
                    else "kernel_launch_delay"
                )
                is_delay = edge == "kernel_launch_delay"
                self.add(
                    (launch, True),
                    (event, True),
                    edge,
                    event if is_delay else None,
                    delay if is_delay else 0,
                    "launch",
                )
            if previous and previous["event_id"] in self.act:
                delay = start - self.end_of(previous)
                edge = (
                    "order"
                    if reason != "previous"
                    else "dependency"
                    if delay >= 1_500_000
                    else "kernel_kernel_delay"
                )
                is_delay = edge == "kernel_kernel_delay"
                self.add(
                    (previous["event_id"], False),
                    (event, True),
                    edge,
                    previous["event_id"] if is_delay else None,
                    delay if is_delay else 0,
                    "stream",
                )
            elif reason == "previous":
                self.add((None, True), (event, True), "order", why="outside")

    def from_outside(self):
        reached = {e["target"] for e in self.edges if e["why"] != "outside"}
        nodes = [(event, is_start) for event in (*self.op, *self.act) for is_start in (True, False)]
        for node in nodes:
            if node not in reached:
                self.add((None, True), node, "order", why="outside")
        thread = self.training_thread()
        last = [n for n in self.points(thread) if self.at(n) <= self.end] if thread else []
        self.add(last[-1] if last else (None, True), (None, False), "order")

    def delays(self):
        launches = [e["time_ns"] for e in self.edges if e["edge"] == "kernel_launch_delay"]
        launch = lower_median(launches)
        due = {
            e["target"]: self.at(e["source"]) + launch for e in self.edges if e["why"] == "launch"
        }
        streams = [
            e["time_ns"]
            for e in self.edges
            if e["edge"] == "kernel_kernel_delay"
            and due.get(e["target"], self.at(e["source"])) <= self.at(e["source"])
        ]
        usual = {"launch": launch, "stream": lower_median(streams), None: 0}
        by_target = defaultdict(list)
        for e in self.edges:
            by_target[e["target"]].append(e)
        for target, edges in by_target.items():
            inside = [e for e in edges if e["why"] != "outside"]
            is_outside = len(inside) < len(edges)
            expected = [self.at(e["source"]) + usual[e["why"]] for e in inside]
            ready = max((self.at(e["source"]) for e in inside), default=None)
            for e in edges:
                whole = self.at(target) - self.at(e["source"])
                if e["why"] == "outside":
                    e["delay_ns"] = whole
                elif not is_outside and (self.at(e["source"]) + usual[e["why"]] == max(expected)):
                    e["delay_ns"] = whole
                elif e["why"]:
                    e["delay_ns"] = min(whole, usual[e["why"]])
                else:
                    e["delay_ns"] = min(whole, self.at(target) - ready)

    def bound_by(self, e):
        if e["edge"] in ("kernel_launch_delay", "kernel_kernel_delay"):
            return {
                "kernel_launch_delay": "gpu_kernel_launch_overhead",
                "kernel_kernel_delay": "gpu_kernel_kernel_overhead",
            }[e["edge"]]
        if e["edge"] != "operator":
            return None
        if e["event_id"] in self.act:
            is_communication = self.act[e["event_id"]]["kind"] == "communication"
            return "gpu_communication_bound" if is_communication else "gpu_compute_bound"
        return "data_loading" if e["event_id"] in self.loading else "cpu_bound"


def lower_median(values):
    if not values:
        return 0
    return sorted(values)[(len(values) - 1) // 2]


def most_taken(edges):
    """The time of the longest path, by trying all of them."""
    by_source = defaultdict(list)
    for e in edges:
        if e["edge"] != "order":
            by_source[e["source"]].append(e)
    known = {}

    def from_here(node):
        if node not in known:
            known[node] = max(
                (e["time_ns"] + from_here(e["target"]) for e in by_source[node]), default=0
            )
        return known[node]

    return max((from_here(node) for node in list(by_source)), default=0)
