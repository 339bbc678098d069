"""Finds where the elements of a file's list begin and end, for any bytes.

A sound element ends where a JSON decoder says that it ends. A broken element ends where the next
one begins, so that it costs no other element. Other modules decide whether an element can be used.

The time is that of a few passes over the text, since the bytes decoded in vain are limited.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from hta_sql.ingestion.kinds import EVENTS, NODES, ListKind, is_element, is_usable
from hta_sql.ingestion.values import CUT, FIRST_LOOK, LIGHT_SCANNERS, SCANNER, first_value

SEPARATORS = re.compile(r"[ \t\r\n,]*+")
# What follows an element. It may be a new element without a comma, or the list's bracket.
NEXT_OR_END = re.compile(r"[ \t\r\n]*+(?:[,{\]]|\Z)")
# What follows the last element if the file is an object: its other keys or its end.
LIST_END = re.compile(r'\][ \t\r\n]*+(?:,[ \t\r\n]*+"|\})')
KEY = re.compile(r'[ \t\r\n]*+,[ \t\r\n]*+"((?:[^"\\]|\\.)*+)"[ \t\r\n]*+:[ \t\r\n]*+')
ANOTHER_BRACKET = re.compile(r"\][ \t\r\n]*+\]")
MAY_BE_LIST_END = re.compile(r"\][ \t\r\n]*+(?:,[ \t\r\n]*+)?\Z")
# A lookahead, so that a brace inside what looks like a key is found, too.
OBJECT_START = re.compile(r'\{(?=[ \t\r\n]*"([^"\\]{0,40})")')
BLANK = " \t\r\n"
SHORT_LOOK = 1 << 10
# A list that is not closed swallows all that follows. So an unclosed element this long is broken.
LONG_ELEMENT_BYTES = 1 << 20
# DuckDB does not read longer values.
LONGEST_ELEMENT_BYTES = 16 << 20
# This many elements are split at a time, which bounds the memory.
BATCH = 50_000
# How often the text may be decoded in vain before long, suspicious elements count as broken. Each
# attempt costs as much as decoding VAIN_START_BYTES.
VAIN_PASSES = 2
VAIN_START_BYTES = 64
# This many sound keys after a list prove that it has ended.
MOST_KEYS_READ = 1_000
TOO_MANY_BROKEN = "not told apart: too many broken ones before"


class Element(NamedTuple):
    """One element of the list: its place in the text, and what stopped the decoder, if anything."""

    start: int
    end: int
    stopped_by: str | None


class Walk:
    """Splits a text into elements. The text is part of a list, and begins where an element begins.

    Afterwards `end` is where it stopped: at the list's closing bracket (`list_ends`), before an
    element that may continue after the text (unless `is_last`), or at the end of the text. A
    bracket between elements closes the list if keys or the end of an object follow. With
    `ends_at_bracket`, any bracket between elements does.

    With `is_coarse`, all text up to the next sound element is one broken element. `tried` counts
    what looked like a sound element.
    """

    def __init__(
        self,
        text: str,
        kind: ListKind,
        is_last: bool = True,
        first_key: str | None = None,
        ends_at_bracket: bool = False,
        is_coarse: bool = False,
    ):
        self.text = text
        self.kind = kind
        self.first_key = first_key
        self.list_ends = False
        self.end = 0
        self.tried = 0
        self._opens_at: int | None = None  # where a look ahead found an element
        self._list_key = f'"{kind.key}"'
        self._is_last = is_last
        self.is_coarse = is_coarse
        self._ends_at_bracket = ends_at_bracket
        self._vain = VAIN_PASSES * (len(text) + LONG_ELEMENT_BYTES)

    def batches(self) -> Iterator[list[Element]]:
        """All elements in order, up to BATCH at a time."""
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
                self.list_ends = self._ends_at_bracket or self._closes_list(at)
                if self.list_ends or (not self._is_last and self.may_end_list()):
                    return
                if not self.is_coarse and ANOTHER_BRACKET.match(text, at):
                    self.end = at + 1
                    yield Element(at, at + 1, "A bracket too many")
                    continue
            value, end, stopped_by = self.value_at(at)
            if end == len(text) and not self._is_last and text[at] not in '{["':
                return  # for example a number that may go on
            if not stopped_by and not NEXT_OR_END.match(text, end):
                stopped_by = "More behind its end"
            if not stopped_by and text[at] == "[" and any(is_usable(v, self.kind) for v in value):
                # It holds elements of the list, so its bracket is one too many.
                self.end = at + 1
                yield Element(at, at + 1, "A bracket too many")
                continue
            if self.is_coarse and not stopped_by and not is_usable(value, self.kind):
                stopped_by = "of no use"
            if stopped_by:
                rest = 0 if self._is_last else len(text) - at
                if stopped_by == CUT and 0 < rest < LONG_ELEMENT_BYTES:
                    return
                if self.is_coarse:
                    stopped_by = TOO_MANY_BROKEN
                    end = self._next_sound(at + 1)
                else:
                    end = self.next_element(at + 1)
                if end is None:
                    if rest and not self.is_coarse:
                        return
                    end = len(text)
                end = at + len(text[at:end].rstrip(" \t\r\n,"))
            elif self.first_key is None and is_element(value, self.kind):
                self.first_key = next(iter(value))
            self.end = end
            yield Element(at, end, stopped_by)

    def may_end_list(self) -> bool:
        """Whether it stopped at a bracket that only blanks, and one comma at most, follow."""
        return MAY_BE_LIST_END.match(self.text, self.end) is not None

    def _closes_list(self, at: int) -> bool:
        """Whether a bracket between elements closes the list: sound keys follow it, or broken text
        without more elements."""
        if not LIST_END.match(self.text, at):
            return False
        at += 1
        for _ in range(MOST_KEYS_READ):
            key = KEY.match(self.text, at)
            if not key:
                break
            at = key.end()
            if self.text.startswith("[", at) and key[1] == self.kind.key:
                return True  # another list of this name follows
            _, end, stopped_by = self.value_at(at)
            if stopped_by == CUT and not self._is_last:
                return True
            if stopped_by:
                break
            at = end
        else:
            return True
        if self._opens_at is None or self._opens_at < at:
            place = self._opening(at)
            self._opens_at = len(self.text) if place is None else place
        return self._opens_at == len(self.text)

    def value_at(self, at: int) -> tuple:
        """Like values.value_at. If much was decoded in vain, it stops once the value seems to hold
        another element."""
        size = FIRST_LOOK if self._vain > 0 else SHORT_LOOK
        while True:
            part = self.text[at : at + size]
            decoder = SCANNER if size <= LONG_ELEMENT_BYTES else LIGHT_SCANNERS[self.kind]
            value, length, stopped_by = first_value(part, decoder)
            is_cut = stopped_by == CUT or length == len(part)
            if stopped_by:
                self._vain -= length + VAIN_START_BYTES
            if not is_cut or at + size >= len(self.text):
                return value, at + length, stopped_by
            if self._vain < 0 and self._opening(at + 1, at + size) is not None:
                return None, at, CUT
            size *= 4

    def next_element(self, at: int) -> int | None:
        """Where the next element begins: an object that opens like the others, or has a mark.

        An object that is the value of a key or the first in a list belongs to the element around
        it. So does a sound object without a mark, with all that is in it, unless that includes
        another list of the same name.
        """
        inside_until = at
        for start in OBJECT_START.finditer(self.text, at):
            place = start.start()
            if place < inside_until or not self._may_open(place, at):
                continue
            if start[1] == self.first_key or LEADS_TO_MARK[self.kind].match(self.text, place):
                return place
            if self._vain < 0:
                return self._opening(place + 1)
            self._vain -= VAIN_START_BYTES
            value, end, stopped_by = self.value_at(place)
            if not stopped_by:
                if is_element(value, self.kind):
                    return place
                if self.text.find(self._list_key, place, end) < 0:  # if found, it is a whole file
                    inside_until = end
        return None

    def _next_sound(self, at: int) -> int | None:
        """Where the next element begins that is sound, or is cut by the end of the text."""
        for start in self._sound_opens.finditer(self.text, at):
            place = start.start()
            if not self._may_open(place, at):
                continue
            self.tried += 1
            value, _, stopped_by = self.value_at(place)
            if stopped_by == CUT if stopped_by else is_usable(value, self.kind):
                return place
        return None

    def _opening(self, begin: int, end: int = sys.maxsize) -> int | None:
        """Where the next object begins that opens like an element."""
        for start in self._opens.finditer(self.text, begin, end):
            if self._may_open(start.start(), begin):
                return start.start()
        return None

    @cached_property
    def _opens(self) -> re.Pattern[str]:
        """Matches an object that opens like the others, or has a mark."""
        marked = LEADS_TO_MARK[self.kind].pattern
        if self.first_key is None:
            return re.compile(marked)
        return re.compile(rf'\{{[ \t\r\n]*"{re.escape(self.first_key)}"|{marked}')

    @cached_property
    def _sound_opens(self) -> re.Pattern[str]:
        """The same, if its first key and value are sound as far as the text has them."""
        return re.compile(rf"(?={self._opens.pattern}){SOUND_BEGIN}")

    def _may_open(self, place: int, begin: int) -> bool:
        """Whether an object may be an element, judged by the text before it.

        The value of a key and the first object in a list are not: they belong to the element around
        them. The exceptions are a list that follows another list and a list with the name of the
        one being read, since files are sometimes appended to each other.
        """
        before = self._before(place, begin, BLANK)
        if before < begin or self.text[before] not in ":[":
            return True
        if self.text[before] == ":":
            return False
        begin = max(0, begin - 1)  # broken text may begin with the other list's bracket
        before = self._before(before, begin, BLANK + ",")
        if before < begin or self.text[before] != ":":
            return before >= begin and self.text[before] == "]"
        until = self._before(before, begin, BLANK) + 1
        return self.text.startswith(self._list_key, until - len(self._list_key))

    def _before(self, place: int, begin: int, passed: str) -> int:
        place -= 1
        while place >= begin and self.text[place] in passed:
            place -= 1
        return place


# An object whose first key and value are sound, as far as the text has them.
SOUND_BEGIN = (
    r'\{\s*+(?:\Z|"(?:[^"\\]|\\.)*+(?:\Z|"\s*+(?:\Z|:\s*+(?:\Z|[\[{]|(?:'
    r'"(?:[^"\\]|\\.)*+(?:\Z|")|-?[\dIN][\w.+-]*+|true|false|null|\w{1,4}\Z)'
    r'\s*+(?:\Z|\}|,\s*+(?:\Z|"))))))'
)
WORD = r'(?:"(?:[^"\\]|\\.){0,4096}+"|[^\s",{}\[\]:]{0,40}+)'
# An object with a mark among its first keys, before any key whose value is more than a word. What
# follows may be broken.
LEADS_TO_MARK = {
    kind: re.compile(
        rf'\{{(?>\s{{0,200}}"(?!(?:{"|".join(sorted(kind.marks))})")[^"\\]{{0,40}}"\s{{0,200}}:'
        rf'\s{{0,200}}{WORD}\s{{0,200}},){{0,30}}+\s{{0,200}}"(?:{"|".join(sorted(kind.marks))})"'
    )
    for kind in (EVENTS, NODES)
}


def holds_elements(text: str, kind: ListKind) -> bool:
    """Whether an object in a text opens like an element with a mark."""
    return LEADS_TO_MARK[kind].search(text) is not None
