"""Finds where a single JSON value in a text ends; any text may follow it."""

from __future__ import annotations

import json

from hta_sql.ingestion.kinds import EVENTS, NODES, is_element

# It only has to find the extent of values, so it does not convert numbers.
SCANNER = json.JSONDecoder(parse_int=len, parse_float=len)
# The same for long values, whose parts would take a hundred times their size as objects.
LIGHT_SCANNERS = {
    kind: json.JSONDecoder(
        parse_int=len,
        parse_float=len,
        object_hook=lambda found, kind=kind: found if is_element(found, kind) else None,
    )
    for kind in (EVENTS, NODES)
}
CUT = "The text ends within it"
LONGEST_LITERAL = len("-Infinity")
FIRST_LOOK = 1 << 12


def value_at(text: str, at: int, decoder: json.JSONDecoder = SCANNER) -> tuple:
    """The JSON value at `at`, where it ends, and what stopped the decoder earlier, if anything."""
    # Decode parts, not the whole text: to report an error, the decoder counts lines from the start.
    for size in (FIRST_LOOK, 1 << 16, 1 << 20, len(text)):
        part = text[at : at + size]
        value, length, stopped_by = first_value(part, decoder)
        is_cut = stopped_by == CUT or length == len(part)
        if not is_cut or at + size >= len(text):
            break
    return value, at + length, stopped_by


def first_value(text: str, decoder: json.JSONDecoder) -> tuple[object, int, str | None]:
    """The value that a text begins with, where it ends or the decoder stopped, and why it did."""
    try:
        value, end = decoder.raw_decode(text)
    except json.JSONDecodeError as error:
        # If a string or a literal does not end, the error is placed at its start.
        if error.msg.startswith("Unterminated") or error.pos > len(text) - LONGEST_LITERAL:
            return None, len(text), CUT
        return None, error.pos, error.msg
    except RecursionError:
        return None, len(text), "Nested too deeply"
    return value, end, None
