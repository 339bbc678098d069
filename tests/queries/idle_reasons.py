"""Drawn host operations around gaps of a device."""

from queries.idle import placed
from queries.small_tables import completed

REASONS = "idle_reasons"
HEAD = "device start_ns end_ns launch_id launch_start_ns launch_end_ns launch_pid launch_tid"


def drawn(text, scale=1, offset=0, **more):
    """Host operations of one thread: each line `[==) cat name` with its times as drawn."""
    ops = []
    for line in filter(str.strip, text.splitlines()):
        start, end = line.index("["), line.index(")")
        cat, name = line[end + 1 :].split(maxsplit=1)
        times = {"start_ns": offset + scale * start, "end_ns": offset + scale * end}
        ops.append(completed("host_ops", {"cat": cat, "name": name} | times | more, len(ops)))
    return placed(ops)


def gap(start, end, launch, scale=1, offset=0, device=0, thread="1 1"):
    """Two activities around a gap; the second has a launch."""
    start, end, begun, returned = (offset + scale * at for at in (start, end, *launch))
    return f"""
        {device} {start - 5} {start} - - - - -
        {device} {end} {end + 5} {9 + device} {begun} {returned} {thread}
    """


def reasons(gpu, activities, ops, **given):
    """(cause, name, outer_name, time) of each row."""
    gpu.fill(f"{HEAD}\n{activities}", ops)
    columns = ("cause", "name", "outer_name", "idle_ns")
    rows = [tuple(row[column] for column in columns) for row in gpu.run(REASONS, **given)]
    assert gpu.broken_promises(REASONS, **given) == []
    return rows


def names(gpu, activities, ops):
    """{innermost: outermost} of all rows."""
    return {name: outer for _, name, outer, _ in reasons(gpu, activities, ops)}
