"""Sentences in place of charts that would have one bar or one slice."""

from __future__ import annotations

from collections.abc import Iterable

from hta_sql.show.units import humane

# The parts of a device's time, and their columns in temporal_breakdown.
PARTS = (
    ("computing", "compute_ns"),
    ("exposed communication", "exposed_communication_ns"),
    ("exposed copies", "exposed_memory_ns"),
    ("idle", "idle_ns"),
)


def says_shares(what: str, named: Iterable[tuple[str, int]]) -> str:
    """What something's time consists of, such as "The critical path: 3.00 ms. Launches take 1.00 ms
    (33.3 %), ...". Parts that are 0 are left out."""
    parts = [(name, ns) for name, ns in named if ns]
    total = sum(ns for _, ns in parts)
    said = ", ".join(
        f"{name} {humane('t_ns', ns)} ({humane('_frac', ns / total)})" for name, ns in parts
    )
    return f"{what}: {humane('t_ns', total)}. {said[:1].upper()}{said[1:]}." if total else ""
