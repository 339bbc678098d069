"""The chart of GPU activities over time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from hta_sql.plot.drawing import chart
from hta_sql.plot.style import (
    BLUE,
    GREY,
    OF_KINDS,
    PURPLE,
    RED,
    SKY,
    YELLOW,
    escaped,
    lanes,
    name_lanes,
    plotted,
    rows_of,
    short,
    time_text,
    time_unit,
)

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import pyarrow as pa

# Communication and memory have the colours of these kinds.
_COLOURS = (BLUE, PURPLE, RED, SKY, YELLOW)
_REST = "other categories"


@chart
def kernel_timeline(table: pa.Table) -> go.Figure:
    """GPU activities over time on aligned clocks: one lane per rank and stream. Drag to zoom in.

    The colours are those of categories: communication, memory, and the five that take most time.
    All others are grey.

    Args:
        table: The result of the query kernel_timeline.

    Returns:
        plotly.graph_objects.Figure.

    Raises:
        HtaSqlError: The table lacks columns of the query.

    Examples:
        >>> plot.kernel_timeline(run.kernel_timeline()).show()
    """
    rows = rows_of(
        table,
        "kernel_timeline",
        "job",
        "rank",
        "device",
        "stream",
        "from_start_ns",
        "dur_ns",
        "category",
        "name",
        "step",
    )
    labels = lanes(rows)
    places = {label: place for place, label in enumerate(dict.fromkeys(labels))}
    first = min((row["from_start_ns"] for row in rows), default=0)
    last = max((row["from_start_ns"] + row["dur_ns"] for row in rows), default=0)
    size, unit = time_unit([last - first])
    times: Counter[str] = Counter()
    for row in rows:
        times[row["category"]] += row["dur_ns"]
    colours = category_colours(times)
    traces = []
    for shown, colour in colours.items():
        mine = [
            (places[label], row)
            for label, row in zip(labels, rows, strict=True)
            if shown == (row["category"] if row["category"] in colours else _REST)
        ]
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": shown,
                "y": [place for place, _ in mine],
                "width": 0.8,
                "base": [(row["from_start_ns"] - first) / size for _, row in mine],
                "x": [row["dur_ns"] / size for _, row in mine],
                "marker": {"color": colour, "line": {"width": 0}},
                "customdata": [_of_activity(row) for _, row in mine],
                "hovertemplate": "%{customdata}<extra></extra>",
            }
        )
    made = plotted(
        "Timeline of GPU activities",
        traces,
        x=f"time from the first activity, {unit}",
        barmode="overlay",
        showlegend=True,
        height=150 + max(130, min(1400, 24 * len(places))),
    )
    name_lanes(made, list(places))
    return made


def category_colours(times: Mapping[str, int]) -> dict[str, str]:
    """The categories that have a colour of their own, most time first, and the rest.

    `times` has the time of each category.
    """
    free = iter(_COLOURS)
    chosen = {}
    for category, _ in sorted(times.items(), key=lambda item: (-item[1], item[0])):
        if colour := OF_KINDS.get(category) or next(free, None):
            chosen[category] = colour
    return chosen if len(chosen) == len(times) else chosen | {_REST: GREY}


def _of_activity(row: dict) -> str:
    step = "" if row["step"] is None else f", step {row['step']}"
    return (
        f"{escaped(short(row['name'] or '-', 90))}<br>"
        f"{row['category']}, {time_text(row['dur_ns'])}{step}"
    )
