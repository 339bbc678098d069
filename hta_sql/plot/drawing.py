"""What a chart draws, as plain data in plotly's terms.

plotly's own objects check and copy all that they get. A report has no need of them: it writes the
data as JSON, for plotly.js.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

import orjson

if TYPE_CHECKING:
    import plotly.graph_objects as go

P = ParamSpec("P")
Tree = dict[str, Any]


class Drawing:
    """Traces and their layout, as dictionaries. None in them is the same as no value."""

    def __init__(self, traces: Iterable[Tree], layout: Tree | None = None):
        self.traces = [merged({}, trace) for trace in traces]
        self.layout = merged({"xaxis": {}, "yaxis": {}}, layout or {})

    def update_layout(self, **layout: Any) -> None:
        self.layout = merged(self.layout, layout)

    def update_xaxes(self, **axis: Any) -> None:
        self._update_axes("xaxis", axis)

    def update_yaxes(self, **axis: Any) -> None:
        self._update_axes("yaxis", axis)

    def _update_axes(self, kind: str, axis: Tree) -> None:
        """Of all subplots."""
        self.update_layout(**{name: axis for name in self.layout if name.startswith(kind)})

    def figure(self) -> go.Figure:
        import plotly.graph_objects as go  # not at the top: it is slow

        return go.Figure(self.traces, self.layout | {"template": "none"})

    def json(self) -> str:
        both = {"data": self.traces, "layout": self.layout}
        return orjson.dumps(both, option=orjson.OPT_SERIALIZE_NUMPY).decode()


def chart(draw: Callable[P, Any]) -> Callable[P, go.Figure]:
    """A function that returns a Drawing, as one that returns a figure of plotly.

    The function's annotation says what its callers get. `drawing` is the function itself.
    """

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> go.Figure:
        return draw(*args, **kwargs).figure()

    drawn.drawing = draw
    return drawn


def merged(tree: Tree, more: Tree) -> Tree:
    """`tree` with the values of `more`, which win, on every level."""
    both = dict(tree)
    for name, value in more.items():
        if isinstance(value, dict):
            both[name] = merged(both.get(name, {}), value)
        elif value is not None:
            both[name] = value
    return both


def domains(sizes: Sequence[float], gap: float) -> list[list[float]]:
    """The places of subplots side by side, from 0 to 1, with gaps between them."""
    room = (1 - gap * (len(sizes) - 1)) / sum(sizes)
    places, begin = [], 0.0
    for size in sizes:
        places.append([begin, begin + room * size])
        begin += room * size + gap
    return places


def heading(text: str, x: float, y: float, xanchor: str) -> Tree:
    """The title of a subplot, whose top is `y`."""
    return {
        "text": text,
        "x": x,
        "y": y,
        "xref": "paper",
        "yref": "paper",
        "xanchor": xanchor,
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 13},
    }
