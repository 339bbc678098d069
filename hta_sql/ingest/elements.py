"""Where the elements of a broken piece of a file's list begin and end.

A sound element ends where a JSON decoder says so. A broken one ends where the next one begins, so
that it costs no other. Whether an element can be used is for others to say.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple


class ListKind(NamedTuple):
    """The list that is nearly all of a file: its key, and keys that only its elements have."""

    key: str
    marks: frozenset[str]
    element: str  # what messages call one


EVENTS = ListKind("traceEvents", frozenset({"ph"}), "event")
NODES = ListKind("nodes", frozenset({"ctrl_deps", "rf_id"}), "node")


class Repeating(dict):
    """An object in which a key stands twice."""


def object_of(pairs: list[tuple]) -> dict:
    made = dict(pairs)
    return made if len(made) == len(pairs) else Repeating(made)


# For the extent of values alone: numbers are not converted.
SCANNER = json.JSONDecoder(parse_int=len, parse_float=len, object_pairs_hook=object_of)
SEPARATORS = re.compile(r"[ \t\r\n,]*")
# Behind an element; also a new one where the comma is missing.
NEXT_OR_END = re.compile(r"[ \t\r\n]*(?:[,{]|\Z)")
# Looking ahead, so that a brace in what is taken for a key is found, too.
OBJECT_START = re.compile(r'\{(?=[ \t\r\n]*"([^"\\]{0,40})")')
CUT = "The text ends within it"
LONGEST_LITERAL = len("-Infinity")
# A list that is not closed takes in all that follows: an element so long is taken for broken.
LONG_ELEMENT_BYTES = 1 << 20
# DuckDB reads no longer values.
LONGEST_ELEMENT_BYTES = 16 << 20


class Element(NamedTuple):
    """One element of the list: its place in the piece, what stopped the decoder in it, and
    whether a key stands twice."""

    start: int
    end: int
    stopped_by: str | None
    repeats: bool


def split_elements(
    data: bytes, is_last: bool, kind: ListKind = EVENTS
) -> tuple[list[Element], int]:
    """All elements of a piece of the list, in order, and the length of what is left over.

    Left over is an element that may go on in the next piece, where this one is not the last.
    """
    text = data.decode("latin-1")  # a character a byte; structure is ASCII in any case
    first_key = None
    elements: list[Element] = []
    at = SEPARATORS.match(text).end()
    while at < len(text):
        value, end, stopped_by = value_at(text, at)
        if not stopped_by and not NEXT_OR_END.match(text, end):
            stopped_by = "More behind its end"
        if stopped_by:
            rest = 0 if is_last else len(text) - at
            if stopped_by == CUT and 0 < rest < LONG_ELEMENT_BYTES:
                return elements, rest
            end = next_element(text, at + 1, first_key, kind)
            if end is None:
                if 0 < rest < LONGEST_ELEMENT_BYTES:
                    return elements, rest
                end = len(text)
            end = at + len(text[at:end].rstrip(" \t\r\n,"))
        elif first_key is None and is_element(value, kind):
            first_key = next(iter(value))
        elements.append(Element(at, end, stopped_by, isinstance(value, Repeating)))
        at = SEPARATORS.match(text, end).end()
    return elements, 0


def value_at(text: str, at: int, decoder: json.JSONDecoder = SCANNER) -> tuple:
    """The JSON value at `at`, where it ends, and what stopped the decoder before, if anything."""
    # Not of the whole text: to say where it stopped the decoder counts lines from the begin.
    for size in (1 << 12, 1 << 16, 1 << 20, len(text)):
        part = text[at : at + size]
        value, length, stopped_by = first_value(part, decoder)
        is_cut = stopped_by == CUT or length == len(part)
        if not is_cut or at + size >= len(text):
            break
    return value, at + length, stopped_by


def first_value(text: str, decoder: json.JSONDecoder) -> tuple[object, int, str | None]:
    try:
        value, end = decoder.raw_decode(text)
    except json.JSONDecodeError as error:
        # Where a string or a literal does not end, the error is placed at its begin.
        is_cut = error.msg.startswith("Unterminated") or error.pos > len(text) - LONGEST_LITERAL
        return None, 0, CUT if is_cut else error.msg
    except RecursionError:
        return None, 0, "Nested too deeply"
    return value, end, None


def next_element(text: str, at: int, first_key: str | None, kind: ListKind = EVENTS) -> int | None:
    """Where the next element begins: an object that opens as the others do, or one with a mark.

    An object that is the value of a key or begins a list belongs to the element around it.
    """
    for start in OBJECT_START.finditer(text, at):
        before = start.start() - 1
        while before >= at and text[before] in " \t\r\n":
            before -= 1
        if text[before] in ":[":
            continue
        opens = {first_key} if first_key else kind.marks
        if start[1] in opens or is_element(value_at(text, start.start())[0], kind):
            return start.start()
    return None


def is_element(value: object, kind: ListKind) -> bool:
    return isinstance(value, dict) and not kind.marks.isdisjoint(value)
