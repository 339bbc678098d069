"""Notices to readers of an archive that files have moved or are gone.

If rows go or move, a notice is written before and after the change. A process that deletes files
later writes a notice before it deletes them. A reader checks the notice before it looks for files,
and again after it has read all rows. If the notice is the same, the reader saw the archive as it
was before a change, after it, or during it, when both the old and the new files are there.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hta_sql.places.storage import contents, is_remote, put_bytes

if TYPE_CHECKING:
    from hta_sql.places.storage import Place

NAME = ".moved"


def last_move(archive: Place) -> bytes:
    """The notice: a different text after each move, and empty before the first."""
    [text] = contents([archive / NAME])
    return text or b""


@contextlib.contextmanager
def moving(archive: Place) -> Iterator[None]:
    """Put notices around a change of rows after which files may go. On disk only while locked."""
    say_moved(archive)
    yield
    say_moved(archive)


def say_moved(archive: Place) -> None:
    """Write a notice. Call it before deleting files that no row names any more."""
    text = uuid.uuid4().hex.encode()
    if is_remote(archive):
        put_bytes(text, archive / NAME)
        return
    written = archive / f"{NAME}.{uuid.uuid4().hex}"
    written.write_bytes(text)
    written.replace(archive / NAME)
