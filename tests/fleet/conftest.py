import pytest

pytest.register_assert_rewrite("queries.small_tables")

from queries.small_tables import SmallTables  # noqa: E402


@pytest.fixture(scope="session")
def summary() -> SmallTables:
    """For job_summary and the queries whose figures it adds up."""
    return SmallTables()
