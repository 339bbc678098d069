"""Charts of kernels, copies and memsets."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from hta_sql.plot.drawing import Drawing, chart, domains, heading
from hta_sql.plot.style import (
    BLUE,
    GREY,
    OF_KINDS,
    ORANGE,
    SERIES,
    escaped,
    legend_below,
    names_bars,
    plotted,
    rows_of,
    styled,
    time_text,
    time_unit,
)

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import pyarrow as pa


@chart
def kernel_kind_breakdown(table: pa.Table) -> go.Figure:
    """Busy time of all devices as one pie, by the kinds of activity that ran at the same time.

    Args:
        table: The result of the query kernel_kind_breakdown.

    Returns:
        plotly.graph_objects.Figure.

    Raises:
        HtaSqlError: The table lacks columns of the query.

    Examples:
        >>> plot.kernel_kind_breakdown(run.kernel_kind_breakdown()).show()
    """
    rows = rows_of(table, "kernel_kind_breakdown", "kinds", "time_ns")
    times: Counter[str] = Counter()
    for row in rows:
        times[row["kinds"]] += row["time_ns"]
    kinds = [kind for kind, _ in times.most_common()]
    mixed = iter(SERIES[3:])
    colours = [OF_KINDS.get(kind) or next(mixed, GREY) for kind in kinds]
    pie = _pie([kind.replace("+", " + ") for kind in kinds], [times[k] for k in kinds], colours)
    return legend_below(plotted("Busy time by kind", [pie] if kinds else [], height=420))


@chart
def category_breakdown(table: pa.Table, top_k: int = 15) -> go.Figure:
    """Busy time of all devices: one bar per combination of categories that ran at the same time.

    Args:
        table: The result of the query category_breakdown.
        top_k: How many combinations are drawn.

    Returns:
        plotly.graph_objects.Figure.

    Raises:
        HtaSqlError: The table lacks columns of the query.

    Examples:
        >>> plot.category_breakdown(run.category_breakdown()).show()
    """
    times: Counter[str] = Counter()
    for row in rows_of(table, "category_breakdown", "categories", "time_ns"):
        times[row["categories"]] += row["time_ns"]
    top = times.most_common(top_k)
    whole = times.total()
    size, unit = time_unit(ns for _, ns in top)
    return names_bars(
        "Busy time by category",
        [name.replace("+", " + ") for name, _ in top],
        [ns / size for _, ns in top],
        # The colour of the kinds: of communication also where computation hides it.
        [
            ORANGE if "communication" in name.split("+") else OF_KINDS.get(name, BLUE)
            for name, _ in top
        ],
        [f"{name}\n{time_text(ns)}, {ns / whole:.1%} of busy time" for name, ns in top],
        f"busy time of all devices, {unit}",
    )


@chart
def kernel_stats(table: pa.Table, top_k: int = 15) -> go.Figure:
    """The kernels with the most time on all ranks of the table: one bar per kernel.

    Args:
        table: The result of the query kernel_stats.
        top_k: How many kernels are drawn.

    Returns:
        plotly.graph_objects.Figure.

    Raises:
        HtaSqlError: The table lacks columns of the query.

    Examples:
        >>> plot.kernel_stats(run.kernel_stats()).show()
    """
    totals = _totals(table)
    names = sorted(totals, key=lambda key: -totals[key]["ns"])[:top_k]
    size, unit = time_unit(totals[key]["ns"] for key in names)
    return names_bars(
        "Kernels by time",
        [name for _, name in names],
        [totals[key]["ns"] / size for key in names],
        [OF_KINDS.get(kind, GREY) for kind, _ in names],
        [
            f"{name}\n{kind}: {time_text(totals[kind, name]['ns'])} in "
            f"{totals[kind, name]['calls']:,} calls"
            for kind, name in names
        ],
        f"total time, {unit}",
    )


@chart
def kernel_pies(table: pa.Table, top_k: int = 8) -> go.Figure:
    """The table of kernel_stats as one pie per kind: its top kernels, and one slice for others.

    Args:
        table: The result of the query kernel_stats.
        top_k: How many kernels of each kind have a slice of their own.

    Returns:
        plotly.graph_objects.Figure.

    Raises:
        HtaSqlError: The table lacks columns of the query.

    Examples:
        >>> plot.kernel_pies(run.kernel_stats()).show()
    """
    totals = _totals(table)
    kinds = [kind for kind in OF_KINDS if any(of == kind for of, _ in totals)]
    if not kinds:
        return plotted("Kernels by kind", [])
    columns = domains([1] * len(kinds), 0.2 / len(kinds))
    pies = []
    for kind, column in zip(kinds, columns, strict=True):
        of_kind = {name: found["ns"] for (of, name), found in totals.items() if of == kind}
        names = sorted((n for n in of_kind if n != "others"), key=lambda name: -of_kind[name])
        top = names[:top_k]
        rest = sum(of_kind.values()) - sum(of_kind[name] for name in top)
        labels = [*top, *(["others"] if rest else [])]
        values = [of_kind[name] for name in top] + ([rest] if rest else [])
        colours = [*SERIES[:7], "#8c6d46"][: len(top)] + [GREY] * bool(rest)
        pie = _pie(labels, values, colours, in_legend=False)
        pies.append(pie | {"domain": {"x": column, "y": [0, 1]}})
    titles = [
        heading(kind, sum(column) / 2, 1, "center")
        for kind, column in zip(kinds, columns, strict=True)
    ]
    made = Drawing(pies, {"annotations": titles})
    return styled(made, "Kernels by kind", height=380, margin={"t": 84})


@chart
def kernel_distribution(table: pa.Table, top_k: int = 15) -> go.Figure:
    """How each kernel's mean time per call differs between ranks: the mean of all calls, with error
    bars from the fastest rank's mean to the slowest rank's.

    Args:
        table: The result of the query kernel_distribution.
        top_k: How many kernels are drawn.

    Returns:
        plotly.graph_objects.Figure.

    Raises:
        HtaSqlError: The table lacks columns of the query.

    Examples:
        >>> plot.kernel_distribution(run.kernel_distribution()).show()
    """
    rows = rows_of(
        table,
        "kernel_distribution",
        "job",
        "kind",
        "name",
        "total_ns",
        "mean_ns",
        "slowest_rank",
        "slowest_mean_ns",
        "fastest_rank",
        "fastest_mean_ns",
    )
    # The mean of different kernels, folded into `others`, has no meaning.
    rows = sorted(
        (row for row in rows if row["slowest_rank"] is not None and row["name"] != "others"),
        key=lambda row: -row["total_ns"],
    )[:top_k]
    size, unit = time_unit(row["slowest_mean_ns"] for row in rows)
    jobs = len({row["job"] for row in rows}) > 1
    return names_bars(
        "Time per call across ranks",
        [f"{row['job']} " * jobs + (row["name"] or "-") for row in rows],
        [row["mean_ns"] / size for row in rows],
        [OF_KINDS.get(row["kind"], GREY) for row in rows],
        [
            f"{row['name'] or '-'}\nmean {time_text(row['mean_ns'])} per call\n"
            f"rank {row['slowest_rank']}: {time_text(row['slowest_mean_ns'])}\n"
            f"rank {row['fastest_rank']}: {time_text(row['fastest_mean_ns'])}"
            for row in rows
        ],
        f"mean time per call, {unit}",
        error={
            "type": "data",
            "symmetric": False,
            "thickness": 1.5,
            "color": "#6b7280",
            "array": [(row["slowest_mean_ns"] - row["mean_ns"]) / size for row in rows],
            "arrayminus": [(row["mean_ns"] - row["fastest_mean_ns"]) / size for row in rows],
        },
    )


def _totals(table: pa.Table) -> dict[tuple[str, str], dict[str, int]]:
    """Time and calls of each kind and name, summed over jobs and ranks."""
    totals: dict[tuple[str, str], dict[str, int]] = {}
    for row in rows_of(table, "kernel_stats", "kind", "name", "total_ns", "count"):
        total = totals.setdefault((row["kind"], row["name"] or "-"), {"ns": 0, "calls": 0})
        total["ns"] += row["total_ns"]
        total["calls"] += row["count"]
    return totals


def _pie(labels: list[str], values: list[int], colours: list[str], in_legend: bool = True) -> dict:
    return {
        "type": "pie",
        # Whole names, since plotly merges slices with the same label.
        "labels": [escaped(label) for label in labels],
        "values": values,
        "sort": False,
        "hole": 0.45,
        "direction": "clockwise",
        "marker": {"colors": colours},
        "textinfo": "percent",
        "textposition": "inside",
        "showlegend": in_legend,
        "customdata": [
            f"{escaped(label)}<br>{time_text(value)}"
            for label, value in zip(labels, values, strict=True)
        ],
        "hovertemplate": "%{customdata}, %{percent}<extra></extra>",
    }
