"""The kinds of list in a file: events of a trace, or nodes of an execution trace."""

from __future__ import annotations

import re
from typing import NamedTuple


class ListKind(NamedTuple):
    """The list that is nearly all of a file: its key, keys that only its elements have (`marks`),
    and a key that an element needs to be useful, unless it is metadata (`needed`)."""

    key: str
    marks: frozenset[str]
    element: str  # what messages call one
    needed: str


EVENTS = ListKind("traceEvents", frozenset({"ph"}), "event", "ts")
NODES = ListKind("nodes", frozenset({"ctrl_deps", "rf_id"}), "node", "id")


def is_element(value: object, kind: ListKind) -> bool:
    return isinstance(value, dict) and not kind.marks.isdisjoint(value)


def is_usable(value: object, kind: ListKind) -> bool:
    return is_element(value, kind) and (kind.needed in value or value.get("ph") == "M")


def list_start(kind: ListKind) -> re.Pattern[bytes]:
    """A pattern for the opening of that list."""
    return re.compile(rb'"%s"\s*:\s*\[' % kind.key.encode())


EVENTS_KEY = list_start(EVENTS)
