import pytest

pytest.register_assert_rewrite("queries.small_tables")

from queries.conftest import COMM_QUERIES, GPU_QUERIES  # noqa: E402 - after the line above
from queries.small_tables import SmallTables  # noqa: E402


@pytest.fixture(scope="session")
def summary() -> SmallTables:
    """job_summary, and the queries whose figures it adds up, over small tables."""
    return SmallTables(["job_summary", *GPU_QUERIES, *COMM_QUERIES])
