"""Locks on files, which end with the process that has them."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from hta_sql.errors import ArchiveError


def locked(lock_file: Path, how: int) -> IO[bytes]:
    """The file, open and locked. If another process deletes it between opening and locking, no
    process could find the locked file, so a new file is opened."""
    while True:
        with contextlib.ExitStack() as stack:
            lock = stack.enter_context(open_lock(lock_file))
            fcntl.flock(lock, how)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(lock.fileno()), lock_file.stat()):
                    stack.pop_all()
                    return lock


def open_lock(lock_file: Path) -> IO[bytes]:
    """The file of a lock, made if it is missing. Raises ArchiveError if it is a link: somebody
    else's file would be locked."""
    try:
        number = os.open(lock_file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise ArchiveError(f"{lock_file}: this is a link, not a file; remove it") from error
        raise
    return os.fdopen(number, "r+b", buffering=0)


@contextlib.contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Lock a folder without a file: a lock that does not wait for that of the manifests."""
    number = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(number, fcntl.LOCK_EX)
        yield
    finally:
        os.close(number)
