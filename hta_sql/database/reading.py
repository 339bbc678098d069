"""Which file is damaged, if DuckDB cannot read what a query needs: its errors rarely name one."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

import duckdb

from hta_sql.errors import ArchiveError
from hta_sql.places.storage import is_remote
from hta_sql.store.checksums import entries_of, problem_of, remedy
from hta_sql.store.layout import KEYS

if TYPE_CHECKING:
    from hta_sql.places.storage import Place

# What DuckDB says of broken Parquet files.
_BROKEN = re.compile(
    r"parquet|TProtocolException|Out of buffer|bitpacked|decompress|corrupt|Payload value"
    r"|know what type|from file|read file|No such file|No files found",
    re.IGNORECASE,
)
# Reading all files of a large archive takes longer than anybody waits for an error.
SECONDS = 10.0


def fault_behind(
    error: Exception, archives: Iterable[Place], jobs: Collection[str] | None
) -> str | None:
    """The damaged file that explains an error of a query, with what to do; None if there is none.

    Only the files of these jobs are read, and only for SECONDS.
    """
    cause = error if isinstance(error, duckdb.Error | OSError) else error.__cause__
    if not isinstance(cause, duckdb.Error | OSError) or not _BROKEN.search(str(cause)):
        return None
    from hta_sql.store.manifest import Manifest  # not at the top: it needs Arrow

    until = time.monotonic() + SECONDS
    for archive in archives:
        if is_remote(archive):
            continue
        try:
            rows = [row for table in KEYS for row in Manifest(archive, table).rows()]
        except ArchiveError as damaged:
            return str(damaged)
        entries = entries_of(row for row in rows if jobs is None or row["job"] in jobs)
        for is_deep in (False, True):
            for entry in entries:
                path = entry["path"]
                if problem := problem_of(archive / path, entry, is_deep):
                    return f"{archive}: {path} {problem}; {remedy(path)}"
                if time.monotonic() > until:
                    return None
    return None
