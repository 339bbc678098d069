"""Long texts, cut so that what differs stays."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
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
# A text shows at most so many places where it differs from others, each in at least 4 characters.
_PLACES = 4
_PLACE = 4
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

    Many kernels have long names that begin and end in the same way, and differ in several places.
    """
    shown = {text: cut(text, size) for text in texts}
    for _ in range(_ROUNDS):
        before = dict(shown)
        for group in _by(before.__getitem__, before):
            if len(group) > 1:
                shown |= _apart(group, size)
        if shown == before:
            break
    return shown


def _by(key: Callable[[str], str], texts: Iterable[str]) -> list[list[str]]:
    """The texts in groups with the same key."""
    groups = defaultdict(list)
    for text in texts:
        groups[key(text)].append(text)
    return list(groups.values())


def _apart(group: list[str], size: int) -> dict[str, str]:
    """The texts with as few places as make all of them differ, or else most."""
    head = _HEAD if size >= _ROOM else 0
    best: dict[str, str] = {}
    for places in range(1, _PLACES + 1):
        if places == 1 or (size - head) // places > _PLACE:
            rest = _after(group, head, size - head, places)
            shown = {text: text[:head] + rest[text] for text in group}
            if len(set(shown.values())) > len(set(best.values())):
                best = shown
    return best


def _after(group: list[str], seen: int, size: int, places: int) -> dict[str, str]:
    """What each text shows behind its first `seen` characters, which are the same in the group.

    It shows at most `places` places where texts of the group differ, in at most `size` characters.
    """
    if len(group) == 1:
        return {group[0]: _fit(group[0][seen:], size)}
    width = size // places
    begin = max(seen, _word_at(group[0], len(commonprefix(group)), width))
    gap = "…" if begin > seen else ""
    if places == 1:
        return {text: gap + _fit(text[begin:], size - len(gap)) for text in group}
    end = begin + width - len(gap)
    shown = {}
    for alike in _by(lambda text: text[begin:end], group):
        rest = _after(alike, end, size - width, places - 1)
        shown |= {text: gap + text[begin:end] + rest[text] for text in alike}
    return shown


def _word_at(text: str, place: int, room: int) -> int:
    """Where the word begins that has a character; with much room, the word before it. It begins
    not far before the character.
    """
    word = re.search(_WORDS if room >= _LARGE - _HEAD else _WORD, text[:place])
    return max(word.start(), place - min(_BACK, room // 2))


def _fit(text: str, size: int) -> str:
    size = max(1, size)
    return text if len(text) <= size else text[: size - 1] + "…"
