"""Folders for files that hta_sql can make again."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hta_sql.errors import HtaSqlError


def cache_folders() -> Iterator[Path]:
    """The folders of this user, the best first. They may not exist."""
    with contextlib.suppress(RuntimeError):  # no home
        given = os.environ.get("XDG_CACHE_HOME", "")
        cache = Path(given) if os.path.isabs(given) else Path.home() / ".cache"
        yield cache / "hta_sql"
    yield Path(tempfile.gettempdir(), f"hta-sql-{os.getuid()}")


def make_own(folder: Path) -> bool:
    """Make a folder if it is missing. False if it is another user's, who could put anything there.

    Raises OSError if it cannot be made.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder.stat().st_uid == os.getuid()


def cache_folder() -> Path:
    """The first of these folders that can be written."""
    for folder in cache_folders():
        with contextlib.suppress(OSError):
            if make_own(folder) and os.access(folder, os.W_OK | os.X_OK):
                return folder
    raise HtaSqlError("no cache folder can be written; set XDG_CACHE_HOME")
