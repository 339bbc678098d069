"""Charts of launches, queues and copies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hta_sql.plot.drawing import Drawing, chart, domains, heading
from hta_sql.plot.groups import by_group
from hta_sql.plot.style import (
    BLUE,
    MANY,
    ORANGE,
    RED,
    SERIES,
    arrays_of,
    check,
    escaped,
    lanes,
    legend_below,
    plotted,
    points_each,
    styled,
    thinned,
    time_text,
    time_unit,
)

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import pyarrow as pa

_BINS = 40


@chart
def launch_stats(table: pa.Table) -> go.Figure:
    """Three histograms of outliers: activities shorter than their launch, slow launches, and late
    activities.

    Each counts activities. If a slow launch has several, each of them counts.

    Args:
        table: The result of the query launch_stats.

    Returns:
        plotly.graph_objects.Figure.

    Raises:
        HtaSqlError: The table lacks columns of the query.

    Examples:
        >>> plot.launch_stats(run.launch_stats()).show()
    """
    wanted = (
        ("Shorter than their launch", "duration", "is_short", "gpu_ns", BLUE),
        ("Slow launches", "duration", "is_runtime_outlier", "cpu_ns", ORANGE),
        ("Late activities", "delay after the launch", "is_delay_outlier", "launch_delay_ns", RED),
    )
    check(table, "launch_stats", *(name for _, _, *names, _ in wanted for name in names))
    counted = []
    for title, by, flag, column, colour in wanted:
        of_it, values = arrays_of(table, "launch_stats", flag, column)
        chosen = values[of_it.astype(bool)]
        counted.append((f"{title}: {len(chosen):,}, by {by}", chosen, colour))
    if not any(len(values) for _, values, _ in counted):
        return plotted("Launches", [])
    # An empty histogram gets room only for its title.
    heights = [1 if len(values) else 0.01 for _, values, _ in counted]
    rows = domains(heights[::-1], 0.16)[::-1]  # plotly counts from the bottom
    traces, layout = [], {}
    for number, (_, values, colour), row in zip(("", "2", "3"), counted, rows, strict=True):
        x, y = f"x{number}", f"y{number}"
        ticks = _decades(values)
        layout[f"xaxis{number}"] = {
            "anchor": y,
            "domain": [0, 1],
            "type": "log",
            "tickvals": ticks,
            "ticktext": [time_text(tick) for tick in ticks],
        }
        layout[f"yaxis{number}"] = {"anchor": x, "domain": row}
        if len(values):
            traces.append(_histogram(values, colour) | {"xaxis": x, "yaxis": y})
        else:
            layout[f"yaxis{number}"]["visible"] = False
    layout["annotations"] = [
        heading(title, 0, top, "left") for (title, *_), (_, top) in zip(counted, rows, strict=True)
    ]
    return styled(Drawing(traces, layout), "Launches", height=640, showlegend=False)


@chart
def queue_length_series(table: pa.Table) -> go.Figure:
    """Number of activities in the queue of each stream over time. No peak is left out.

    Args:
        table: The result of the query queue_length_series.

    Returns:
        plotly.graph_objects.Figure.

    Raises:
        HtaSqlError: The table lacks columns of the query.

    Examples:
        >>> plot.queue_length_series(run.queue_length_series()).show()
    """
    return _series(
        table,
        "queue_length_series",
        "queue_length",
        "stream",
        "Queue length",
        "activities in the queue",
    )


@chart
def memory_bandwidth_series(table: pa.Table) -> go.Figure:
    """Bandwidth of copies and memsets of each kind over time. No peak is left out.

    Args:
        table: The result of the query memory_bandwidth_series.

    Returns:
        plotly.graph_objects.Figure.

    Raises:
        HtaSqlError: The table lacks columns of the query.

    Examples:
        >>> plot.memory_bandwidth_series(run.memory_bandwidth_series()).show()
    """
    return _series(
        table,
        "memory_bandwidth_series",
        "bandwidth_gbps",
        "copy_kind",
        "Bandwidth of copies and memsets",
        "bandwidth, GB/s",
    )


def _series(table: pa.Table, query: str, value: str, of: str, title: str, y: str) -> Drawing:
    check(table, query, "job", "rank", "device", of, "at_ns", value)
    at, values = arrays_of(table, query, "at_ns", value)
    if not len(at):
        return plotted(title, [])
    size, unit = time_unit([int(at.max() - at.min())])
    groups, parts = by_group(table, ["job", "rank", "device", of], at)
    names = lanes([{"stream": None} | group for group in groups])
    if of == "copy_kind":
        alone = len(set(names)) == 1
        names = [
            group[of] or "-" if alone else f"{name}, {group[of] or '-'}"
            for name, group in zip(names, groups, strict=True)
        ]
    traces = []
    for place, (name, mine) in enumerate(zip(names, parts, strict=True)):
        mine = mine[thinned(at[mine], values[mine], points_each(len(names)))]
        traces.append(
            {
                "type": "scatter",
                "name": escaped(name),
                "x": (at[mine] - at.min()) / size,
                "y": values[mine],
                "mode": "lines",
                "line": {"shape": "hv", "width": 1.2, "color": SERIES[place % len(SERIES)]},
                "hovertemplate": "%{x:.6g} " + unit + ": %{y:.4g}<extra>%{fullData.name}</extra>",
            }
        )
    return legend_below(
        plotted(
            title,
            traces,
            x=f"time from the first point, {unit}",
            y=y,
            yaxis={"rangemode": "tozero"},
            height=460,
            showlegend=len(traces) <= MANY,
        )
    )


def _histogram(values: np.ndarray, colour: str) -> dict:
    """Bars for a logarithmic axis. Counting here keeps the values out of the figure."""
    low, high = max(1, int(values.min())), max(2, int(values.max()))
    edges = np.unique(np.geomspace(low, max(high, low * 1.5), _BINS + 1))
    counts, edges = np.histogram(np.maximum(values, 1), edges)
    middles = np.sqrt(edges[:-1] * edges[1:])
    return {
        "type": "bar",
        "x": middles,
        "y": counts,
        "width": np.diff(edges),
        "marker": {"color": colour, "line": {"width": 0}},
        "customdata": [
            f"{time_text(a)} to {time_text(b)}" for a, b in zip(edges, edges[1:], strict=False)
        ],
        "hovertemplate": "%{customdata}: %{y:,}<extra></extra>",
    }


def _decades(values: np.ndarray) -> list[int]:
    if not len(values):
        return []
    low, high = max(1, int(values.min())), max(2, int(values.max()))
    ticks = [m * 10**e for e in range(13) for m in (1, 2, 5)]
    inside = [tick for tick in ticks if low <= tick <= high * 1.01]
    if len(inside) > 6:
        return [tick for tick in inside if str(tick)[0] == "1"]
    return inside if len(inside) > 1 else [low, high]
