"""Columnar SQL analytics for PyTorch-profiler (Kineto) traces.

    import hta_sql

    hta_sql.ingest(["traces/"], "archive/")
    run = hta_sql.open("archive/")
    run.temporal_breakdown(only_ranks=[0])      # pyarrow.Table
"""

from __future__ import annotations

import sys
from os import PathLike
from types import ModuleType
from typing import TYPE_CHECKING

from .errors import HtaSqlError

if TYPE_CHECKING:
    from .archive import Archive
    from .comparison import Comparison
    from .ingest import ingest

__all__ = ["HtaSqlError", "__version__", "compare", "ingest", "open"]

__version__ = "0.1.0"

# Of the tables that ingest writes: raised when one of their files in sql/schema changes. Archives
# say theirs in traces.parquet, so that old ones are read with missing columns as NULL.
SCHEMA_VERSION = 5


def open(*archives: str | PathLike[str]) -> Archive:
    """Open one archive, or several as one; ArchiveError if one is missing or not an archive."""
    from .archive import Archive  # not at the top: it takes DuckDB's start-up time

    return Archive(*archives)


def compare(base: str | PathLike[str], test: str | PathLike[str], **selection) -> Comparison:
    """Two jobs side by side: archives, jobs of one (`ARCHIVE::job`), or folders of traces.

    See :func:`hta_sql.comparison.compare` for what there is to choose.
    """
    from .comparison import compare

    return compare(base, test, **selection)


def __getattr__(name: str) -> ModuleType:
    """`hta_sql.plot`, imported when asked for: it needs the extra `viz`."""
    if name != "plot":
        raise AttributeError(f"module 'hta_sql' has no attribute {name!r}")
    import importlib

    return importlib.import_module("hta_sql.plot")


class _Package(ModuleType):
    """Lets `hta_sql.ingest` be the function, imported when asked for.

    Python would make the subpackage of that name an attribute when something imports it.
    """

    @property
    def ingest(self):
        from .ingest import ingest

        return ingest

    @ingest.setter
    def ingest(self, subpackage: ModuleType) -> None:
        pass


sys.modules[__name__].__class__ = _Package
