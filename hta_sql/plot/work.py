"""Charts of what the program made the GPU do: operators, stacks, paths, memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import plotly.graph_objects as go

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
    figure,
    lanes,
    legend_below,
    points_each,
    rows_of,
    short,
    stacked_bars,
    thinned,
    time_unit,
    told,
)

if TYPE_CHECKING:
    import pyarrow as pa

_BOUNDS = {
    "gpu_compute_bound": ("computing on the GPU", BLUE),
    "gpu_communication_bound": ("communication", ORANGE),
    "gpu_kernel_kernel_overhead": ("between kernels", SKY),
    "gpu_kernel_launch_overhead": ("launching", PURPLE),
    "cpu_bound": ("host", RED),
    "data_loading": ("loading of data", GREEN),
}
_STEP = re.compile(r"(?<![^;])ProfilerStep#\d+(?![^;])")
# Parts of a flame graph below this share of the whole are thinner than a pixel.
_THINNEST = 0.001
_DEEPEST = 24


def critical_path_summary(table: pa.Table) -> go.Figure:
    """What bounds each path: a bar a rank and window, in % of the path's time."""
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
                f"{told(row['time_ns'])}, {100 * row['time_frac']:.1f} %" if row else "-"
                for row in mine
            ]
    return stacked_bars(
        "What bounds the step", places, parts, shown, "% of the critical path", yaxis_range=[0, 100]
    )


def memory_timeline(table: pa.Table) -> go.Figure:
    """What the allocators hold over time: allocated to tensors, and reserved in all."""
    check(
        table,
        "memory_timeline",
        "job",
        "rank",
        "device",
        "at_ns",
        "allocated_bytes",
        "reserved_bytes",
    )
    keys = ["job", "rank", "device"]
    groups = (
        table.group_by(keys)
        .aggregate([])
        .select(keys)
        .sort_by([(key, "ascending") for key in keys])
        .to_pylist()
    )
    (at,) = arrays_of(table, "memory_timeline", "at_ns")
    if not len(at):
        return figure("Memory", [])
    size, unit = time_unit([int(at.max() - at.min())])
    traces = []
    # The CPU, which is device -1, is no GPU.
    names = lanes(
        [group | {"device": None if group["device"] == -1 else group["device"]} for group in groups]
    )
    for place, (name, group) in enumerate(zip(names, groups, strict=True)):
        mine = table
        for key, value in group.items():
            mine = mine.filter(_is(mine[key], value))
        mine = mine.sort_by("at_ns")
        for what, dash in (("allocated", "solid"), ("reserved", "dot")):
            held = mine.filter(mine[f"{what}_bytes"].is_valid())
            if not len(held):
                continue
            times, values = arrays_of(held, "memory_timeline", "at_ns", f"{what}_bytes")
            points = thinned(times, values, points_each(2 * len(groups)))
            traces.append(
                go.Scatter(
                    name=f"{escaped(name)}{', CPU' if group['device'] == -1 else ''}, {what}",
                    mode="lines",
                    x=(times[points] - at.min()) / size,
                    y=values[points],
                    line={
                        "shape": "hv",
                        "width": 1.4,
                        "dash": dash,
                        "color": SERIES[place % len(SERIES)],
                    },
                    hovertemplate="%{x:.6g} " + unit + ": %{y:.4s}B<extra>%{fullData.name}</extra>",
                )
            )
    return legend_below(
        figure(
            "Memory",
            traces,
            x=f"{unit} from the first change",
            y="bytes",
            yaxis_rangemode="tozero",
            yaxis_exponentformat="SI",
            height=460,
            showlegend=len(traces) <= MANY,
        )
    )


def roofline(table: pa.Table, top_k: int = 200) -> go.Figure:
    """The table of op_flops: how fast operators compute by how much they do with each byte.

    Larger marks take more time; the roof is what the device could do at best, as far as the
    table's roofline_frac tells.
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
            go.Scatter(
                name=family,
                mode="markers",
                x=[row["arithmetic_intensity"] for row in mine],
                y=[row["achieved_tflops"] for row in mine],
                marker={
                    "size": [6 + 22 * ((row["kernel_ns"] or 0) / most) ** 0.5 for row in mine],
                    "opacity": 0.7,
                    "color": SERIES[place % len(SERIES)],
                },
                customdata=[
                    f"{escaped(row['name'] or '-')}<br>"
                    f"{escaped(short(row['input_dims'] or '', 80))}<br>"
                    f"{told(row['kernel_ns'])} in {row['count']:,} calls"
                    + (
                        f", {100 * row['roofline_frac']:.0f} % of the roof"
                        if row["roofline_frac"] is not None
                        else ""
                    )
                    for row in mine
                ],
                hovertemplate="%{customdata}<br>%{y:.4g} TFLOP/s at %{x:.4g} FLOP/byte"
                "<extra>%{fullData.name}</extra>",
            )
        )
    traces += _roof(rows)
    return figure(
        "Roofline",
        traces,
        x="FLOP/byte",
        y="TFLOP/s",
        xaxis_type="log",
        yaxis_type="log",
        xaxis_dtick="D2",
        yaxis_dtick="D2",
        showlegend=True,
        height=480,
    )


def flame_graph(table: pa.Table) -> go.Figure:
    """The table of folded_stacks: time by call stack, from the outermost down; click to zoom in.

    Ranks are taken together, and so are the steps of the profiler.
    """
    root = {"ns": 0, "below": {}}
    for row in rows_of(table, "folded_stacks", "stack", "weight_ns"):
        node = root
        node["ns"] += row["weight_ns"]
        for name in _STEP.sub("ProfilerStep", row["stack"]).split(";"):
            node = node["below"].setdefault(name, {"ns": 0, "below": {}})
            node["ns"] += row["weight_ns"]
    frames = list(_frames(root)) if root["ns"] else []
    depth = max((frame["depth"] for frame in frames), default=0)
    drawn = go.Icicle(
        ids=[frame["id"] for frame in frames],
        parents=[frame["parent"] for frame in frames],
        labels=[escaped(short(frame["name"], 60)) for frame in frames],
        values=[frame["ns"] for frame in frames],
        branchvalues="total",
        maxdepth=_DEEPEST,
        customdata=[told(frame["ns"]) for frame in frames],
        tiling={"orientation": "v"},
        hovertemplate="%{label}<br>%{customdata}, %{percentRoot:.1%}<extra></extra>",
        # By the name, so that it is the same wherever it occurs and in every run.
        marker={
            "colors": [
                SERIES[sum(frame["name"].encode()) % 7] if frame["depth"] else GREY
                for frame in frames
            ]
        },
    )
    height = 120 + 36 * (1 + min(depth, _DEEPEST))
    return figure("Flame graph", [drawn] if frames else [], height=height)


def _frames(root: dict) -> Iterator[dict]:
    """What is wide enough to be seen, callers before what they call, and longest first."""
    least = max(1, _THINNEST * root["ns"])
    pending = [("all", root, "", 0)]
    for own, (name, node, parent, depth) in enumerate(pending):  # which grows meanwhile
        yield {"id": str(own), "name": name, "ns": node["ns"], "parent": parent, "depth": depth}
        below = sorted(node["below"].items(), key=lambda item: -item[1]["ns"])
        pending += [
            (called, of_it, str(own), depth + 1) for called, of_it in below if of_it["ns"] >= least
        ]


def _is(column: pa.ChunkedArray, value: object) -> pa.ChunkedArray:
    import pyarrow.compute as pc

    return pc.is_null(column) if value is None else pc.equal(column, value)


def _roof(rows: list[dict]) -> list[go.Scatter]:
    """Lines of the fastest memory and the fastest arithmetic that the rows tell of.

    roofline_frac is the least time by the time taken; the least time is that of what bounds.
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
        go.Scatter(
            name="at best",
            mode="lines",
            x=[x for x, _ in points],
            y=[y for _, y in points],
            line={"color": GREY, "dash": "dash"},
            hovertemplate="%{y:.4g} TFLOP/s<extra>at best</extra>",
        )
    ]
