"""What is wrong with elements, as far as their text shows it."""

from __future__ import annotations

import re

from hta_sql.ingestion.elements import LONGEST_ELEMENT_BYTES, Element
from hta_sql.ingestion.kinds import ListKind

# Any escape; `half` is half of a surrogate pair. `\\ud800` is an escaped backslash and text.
ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(?P<half>u[dD][89a-fA-F]..)|.)", re.DOTALL
)
HALF_PAIR = re.compile(rb"\\u[dD][89a-fA-F]")


def json_problem(
    element: Element, text: bytes, json_type: str | None, kind: ListKind
) -> str | None:
    noun = kind.element
    if len(text) > LONGEST_ELEMENT_BYTES:
        return "longer than 16 MB"
    if json_type == "OBJECT":
        return None
    if json_type == "REPEATING":
        return f"unusable {noun}: a key stands twice"
    if json_type is not None:
        return f"not {'an' if noun[0] in 'aeiou' else 'a'} {noun}: {json_type.lower()}"
    if not is_utf8(text):
        return "broken JSON: invalid UTF-8"
    return f"broken JSON: {element.stopped_by or 'Bad escape'}"


def paired(text: bytes) -> bytes:
    """The same JSON with U+FFFD in place of halves of surrogate pairs, which Python writes and
    DuckDB does not read."""
    if not HALF_PAIR.search(text):
        return text
    return ESCAPE.sub(lambda found: b"\\ufffd" if found["half"] else found[0], text)


def is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
