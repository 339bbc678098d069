"""Instants of memory, drawn."""

import json

TIMELINE, PEAK = "memory_timeline", "memory_peak"


SEEDS = range(4)


JOBS = 25  # in one table, so that a few hundred small cases cost a few dozen calls


UNIX = 1_776_115_350_000_000_000


def memory(at_ns, bytes_=0, allocated=None, reserved=None, device=0, device_type=1, **more):
    """An instant, as Kineto writes it."""
    args = {
        "Total Reserved": reserved,
        "Total Allocated": allocated,
        "Bytes": bytes_,
        "Addr": 5,
        "Device Id": device,
        "Device Type": device_type,
        "Ev Idx": 1,
    }
    told = {name: value for name, value in args.items() if value is not None}
    return {
        "ph": "i",
        "cat": "cpu_instant_event",
        "name": "[memory]",
        "pid": "1",
        "tid": "1",
        "start_ns": at_ns,
        "args": json.dumps(told),
    } | more


def step(number, start, end, **more):
    return {
        "cat": "user_annotation",
        "name": f"ProfilerStep#{number}",
        "start_ns": start,
        "end_ns": end,
        "depth": 0,
    } | more


def shown(host, query, *columns, **parameters):
    """These columns of a result, whose promises hold."""
    rows = [tuple(row[column] for column in columns) for row in host.run(query, **parameters)]
    assert host.broken_promises(query, **parameters) == []
    return rows
