"""The top-level keys of a file, before and after its list, as far as they can be read."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

import numpy as np
import orjson

from hta_sql.ingestion.brackets import SLICE_BYTES, Brackets
from hta_sql.ingestion.elements import Walk, holds_elements
from hta_sql.ingestion.kinds import EVENTS, ListKind
from hta_sql.ingestion.values import value_at

BLANK = b" \t\r\n\0"
# A possible end of the list: keys follow, or the end of the object.
CLOSING_BRACKET = re.compile(rb"\](?=\s*+(?:,\s*+\"|\}))")
# What follows a key; the first character of its value.
VALUE = re.compile(rb"\s*+:\s*+(\S)")
UP_TO_VALUE = re.compile(rb"\s*+:?\s*+\Z")
KINDS = {b"n": "null", b"t": "true", b"f": "false", b'"': "a text", b"{": "an object"}
# The most blanks between the last element of a list and its bracket.
LONGEST_GAP = 1 << 10
# Keys around a list that are longer are not read, since objects take many times their length.
LONGEST_KEYS_BYTES = 16 << 20
# How many bytes may be parsed in vain to find the keys after a broken list.
MOST_TRIED_BYTES = 32 << 20
KNOWN_KEYS = {"baseTimeNanoseconds", "distributedInfo", "schemaVersion", "traceName", "finish_ts"}
MANY_BLANKS = re.compile(rb"[ \t\r\n]{65536,}")
BAD_ESCAPE = re.compile(r'\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})')
BASE = re.compile(rb'"baseTimeNanoseconds"\s*:\s*"?(\d+)')
DISTRIBUTED_INFO = re.compile(r'"distributedInfo"\s*:\s*(?=\{)')


class Metadata(NamedTuple):
    """Top-level keys, whether they are complete, whether the file ends within them, whether they
    are too long to be read as a whole, and whether more follows their end."""

    keys: dict
    is_whole: bool = True
    is_cut: bool = False
    is_long: bool = False
    has_more: bool = False


class KeySearch:
    """Looks for a file's list among its top-level keys, in a growing buffer.

    Afterwards `instead` says what the key of the list holds, if that is not a list.
    """

    def __init__(self, kind: ListKind = EVENTS, depth: int = 0):
        self._key = b'"%s"' % kind.key.encode()
        self._brackets = Brackets(depth)
        self._at = 0
        self.instead: str | None = None

    def find(self, data: bytes, is_all: bool) -> tuple[int, int] | None:
        """Where the list's key begins and where its first element may; None if it is not found."""
        until = len(data) if is_all else self._known_until(data)
        for begin, marks in self._brackets.slices(data, self._at, until):
            self._at = end = min(begin + SLICE_BYTES, until)
            keys = begin + marks.at[marks.begins_string & (marks.depth == 1)]
            alike = re.compile(self._key).finditer(data, begin, end + len(self._key))
            places = np.array([match.start() for match in alike], np.int64)
            for at in np.intersect1d(keys, places).tolist():
                if value := VALUE.match(data, at + len(self._key)):
                    if value[1] == b"[":
                        return at, value.end()
                    self.instead = KINDS.get(value[1], "a number")
        return None

    def _known_until(self, data: bytes) -> int:
        """The position before which `data` shows what every key holds."""
        last = data.rfind(self._key, self._at)
        if last >= 0 and UP_TO_VALUE.match(data, last + len(self._key)):
            return last
        return len(data) - len(self._key)


def split_tail(
    data: bytes, is_array: bool = False, kind: ListKind = EVENTS
) -> tuple[int, Metadata | None]:
    """Where the list ends in the last bytes of a file, and the keys after it.

    The keys are None if the file ends before its list does.
    """
    # Walking from element to element is slow, so begin near the end. A window without an element
    # lies inside the tail, and a walk that begins in an argument ends there: try a wider window.
    found = len(data), None
    for window in (1 << 16, 1 << 20, 1 << 24, len(data)):
        start = max(0, len(data) - window)
        text = data[start:].decode("latin-1")  # one character per byte
        begin = Walk(text, kind).next_element(1) if start else 0
        if begin is None:
            continue
        end, lost_at = end_of_list(text, begin, kind)
        if end is None:
            found = end_behind(data, start + lost_at, is_array)
        else:
            found = start + end, behind_list(data[start + end + 1 :], is_array)
        if found[1] is None or found[1].is_whole:
            return found
        if not start:
            break
    # The data itself may begin within an element that has a list, which ends before the file's.
    last = end_behind(data, found[0] + 1, is_array)
    if last[1]:
        return last
    # A bracket that elements follow, and no sensible keys, does not end the list.
    if holds_elements(data[found[0] + 1 :].decode("latin-1"), kind):
        return len(data), None
    return found


def behind_list(text: bytes, is_array: bool) -> Metadata:
    """The keys between the list's closing bracket and the end of the file."""
    return Metadata({}, is_whole=not text.strip(BLANK)) if is_array else keys_behind(text)


def end_of_list(text: str, begin: int, kind: ListKind) -> tuple[int | None, int]:
    """Where the list around the element at `begin` closes, and the end of the last sound one."""
    walk = Walk(text, kind, ends_at_bracket=True)
    walk.end = sound_until = begin
    for elements in walk.batches():
        for element in elements:
            if not element.stopped_by:
                sound_until = element.end
    return (walk.end if walk.list_ends else None), sound_until


def end_behind(data: bytes, at: int, is_array: bool) -> tuple[int, Metadata | None]:
    """The same if the last element is broken: the list ends before the first sensible keys."""
    if is_array:
        whole = data.rstrip(BLANK)
        return (len(whole) - 1, Metadata({})) if whole[-1:] == b"]" else (len(data), None)
    left = MOST_TRIED_BYTES
    for bracket in CLOSING_BRACKET.finditer(data, max(at, len(data) - LONGEST_KEYS_BYTES)):
        if found := keys_at(data, bracket):
            return bracket.start(), found
        left -= len(data) - bracket.end()
        if left < 0:
            break
    else:
        return len(data), None
    # If there are very many brackets, try from the end, where the text after them is short.
    left = MOST_TRIED_BYTES
    end = len(data)
    while left > 0 and (end := data.rfind(b"]", at, end)) >= 0:
        left -= len(data) - end
        if (bracket := CLOSING_BRACKET.match(data, end)) and (found := keys_at(data, bracket)):
            return end, found
    return len(data), None


def keys_at(data: bytes, bracket: re.Match) -> Metadata | None:
    """The keys after a closing bracket, if they are whole and the bracket may be the list's."""
    found = keys_behind(data[bracket.end() :])
    # If an element is cut after an inner list, the keys after that list look like the file's.
    before = data[max(0, bracket.start() - LONGEST_GAP) : bracket.start()]
    follows_an_element = before.rstrip(BLANK).endswith(b"}")
    if found.is_whole and (follows_an_element or found.keys.keys() & KNOWN_KEYS):
        return found
    return None


def keys_behind(text: bytes) -> Metadata:
    """The keys that follow the list, up to the end of the file."""
    metadata = read_keys(b'{"":0' + text)
    ends = metadata.has_more or text.rstrip(BLANK).endswith(b"}")
    return metadata._replace(is_cut=not ends)


def read_keys(text: bytes) -> Metadata:
    """The keys of a JSON object except the empty one; of a broken object only the vital ones."""
    if len(text) > LONGEST_KEYS_BYTES:
        text = MANY_BLANKS.sub(b" ", text)  # blanks make no objects
    if len(text) > LONGEST_KEYS_BYTES:
        return Metadata(salvaged(text), is_whole=False, is_long=True)
    try:
        keys, has_more = orjson.loads(text), False
    except orjson.JSONDecodeError:
        keys, has_more = read_leniently(text)
    if keys is None:
        return Metadata(salvaged(text), is_whole=False)
    keys.pop("", None)
    if has_more:
        keys = salvaged(text) | keys
    return Metadata(keys, is_whole=not has_more, has_more=has_more)


def is_object(text: bytes) -> bool:
    """Whether this is a JSON object, or nearly one; True if it is too long to check."""
    return len(text) > LONGEST_KEYS_BYTES or read_keys(text).is_whole


def read_leniently(text: bytes) -> tuple[dict | None, bool]:
    """An object that may have NaN, bad escapes, control characters or bad UTF-8 in it, and whether
    more follows it; None if it is broken in another way."""
    mended = BAD_ESCAPE.sub(r"\\\\", text.rstrip(BLANK).decode("utf-8", "replace"))
    try:
        keys, end = json.JSONDecoder(strict=False).raw_decode(mended)
    except (ValueError, RecursionError):
        return None, False
    return keys, end < len(mended)


def salvaged(text: bytes) -> dict:
    """What a broken object says about the trace's clock and rank."""
    keys: dict = {}
    if base := BASE.search(text):
        keys["baseTimeNanoseconds"] = int(base[1])
    decoded = text.decode("utf-8", "replace")
    if info := DISTRIBUTED_INFO.search(decoded):
        value, _, stopped_by = value_at(decoded, info.end(), json.JSONDecoder())
        if not stopped_by:
            keys["distributedInfo"] = value
    return keys
