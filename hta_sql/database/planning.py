"""How DuckDB plans and runs statements on archives: settings of a connection."""

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

# projection_pullup goes through the whole plan for each projection that it moves. That takes up to
# half of the planning, and no query here gains by it.
_OFF = "projection_pullup"
PLANNING = {
    "disabled_optimizers": _OFF,
    # If DuckDB expects few rows, it plans a quadratic ASOF join, and its estimate is often wrong.
    "asof_loop_join_threshold": 0,
}
# Threads per core if they wait for object storage.
WAITING_THREADS = 4
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


class Threads:
    """How many threads a connection uses: all that it may, or one. On small archives, queries of
    the catalogue take a sixth more CPU time with two threads, and about as long."""

    def __init__(self, con: duckdb.DuckDBPyConnection, cores: int, is_waiting: bool) -> None:
        """`is_waiting`: they read from object storage, so they mostly wait."""
        self._con, self._is_ours = con, False
        # DuckDB starts a thread per core of the machine. Where this process may use fewer cores,
        # two threads on one core took up to a third longer than one.
        [(all_cores,)] = con.execute("SELECT current_setting('threads')").fetchall()
        self.allow(min(all_cores, cores) * (WAITING_THREADS if is_waiting else 1))

    def allow(self, most: int) -> None:
        self._most = self._used = most
        self._con.execute(f"SET threads = {most}")

    def use_all(self) -> None:
        self._use(self._most)

    def use_all_for_users(self) -> None:
        """Before a statement of a user, which may be more work than any query."""
        if not self._is_ours:
            self.use_all()

    @contextmanager
    def for_our_statements(self) -> Iterator[None]:
        """Inside a `with` block, all statements are of hta_sql itself: those of a report."""
        self._is_ours = True
        try:
            yield
        finally:
            self._is_ours = False

    def use_one(self) -> None:
        self._use(1)

    def _use(self, count: int) -> None:
        if count != self._used:
            self._con.execute(f"SET threads = {count}")
            self._used = count
