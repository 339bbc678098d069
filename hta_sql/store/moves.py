"""Tells those who read an archive that files of it have moved or gone.

Where rows go or move, their manifest says so before and afterwards; who takes files away later says
so before they go. So whoever is told nothing, from before looking for files until all rows are
read, has seen rows and files of before, or of between, when the files of both are there, or of
after.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hta_sql.places.storage import contents, is_remote, put_bytes

if TYPE_CHECKING:
    from hta_sql.places.storage import Place

NAME = ".moved"


def last_move(archive: Place) -> bytes:
    """Another text after each move; empty before the first."""
    [text] = contents([archive / NAME])
    return text or b""


@contextlib.contextmanager
def moving(archive: Place) -> Iterator[None]:
    """Around a change of rows after which files that they named go. On disk only while locked."""
    say_moved(archive)
    yield
    say_moved(archive)


def say_moved(archive: Place) -> None:
    """To be called before files go that no row names any more."""
    text = uuid.uuid4().hex.encode()
    if is_remote(archive):
        put_bytes(text, archive / NAME)
        return
    written = archive / f"{NAME}.{os.getpid()}"
    written.write_bytes(text)
    written.replace(archive / NAME)
