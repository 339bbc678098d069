import pytest
from queries.small_tables import SmallTables


@pytest.fixture(scope="session")
def summary() -> SmallTables:
    """For job_summary and the queries whose figures it adds up."""
    return SmallTables()
