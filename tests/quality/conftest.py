import pytest
from queries.small_tables import SmallTables


@pytest.fixture(scope="session")
def small() -> SmallTables:
    """For trace_quality."""
    return SmallTables()
