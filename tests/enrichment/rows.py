"""Rows."""

from hand_written import span


def activity(name="gemm", ts=0, dur=10, cat="kernel", pid=0, tid=7, **args) -> dict:
    return span(name, ts, dur, cat, pid, tid, **args)
