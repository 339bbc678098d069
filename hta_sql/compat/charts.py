"""The charts that HTA's methods show: those of hta_sql.plot, and bars of a data frame."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from hta_sql.compat.given import plain
from hta_sql.errors import NoData

if TYPE_CHECKING:
    import pandas as pd

    from hta_sql.compat.trace import Trace


def show(
    t: Trace,
    query: str,
    chart: str | None = None,
    *,
    version: int | None = None,
    renderer: str | None = None,
    **parameters: Any,
) -> None:
    """Show the chart of a query, or another one of its table."""
    from hta_sql import plot  # not at the top: it needs plotly

    values = {key: plain(value) for key, value in parameters.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoData)  # the chart says so
        table = t.run.query(query, version, **values)
    getattr(plot, chart or query)(table).show(renderer=renderer or None)


def bars(rows: pd.DataFrame, x: str, y: str, title: str, *, renderer: str | None = None) -> None:
    """Show one column of a data frame as bars; ranks have colours."""
    from hta_sql import plot  # noqa: F401  says what to install if plotly is missing
    from plotly import graph_objects as go  # isort: skip

    groups = rows.groupby("rank") if "rank" in rows else [(None, rows)]
    parts = [
        go.Bar(x=part[x], y=part[y], name="" if rank is None else f"rank {rank}")
        for rank, part in groups
    ]
    go.Figure(parts, {"title": title, "yaxis": {"title": y}}).show(renderer=renderer or None)
