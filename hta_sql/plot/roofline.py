"""Roofline: the rates that operators achieve, and what their GPU allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hta_sql.plot.drawing import chart
from hta_sql.plot.style import GREY, SERIES, escaped, plotted, rows_of, short, time_text

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import pyarrow as pa


@chart
def roofline(table: pa.Table, top_k: int = 200) -> go.Figure:
    """Roofline of the table of op_flops: achieved TFLOP/s by arithmetic intensity.

    Larger marks take more kernel time. The roofline is the most that the device allows. It follows
    from the table's roofline_frac, and is missing if no row has it.

    Args:
        table: The result of the query op_flops.
        top_k: How many rows, those with the most time, are drawn.

    Returns:
        plotly.graph_objects.Figure.

    Raises:
        HtaSqlError: The table lacks columns of the query.

    Examples:
        >>> plot.roofline(run.op_flops()).show()
    """
    rows = [
        row
        for row in rows_of(
            table,
            "op_flops",
            "name",
            "input_dims",
            "family",
            "count",
            "kernel_ns",
            "achieved_tflops",
            "arithmetic_intensity",
            "bound",
            "roofline_frac",
        )
        if row["achieved_tflops"] and row["arithmetic_intensity"]
    ]
    rows = sorted(rows, key=lambda row: -(row["kernel_ns"] or 0))[:top_k]
    most = max((row["kernel_ns"] or 1 for row in rows), default=1)
    families = list(dict.fromkeys(row["family"] for row in rows))
    traces = []
    for place, family in enumerate(families):
        mine = [row for row in rows if row["family"] == family]
        traces.append(
            {
                "type": "scatter",
                "name": family,
                "mode": "markers",
                "x": [row["arithmetic_intensity"] for row in mine],
                "y": [row["achieved_tflops"] for row in mine],
                "marker": {
                    "size": [6 + 22 * ((row["kernel_ns"] or 0) / most) ** 0.5 for row in mine],
                    "opacity": 0.7,
                    "color": SERIES[place % len(SERIES)],
                },
                "customdata": [
                    f"{escaped(row['name'] or '-')}<br>"
                    f"{escaped(short(row['input_dims'] or '', 80))}<br>"
                    f"{time_text(row['kernel_ns'])} in {row['count']:,} calls"
                    + (
                        f", {100 * row['roofline_frac']:.0f} % of the roofline"
                        if row["roofline_frac"] is not None
                        else ""
                    )
                    for row in mine
                ],
                "hovertemplate": "%{customdata}<br>%{y:.4g} TFLOP/s at %{x:.4g} FLOP/byte"
                "<extra>%{fullData.name}</extra>",
            }
        )
    traces += _roof(rows)
    return plotted(
        "Roofline",
        traces,
        x="arithmetic intensity, FLOP/byte",
        y="achieved, TFLOP/s",
        xaxis={"type": "log", "dtick": "D2"},
        yaxis={"type": "log", "dtick": "D2"},
        showlegend=True,
        height=480,
    )


def _roof(rows: list[dict]) -> list[dict]:
    """The roofline: the highest memory bandwidth and the highest rate that follow from the rows.

    roofline_frac is the least time divided by the kernels' time. The least time is that of the
    limit in `bound`.
    """
    known = [row for row in rows if row["roofline_frac"] and row["bound"]]
    roofs = [
        row["achieved_tflops"] / row["roofline_frac"] for row in known if row["bound"] == "compute"
    ]
    slopes = [
        row["achieved_tflops"] / row["roofline_frac"] / row["arithmetic_intensity"]
        for row in known
        if row["bound"] == "memory"
    ]
    if not rows or not (roofs or slopes):
        return []
    low = min(row["arithmetic_intensity"] for row in rows) / 2
    high = max(row["arithmetic_intensity"] for row in rows) * 2
    slope, roof = max(slopes, default=None), max(roofs, default=None)
    points = []
    if slope:
        points += [(x, slope * x) for x in (low, high) if not roof or slope * x < roof]
    if roof and slope:
        points.append((roof / slope, roof))
    if roof:
        points += [(x, roof) for x in (low, high) if not slope or slope * x >= roof]
    points.sort()
    return [
        {
            "type": "scatter",
            "name": "roofline",
            "mode": "lines",
            "x": [x for x, _ in points],
            "y": [y for _, y in points],
            "line": {"color": GREY, "dash": "dash"},
            "hovertemplate": "%{y:.4g} TFLOP/s<extra>roofline</extra>",
        }
    ]
