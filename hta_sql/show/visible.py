"""Text from traces for a terminal: it moves no cursor, sets no colours and reorders nothing."""

from __future__ import annotations

import dataclasses
from typing import TypeVar

T = TypeVar("T")


def visible(text: str) -> str:
    r"""The text with each character that does not print as an escape, such as \x1b.

    These are the control characters of ASCII and of Latin-1, marks of writing direction, separators
    of lines, and characters of no width.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escape(c) for c in text)


def visible_cell(text: str) -> str:
    """The same for a text in one line of a table: blanks of any kind are spaces."""
    if text.isprintable():
        return text
    return visible(" ".join(text.splitlines()))


def all_visible(found: T) -> T:
    """The same object with all its texts visible: of a dataclass, and of what is in it."""
    if isinstance(found, str):
        return visible(found)
    if isinstance(found, list | tuple):
        return type(found)(map(all_visible, found))
    if isinstance(found, dict):
        return {all_visible(key): all_visible(value) for key, value in found.items()}
    if dataclasses.is_dataclass(found) and not isinstance(found, type):
        fields = [field.name for field in dataclasses.fields(found) if field.init]
        return dataclasses.replace(found, **{n: all_visible(getattr(found, n)) for n in fields})
    return found


def _escape(character: str) -> str:
    if character == "\t":
        return " "
    return character.encode("unicode_escape").decode()
