import pytest

pytest.register_assert_rewrite("queries.small_tables")

from queries.small_tables import SmallTables  # noqa: E402 - after the line above

GPU_QUERIES = (
    "temporal_breakdown",
    "step_breakdown",
    "kernel_kind_breakdown",
    "kernel_stats",
    "kernel_distribution",
    "comm_comp_overlap",
    "profiler_steps",
)


@pytest.fixture(scope="session")
def gpu() -> SmallTables:
    """The queries of a device's time over small tables."""
    return SmallTables(GPU_QUERIES)
