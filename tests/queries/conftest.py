import pytest
from queries.small_tables import SmallTables

from hta_sql.catalogue.catalog import Catalog

NEWEST = Catalog.load().newest
GPU_QUERIES = tuple(name for name, query in NEWEST.items() if query.theme == "gpu")
COMM_QUERIES = tuple(name for name, query in NEWEST.items() if query.theme == "comm")
HOST_QUERIES = tuple(name for name, query in NEWEST.items() if query.theme == "host")


@pytest.fixture(scope="session")
def gpu() -> SmallTables:
    """For the queries of a device's time."""
    return SmallTables()


@pytest.fixture(scope="session")
def host() -> SmallTables:
    """For the queries of what the program did."""
    return SmallTables()


@pytest.fixture(scope="session")
def comm() -> SmallTables:
    """For the queries across ranks."""
    return SmallTables()


@pytest.fixture(scope="session")
def compare() -> SmallTables:
    """For the queries of two jobs and more."""
    return SmallTables()
