"""How a trace writes time: found from the text of its stamps, since no key says it.

Kineto wrote whole microseconds since 1970, then decimal ones, then decimal ones relative to
`baseTimeNanoseconds`; for three weeks in 2024 the fraction was not padded with zeros, so that
`123.5` meant 123.005 us.
"""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# Below this many microseconds a double holds every nanosecond; a stamp relative to Kineto's base
# (at most three months) is always below, one since 1970 never.
EXACT_IN_A_DOUBLE_NS = 2**43 * 1000
# September 2001: stamps that count from a base or from a machine's start never reach it.
SINCE_1970_NS = 10**18

LARGE_DECIMAL = re.compile(rb'"ts"\s*:\s*"?\d{12,}\.\d')
UNQUOTED_LARGE_DECIMAL = re.compile(rb'("ts"\s*:\s*)(\d{12,}\.\d+)')
UNQUOTED_DECIMAL = re.compile(rb'("(?:ts|dur)"\s*:\s*)(\d+\.\d+)')
FRACTION = re.compile(rb'"ts"\s*:\s*"?\d{12,}\.(\d+)')


# Of a stamp's text: its name, a few blanks, and more digits than 64 bits can hold.
KEY = b'"ts"'
MOST_BLANKS = 2
MOST_DIGITS = 18
# As far as a double of so many microseconds may be from what is written.
NEAR_NS = 1000


def needs_exact_reading(data, latest_ns: int | None) -> bool:
    """Whether stamps up to `latest_ns`, as read, may have lost digits in a double."""
    return (
        latest_ns is not None
        and latest_ns >= EXACT_IN_A_DOUBLE_NS
        and LARGE_DECIMAL.search(data) is not None
    )


def with_exact_stamps(events: pa.Table, data) -> pa.Table | None:
    """The events of this text with their stamps as written, which a double has rounded; None
    where that takes a parser, as of a stamp with an exponent."""
    exact = stamps_in(np.frombuffer(data, np.uint8))
    rounded = events["stamp_ns"]
    is_known = rounded.is_valid()
    if exact is None or len(exact) != len(rounded) - rounded.null_count:
        return None
    # In the same order; what is none of an event's, but an argument's, shows.
    if np.abs(rounded.drop_null().to_numpy() - exact).max(initial=0) > NEAR_NS:
        return None
    stamps = pc.replace_with_mask(rounded.combine_chunks(), is_known.combine_chunks(), exact)
    at = events.schema.get_field_index("start_ns")
    starts = pc.if_else(events["start_ns"].is_valid(), stamps, None)
    return events.set_column(at, "start_ns", starts)


def stamps_in(text: np.ndarray) -> np.ndarray | None:
    """Nanoseconds of all stamps in a text, in its order, if all are plain decimals with at most
    three digits behind the point."""
    at = places_of(KEY, text) + len(KEY)
    text = np.append(text, np.full(MOST_DIGITS + MOST_BLANKS + 2, ord(" "), np.uint8))
    if (text[at] != ord(":")).any():
        return None
    at += 1
    for _ in range(MOST_BLANKS):
        at += text[at] == ord(" ")
    number = np.zeros(len(at), np.int64)
    digits_behind = np.full(len(at), -1)  # the point itself makes it 0
    is_in = np.ones(len(at), bool)
    for _ in range(MOST_DIGITS + 2):
        byte = text[at]
        digit = byte - np.uint8(ord("0"))  # others wrap around
        is_point = (byte == ord(".")) & (digits_behind < 0)
        is_in &= (digit < 10) | is_point
        if not is_in.any():
            break
        is_digit = is_in & ~is_point
        number = np.where(is_digit, number * 10 + digit, number)
        digits_behind += is_in & (is_point | (digits_behind >= 0))
        at += is_in
    has_ended = np.isin(text[at], np.frombuffer(b", }\r\n\t", np.uint8))
    digits_behind = np.maximum(digits_behind, 0)
    if not has_ended.all() or (digits_behind > 3).any():
        return None
    return number * 10 ** (3 - digits_behind)


def places_of(word: bytes, text: np.ndarray) -> np.ndarray:
    """Where a word of four bytes stands in a text, in order: by comparing four bytes at once."""
    wanted = np.frombuffer(word, np.uint32)[0]
    found = []
    for shift in range(4):
        count = (len(text) - shift) // 4
        words = np.frombuffer(text, np.uint32, max(count, 0), shift)
        found.append(np.flatnonzero(words == wanted) * 4 + shift)
    return np.sort(np.concatenate(found))


def is_unpadded(data) -> bool:
    """Whether the fractions of large stamps are nanoseconds without leading zeros.

    Such text has short fractions and fractions that end in zero, but none that begin with one.
    Padded text has no short ones; numbers written again by another program never end in zero.
    Nine in ten have three digits, which numbers printed with fewer never have.
    """
    fractions = FRACTION.findall(data)
    short = sum(len(digits) < 3 for digits in fractions)
    return (
        0 < short <= len(fractions) / 2
        and any(len(digits) > 1 and digits.endswith(b"0") for digits in fractions)
        and not any(len(digits) > 1 and digits.startswith(b"0") for digits in fractions)
    )


def quoted(data: bytes, unpadded: bool) -> bytes:
    """The same events with decimal times as JSON strings, so that no digit is lost.

    The strings begin with `=`, for SQL to tell them from what the trace itself quotes.
    """
    pattern = UNQUOTED_DECIMAL if unpadded else UNQUOTED_LARGE_DECIMAL
    return pattern.sub(rb'\1"=\2"', data)
