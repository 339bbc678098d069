"""Columnar SQL analytics for PyTorch-profiler (Kineto) traces.

import hta_sql

hta_sql.ingest(["traces/"], "archive/")
run = hta_sql.open("archive/")
run.temporal_breakdown(only_ranks=[0])      # pyarrow.Table
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from os import PathLike
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .errors import HtaSqlError

if TYPE_CHECKING:
    from .archive import Archive
    from .comparison import Comparison
    from .ingest import ingest
    from .keeping.compact import compact
    from .keeping.drop import drop
    from .keeping.move import export_job, import_job
    from .keeping.usage import usage

__all__ = [
    "HtaSqlError",
    "__version__",
    "compact",
    "compare",
    "drop",
    "export_job",
    "import_job",
    "ingest",
    "open",
    "usage",
]

__version__ = "0.1.0"

# Of the tables that ingest writes: raised when one of their files in sql/tables changes. Archives
# say theirs in traces.parquet, so that old ones are read with missing columns as NULL.
SCHEMA_VERSION = 7


def open(
    *archives: str | PathLike[str],
    only_jobs: Iterable[str] | None = None,
    engine: str = "local",
    address: str | None = None,
) -> Archive:
    """Open one archive, or several as one; ArchiveError if one is missing or not an archive.

    Folders, or URLs of object storage (`s3://bucket/archive`). `only_jobs` leaves out all other
    jobs of an archive of many. With the `engine` "ray", queries that answer for each job apart are
    done by a Ray cluster, at `address` or made here.
    """
    from .archive import Archive  # not at the top: it takes DuckDB's start-up time

    return Archive(*archives, only_jobs=only_jobs, engine=engine, address=address)


def compare(base: str | PathLike[str], test: str | PathLike[str], **selection) -> Comparison:
    """Two jobs side by side: archives, jobs of one (`ARCHIVE::job`), or folders of traces.

    See :func:`hta_sql.comparison.compare` for what there is to choose.
    """
    from .comparison import compare

    return compare(base, test, **selection)


# Functions that are imported when asked for, and where they are.
_LATER = {
    "compact": "compact",
    "drop": "drop",
    "export_job": "move",
    "import_job": "move",
    "usage": "usage",
}


def __getattr__(name: str) -> Any:
    """What is imported when asked for: `hta_sql.plot` needs the extra `viz`."""
    import importlib

    if name in _LATER:
        return getattr(importlib.import_module(f"hta_sql.keeping.{_LATER[name]}"), name)
    if name != "plot":
        raise AttributeError(f"module 'hta_sql' has no attribute {name!r}")
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
