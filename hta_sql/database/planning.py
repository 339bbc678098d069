"""How DuckDB plans statements on archives: settings of a connection."""

import duckdb

# projection_pullup goes through the whole plan for each projection that it moves. That takes up to
# half of the planning, and no query here gains by it.
_OFF = "projection_pullup"
PLANNING = {
    "disabled_optimizers": _OFF,
    # If DuckDB expects few rows, it plans a quadratic ASOF join, and its estimate is often wrong.
    "asof_loop_join_threshold": 0,
}
# On small archives these take longer than they save. Without join_order, joins run as they are
# written: from the exact counts of small tables, DuckDB often derives a bad order.
_OFF_IF_SMALL = ",".join((
    _OFF, "aggregate_reuse", "build_side_probe_side", "common_subexpressions",
    "common_subplan", "cte_filter_pusher", "duplicate_groups", "in_clause", "join_filter_pushdown",
    "join_order", "projection_placement", "self_join_aggregate", "statistics_propagation",
))  # fmt: skip


def plan_for_size(con: duckdb.DuckDBPyConnection, is_small: bool) -> None:
    """Plan statements for a small archive, or for one of any size."""
    off = _OFF_IF_SMALL if is_small else _OFF
    con.execute(f"SET GLOBAL disabled_optimizers = '{off}'")
