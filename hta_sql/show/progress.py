"""A line of progress below the running cell of a notebook. Elsewhere, nothing is shown."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from hta_sql.show.units import humane

_SECONDS = 0.2  # between two lines


def notebook_line() -> Callable[[str, bool], None]:
    """What shows a line in place of the one before. Lines that come too soon after another are
    left out, except those that are the last."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if not hasattr(shell, "kernel"):  # a terminal
        return lambda line, is_last: None
    from IPython.display import display

    handle = None
    shown_at = 0.0

    def show(line: str, is_last: bool) -> None:
        nonlocal handle, shown_at
        now = time.monotonic()
        if not is_last and now - shown_at < _SECONDS:
            return
        shown_at = now
        data = {"text/plain": line}
        if handle is None:
            handle = display(data, raw=True, display_id=True)
        else:
            handle.update(data, raw=True)

    return show


def notebook_progress(what: str, name: str, unit: str = "") -> Callable[[int, int], None]:
    """A callback of how much is done, and of how much; `name` is that of a column with the unit."""
    show = notebook_line()

    def progress(done: int, total: int) -> None:
        line = f"{what}: {humane(name, done)} of {humane(name, total)}{unit}"
        show(line, done == total)

    return progress
