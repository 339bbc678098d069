"""Where the elements of a file's list begin and end, whatever its bytes are.

A sound element ends where a JSON decoder says so. A broken one ends where the next one begins, so
that it costs no other. Whether an element can be used is for others to say.

The time is that of a few passes over the text: how much is decoded in vain is limited.
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
# Behind an element; also a new one where the comma is missing, and the list's bracket.
NEXT_OR_END = re.compile(r"[ \t\r\n]*+(?:[,{\]]|\Z)")
# Behind the last one, in an object: its other keys or its end.
LIST_END = re.compile(r'\][ \t\r\n]*+(?:,[ \t\r\n]*+"|\})')
KEY = re.compile(r'[ \t\r\n]*+,[ \t\r\n]*+"((?:[^"\\]|\\.)*+)"[ \t\r\n]*+:[ \t\r\n]*+')
ANOTHER_BRACKET = re.compile(r"\][ \t\r\n]*+\]")
MAY_BE_LIST_END = re.compile(r"\][ \t\r\n]*+(?:,[ \t\r\n]*+)?\Z")
# Looking ahead, so that a brace in what is taken for a key is found, too.
OBJECT_START = re.compile(r'\{(?=[ \t\r\n]*"([^"\\]{0,40})")')
BLANK = " \t\r\n"
SHORT_LOOK = 1 << 10
# A list that is not closed takes in all that follows: an element so long is taken for broken.
LONG_ELEMENT_BYTES = 1 << 20
# DuckDB reads no longer values.
LONGEST_ELEMENT_BYTES = 16 << 20
# So many elements are told apart at a time, which bounds the memory that they take.
BATCH = 50_000
# How often the text may be decoded in vain before what is long and suspicious counts as broken; to
# begin costs as much as so many bytes.
VAIN_PASSES = 2
VAIN_START_BYTES = 64
# So many sound keys behind a list are enough to tell that it ends.
MOST_KEYS_READ = 1_000
TOO_MANY_BROKEN = "not told apart: too many broken ones before"


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

    Where it `is_coarse`, all up to the next element that is sound is one that is broken; `tried`
    counts what looked like a sound one.
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
        self._opens_at: int | None = None  # where an element was found to open, by a look ahead
        self._list_key = f'"{kind.key}"'
        self._is_last = is_last
        self.is_coarse = is_coarse
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
                self.list_ends = self._ends_at_bracket or self._closes_list(at)
                if self.list_ends or (not self._is_last and self.may_end_list()):
                    return
                if not self.is_coarse and ANOTHER_BRACKET.match(text, at):
                    self.end = at + 1
                    yield Element(at, at + 1, "A bracket too many")
                    continue
            value, end, stopped_by = self.value_at(at)
            if end == len(text) and not self._is_last and text[at] not in '{["':
                return  # a number, say, that may go on
            if not stopped_by and not NEXT_OR_END.match(text, end):
                stopped_by = "More behind its end"
            if not stopped_by and text[at] == "[" and any(is_usable(v, self.kind) for v in value):
                # What it holds are elements of the list, and it is one too many.
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
        """Whether it stopped at a bracket behind which the text has nothing but blanks."""
        return MAY_BE_LIST_END.match(self.text, self.end) is not None

    def _closes_list(self, at: int) -> bool:
        """Whether a bracket between elements is the list's: keys follow that are sound, or what is
        broken holds no more elements."""
        if not LIST_END.match(self.text, at):
            return False
        at += 1
        for _ in range(MOST_KEYS_READ):
            key = KEY.match(self.text, at)
            if not key:
                break
            at = key.end()
            if self.text.startswith("[", at) and key[1] == self.kind.key:
                return True  # another one follows, which may end in what is known to be behind
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
        """As the function; but not to the end of what looks like more than one element, where
        much was decoded in vain."""
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
        """Where the next element begins: an object that opens as the others do, or has a mark.

        An object that is the value of a key or begins a list belongs to the element around it, and
        so does a sound one without a mark, with all that is in it but for more lists.
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
                if self.text.find(self._list_key, place, end) < 0:  # or it is a file in itself
                    inside_until = end
        return None

    def _next_sound(self, at: int) -> int | None:
        """Where the next element begins that is sound, or may be behind the text."""
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
        """Where the next object begins that opens as elements do."""
        for start in self._opens.finditer(self.text, begin, end):
            if self._may_open(start.start(), begin):
                return start.start()
        return None

    @cached_property
    def _opens(self) -> re.Pattern[str]:
        """An object that opens as the others do, or has a mark."""
        marked = LEADS_TO_MARK[self.kind].pattern
        if self.first_key is None:
            return re.compile(marked)
        return re.compile(rf'\{{[ \t\r\n]*"{re.escape(self.first_key)}"|{marked}')

    @cached_property
    def _sound_opens(self) -> re.Pattern[str]:
        """The same, if its first key and value are sound; or may be, where they are not all."""
        return re.compile(rf"(?={self._opens.pattern}){SOUND_BEGIN}")

    def _may_open(self, place: int, begin: int) -> bool:
        """Whether an object may be an element, by what stands before it.

        The value of a key is none, nor what begins a list: that belongs to what is around it. But
        a list may follow on another one, or have the name of the one that is read, since files
        are appended to each other.
        """
        before = self._before(place, begin, BLANK)
        if before < begin or self.text[before] not in ":[":
            return True
        if self.text[before] == ":":
            return False
        begin = max(0, begin - 1)  # what is broken may begin with the bracket of the other one
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


# An object that has a mark among its first keys, before any that holds more than a word; whatever
# is broken behind it.
SOUND_BEGIN = (
    r'\{\s*+(?:\Z|"(?:[^"\\]|\\.)*+(?:\Z|"\s*+(?:\Z|:\s*+(?:\Z|[\[{]|(?:'
    r'"(?:[^"\\]|\\.)*+(?:\Z|")|-?[\dIN][\w.+-]*+|true|false|null|\w{1,4}\Z)'
    r'\s*+(?:\Z|\}|,\s*+(?:\Z|"))))))'
)
WORD = r'(?:"(?:[^"\\]|\\.){0,4096}+"|[^\s",{}\[\]:]{0,40}+)'
LEADS_TO_MARK = {
    kind: re.compile(
        rf'\{{(?>\s{{0,200}}"(?!(?:{"|".join(sorted(kind.marks))})")[^"\\]{{0,40}}"\s{{0,200}}:'
        rf'\s{{0,200}}{WORD}\s{{0,200}},){{0,30}}+\s{{0,200}}"(?:{"|".join(sorted(kind.marks))})"'
    )
    for kind in (EVENTS, NODES)
}


def holds_elements(text: str, kind: ListKind) -> bool:
    """Whether something in a text opens as an element does."""
    return LEADS_TO_MARK[kind].search(text) is not None
