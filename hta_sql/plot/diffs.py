"""Chart of what differs between two jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hta_sql.plot.style import GREEN, RED, names_bars, rows_of, time_unit, told

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import pyarrow as pa


def diff(table: pa.Table, counts: bool = False, top_k: int = 15) -> go.Figure:
    """What takes longer or shorter than before, or with `counts` is called more or less often: the
    largest differences of a table of kernel_diff, op_diff, annotation_diff, module_diff,
    collective_diff or temporal_diff."""
    name = "module" if "module" in getattr(table, "column_names", ()) else "name"
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
    # Of jobs with unequal numbers of steps, only a step's time compares.
    has_steps = any(row["diff_per_step_ns"] for row in rows)
    column = "diff_count" if counts else "diff_per_step_ns" if has_steps else "diff_total_ns"
    rows = sorted((row for row in rows if row[column]), key=lambda row: -abs(row[column]))[:top_k]
    size, unit = (1, "calls") if counts else time_unit(row[column] for row in rows)
    # Short: it stands under the axis of a narrow screen, too.
    of_step = ", a step of a rank" if column == "diff_per_step_ns" else ""
    return names_bars(
        "What changed",
        [row[name] or "-" for row in rows],
        [row[column] / size for row in rows],
        [RED if row[column] > 0 else GREEN for row in rows],
        [
            f"{row[name] or '-'}\n{told(row['base_total_ns'])} in {row['base_count']:,} calls, now "
            f"{told(row['test_total_ns'])} in {row['test_count']:,}"
            for row in rows
        ],
        f"{unit} more{of_step}",
    )
