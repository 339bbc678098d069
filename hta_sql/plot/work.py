"""Charts of critical paths, memory and call stacks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from hta_sql.plot.drawing import chart
from hta_sql.plot.groups import by_group
from hta_sql.plot.style import (
    BLUE,
    GREEN,
    GREY,
    MANY,
    ORANGE,
    PURPLE,
    RED,
    SERIES,
    SKY,
    arrays_of,
    check,
    escaped,
    lanes,
    legend_below,
    plotted,
    points_each,
    rows_of,
    short,
    stacked_bars,
    thinned,
    time_text,
    time_unit,
)

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import pyarrow as pa

_BOUNDS = {
    "gpu_compute_bound": ("GPU kernels and copies", BLUE),
    "gpu_communication_bound": ("communication", ORANGE),
    "gpu_kernel_kernel_overhead": ("gap between kernels", SKY),
    "gpu_kernel_launch_overhead": ("launch to start", PURPLE),
    "cpu_bound": ("host", RED),
    "data_loading": ("data loading", GREEN),
}
# As the macro step_label: a step's annotation without what differs from step to step.
_STEP = re.compile(
    r"(ProfilerStep)\s*#\s*\d+\D*"
    r"|(execute)_(?:\d+_)?(?:new|context|generation)_\d.*"
    r"|(step\[[A-Z_0-9]+)[ \]].*"
    r"|((?:eager_)?(?:prefill|decode|mixed))\[bs=.*"
    r"|(\[Executor\] _forward_step) \d.*"
)
# Frames below this share of the whole would be thinner than a pixel.
_THINNEST = 0.001
_DEEPEST = 24


def step_label(name: str) -> str:
    """A frame's name; of the annotation of a step, what all steps share."""
    if not (found := _STEP.fullmatch(name)):
        return name
    shared = found[found.lastindex]
    return f"{shared}]" if shared.startswith("step[") else shared


@chart
def critical_path_summary(table: pa.Table) -> go.Figure:
    """What bounds each critical path, in % of its time: one bar per rank and window.

    Args:
        table: The result of the query critical_path_summary.

    Returns:
        plotly.graph_objects.Figure.

    Raises:
        HtaSqlError: The table lacks columns of the query.

    Examples:
        >>> plot.critical_path_summary(run.critical_path_summary()).show()
    """
    rows = rows_of(
        table,
        "critical_path_summary",
        "job",
        "rank",
        "path_window",
        "bound_by",
        "time_ns",
        "time_frac",
    )
    windows = {row["path_window"] for row in rows}
    labels = [
        label if len(windows) < 2 else f"{label}, {row['path_window']}"
        for label, row in zip(lanes(rows), rows, strict=True)
    ]
    places = list(dict.fromkeys(labels))
    found = {(label, row["bound_by"]): row for label, row in zip(labels, rows, strict=True)}
    parts, shown = {}, {}
    for bound_by, (name, colour) in _BOUNDS.items():
        mine = [found.get((place, bound_by)) for place in places]
        if any(mine):
            parts[name] = (colour, [100 * row["time_frac"] if row else 0 for row in mine])
            shown[name] = [
                f"{time_text(row['time_ns'])}, {100 * row['time_frac']:.1f} %" if row else "-"
                for row in mine
            ]
    return stacked_bars(
        "What bounds the critical path",
        places,
        parts,
        shown,
        "share of the path, %",
        yaxis={"range": [0, 100]},
    )


@chart
def memory_timeline(table: pa.Table) -> go.Figure:
    """Memory of the allocators over time: allocated to tensors, and reserved in total.

    Args:
        table: The result of the query memory_timeline.

    Returns:
        plotly.graph_objects.Figure.

    Raises:
        HtaSqlError: The table lacks columns of the query.

    Examples:
        >>> plot.memory_timeline(run.memory_timeline()).show()
    """
    keys, columns = ["job", "rank", "device"], ["allocated_bytes", "reserved_bytes"]
    check(table, "memory_timeline", *keys, "at_ns", *columns)
    (at,) = arrays_of(table, "memory_timeline", "at_ns")
    held = [table[column].cast("int64") for column in columns]
    if not len(at):
        return plotted("Memory", [])
    groups, parts = by_group(table, keys, at)
    size, unit = time_unit([int(at.max() - at.min())])
    traces = []
    # Device -1 is the CPU, so it gets no GPU number.
    names = lanes(
        [group | {"device": None if group["device"] == -1 else group["device"]} for group in groups]
    )
    for place, (name, group, mine) in enumerate(zip(names, groups, parts, strict=True)):
        for column, what, dash in zip(
            held, ("allocated", "reserved"), ("solid", "dot"), strict=True
        ):
            known = mine[column.is_valid().to_numpy()[mine]]
            if not len(known):
                continue
            values = column.fill_null(0).to_numpy()
            known = known[thinned(at[known], values[known], points_each(2 * len(groups)))]
            traces.append(
                {
                    "type": "scatter",
                    "name": f"{escaped(name)}{', CPU' if group['device'] == -1 else ''}, {what}",
                    "mode": "lines",
                    "x": (at[known] - at.min()) / size,
                    "y": values[known],
                    "line": {
                        "shape": "hv",
                        "width": 1.4,
                        "dash": dash,
                        "color": SERIES[place % len(SERIES)],
                    },
                    "hovertemplate": "%{x:.6g} "
                    + unit
                    + ": %{y:.4s}B<extra>%{fullData.name}</extra>",
                }
            )
    return legend_below(
        plotted(
            "Memory",
            traces,
            x=f"time from the first change, {unit}",
            y="memory, bytes",
            yaxis={"rangemode": "tozero", "exponentformat": "SI"},
            height=460,
            showlegend=len(traces) <= MANY,
        )
    )


@chart
def flame_graph(table: pa.Table) -> go.Figure:
    """The table of folded_stacks as a flame graph: time by call stack, with the outermost call on
    top. Click a frame to zoom in.

    Ranks are added up, and so are the profiler's steps.

    Args:
        table: The result of the query folded_stacks.

    Returns:
        plotly.graph_objects.Figure.

    Raises:
        HtaSqlError: The table lacks columns of the query.

    Examples:
        >>> plot.flame_graph(run.folded_stacks()).show()
    """
    root = {"ns": 0, "below": {}}
    label = cache(step_label)
    for row in rows_of(table, "folded_stacks", "stack", "weight_ns"):
        node = root
        node["ns"] += row["weight_ns"]
        for name in map(label, row["stack"].split(";")):
            node = node["below"].setdefault(name, {"ns": 0, "below": {}})
            node["ns"] += row["weight_ns"]
    frames = list(_frames(root)) if root["ns"] else []
    depth = max((frame["depth"] for frame in frames), default=0)
    drawn = {
        "type": "icicle",
        "ids": [frame["id"] for frame in frames],
        "parents": [frame["parent"] for frame in frames],
        "labels": [escaped(short(frame["name"], 60)) for frame in frames],
        "values": [frame["ns"] for frame in frames],
        "branchvalues": "total",
        "maxdepth": _DEEPEST,
        "customdata": [time_text(frame["ns"]) for frame in frames],
        "tiling": {"orientation": "v"},
        "hovertemplate": "%{label}<br>%{customdata}, %{percentRoot:.1%}<extra></extra>",
        # The name sets the colour, so that it is the same everywhere and in every run.
        "marker": {
            "colors": [
                SERIES[sum(frame["name"].encode()) % 7] if frame["depth"] else GREY
                for frame in frames
            ]
        },
    }
    height = 120 + 36 * (1 + min(depth, _DEEPEST))
    return plotted("Flame graph", [drawn] if frames else [], height=height)


def _frames(root: dict) -> Iterator[dict]:
    """The frames that are wide enough to be seen: callers first, then by time, longest first."""
    least = max(1, _THINNEST * root["ns"])
    pending = [("all", root, "", 0)]
    for own, (name, node, parent, depth) in enumerate(pending):  # the loop adds to `pending`
        yield {"id": str(own), "name": name, "ns": node["ns"], "parent": parent, "depth": depth}
        below = sorted(node["below"].items(), key=lambda item: -item[1]["ns"])
        pending += [
            (called, of_it, str(own), depth + 1) for called, of_it in below if of_it["ns"] >= least
        ]
