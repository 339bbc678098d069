"""Slow and obviously right counterpart of module_stats in Python.

It takes rows of gpu_activities and host_ops, and gives the rows of the query, in order. It also
serves for real traces, so that time is not a set of instants here.
"""

from queries.brute_annotations import covered
from queries.brute_force import grouped, selected

PREFIX = "nn.Module: "
REST = ()  # the path of what belongs to no module


def is_call(op) -> bool:
    return op["cat"] == "python_function" and (op["name"] or "").startswith(PREFIX)


def in_order(op) -> tuple:
    return op["start_ns"], -op["end_ns"], op["event_id"]


class Model:
    """The module calls of one rank, and where in the model they are."""

    def __init__(self, ops) -> None:
        self.ops = {op["event_id"]: op for op in ops}
        self.calls = [op for op in ops if is_call(op)]
        self.by_name = {}
        for call in sorted(self.calls, key=in_order):
            self.by_name.setdefault(call["name"], []).append(call)
        self.known = {}

    def path(self, event_id) -> tuple[str, ...]:
        """Names of the modules around a call and its own; of none for no call."""
        if event_id is None:
            return REST
        if event_id not in self.known:
            call = self.ops[event_id]
            around_id = call["module_id"]
            if around_id is None and call["is_backward"]:
                before = [
                    one
                    for one in self.by_name[call["name"]]
                    if in_order(one) < in_order(call) and not one["is_backward"]
                ]
                around_id = before[-1]["module_id"] if before else None
            self.known[event_id] = (*self.path(around_id), call["name"].removeprefix(PREFIX))
        return self.known[event_id]

    def owner(self, activity) -> tuple[tuple[str, ...], bool]:
        """Whose module's an activity is, and whether of a backward pass."""
        launch = self.ops.get(activity["launch_id"])
        if launch is None:
            return REST, False
        if launch["module_id"] is not None:
            return self.path(launch["module_id"]), bool(launch["is_backward"])
        if launch["forward_id"] is not None:
            return self.path(self.ops[launch["forward_id"]]["module_id"]), True
        return REST, bool(launch["is_backward"])


def module_stats(activities, ops, only_steps=None, **only):
    in_steps = selected(activities, only_steps=only_steps, **only)
    for (job, rank), of_rank in grouped(selected(ops, **only), "job", "rank"):
        model = Model(of_rank)
        if not model.calls:
            continue
        calls, children = {}, {}
        for call in sorted(model.calls, key=in_order):
            calls.setdefault(model.path(call["event_id"]), []).append(call)
            children.setdefault(call["module_id"], []).append(call)
        owned = [
            (model.owner(row), row) for row in in_steps if (row["job"], row["rank"]) == (job, rank)
        ]
        own, within = {}, {}
        for (path, is_backward), row in owned:
            own.setdefault((path, is_backward), []).append(row)
            for depth in range(1, len(path) + 1):
                within.setdefault((path[:depth], is_backward), []).append(row)
            if path == REST:
                within.setdefault((REST, is_backward), []).append(row)
        for path in [*calls, REST]:
            picked = selected(calls.get(path, []), only_steps=only_steps)
            result = {
                "job": job,
                "rank": rank,
                "module": "/".join(path) or None,
                "name": path[-1] if path else None,
                "depth": len(path) - 1 if path else None,
                "count": len(picked),
                "host_total_ns": sum(call["dur_ns"] for call in picked),
                "host_self_ns": sum(
                    call["dur_ns"] - covered(children.get(call["event_id"], [])) for call in picked
                ),
            }
            for name, is_backward in (("forward", False), ("backward", True)):
                rows = within.get((path, is_backward), [])
                own_rows = own.get((path, is_backward), [])
                result |= {
                    f"{name}_kernel_count": len(rows),
                    f"{name}_kernel_ns": sum(row["dur_ns"] for row in rows),
                    f"{name}_busy_ns": covered(rows),
                    f"{name}_self_kernel_count": len(own_rows),
                    f"{name}_self_kernel_ns": sum(row["dur_ns"] for row in own_rows),
                }
            result["example_event_id"] = min((call["event_id"] for call in picked), default=None)
            if picked or result["forward_kernel_count"] or result["backward_kernel_count"]:
                yield result
