"""What a figure shows, read from it."""

import base64

import numpy as np
import pyarrow as pa

from hta_sql import plot

BLUE, ORANGE, GREEN, GREY, RED = "#3b82c4", "#e69f00", "#009e73", "#a3a8b3", "#d55e00"


# What each chart takes, where it is not the table of its name.
QUERIES = {name: name for name in plot.__all__} | {
    "kernel_pies": "kernel_stats",
    "roofline": "op_flops",
    "flame_graph": "folded_stacks",
    "diff": "kernel_diff",
}


DIFFS = (
    "kernel_diff",
    "category_diff",
    "op_diff",
    "annotation_diff",
    "module_diff",
    "collective_diff",
    "temporal_diff",
)


LONG = "void at::native::<T>&" + "x" * 3000


def value(word: str):
    if word in ("-", "true", "false"):
        return {"-": None, "true": True, "false": False}[word]
    try:
        return float(word) if "." in word else int(word)
    except ValueError:
        return word.replace("~", " ")


def table(text: str) -> pa.Table:
    """A table as drawn: names, then a line a row; `-` is NULL and `~` a space in a name."""
    names, *rows = [line.split() for line in text.strip().splitlines()]
    columns = zip(*[[value(word) for word in row] for row in rows], strict=True)
    return pa.table(dict(zip(names, map(list, columns), strict=True)))


def bars(figure) -> dict[str, tuple[list, list]]:
    """Of each bar trace its labels and heights."""
    return {trace.name: (list(trace.x), rounded(trace.y)) for trace in figure.data}


def rounded(values) -> list[float]:
    return [round(float(number), 6) for number in values]


def colours(figure) -> dict[str, str]:
    return {trace.name: trace.marker.color for trace in figure.data}


def says_nothing(figure) -> bool:
    return not figure.data and [note.text for note in figure.layout.annotations] == [
        "nothing to show"
    ]


def in_legend(figure) -> int:
    """How many lines the legend has."""
    shown = figure.layout.showlegend
    return 0 if shown is False else sum(trace.showlegend is not False for trace in figure.data)


def plain(value):
    """Figures of plotly without packed arrays, and without what is null."""
    if isinstance(value, dict) and "bdata" in value:
        array = np.frombuffer(base64.b64decode(value["bdata"]), value["dtype"])
        shape = [int(size) for size in value.get("shape", str(array.size)).split(",")]
        return plain(np.where(np.isnan(array), None, array).reshape(shape).tolist())
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items() if part is not None}
    return [plain(part) for part in value] if isinstance(value, list) else value
