"""Where an archive is, or may come to be."""

import os
from typing import TYPE_CHECKING

from hta_sql.errors import ArchiveError
from hta_sql.places.storage import absolute, holds_archive, is_remote, names_in
from hta_sql.store.layout import NAMES

if TYPE_CHECKING:
    from hta_sql.places.storage import Place

# In a path, DuckDB takes these for patterns or a list of paths.
UNSEARCHABLE = "*?[],\\"


def archive_root(archive: "str | os.PathLike[str] | Place") -> "Place":
    """Where an archive is, from anywhere; ArchiveError if there is none."""
    root = absolute(archive)
    if is_remote(root):
        if not holds_archive(root):
            raise ArchiveError(
                f"{archive}: no archive there; `hta-sql ingest TRACES ARCHIVE` makes one"
            )
        check_searchable(root)
        return root
    if not root.exists():
        raise ArchiveError(f"{archive}: no such folder; `hta-sql ingest TRACES ARCHIVE` makes one")
    if not (root / "traces.parquet").is_file() and not (root / "traces").is_dir():
        what = "holds no traces.parquet" if root.is_dir() else "is a file"
        raise ArchiveError(
            f"{archive}: not an archive, it {what}; `hta-sql ingest TRACES ARCHIVE` makes one"
        )
    check_searchable(root)
    return root


def check_searchable(root: "Place") -> None:
    """ArchiveError for a path in which DuckDB finds no files."""
    text = os.fsencode(str(root)).decode(errors="backslashreplace")
    if text != str(root):
        raise ArchiveError(f"{text}: an archive's path has to be UTF-8; rename the folder")
    if bad := sorted(set(text) & set(UNSEARCHABLE)):
        raise ArchiveError(
            f"{text}: DuckDB cannot search a path with {' '.join(bad)} in it; "
            "move the archive or rename the folder"
        )


def new_or_old_root(archive: "str | os.PathLike[str] | Place") -> "Place":
    """An absolute path that is an archive or may become one."""
    root = absolute(archive)
    check_searchable(root)
    if not is_remote(root) and root.exists() and not root.is_dir():
        raise ArchiveError(f"{root}: is a file; an archive is a folder")
    if not holds_archive(root):
        strange = {name for name in names_in(root) if not name.startswith(".")}
        if strange - NAMES and "traces" not in strange:
            raise ArchiveError(
                f"{root}: holds files but is no archive ({min(strange)}, …); "
                "name a new or empty folder"
            )
    return root
