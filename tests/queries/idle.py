"""Queries of idle time: HTA's definition."""

from itertools import groupby

BREAKDOWN, GAPS = "idle_time_breakdown_v1", "idle_gaps_v1"


CAUSES = """
    event_id  start_ns  end_ns  launch_id  launch_start_ns
    1         0         10      101        -5
    2         14        20      102        8
    3         26        30      103        21
    4         50        60      104        30
    5         70        71      -          -
    6         101       102     -          -
"""


def placed(ops):
    """Host operations with their places in the stack of their thread, as the tables have them."""

    def thread(op):
        return str([op["job"], op["rank"], op["pid"], op["tid"]])

    for _, group in groupby(
        sorted(ops, key=lambda op: (thread(op), op["start_ns"], -op["end_ns"], op["event_id"])),
        thread,
    ):
        stack = []
        for op in group:
            op["cut_ns"] = None
            while stack and not around(stack[-1], op):
                if op["start_ns"] < stack[-1]["end_ns"]:
                    stack[-1]["cut_ns"] = op["start_ns"]
                stack.pop()
            op["depth"] = len(stack)
            op["parent_id"] = stack[-1]["event_id"] if stack else None
            stack.append(op)
    return ops


def around(outer, op):
    """Whether one that began before lies around another; two empty ones at one instant do."""
    both_empty = outer["start_ns"] == outer["end_ns"] == op["start_ns"] == op["end_ns"]
    return both_empty or op["start_ns"] < outer["end_ns"] >= op["end_ns"]
