"""Charts of how devices spend their time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hta_sql.plot.drawing import chart
from hta_sql.plot.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    YELLOW,
    Row,
    escaped,
    lanes,
    rows_of,
    stacked_bars,
    time_text,
    time_unit,
)

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import pyarrow as pa

# They add up to the span.
_PARTS = {
    "computing": (BLUE, "compute_ns"),
    "exposed communication": (ORANGE, "exposed_communication_ns"),
    "exposed copies": (GREEN, "exposed_memory_ns"),
    "idle": (GREY, "idle_ns"),
}
_CAUSES = {
    "host_wait": ("waiting for the host", RED),
    "launching": ("in the launch call", PURPLE),
    "queued": ("queued", YELLOW),
    "dependency": ("waiting for another stream", SKY),
    "kernel_wait": ("between kernels", BLUE),
    "unknown": ("launch not known", GREY),
    "other": ("other", GREY),  # of version 1
}
# With more devices than this, a step is drawn as the mean over them.
_FEW_DEVICES = 8


@chart
def temporal_breakdown(table: pa.Table) -> go.Figure:
    """How each device spends its time, in % of its span: one bar per device.

    Args:
        table: The result of the query temporal_breakdown.

    Returns:
        plotly.graph_objects.Figure.

    Raises:
        HtaSqlError: The table lacks columns of the query.

    Examples:
        >>> plot.temporal_breakdown(run.temporal_breakdown()).show()
    """
    columns = [column for _, column in _PARTS.values()]
    rows = rows_of(table, "temporal_breakdown", "job", "rank", "device", "span_ns", *columns)
    return stacked_bars(
        "GPU time per device",
        lanes(rows),
        {
            name: (colour, [100 * row[column] / max(1, row["span_ns"]) for row in rows])
            for name, (colour, column) in _PARTS.items()
        },
        {
            name: [_share(row[column], row["span_ns"]) for row in rows]
            for name, (_, column) in _PARTS.items()
        },
        "share of the span, %",
        yaxis={"range": [0, 100]},
    )


@chart
def step_breakdown(table: pa.Table) -> go.Figure:
    """How each step spends its time: one bar per step and device, or per step if there are many
    devices, with the mean over them.

    Args:
        table: The result of the query step_breakdown.

    Returns:
        plotly.graph_objects.Figure.

    Raises:
        HtaSqlError: The table lacks columns of the query.

    Examples:
        >>> plot.step_breakdown(run.step_breakdown()).show()
    """
    columns = [column for _, column in _PARTS.values()]
    rows = rows_of(table, "step_breakdown", "job", "rank", "device", "step", *columns)
    labels = lanes(rows)
    if len(set(labels)) > _FEW_DEVICES:
        title = f"GPU time per step, mean of {len(set(labels))} devices"
        rows, x = _means(rows, columns)
    else:
        title = "GPU time per step"
        x = [[escaped(label) for label in labels], [str(row["step"]) for row in rows]]
        if len(set(labels)) == 1:
            x = x[1]
    size, unit = time_unit(sum(row[column] for column in columns) for row in rows)
    made = stacked_bars(
        title,
        ["" for _ in rows],
        {
            name: (colour, [row[column] / size for row in rows])
            for name, (colour, column) in _PARTS.items()
        },
        {
            name: [f"step {row['step']}: {time_text(row[column])}" for row in rows]
            for name, (_, column) in _PARTS.items()
        },
        f"time, {unit}",
        xaxis={"type": "multicategory" if x and isinstance(x[0], list) else "category"},
    )
    for trace in made.traces:
        trace |= {"x": x, "hovertemplate": "%{customdata}<extra>%{fullData.name}</extra>"}
    made.update_xaxes(title={"text": "step"})
    return made


@chart
def idle_time_breakdown(table: pa.Table) -> go.Figure:
    """Idle time by cause: one bar per stream, with one part per cause.

    Args:
        table: The result of the query idle_time_breakdown.

    Returns:
        plotly.graph_objects.Figure.

    Raises:
        HtaSqlError: The table lacks columns of the query.

    Examples:
        >>> plot.idle_time_breakdown(run.idle_time_breakdown()).show()
    """
    rows = rows_of(
        table,
        "idle_time_breakdown",
        "job",
        "rank",
        "device",
        "stream",
        "cause",
        "idle_ns",
        "gap_count",
    )
    labels = lanes(rows)
    places = list(dict.fromkeys(labels))
    found = {(label, row["cause"]): row for label, row in zip(labels, rows, strict=True)}
    size, unit = time_unit(row["idle_ns"] for row in rows)

    def values(cause: str) -> list[float]:
        return [
            found[place, cause]["idle_ns"] / size if (place, cause) in found else 0
            for place in places
        ]

    def texts(cause: str) -> list[str]:
        return [
            f"{time_text(row['idle_ns'])} in {row['gap_count']:,} gaps" if row else "none"
            for row in (found.get((place, cause)) for place in places)
        ]

    causes = [cause for cause in _CAUSES if any(row["cause"] == cause for row in rows)]
    return stacked_bars(
        "Idle time per stream, by cause",
        places,
        {_CAUSES[cause][0]: (_CAUSES[cause][1], values(cause)) for cause in causes},
        {_CAUSES[cause][0]: texts(cause) for cause in causes},
        f"idle time, {unit}",
    )


@chart
def comm_comp_overlap(table: pa.Table) -> go.Figure:
    """How much of each device's communication is hidden behind computation.

    Args:
        table: The result of the query comm_comp_overlap.

    Returns:
        plotly.graph_objects.Figure.

    Raises:
        HtaSqlError: The table lacks columns of the query.

    Examples:
        >>> plot.comm_comp_overlap(run.comm_comp_overlap()).show()
    """
    rows = rows_of(
        table, "comm_comp_overlap", "job", "rank", "device", "communication_ns", "overlap_ns"
    )
    size, unit = time_unit(row["communication_ns"] for row in rows)
    exposed = [row["communication_ns"] - row["overlap_ns"] for row in rows]
    return stacked_bars(
        "Hidden and exposed communication",
        lanes(rows),
        {
            "hidden behind computation": (PURPLE, [row["overlap_ns"] / size for row in rows]),
            "exposed": (ORANGE, [ns / size for ns in exposed]),
        },
        {
            "hidden behind computation": [
                _share(row["overlap_ns"], row["communication_ns"]) for row in rows
            ],
            "exposed": [
                _share(ns, row["communication_ns"]) for ns, row in zip(exposed, rows, strict=True)
            ],
        },
        f"time, {unit}",
    )


def _share(ns: int, of_ns: int) -> str:
    return f"{time_text(ns)}, {100 * ns / max(1, of_ns):.1f} %"


def _means(rows: list[Row], columns: list[str]) -> tuple[list[Row], list[str]]:
    """One row per step, with the means over the devices, and the names of the steps on the axis."""
    by_step: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        by_step.setdefault((row["job"], row["step"]), []).append(row)
    jobs = {job for job, _ in by_step}
    means = [
        {"step": step}
        | {column: sum(row[column] for row in of_step) / len(of_step) for column in columns}
        for (_, step), of_step in sorted(by_step.items())
    ]
    names = [
        f"{escaped(job)} {step}" if len(jobs) > 1 else str(step) for job, step in sorted(by_step)
    ]
    return means, names
