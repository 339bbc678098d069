"""HTA's classes over an archive: a script of HTA runs with its import changed.

    from hta_sql.compat import TraceAnalysis

    analyzer = TraceAnalysis(trace_dir="traces")
    analyzer.get_temporal_breakdown(visualize=False)  # a pandas.DataFrame, with HTA's columns

Methods, arguments, defaults and data frames are those of Meta's HTA (HolisticTraceAnalysis). Needs
the extra `pandas`; charts also need `viz`.
"""

from hta_sql.errors import HtaSqlError

try:
    import pandas  # noqa: F401
except ImportError as error:
    raise HtaSqlError(
        "hta_sql.compat needs pandas; pip install 'hta-sql[pandas]' installs it"
    ) from error

from hta_sql.compat.analysis import TraceAnalysis
from hta_sql.compat.counters import CUDA_SASS_INSTRUCTION_COUNTER_FLOPS, TimeSeriesTypes
from hta_sql.compat.critical_path import CPEdge, CPEdgeType, CPGraph, CPNode
from hta_sql.compat.diff import DeviceType, LabeledTrace, TraceDiff
from hta_sql.compat.paths import restore_cpgraph
from hta_sql.compat.symbols import SymbolTable
from hta_sql.compat.trace import Trace

__all__ = [
    "CUDA_SASS_INSTRUCTION_COUNTER_FLOPS",
    "CPEdge",
    "CPEdgeType",
    "CPGraph",
    "CPNode",
    "DeviceType",
    "LabeledTrace",
    "SymbolTable",
    "TimeSeriesTypes",
    "Trace",
    "TraceAnalysis",
    "TraceDiff",
    "restore_cpgraph",
]
