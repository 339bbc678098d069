"""How a trace writes time. No key of the file says it, so the text of the stamps decides.

Kineto first wrote whole microseconds since 1970, then decimal microseconds since 1970, then decimal
microseconds relative to `baseTimeNanoseconds`. For three weeks in 2024 it did not pad the fraction
with zeros, so that `123.5` meant 123.005 us.
"""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# Below this many microseconds a double holds every nanosecond. A stamp relative to Kineto's base
# (at most three months) is always below it, and a stamp since 1970 never is.
EXACT_IN_A_DOUBLE_NS = 2**43 * 1000
# September 2001. Stamps relative to a base or to a machine's start never reach it.
SINCE_1970_NS = 10**18
# 2041, as in is_believable of sql/ingest/macros/parsed_events.sql.
LATEST_NS = 2_250_000_000_000_000_000

EXPONENT = rb"(?:[eE][+-]?\d+)?"
LARGE_DECIMAL = re.compile(rb'"ts"\s*:\s*"?\d{12,}\.\d')
UNQUOTED_LARGE_DECIMAL = re.compile(rb'("ts"\s*:\s*)(\d{12,}\.\d+%s)' % EXPONENT)
UNQUOTED_DECIMAL = re.compile(rb'("(?:ts|dur)"\s*:\s*)(\d+\.\d+%s)' % EXPONENT)
FRACTION = re.compile(rb'"ts"\s*:\s*"?\d{12,}\.(\d+)')

# A stamp's key and value. Nearly all stamps of a file have the same layout to the byte.
KEY = b'"ts"'
PLAIN_DECIMAL = re.compile(rb"(: {0,2})(\d{1,16})(?:\.(\d{0,3}))?(?=[, }\r\n\t])")
LONGEST_DECIMAL = 32
IS_BEHIND_STAMP = np.isin(np.arange(256), np.frombuffer(b", }\r\n\t", np.uint8))
MOST_LOOKS = 64
FEWEST_DIGITS = 12  # of a large stamp
FIRST_LOOK = 1 << 16
# How far a double of so many microseconds may be from the written value.
NEAR_NS = 1000
# So only the last six digits of the written nanoseconds matter.
LAST_DIGITS = 10**6


def needs_exact_reading(data, latest_ns: int | None) -> bool:
    """Whether stamps up to `latest_ns`, as read, may have lost digits in a double."""
    if latest_ns is None or latest_ns < EXACT_IN_A_DOUBLE_NS:
        return False
    # Usually the first stamps decide. If they do not, most text can be ruled out quickly.
    return LARGE_DECIMAL.search(data, 0, FIRST_LOOK) is not None or (
        has_large_decimals(np.frombuffer(data, np.uint8)) and LARGE_DECIMAL.search(data) is not None
    )


def has_large_decimals(text: np.ndarray) -> bool:
    """Whether any decimal point follows as many digits as a large stamp has."""
    points = np.flatnonzero(text == ord("."))
    points = points[points >= FEWEST_DIGITS]
    for before in range(1, FEWEST_DIGITS + 1):
        points = points[text[points - before] - np.uint8(ord("0")) < 10]
    return len(points) > 0


def with_exact_stamps(events: pa.Table, data) -> pa.Table | None:
    """The events of this text with their stamps as written, in place of rounded doubles.

    None if that takes a parser, for example for a stamp with an exponent.
    """
    rounded = events["stamp_ns"]
    is_known = rounded.is_valid()
    exact = as_written(rounded.drop_null().to_numpy(), np.frombuffer(data, np.uint8))
    if exact is None:
        return None
    stamps = pc.replace_with_mask(rounded.combine_chunks(), is_known.combine_chunks(), exact)
    at = events.schema.get_field_index("start_ns")
    starts = pc.if_else(events["start_ns"].is_valid(), stamps, None)
    return events.set_column(at, "start_ns", starts)


def as_written(rounded: np.ndarray, text: np.ndarray) -> np.ndarray | None:
    """All stamps of a text to the nanosecond, in order; `rounded` has them to about a microsecond.

    None if a stamp is not a plain decimal with at most three digits after the point.
    """
    at = places_of(KEY, text) + len(KEY)
    if len(at) != len(rounded):
        return None
    exact = np.empty(len(at), np.int64)
    left = np.arange(len(at))
    for _ in range(MOST_LOOKS):
        if not len(left):
            return exact
        first = at[left[0]]
        alike = PLAIN_DECIMAL.match(text[first : first + LONGEST_DECIMAL].tobytes())
        if not alike:
            return None
        values, are_alike = written_alike(rounded[left], at[left], alike, text)
        exact[left[are_alike]] = values[are_alike]
        left = left[~are_alike]
    return None


def written_alike(
    rounded: np.ndarray, at: np.ndarray, alike: re.Match, text: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The stamps written at these places, and which of them have the layout of `alike`.

    Text in another layout, or of an argument, does not give a value near the one that was read.
    """
    (first, point), fraction, end = alike.span(2), alike[3], alike.end()
    places = np.minimum(at, len(text) - end - 1)
    are_alike = IS_BEHIND_STAMP[text[places + end]] & (places == at)
    # If the number has that many digits, all characters before the point are digits.
    least = 10 ** (point - first - 1) * 1000
    are_alike &= (rounded >= (least if least > 1000 else 0)) & (rounded < least * 10)
    for column, byte in enumerate(alike[1]):
        are_alike &= text[places + column] == byte
    if fraction is not None:
        are_alike &= text[places + point] == ord(".")
    last = np.zeros(len(at), np.int64)
    for column in (*range(max(first, point - 3), point), *range(point + 1, end)):
        digits = text[places + column] - np.uint8(ord("0"))  # other bytes wrap around
        are_alike &= digits < 10
        last = last * 10 + digits
    last *= 10 ** (3 - len(fraction or b""))
    differ = (last - rounded + LAST_DIGITS // 2) % LAST_DIGITS - LAST_DIGITS // 2
    return rounded + differ, are_alike & (np.abs(differ) <= NEAR_NS)


def places_of(word: bytes, text: np.ndarray) -> np.ndarray:
    """The positions of a word of four bytes in a text, in order.

    Two bytes are compared at once: either the word's first two bytes or its middle two begin at an
    even position.
    """
    pairs = text[: len(text) & ~1].view(np.uint16)
    found = []
    for shift in range(2):
        [pair] = np.frombuffer(word, np.uint16, 1, shift)
        at = np.flatnonzero(pairs == pair) * 2 - shift
        at = at[(at >= 0) & (at <= len(text) - len(word))]
        for column, byte in enumerate(word):
            at = at[text[at + column] == byte]
        found.append(at)
    return np.sort(np.concatenate(found), kind="stable")  # merges two sorted lists


def is_unpadded(data) -> bool:
    """Whether the fractions of large stamps are nanoseconds without leading zeros.

    Such text has short fractions and fractions that end in zero, but none that begin with zero.
    Padded text has no short fractions. Numbers that another program wrote again never end in zero.
    Nine in ten of these fractions have three digits; numbers printed with fewer never have three.
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

    The strings begin with `=`, so that SQL can distinguish them from strings of the trace itself.
    """
    pattern = UNQUOTED_DECIMAL if unpadded else UNQUOTED_LARGE_DECIMAL
    return pattern.sub(rb'\1"=\2"', data)
