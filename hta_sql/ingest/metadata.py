"""The top-level keys of a file, before and behind its list, as far as they can be read."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

import orjson

from hta_sql.ingest.elements import EVENTS, SEPARATORS, ListKind, next_element, value_at

BLANK = b" \t\r\n\0"
# What may be the end of the list: keys follow, or nothing.
CLOSING_BRACKET = re.compile(rb"\](?=\s*(?:,\s*\"|\}))")
KNOWN_KEYS = {
    "baseTimeNanoseconds", "distributedInfo", "schemaVersion", "traceName", "finish_ts"
}  # fmt: skip
BAD_ESCAPE = re.compile(r'\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})')
BASE = re.compile(rb'"baseTimeNanoseconds"\s*:\s*"?(\d+)')
DISTRIBUTED_INFO = re.compile(r'"distributedInfo"\s*:\s*(?=\{)')


class Metadata(NamedTuple):
    """Top-level keys, whether they are all that there were, and whether the file ended in them."""

    keys: dict
    is_whole: bool = True
    is_cut: bool = False


def split_tail(
    data: bytes, is_array: bool = False, kind: ListKind = EVENTS
) -> tuple[int, Metadata | None]:
    """Where the list ends in the last bytes of a file, and what stands behind them.

    That is None where the file ends before its list does.
    """
    # A walk from element to element is slow, so from one near the end. A window without one lies
    # inside the tail, and one that begins within an argument ends there: take a wider look.
    for window in (1 << 16, 1 << 20, 1 << 24, len(data)):
        start = max(0, len(data) - window)
        text = data[start:].decode("latin-1")  # a character a byte
        begin = next_element(text, 1, None, kind) if start else 0
        if begin is None:
            continue
        end, lost_at = end_of_list(text, begin, kind)
        if end is None:
            found = end_behind(data, start + lost_at, is_array)
        else:
            behind = data[start + end + 1 :]
            found = start + end, Metadata({}) if is_array else keys_behind(behind)
        if found[1] is None or found[1].is_whole or not start:
            return found
    return len(data), None


def end_of_list(text: str, at: int, kind: ListKind) -> tuple[int | None, int]:
    """Where the list around the element at `at` closes, and the end of the last sound element."""
    sound_until = at
    while True:
        at = SEPARATORS.match(text, at).end()
        if at == len(text):
            return None, sound_until
        if text[at] == "]":
            return at, at
        _, end, stopped_by = value_at(text, at)
        if stopped_by:
            at = next_element(text, at + 1, None, kind)
            if at is None:
                return None, sound_until
        else:
            at = sound_until = end


def end_behind(data: bytes, at: int, is_array: bool) -> tuple[int, Metadata | None]:
    """The same where the last element is broken: the first bracket behind which keys make sense."""
    if is_array:
        whole = data.rstrip(BLANK)
        return (len(whole) - 1, Metadata({})) if whole[-1:] == b"]" else (len(data), None)
    for bracket in CLOSING_BRACKET.finditer(data, at):
        metadata = keys_behind(data[bracket.end() :])
        # Behind a list inside of an element that is cut, its keys look like the file's.
        follows_an_element = data[: bracket.start()].rstrip(BLANK).endswith(b"}")
        if metadata.is_whole and (follows_an_element or metadata.keys.keys() & KNOWN_KEYS):
            return bracket.start(), metadata
    return len(data), None


def keys_behind(text: bytes) -> Metadata:
    """The keys that follow on the list, up to the end of the file."""
    metadata = read_keys(b'{"":0' + text)
    return metadata._replace(is_cut=not text.rstrip(BLANK).endswith(b"}"))


def read_keys(text: bytes) -> Metadata:
    """The keys of a JSON object but for the empty one, or those that matter of a broken one."""
    try:
        keys = orjson.loads(text)
    except orjson.JSONDecodeError:
        keys = read_leniently(text)
    if keys is None:
        return Metadata(salvaged(text), is_whole=False)
    keys.pop("", None)
    return Metadata(keys)


def read_leniently(text: bytes) -> dict | None:
    """An object with NaN, bad escapes, control characters or bad UTF-8 in it; None for others."""
    mended = BAD_ESCAPE.sub(r"\\\\", text.rstrip(BLANK).decode("utf-8", "replace"))
    try:
        return json.loads(mended, strict=False)
    except (ValueError, RecursionError):
        return None


def salvaged(text: bytes) -> dict:
    """What a broken object tells of the trace's clock and rank."""
    keys: dict = {}
    if base := BASE.search(text):
        keys["baseTimeNanoseconds"] = int(base[1])
    decoded = text.decode("utf-8", "replace")
    if info := DISTRIBUTED_INFO.search(decoded):
        value, _, stopped_by = value_at(decoded, info.end(), json.JSONDecoder())
        if not stopped_by:
            keys["distributedInfo"] = value
    return keys
