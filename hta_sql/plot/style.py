"""What all charts share: colours, labels, units, and access to tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hta_sql.errors import HtaSqlError
from hta_sql.plot.drawing import Drawing, merged
from hta_sql.show.cut import cut, cut_apart
from hta_sql.show.units import humane

if TYPE_CHECKING:
    import pyarrow as pa

# After Okabe and Ito: distinct with any colour vision, on light and dark backgrounds.
BLUE, ORANGE, GREEN, GREY = "#3b82c4", "#e69f00", "#009e73", "#a3a8b3"
RED, PURPLE, SKY, YELLOW = "#d55e00", "#cc79a7", "#56b4e9", "#c9b458"
OF_KINDS = {"computation": BLUE, "communication": ORANGE, "memory": GREEN, "busy": BLUE}
SERIES = (BLUE, ORANGE, GREEN, PURPLE, RED, SKY, YELLOW, GREY)

_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns"))
_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
# Characters of a name beside an axis.
_AXIS_NAME = 34
# With more than this, bars have no gaps, and only some lanes have names.
MANY = 48

Row = dict[str, Any]


def rows_of(table: pa.Table, query: str, *columns: str) -> list[Row]:
    """The rows of a query's table. HtaSqlError if it does not have these columns."""
    check(table, query, *columns)
    return table.select(list(columns)).to_pylist()


def arrays_of(table: pa.Table, query: str, *columns: str) -> list[np.ndarray]:
    """The columns of a query's table as arrays, for tables of many rows."""
    check(table, query, *columns)
    return [table[column].to_numpy() for column in columns]


def check(table: pa.Table, query: str, *columns: str) -> None:
    there = getattr(table, "column_names", None)
    if there is None:
        raise HtaSqlError(
            f"the chart takes the Arrow table of run.{query}(), not a {type(table).__name__}"
        )
    missing = [column for column in columns if column not in there]
    if missing:
        raise HtaSqlError(
            f"the chart takes the table of run.{query}(); this one has no {', '.join(missing)}"
        )


def plotted(
    title: str, traces: Iterable[Any], x: str = "", y: str = "", height: int = 420, **layout: Any
) -> Drawing:
    """A drawing of these traces in our style. Without marks it says `nothing to show`."""
    return styled(Drawing(traces), title, x, y, height, **layout)


def styled(
    made: Drawing,
    title: str,
    x: str | None = None,
    y: str | None = None,
    height: int = 420,
    **layout: Any,
) -> Drawing:
    """The same for a drawing that already has its marks."""
    made.update_layout(
        title={
            "text": title,
            "x": 0,
            "xref": "paper",
            "y": 0.985,
            "yref": "container",
            "yanchor": "top",
            "font": {"size": 16},
        },
        font={"family": _FONT, "size": 12, "color": "#2c3440"},
        height=height,
        paper_bgcolor="white",
        plot_bgcolor="white",
        colorway=SERIES,
        margin={"l": 8, "r": 8, "t": 96, "b": 8},
        uniformtext={"minsize": 9, "mode": "hide"},
        legend={
            "orientation": "h",
            "x": 0,
            "y": 1,
            "yanchor": "bottom",
            "xanchor": "left",
            "traceorder": "normal",
        },
        hoverlabel={"align": "left", "namelength": -1},
    )
    axis = {
        "automargin": True,
        "gridcolor": "#d9dde3",
        "zerolinecolor": "#d9dde3",
        "linecolor": "#d9dde3",
        "title": {"standoff": 8},
    }
    made.update_xaxes(**merged(axis, {"title": {"text": x}}))
    made.update_yaxes(**merged(axis, {"title": {"text": y}}))
    made.update_layout(**layout)
    if not made.traces:
        nothing = {"text": "nothing to show", "showarrow": False, "x": 0.5, "y": 0.5}
        made.update_layout(annotations=[nothing | {"xref": "paper", "yref": "paper"}])
        made.update_xaxes(visible=False)
        made.update_yaxes(visible=False)
    return made


def legend_below(made: Drawing) -> Drawing:
    """Puts the legend under the axis, where it may take many lines."""
    made.update_layout(legend={"y": -0.22, "yanchor": "top"}, margin={"t": 48})
    return made


def time_unit(values: Iterable[float | None]) -> tuple[float, str]:
    """A unit in ns in which the largest value is 1 or more, and its name."""
    largest = max((abs(value) for value in values if value is not None), default=0)
    return next(((size, name) for size, name in _UNITS if largest >= size), _UNITS[-1])


def lanes(rows: Sequence[Row]) -> list[str]:
    """A name for each row's lane: its rank, and its job, device and stream if needed."""
    keys = [tuple(row.get(key) for key in ("job", "rank", "device", "stream")) for row in rows]
    jobs = {job for job, *_ in keys}
    per_rank: dict[tuple[Any, Any], set[Any]] = {}
    for job, rank, device, _ in keys:
        per_rank.setdefault((job, rank), set()).add(device)
    has_devices = any(len(devices) > 1 for devices in per_rank.values())
    return [
        " ".join(
            filter(
                None,
                (
                    job if len(jobs) > 1 else "",
                    f"rank {rank}",
                    f"GPU {device}" if has_devices and device is not None else "",
                    "" if stream is None else f"stream {stream}",
                ),
            )
        )
        for job, rank, device, stream in keys
    ]


def name_lanes(made: Drawing, labels: list[str]) -> None:
    """Puts the first lane on top. If there are many lanes, only some are named, to save room."""
    every = 1 + len(labels) // MANY
    made.update_yaxes(
        autorange="reversed",
        showgrid=False,
        zeroline=False,
        tickvals=list(range(0, len(labels), every)),
        ticktext=[escaped(short(label)) for label in labels[::every]],
    )


def short(text: str, size: int = _AXIS_NAME) -> str:
    """A name cut in the middle, to fit on an axis."""
    return cut(text, size)


def short_names(names: Sequence[str]) -> list[str]:
    """The same for several names. Names that would look the same are cut so that they differ."""
    shown = cut_apart(names, _AXIS_NAME)
    return [shown[name] for name in names]


def time_text(ns: float | None) -> str:
    """A duration with a unit."""
    return humane("t_ns", ns)


def stacked_bars(
    title: str,
    labels: Sequence[str],
    parts: dict[str, tuple[str, Sequence[float]]],
    shown: dict[str, Sequence[str]],
    y: str,
    **layout: Any,
) -> Drawing:
    """One bar per label, of parts {name: (colour, values)}. `shown` has the hover texts."""
    drawn = parts if any(any(values) for _, values in parts.values()) else {}
    traces = [
        {
            "type": "bar",
            "name": name,
            "x": [escaped(label) for label in labels],
            "y": list(values),
            "marker": {"color": colour, "line": {"width": 0}},
            "customdata": list(shown[name]),
            "hovertemplate": "%{x}<br>" + name + ": %{customdata}<extra></extra>",
        }
        for name, (colour, values) in drawn.items()
    ]
    # A few bars stay narrow. Many bars have no room for gaps.
    gap = 0 if len(labels) > MANY else max(0.25, 1 - 0.15 * len(labels))
    bars = {
        "barmode": "stack",
        "bargap": gap,
        "xaxis": {"type": "category"},
        "showlegend": True,
    }  # also with a single part, for which plotly shows no legend
    return plotted(title, traces, y=y, **merged(bars, layout))


def names_bars(
    title: str,
    names: Sequence[str],
    values: Sequence[float],
    colours: Sequence[str],
    hover: Sequence[str],
    x: str,
    error: dict[str, Any] | None = None,
    **layout: Any,
) -> Drawing:
    """One horizontal bar per name, the first on top."""
    places = list(range(len(names)))
    bar = {
        "type": "bar",
        "orientation": "h",
        "y": places,
        "x": list(values),
        "marker": {"color": list(colours)},
        "error_x": error,
        "customdata": [escaped(text) for text in hover],
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    made = plotted(
        title,
        [bar] if len(names) else [],
        x=x,
        height=110 + 26 * max(len(names), 4),
        showlegend=False,
        margin={"t": 48},
        **layout,
    )
    made.update_yaxes(
        autorange="reversed",
        tickvals=places,
        showgrid=False,
        ticktext=[escaped(name) for name in short_names(names)],
    )
    return made


def escaped(text: str) -> str:
    """Text without tags for plotly. A line break becomes <br>."""
    plain = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return plain.replace("\n", "<br>")


def points_each(series_count: int) -> int:
    """Most points to draw per series, so that a page with several series stays fast."""
    return max(60, min(2000, 40_000 // max(1, series_count)))


def thinned(at: np.ndarray, values: np.ndarray, most: int) -> np.ndarray:
    """Which points of a series to draw: the first, lowest and highest of each slice of time.

    No peak is lost. If there are at most `most` points, all are drawn.
    """
    if len(at) <= most:
        return np.arange(len(at))
    edges = np.searchsorted(at, np.linspace(at[0], at[-1], most // 3, endpoint=False))
    chosen = [len(at) - 1]
    bounds = [*np.unique(edges).tolist(), len(at)]
    for begin, end in zip(bounds, bounds[1:], strict=False):
        part = values[begin:end]
        chosen += [begin, begin + int(part.argmin()), begin + int(part.argmax())]
    return np.unique(chosen)
