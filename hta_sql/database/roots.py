"""Finds the folder or URL of an archive, or checks that a new archive can be there."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from hta_sql.errors import ArchiveError
from hta_sql.places.storage import absolute, holds_archive, is_remote, names_in
from hta_sql.store.layout import NAMES

if TYPE_CHECKING:
    from hta_sql.places.storage import Place

# DuckDB reads these characters in a path as a pattern or a list of paths.
UNSEARCHABLE = "*?[],\\"


def archive_root(archive: "str | os.PathLike[str] | Place") -> "Place":
    """The absolute path or URL of an archive; raises ArchiveError if there is no archive."""
    root = absolute(archive)
    if is_remote(root):
        if not holds_archive(root):
            raise ArchiveError(
                f"{archive}: this is not an archive; `hta-sql ingest TRACES ARCHIVE` makes one"
            )
        check_searchable(root)
        return root
    if not root.exists():
        raise ArchiveError(f"{archive}: no such folder; `hta-sql ingest TRACES ARCHIVE` makes one")
    check_not_lost(root)
    if not (root / "traces.parquet").is_file() and not (root / "traces").is_dir():
        what = "holds no traces.parquet" if root.is_dir() else "is a file"
        raise ArchiveError(
            f"{archive}: not an archive, since it {what}; `hta-sql ingest TRACES ARCHIVE` makes one"
        )
    check_searchable(root)
    return root


def check_not_lost(root: Path) -> None:
    """Raise ArchiveError for an archive on disk whose list of traces is gone: a new list would make
    its data files useless, and have them deleted."""
    if holds_archive(root):
        return
    if (root / ".traces.parquet.sha256").exists() or any(root.glob("events/job=*")):
        raise ArchiveError(
            f"{root}: traces.parquet is gone, and the files that it lists are unknown; restore it "
            "from a copy, or ingest the traces into a new archive"
        )


def check_searchable(root: "Place") -> None:
    """Raise ArchiveError for a path in which DuckDB cannot find files."""
    text = os.fsencode(str(root)).decode(errors="backslashreplace")
    if text != str(root):
        raise ArchiveError(f"{text}: the path of an archive has to be UTF-8; rename the folder")
    if bad := sorted(set(text) & set(UNSEARCHABLE)):
        raise ArchiveError(
            f"{text}: DuckDB cannot search a path that contains {' '.join(bad)}; "
            "move the archive or rename the folder"
        )


def new_or_old_root(archive: "str | os.PathLike[str] | Place") -> "Place":
    """The absolute path or URL of an archive, or of a place for a new archive."""
    root = absolute(archive)
    check_searchable(root)
    if not is_remote(root) and root.exists() and not root.is_dir():
        raise ArchiveError(f"{root}: this is a file, but an archive is a folder; name a folder")
    if not is_remote(root):
        check_not_lost(root)
    if not holds_archive(root):
        strange = {name for name in names_in(root) if not name.startswith(".")}
        if strange - NAMES and "traces" not in strange:
            raise ArchiveError(
                f"{root}: the folder has other files ({min(strange)}, …) and is not an archive; "
                "name a new or empty folder"
            )
    return root
