"""How a trace writes time: found from the text of its stamps, since no key says it.

Kineto wrote whole microseconds since 1970, then decimal ones, then decimal ones relative to
`baseTimeNanoseconds`; for three weeks in 2024 the fraction was not padded with zeros, so that
`123.5` meant 123.005 us.
"""

from __future__ import annotations

import re

# Below this many microseconds a double holds every nanosecond; a stamp relative to Kineto's base
# (at most three months) is always below, one since 1970 never.
EXACT_IN_A_DOUBLE_NS = 2**43 * 1000
# September 2001: stamps that count from a base or from a machine's start never reach it.
SINCE_1970_NS = 10**18

LARGE_DECIMAL = re.compile(rb'"ts"\s*:\s*"?\d{12,}\.\d')
UNQUOTED_LARGE_DECIMAL = re.compile(rb'("ts"\s*:\s*)(\d{12,}\.\d+)')
UNQUOTED_DECIMAL = re.compile(rb'("(?:ts|dur)"\s*:\s*)(\d+\.\d+)')
FRACTION = re.compile(rb'"ts"\s*:\s*"?\d{12,}\.(\d+)')


def needs_exact_reading(data, latest_ns: int) -> bool:
    """Whether stamps up to `latest_ns`, as read, may have lost digits in a double."""
    return latest_ns >= EXACT_IN_A_DOUBLE_NS and LARGE_DECIMAL.search(data) is not None


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
