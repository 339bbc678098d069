"""Chart of differences between two jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hta_sql.plot.drawing import chart
from hta_sql.plot.style import GREEN, RED, names_bars, rows_of, time_text, time_unit

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import pyarrow as pa


@chart
def diff(table: pa.Table, counts: bool = False, top_k: int = 15) -> go.Figure:
    """The largest changes between two jobs: of time, or of the number of calls with `counts`.

    It takes the table of kernel_diff, category_diff, op_diff, annotation_diff, module_diff,
    collective_diff or temporal_diff. It draws diff_per_step_ns, or diff_total_ns if no row has a
    time per step.

    Args:
        table: The result of one of these queries.
        counts: Draws the number of calls instead of the time.
        top_k: How many of the largest changes are drawn.

    Returns:
        plotly.graph_objects.Figure.

    Raises:
        HtaSqlError: The table lacks columns of the query.

    Examples:
        >>> plot.diff(two.kernel_diff()).show()
    """
    columns = getattr(table, "column_names", ())
    name = next((name for name in ("module", "category") if name in columns), "name")
    rows = rows_of(
        table,
        "kernel_diff",
        name,
        "base_total_ns",
        "test_total_ns",
        "diff_total_ns",
        "diff_per_step_ns",
        "base_count",
        "test_count",
        "diff_count",
    )
    # If the jobs have different numbers of steps, only times per step can be compared.
    has_steps = any(row["diff_per_step_ns"] for row in rows)
    column = "diff_count" if counts else "diff_per_step_ns" if has_steps else "diff_total_ns"
    rows = sorted((row for row in rows if row[column]), key=lambda row: -abs(row[column]))[:top_k]
    size, unit = (1, "calls") if counts else time_unit(row[column] for row in rows)
    # Short, so that it fits under the axis of a narrow screen.
    per_step = " per step and rank" if column == "diff_per_step_ns" else ""
    return names_bars(
        "Largest changes",
        [row[name] or "-" for row in rows],
        [row[column] / size for row in rows],
        [RED if row[column] > 0 else GREEN for row in rows],
        [
            f"{row[name] or '-'}\n"
            f"before: {time_text(row['base_total_ns'])} in {row['base_count']:,} calls\n"
            f"now: {time_text(row['test_total_ns'])} in {row['test_count']:,} calls"
            for row in rows
        ],
        f"change{per_step}, {unit}",
    )
