"""Where the elements of a file's list begin and end, whatever its bytes are.

A sound element ends where a JSON decoder says so. A broken one ends where the next one begins, so
that it costs no other. Whether an element can be used is for others to say.

The time is that of a few passes over the text: how much is decoded in vain is limited.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple


class ListKind(NamedTuple):
    """The list that is nearly all of a file: its key, and keys that only its elements have."""

    key: str
    marks: frozenset[str]
    element: str  # what messages call one


EVENTS = ListKind("traceEvents", frozenset({"ph"}), "event")
NODES = ListKind("nodes", frozenset({"ctrl_deps", "rf_id"}), "node")


# For the extent of values alone: numbers are not converted.
SCANNER = json.JSONDecoder(parse_int=len, parse_float=len)
SEPARATORS = re.compile(r"[ \t\r\n,]*+")
# Behind an element; also a new one where the comma is missing, and the list's bracket.
NEXT_OR_END = re.compile(r"[ \t\r\n]*+(?:[,{\]]|\Z)")
# Behind the last one, in an object: its other keys or its end.
LIST_END = re.compile(r'\][ \t\r\n]*+(?:,[ \t\r\n]*+"|\})')
MAY_BE_LIST_END = re.compile(r"\][ \t\r\n]*+(?:,[ \t\r\n]*+)?\Z")
# Looking ahead, so that a brace in what is taken for a key is found, too.
OBJECT_START = re.compile(r'\{(?=[ \t\r\n]*"([^"\\]{0,40})")')
BLANK = " \t\r\n"
CUT = "The text ends within it"
LONGEST_LITERAL = len("-Infinity")
FIRST_LOOK = 1 << 12
# A list that is not closed takes in all that follows: an element so long is taken for broken.
LONG_ELEMENT_BYTES = 1 << 20
# DuckDB reads no longer values.
LONGEST_ELEMENT_BYTES = 16 << 20
# So many elements are told apart at a time, which bounds the memory that they take.
BATCH = 50_000
# How often the text may be decoded in vain before what is long and suspicious counts as broken.
VAIN_PASSES = 8


class Element(NamedTuple):
    """One element of the list: its place in the text, and what stopped the decoder in it."""

    start: int
    end: int
    stopped_by: str | None


class Walk:
    """Tells the elements of a text apart: part of a list, from the begin of an element on.

    Afterwards `end` is where it stopped: at the list's closing bracket (`list_ends`), before an
    element that may go on behind the text (unless it `is_last`), or at the text's end. A bracket
    between elements closes the list where keys or the end of an object follow, or any one does.
    """

    def __init__(
        self, text: str, kind: ListKind, is_last: bool = True, first_key: str | None = None,
        ends_at_bracket: bool = False,
    ):  # fmt: skip
        self.text = text
        self.kind = kind
        self.first_key = first_key
        self.list_ends = False
        self.end = 0
        self._is_last = is_last
        self._ends_at_bracket = ends_at_bracket
        self._vain = VAIN_PASSES * (len(text) + LONG_ELEMENT_BYTES)

    def batches(self) -> Iterator[list[Element]]:
        """All elements in order, some thousands at a time."""
        elements: list[Element] = []
        for element in self._elements():
            elements.append(element)
            if len(elements) == BATCH:
                yield elements
                elements = []
        yield elements

    def _elements(self) -> Iterator[Element]:
        text = self.text
        while True:
            at = self.end = SEPARATORS.match(text, self.end).end()
            if at == len(text):
                return
            if text[at] == "]":
                self.list_ends = self._ends_at_bracket or bool(LIST_END.match(text, at))
                if self.list_ends or (not self._is_last and MAY_BE_LIST_END.match(text, at)):
                    return
            value, end, stopped_by = self.value_at(at)
            if not stopped_by and not NEXT_OR_END.match(text, end):
                stopped_by = "More behind its end"
            if stopped_by:
                rest = 0 if self._is_last else len(text) - at
                if stopped_by == CUT and 0 < rest < LONG_ELEMENT_BYTES:
                    return
                end = self.next_element(at + 1)
                if end is None:
                    if rest:
                        return
                    end = len(text)
                end = at + len(text[at:end].rstrip(" \t\r\n,"))
            elif self.first_key is None and is_element(value, self.kind):
                self.first_key = next(iter(value))
            self.end = end
            yield Element(at, end, stopped_by)

    def value_at(self, at: int) -> tuple:
        """As the function; but not to the end of what looks like more than one element, where
        much was decoded in vain."""
        size = FIRST_LOOK
        while True:
            part = self.text[at : at + size]
            value, length, stopped_by = first_value(part, SCANNER)
            if stopped_by:
                self._vain -= len(part)
            is_cut = stopped_by == CUT or length == len(part)
            if not is_cut or at + size >= len(self.text):
                return value, at + length, stopped_by
            if self._vain < 0 and self._opens_between(at + 1, at + size):
                return None, at, CUT
            size *= 4

    def next_element(self, at: int) -> int | None:
        """Where the next element begins: an object that opens as the others do, or has a mark.

        An object that is the value of a key or begins a list belongs to the element around it, and
        so does a sound one without a mark, with all that is in it.
        """
        inside_until = at
        for start in OBJECT_START.finditer(self.text, at):
            place = start.start()
            if place < inside_until or not self._may_open(place, at):
                continue
            if start[1] == self.first_key or self._leads_to_mark(place):
                return place
            if self._vain < 0:
                continue
            value, end, stopped_by = self.value_at(place)
            if not stopped_by:
                if is_element(value, self.kind):
                    return place
                inside_until = end
        return None

    def _opens_between(self, begin: int, end: int) -> bool:
        """Whether an object there opens as elements do."""
        return any(
            self._may_open(start.start(), begin)
            and (start[1] == self.first_key or self._leads_to_mark(start.start()))
            for start in OBJECT_START.finditer(self.text, begin, end)
        )

    def _may_open(self, place: int, begin: int) -> bool:
        before = place - 1
        while before >= begin and self.text[before] in BLANK:
            before -= 1
        return self.text[before] not in ":["

    def _leads_to_mark(self, place: int) -> bool:
        """Whether an object has a mark among its first keys, before any that holds more than a
        word; however broken it is behind."""
        return LEADS_TO_MARK[self.kind].match(self.text, place) is not None


WORD = r'(?:"(?:[^"\\]|\\.){0,4096}+"|[^\s",{}\[\]:]{0,40}+)'
LEADS_TO_MARK = {
    kind: re.compile(
        rf'\{{(?>\s{{0,200}}"(?!(?:{"|".join(sorted(kind.marks))})")[^"\\]{{0,40}}"\s{{0,200}}:'
        rf'\s{{0,200}}{WORD}\s{{0,200}},){{0,30}}+\s{{0,200}}"(?:{"|".join(sorted(kind.marks))})"'
    )
    for kind in (EVENTS, NODES)
}


def value_at(text: str, at: int, decoder: json.JSONDecoder = SCANNER) -> tuple:
    """The JSON value at `at`, where it ends, and what stopped the decoder before, if anything."""
    # Not of the whole text: to say where it stopped the decoder counts lines from the begin.
    for size in (FIRST_LOOK, 1 << 16, 1 << 20, len(text)):
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


def is_element(value: object, kind: ListKind) -> bool:
    return isinstance(value, dict) and not kind.marks.isdisjoint(value)


# All up to the next bracket that is not closed before another one opens, or to a string that is
# not closed in this text.
STRING = rb'"(?:[^"\\]++|\\.)*+"'
FLAT = rb'(?:[^"{}\[\]]++|%s)*+' % STRING
NOT_NESTED = re.compile(rb'(?:[^"{}\[\]]++|%s|[{\[]%s[}\]])*+' % (STRING, FLAT), re.DOTALL)
STRING_REST = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)


class Nesting:
    """Finds the end of a value that is too long to hold, from its bytes as they come."""

    # Each bracket takes Python's time; where there are more, they are no event's.
    MOST_BRACKETS = 20_000_000

    def __init__(self):
        self._depth = 0
        self._in_string = False
        self._is_escaped = False
        self._brackets = 0

    def end(self, data: bytes) -> int | None:
        """Where in these bytes, the next ones of the value, it ends."""
        at = 0
        if self._is_escaped:
            at, self._is_escaped = 1, False
        while at < len(data) and self._brackets < self.MOST_BRACKETS:
            if self._in_string:
                at = STRING_REST.match(data, at).end()
                if at == len(data):
                    break
                if data[at] == 0x5C:  # a backslash is the last byte
                    self._is_escaped = True
                    break
                self._in_string = False
                at += 1
                continue
            if self._depth:
                at = NOT_NESTED.match(data, at).end()
                if at == len(data):
                    break
            byte = data[at]
            at += 1
            if byte == 0x22:
                self._in_string = True
                continue
            self._brackets += 1
            self._depth += 1 if byte in b"{[" else -1
            if self._depth <= 0:
                return at
        return None
