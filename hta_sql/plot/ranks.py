"""Charts across ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hta_sql.plot.drawing import chart
from hta_sql.plot.style import (
    BLUE,
    GREY,
    RED,
    SERIES,
    escaped,
    lanes,
    legend_below,
    name_lanes,
    plotted,
    rows_of,
    stacked_bars,
    time_text,
    time_unit,
)

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import pyarrow as pa

# As plotly in Python has it. plotly.js has other colours of this name.
_VIRIDIS = [
    [place / 9, f"#{colour}"]
    for place, colour in enumerate(
        "440154 482878 3e4989 31688e 26828e 1f9e89 35b779 6ece58 b5de2b fde725".split()
    )
]


@chart
def heatmap(table: pa.Table, kind: str = "busy") -> go.Figure:
    """Busy share of each rank over time, one row per rank. `kind` is one of the table's kinds.

    Args:
        table: The result of the query heatmap.
        kind: "busy", "computation", "communication" or "memory".

    Returns:
        plotly.graph_objects.Figure.

    Raises:
        HtaSqlError: The table lacks columns of the query.

    Examples:
        >>> plot.heatmap(run.heatmap()).show()
    """
    rows = [
        row
        for row in rows_of(
            table, "heatmap", "job", "rank", "kind", "bucket", "length_ns", "busy_frac"
        )
        if row["kind"] == kind
    ]
    labels = lanes(rows)
    places = {label: place for place, label in enumerate(dict.fromkeys(labels))}
    title = "Busy share per rank" if kind == "busy" else f"Share of time with {kind}, per rank"
    size, unit = time_unit((row["bucket"] + 1) * row["length_ns"] for row in rows)
    traces = []
    for job in dict.fromkeys(row["job"] for row in rows):  # jobs differ in the length of buckets
        mine = [(label, row) for label, row in zip(labels, rows, strict=True) if row["job"] == job]
        names = list(dict.fromkeys(label for label, _ in mine))
        ranks = {label: place for place, label in enumerate(names)}
        cells = np.full((len(ranks), 1 + max(row["bucket"] for _, row in mine)), np.nan)
        for label, row in mine:
            cells[ranks[label], row["bucket"]] = round(100 * row["busy_frac"], 1)
        length = mine[0][1]["length_ns"] / size
        traces.append(
            {
                "type": "heatmap",
                "z": cells,
                "x0": length / 2,
                "dx": length,
                "y": [places[name] for name in names],
                "zmin": 0,
                "zmax": 100,
                "colorscale": _VIRIDIS,
                "xgap": 0,
                "showscale": not traces,
                "colorbar": {
                    "title": {"text": "share of time, %", "side": "right"},
                    "thickness": 12,
                },
                "customdata": [[escaped(name)] * cells.shape[1] for name in names],
                "hovertemplate": "%{customdata}, %{x:.4g} " + unit + ": %{z:.1f} %<extra></extra>",
            }
        )
    made = plotted(
        title,
        traces,
        x=f"time from the first activity, {unit}",
        height=150 + max(150, min(900, 18 * len(places))),
    )
    name_lanes(made, list(places))
    return made


@chart
def stragglers(table: pa.Table) -> go.Figure:
    """How long the others wait for each rank, and how long it waits itself. Stragglers are red.

    Args:
        table: The result of the query stragglers.

    Returns:
        plotly.graph_objects.Figure.

    Raises:
        HtaSqlError: The table lacks columns of the query.

    Examples:
        >>> plot.stragglers(run.stragglers()).show()
    """
    rows = rows_of(table, "stragglers", "job", "rank", "caused_wait_ns", "wait_ns", "is_straggler")
    rows.sort(key=lambda row: (row["job"], row["rank"]))
    labels = lanes(rows)
    size, unit = time_unit(ns for row in rows for ns in (row["caused_wait_ns"], row["wait_ns"]))

    def caused(is_straggler: bool) -> list[float]:
        return [
            (row["caused_wait_ns"] or 0) / size if bool(row["is_straggler"]) is is_straggler else 0
            for row in rows
        ]

    def texts(column: str) -> list[str]:
        return [time_text(row[column]) for row in rows]

    return stacked_bars(
        "Waiting time per rank",
        labels,
        {
            "others wait for this straggler": (RED, caused(True)),
            "others wait for this rank": (BLUE, caused(False)),
            "this rank waits for others": (GREY, [-(row["wait_ns"] or 0) / size for row in rows]),
        },
        {
            "others wait for this straggler": texts("caused_wait_ns"),
            "others wait for this rank": texts("caused_wait_ns"),
            "this rank waits for others": texts("wait_ns"),
        },
        f"time, {unit}; own waits below 0",
        barmode="relative",
    )


@chart
def collective_bandwidth(table: pa.Table) -> go.Figure:
    """Bus bandwidth of collectives by message size: medians, with error bars from the 1st to the
    99th percentile.

    Args:
        table: The result of the query collective_bandwidth.

    Returns:
        plotly.graph_objects.Figure.

    Raises:
        HtaSqlError: The table lacks columns of the query.

    Examples:
        >>> plot.collective_bandwidth(run.collective_bandwidth()).show()
    """
    rows = [
        row
        for row in rows_of(
            table,
            "collective_bandwidth",
            "job",
            "process_group",
            "name",
            "bytes",
            "count",
            "p01_busbw_gbps",
            "p50_busbw_gbps",
            "p99_busbw_gbps",
        )
        if row["bytes"] and row["p50_busbw_gbps"] is not None
    ]
    jobs = len({row["job"] for row in rows}) > 1
    of_rows = [f"{row['job']} " * jobs + (row["name"] or "-") for row in rows]
    traces = []
    for place, name in enumerate(dict.fromkeys(of_rows)):
        mine = [row for row, of in zip(rows, of_rows, strict=True) if of == name]
        middle = [row["p50_busbw_gbps"] for row in mine]
        traces.append(
            {
                "type": "scatter",
                "name": escaped(name),
                "x": [row["bytes"] for row in mine],
                "y": middle,
                "mode": "markers",
                "marker": {"size": 9, "color": SERIES[place % len(SERIES)]},
                "error_y": {
                    "type": "data",
                    "symmetric": False,
                    "thickness": 1.2,
                    "array": [
                        row["p99_busbw_gbps"] - m for row, m in zip(mine, middle, strict=True)
                    ],
                    "arrayminus": [
                        m - row["p01_busbw_gbps"] for row, m in zip(mine, middle, strict=True)
                    ],
                },
                "customdata": [
                    f"process group {escaped(row['process_group'] or '-')}, "
                    f"{row['count']:,} collectives"
                    for row in mine
                ],
                "hovertemplate": "%{x:.4s}B: %{y:.4g} GB/s<br>%{customdata}<extra>%{fullData.name}"
                "</extra>",
            }
        )
    return legend_below(
        plotted(
            "Bus bandwidth of collectives",
            traces,
            x="message size, bytes",
            y="bus bandwidth, GB/s",
            xaxis={"type": "log", "exponentformat": "SI"},
            yaxis={"rangemode": "tozero"},
            showlegend=True,
        )
    )
