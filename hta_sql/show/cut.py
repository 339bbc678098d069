"""Long texts, cut in the middle."""

from collections import defaultdict
from collections.abc import Iterable
from os.path import commonprefix

# Texts that are cut where they differ also show so many characters before.
_BEFORE = 6


def cut(text: str, size: int) -> str:
    """The text in at most `size` characters: its beginning and its end."""
    if len(text) <= size:
        return text
    head = size // 2
    return text[:head] + "…" + text[len(text) - (size - head - 1) :]


def cut_apart(texts: Iterable[str], size: int) -> dict[str, str]:
    """Each text in at most `size` characters. Texts that would look the same are cut to differ.

    Many kernels have long names that begin and end in the same way.
    """
    shown = {text: cut(text, size) for text in texts}
    alike = defaultdict(list)
    for text, short in shown.items():
        alike[short].append(text)
    for group in alike.values():
        begin = len(commonprefix(group)) - _BEFORE
        if len(group) > 1 and 0 < begin and 2 * _BEFORE < size:
            shown |= {text: "…" + cut(text[begin:], size - 1) for text in group}
    return shown
