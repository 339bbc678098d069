"""Charts. Each function takes the table of a query and returns a plotly figure.

    from hta_sql import plot

    plot.temporal_breakdown(run.temporal_breakdown()).show()

A function has its query's name. The exceptions are `kernel_pies`, `diff`, `roofline` and
`flame_graph`; their descriptions name the table that they take. A function returns a figure and
does not show it. Charts need the extra `viz` (plotly). HtaSqlError if plotly is missing, or if the
table does not have the columns of the query.
"""

from hta_sql.errors import HtaSqlError

try:
    import plotly  # noqa: F401  alone it is fast, unlike plotly.graph_objects
except ImportError as error:
    raise HtaSqlError("charts need plotly; pip install 'hta-sql[viz]' installs it") from error

from hta_sql.plot.devices import (
    comm_comp_overlap,
    idle_time_breakdown,
    step_breakdown,
    temporal_breakdown,
)
from hta_sql.plot.diffs import diff
from hta_sql.plot.kernels import (
    category_breakdown,
    kernel_distribution,
    kernel_kind_breakdown,
    kernel_pies,
    kernel_stats,
)
from hta_sql.plot.launches import launch_stats, memory_bandwidth_series, queue_length_series
from hta_sql.plot.ranks import collective_bandwidth, heatmap, stragglers
from hta_sql.plot.roofline import roofline
from hta_sql.plot.timeline import kernel_timeline
from hta_sql.plot.work import critical_path_summary, flame_graph, memory_timeline

__all__ = [
    "category_breakdown",
    "collective_bandwidth",
    "comm_comp_overlap",
    "critical_path_summary",
    "diff",
    "flame_graph",
    "heatmap",
    "idle_time_breakdown",
    "kernel_distribution",
    "kernel_kind_breakdown",
    "kernel_pies",
    "kernel_stats",
    "kernel_timeline",
    "launch_stats",
    "memory_bandwidth_series",
    "memory_timeline",
    "queue_length_series",
    "roofline",
    "step_breakdown",
    "stragglers",
    "temporal_breakdown",
]
