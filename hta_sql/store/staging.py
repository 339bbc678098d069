"""Folders in which files are written before they are moved into an archive."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

from hta_sql.places.storage import is_remote

if TYPE_CHECKING:
    from hta_sql.places.storage import Place


def staging_of(archive: Place) -> Path:
    """A name for a folder to which an ingest writes its files.

    It is on the archive's own disk, so that moving files is instant. For an archive in object
    storage it is on this machine's disk.
    """
    if is_remote(archive):
        folder = f"hta-sql-staging-{os.getuid()}"
        return Path(tempfile.gettempdir(), folder, uuid.uuid4().hex)
    return archive / ".staging" / uuid.uuid4().hex


@contextlib.contextmanager
def in_use(staging: Path) -> Iterator[None]:
    """Make a folder for this ingest only, and delete it afterwards. A lock marks it as in use."""
    staging.parent.mkdir(exist_ok=True)
    lock_file = staging.with_suffix(".lock")
    with locked(lock_file, fcntl.LOCK_EX):
        try:
            staging.mkdir()
            yield
        finally:
            shutil.rmtree(staging, ignore_errors=True)
            lock_file.unlink(missing_ok=True)


def clear_abandoned(archive: Place) -> None:
    """Remove what killed ingests and late workers left in staging: their locks are free."""
    left = staging_of(archive).parent.glob("*")
    for lock_file in {path.with_suffix(".lock") for path in left}:
        with contextlib.suppress(OSError), locked(lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB):
            shutil.rmtree(lock_file.with_suffix(""), ignore_errors=True)
            lock_file.unlink(missing_ok=True)


def locked(lock_file: Path, how: int) -> IO[str]:
    """The file, open and locked. If another process deletes it between opening and locking, no
    process could find the locked file, so a new file is opened."""
    while True:
        with contextlib.ExitStack() as stack:
            lock = stack.enter_context(lock_file.open("w"))
            fcntl.flock(lock, how)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(lock.fileno()), lock_file.stat()):
                    stack.pop_all()
                    return lock
