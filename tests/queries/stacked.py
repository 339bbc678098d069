"""Where host operations stand in their threads' stacks, for rows that tests make up."""

from queries.brute_force import grouped

OPS = ("cpu_op", "Operator")


def is_module(op) -> bool:
    return op["cat"] == "python_function" and (op["name"] or "").startswith("nn.Module: ")


def in_order(op) -> tuple:
    return op["start_ns"], -op["end_ns"], op["event_id"]


def is_over(earlier, op) -> bool:
    """Whether one has ended when the other begins; two empty ones at one instant nest."""
    both_empty = earlier["start_ns"] == earlier["end_ns"] == op["start_ns"] == op["end_ns"]
    return earlier["end_ns"] <= op["start_ns"] and not both_empty


def with_places(ops) -> None:
    """Give each operation its place, as ingest would.

    An operator with a true `is_backward` is of a backward pass, that of its `forward_id` or of an
    operator that is not known; what is in it inherits both.
    """
    for _, thread in grouped(ops, "job", "rank", "pid", "tid"):
        stack, begun = [], []
        for op in sorted(thread, key=in_order):
            while stack and is_over(stack[-1], op):
                stack.pop()
            while stack and stack[-1]["end_ns"] < op["end_ns"]:
                stack.pop()["cut_ns"] = op["start_ns"]
            begun = [one for one in begun if not is_over(one, op)]
            around = [one for one in begun if one["end_ns"] >= op["end_ns"]]

            def innermost(wanted, around=around):
                return next((one for one in reversed(around) if wanted(one)), {}).get("event_id")

            op["parent_id"] = stack[-1]["event_id"] if stack else None
            op["depth"] = len(stack)
            op["root_id"] = (stack or [op])[0]["event_id"]
            op["op_id"] = innermost(lambda one: one["cat"] in OPS)
            op["annotation_id"] = innermost(lambda one: one["cat"] == "user_annotation")
            op["module_id"] = innermost(is_module)
            if not op.get("is_backward"):
                backward = [one for one in around if one["cat"] in OPS and one["is_backward"]]
                op["is_backward"] = bool(backward)
                op["forward_id"] = backward[-1]["forward_id"] if backward else None
            stack.append(op)
            begun.append(op)
