"""Single JSON values in a text: where they end, whatever is behind."""

from __future__ import annotations

import json

from hta_sql.ingestion.kinds import EVENTS, NODES, is_element

# For the extent of values alone: numbers are not converted.
SCANNER = json.JSONDecoder(parse_int=len, parse_float=len)
# The same for long ones, whose parts would take a hundred times their size.
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
    """The value that a text begins with, where it ends or the decoder stopped, and why that."""
    try:
        value, end = decoder.raw_decode(text)
    except json.JSONDecodeError as error:
        # Where a string or a literal does not end, the error is placed at its begin.
        if error.msg.startswith("Unterminated") or error.pos > len(text) - LONGEST_LITERAL:
            return None, len(text), CUT
        return None, error.pos, error.msg
    except RecursionError:
        return None, len(text), "Nested too deeply"
    return value, end, None
