"""Folders in which files are written before they are moved into an archive."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from hta_sql.errors import ArchiveError
from hta_sql.places.cache import make_own
from hta_sql.places.storage import is_remote
from hta_sql.store.files import delete_unnamed
from hta_sql.store.locks import locked
from hta_sql.store.manifest import Manifest

if TYPE_CHECKING:
    from hta_sql.places.storage import Place

# The folder of staging folders in an archive on disk.
OWN = ".staging"


def staging_of(archive: Place) -> Path:
    """A name for a folder to which an ingest writes its files.

    It is on the archive's own disk, so that moving files is instant. For an archive in object
    storage it is on this machine's disk.
    """
    if is_remote(archive):
        folder = f"hta-sql-staging-{os.getuid()}"
        return Path(tempfile.gettempdir(), folder, uuid.uuid4().hex)
    return archive / OWN / uuid.uuid4().hex


@contextlib.contextmanager
def writing(archive: Place, staging: Path | None = None) -> Iterator[Path]:
    """A staging folder for a command that writes to the archive, by this name or a new one; it is
    deleted afterwards.

    On disk, it first deletes what a killed command has left in the archive. Raises ArchiveError for
    an archive of a newer version.
    """
    Manifest(archive).check_known()
    staging = staging or staging_of(archive)
    if is_left(archive):
        clean_up(archive)
    try:
        with in_use(staging):
            yield staging
    except BaseException:  # an error, or Ctrl-C between two steps
        clean_up(archive)
        raise


def clean_up(archive: Place) -> None:
    """Delete what killed commands have left, if no other command writes to the archive now."""
    began = time.time()
    clear_abandoned(archive)
    if not is_remote(archive) and not is_left(archive):
        delete_unnamed(archive, before=began)


@contextlib.contextmanager
def in_use(staging: Path) -> Iterator[None]:
    """Make a folder for this command only, and delete it afterwards. A lock marks it as in use."""
    make_folder(staging.parent)
    lock_file = staging.with_suffix(".lock")
    with locked(lock_file, fcntl.LOCK_EX):
        try:
            staging.mkdir()
            yield
        finally:
            shutil.rmtree(staging, ignore_errors=True)
            lock_file.unlink(missing_ok=True)


def make_folder(parent: Path) -> None:
    """Make the folder of all staging folders. Raises ArchiveError if it is a link, or if it is
    among everybody's temporary files and another user's."""
    if parent.is_symlink():
        raise ArchiveError(
            f"{parent}: this is a link, and hta_sql would delete what is behind it; remove the link"
        )
    if parent.name == OWN:
        parent.mkdir(exist_ok=True)
    elif not make_own(parent):
        raise ArchiveError(f"{parent}: this folder is another user's; set TMPDIR to one of yours")


def clear_abandoned(archive: Place) -> None:
    """Remove what killed commands and late workers left in staging: their locks are free."""
    parent = staging_of(archive).parent
    if not parent.is_dir():
        return
    make_folder(parent)
    for lock_file in {path.with_suffix(".lock") for path in parent.glob("*")}:
        with contextlib.suppress(OSError), locked(lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB):
            shutil.rmtree(lock_file.with_suffix(""), ignore_errors=True)
            lock_file.unlink(missing_ok=True)


def is_left(archive: Place) -> bool:
    """Whether commands are writing to the archive, or were killed."""
    return any(staging_of(archive).parent.glob("*"))
