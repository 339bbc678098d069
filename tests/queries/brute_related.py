"""under_operator, after_event, before_event and between_events, span by span in plain Python."""

from fnmatch import fnmatchcase

from queries.stacked import in_order


def fits(op, pattern: str) -> bool:
    return op["name"] is not None and fnmatchcase(op["name"], pattern.replace("%", "*"))


def until(op) -> int:
    return max(op["end_ns"], op["start_ns"] + 1)


def of_rank(op, ops):
    return [one for one in ops if (one["job"], one["rank"]) == (op["job"], op["rank"])]


def outermost(op, ops, pattern) -> dict | None:
    """The first operator of the thread around a span, or itself, that is inside no other."""
    thread = [one for one in of_rank(op, ops) if (one["pid"], one["tid"]) == (op["pid"], op["tid"])]
    named = [one for one in thread if fits(one, pattern)]

    def around(inner):
        return [
            one
            for one in named
            if in_order(one) <= in_order(inner)
            and one["end_ns"] >= inner["end_ns"]
            and until(one) > inner["start_ns"]
        ]

    return max((one for one in around(op) if around(one) == [one]), key=in_order, default=None)


def under(ops, pattern) -> dict[tuple, int]:
    found = {}
    for op in ops:
        root = next(one for one in of_rank(op, ops) if one["event_id"] == op["root_id"])
        caller = [one for one in of_rank(op, ops) if one["event_id"] == root.get("caller_id")]
        places = [outermost(one, ops, pattern) for one in [*caller, op]]
        if top := next(filter(None, places), None):
            found[op["job"], op["rank"], op["event_id"]] = {"under_id": top["event_id"]}
    return found


def after(ops, pattern):
    found = {}
    for op in ops:
        ended = [
            one for one in of_rank(op, ops) if fits(one, pattern) and until(one) <= op["start_ns"]
        ]
        if ended:
            last = max(ended, key=lambda one: (until(one), one["event_id"]))
            found[op["job"], op["rank"], op["event_id"]] = {"after_id": last["event_id"]}
    return found


def before(ops, pattern):
    found = {}
    for op in ops:
        begun = [
            one for one in of_rank(op, ops) if fits(one, pattern) and one["start_ns"] >= until(op)
        ]
        if begun:
            first = min(begun, key=lambda one: (one["start_ns"], -one["event_id"]))
            found[op["job"], op["rank"], op["event_id"]] = {"before_id": first["event_id"]}
    return found


def between(ops, first, second):
    """Over all pairs; of those with the span between them the pair that begins last."""
    found = {}
    for op in ops:
        pairs = []
        for one in of_rank(op, ops):
            nexts = [
                other
                for other in of_rank(op, ops)
                if fits(other, second) and other["start_ns"] >= until(one)
            ]
            if not (fits(one, first) and nexts and until(one) <= op["start_ns"]):
                continue
            other = min(nexts, key=lambda one: (one["start_ns"], -one["event_id"]))
            if until(op) <= other["start_ns"]:
                pairs.append((until(one), one["event_id"], other["event_id"]))
        if pairs:
            _, after_id, before_id = max(pairs)
            key = op["job"], op["rank"], op["event_id"]
            found[key] = {"after_id": after_id, "before_id": before_id}
    return found


def listed(tables, found) -> list[dict]:
    """The rows of a result: of the operations, and of the activities that they launched."""
    rows = []
    for table, key in (("host_ops", "event_id"), ("gpu_activities", "launch_id")):
        for event in tables[table]:
            ids = found.get((event["job"], event["rank"], event[key]))
            if ids:
                is_op = table == "host_ops"
                rows.append(
                    {
                        "job": event["job"],
                        "rank": event["rank"],
                        "event_id": event["event_id"],
                        **ids,
                        "cat": "cpu_op" if is_op else "kernel",
                        "name": event["name"] if is_op else "k",
                        "step": event["step"],
                        "start_ns": event["start_ns"],
                        "dur_ns": event["end_ns"] - event["start_ns"],
                    }
                )
    return sorted(rows, key=lambda row: (row["job"], row["rank"], row["event_id"]))
