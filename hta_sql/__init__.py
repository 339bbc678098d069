"""SQL analytics for PyTorch-profiler (Kineto) traces.

import hta_sql

hta_sql.ingest("traces/", "archive")
run = hta_sql.open("archive")
run.temporal_breakdown(only_ranks=[0])  # a pyarrow.Table
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from os import PathLike
from typing import TYPE_CHECKING, Any

from hta_sql.errors import HtaSqlError, NoData
from hta_sql.methods import add_methods
from hta_sql.version import SCHEMA_VERSION, __version__

if TYPE_CHECKING:
    from hta_sql import plot as plot
    from hta_sql.archive import Archive
    from hta_sql.comparison.compare import compare
    from hta_sql.critical_path.compute import compute_critical_path
    from hta_sql.diagnosis.doctor import doctor
    from hta_sql.fleet.materialize import materialize
    from hta_sql.ingestion.ingest import ingest
    from hta_sql.ingestion.refresh import refresh
    from hta_sql.keeping.compact import compact
    from hta_sql.keeping.drop import drop
    from hta_sql.keeping.move import export_job, import_job
    from hta_sql.keeping.usage import usage
    from hta_sql.report.function import report

__all__ = [
    "HtaSqlError",
    "NoData",
    "SCHEMA_VERSION",
    "__version__",
    "compact",
    "compare",
    "compute_critical_path",
    "doctor",
    "drop",
    "export_job",
    "import_job",
    "ingest",
    "materialize",
    "open",
    "refresh",
    "report",
    "usage",
]


def open(
    *archives: str | PathLike[str],
    only_jobs: Iterable[str] | None = None,
    engine: str = "local",
    address: str | None = None,
    models: str | PathLike[str] | None = None,
    safe: bool = False,
    timeout: float | None = None,
    memory_limit: str | None = None,
) -> Archive:
    """Open one archive, or several as one.

    Args:
        archives: Folders, or URLs of object storage (`s3://bucket/archive`).
        only_jobs: Jobs to open; all others are left out. The default is all. In an archive of
            thousands of jobs, this opens few files.
        engine: "local", or "ray" to have queries that answer for each job separately done by a Ray
            cluster.
        address: The cluster's address. The default is $RAY_ADDRESS, or a cluster started here.
        models: A file with cost models of your own, in SQL, for operators that op_flops does not
            know or counts in another way. It cannot be used with "ray".
        safe: For SQL of strangers: `sql` runs only a SELECT on the tables and queries of the
            archives, which reads no other file and changes nothing.
        timeout: The seconds that each query or statement may take. The default is no limit, or 60
            if `safe`.
        memory_limit: The memory that DuckDB may use, such as "4GB". The default is 80 % of the
            machine's memory, or 4 GB if `safe`.

    Returns:
        Archive, whose methods are the queries. Use it in one thread, and close it or use `with`.

    Raises:
        ArchiveError: One of `archives` is missing or is no archive.
        HtaSqlError: The file of models is not as it should be.

    Examples:
        >>> run = hta_sql.open("archive")
        >>> run.temporal_breakdown(only_ranks=[0]).column_names[:4]
        ['job', 'rank', 'device', 'span_ns']
    """
    from hta_sql.archive import Archive  # not at the top: it takes DuckDB's start-up time

    elsewhere = None
    if (engine, address) != ("local", None):
        from hta_sql.errors import BadParameter
        from hta_sql.fleet.by_jobs import ByJobs

        if models is not None and engine != "local":
            raise BadParameter("models work only with the engine local")
        if safe and engine != "local":
            raise BadParameter("safe works only with the engine local")
        elsewhere = ByJobs(engine, address)
    return Archive(
        *archives,
        only_jobs=only_jobs,
        elsewhere=elsewhere,
        models=models,
        safe=safe,
        timeout=timeout,
        memory_limit=memory_limit,
    )


# What is imported when asked for, and where it is. The packages `plot` and `report` need the extra
# `viz`; a package has its own name, so `report` is called as a function (see hta_sql/report).
_PACKAGES = {"plot", "report"}
_LATER = {
    "compact": "hta_sql.keeping.compact",
    "compare": "hta_sql.comparison.compare",
    "compute_critical_path": "hta_sql.critical_path.compute",
    "doctor": "hta_sql.diagnosis.doctor",
    "drop": "hta_sql.keeping.drop",
    "export_job": "hta_sql.keeping.move",
    "import_job": "hta_sql.keeping.move",
    "ingest": "hta_sql.ingestion.ingest",
    "refresh": "hta_sql.ingestion.refresh",
    "materialize": "hta_sql.fleet.materialize",
    "usage": "hta_sql.keeping.usage",
}
# Those that open archives have as methods, too.
add_methods({name: _LATER[name] for name in ("compute_critical_path", "materialize")})


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in _PACKAGES:
            return importlib.import_module(f"hta_sql.{name}")
        if name not in _LATER:
            raise AttributeError(f"module 'hta_sql' has no attribute {name!r}")
        return getattr(importlib.import_module(_LATER[name]), name)
