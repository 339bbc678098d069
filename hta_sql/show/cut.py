"""Long texts, cut so that what differs stays."""

import re
from collections import defaultdict
from collections.abc import Iterable
from os.path import commonprefix

# Texts that are cut where they differ begin with so many characters of their own beginning, and
# with the word that differs, if that begins no further back than this.
_HEAD = 5
_BACK = 12
# Shorter cells have no room for both.
_ROOM = 16
# Larger ones also have room for a word before the one that differs.
_LARGE = 40
_WORD = re.compile(r"[A-Za-z0-9]*$")
_WORDS = re.compile(r"([A-Za-z0-9]+|[A-Za-z0-9]*[^A-Za-z0-9]+)?$")
# In the traces that were tried, more rounds made no more names differ.
_ROUNDS = 3


def cut(text: str, size: int) -> str:
    """The text in at most `size` characters: its beginning and its end."""
    if len(text) <= size:
        return text
    head = size // 2
    return text[:head] + "…" + text[len(text) - (size - head - 1) :]


def cut_apart(texts: Iterable[str], size: int) -> dict[str, str]:
    """Each text in at most `size` characters. Texts that would look the same show where they
    differ.

    Many kernels have long names that begin and end in the same way.
    """
    shown = {text: cut(text, size) for text in texts}
    for _ in range(_ROUNDS):
        alike = defaultdict(list)
        for text, short in shown.items():
            alike[short].append(text)
        before = dict(shown)
        for group in alike.values():
            if len(group) > 1:
                begin = _word_at(group[0], len(commonprefix(group)), _LARGE <= size)
                shown |= {text: _from(text, begin, size) for text in group}
        if shown == before:
            break
    return shown


def _word_at(text: str, place: int, with_another: bool) -> int:
    """Where the word begins that has a character, or the word before it; a place not far before."""
    word = re.search(_WORDS if with_another else _WORD, text[:place])
    return max(word.start(), place - _BACK)


def _from(text: str, begin: int, size: int) -> str:
    """The text from a place on, behind its first characters."""
    head = text[:_HEAD] if size >= _ROOM else ""
    if begin <= len(head):
        head, begin = "", 0
    before = f"{head}…" if begin else ""
    rest = text[begin:]
    room = max(1, size - len(before))
    return before + (rest if len(rest) <= room else rest[: room - 1] + "…")
