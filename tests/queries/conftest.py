import pytest

pytest.register_assert_rewrite("queries.small_tables")

from queries.small_tables import SmallTables  # noqa: E402 - after the line above

from hta_sql.catalogue.catalog import Catalog  # noqa: E402

NEWEST = Catalog.load().newest
GPU_QUERIES = tuple(name for name, query in NEWEST.items() if query.theme == "gpu")
COMM_QUERIES = tuple(name for name, query in NEWEST.items() if query.theme == "comm")
COMPARE_QUERIES = tuple(name for name, query in NEWEST.items() if query.theme == "compare")
HOST_QUERIES = tuple(name for name, query in NEWEST.items() if query.theme == "host")


@pytest.fixture(scope="session")
def gpu() -> SmallTables:
    """The queries of a device's time over small tables."""
    return SmallTables(GPU_QUERIES)


@pytest.fixture(scope="session")
def host() -> SmallTables:
    """The queries of what the program did over small tables."""
    return SmallTables(HOST_QUERIES)


@pytest.fixture(scope="session")
def comm() -> SmallTables:
    """The queries across ranks over small tables."""
    return SmallTables(COMM_QUERIES)


@pytest.fixture(scope="session")
def compare() -> SmallTables:
    """The queries of two jobs and more over small tables."""
    return SmallTables(
        name
        for name in COMPARE_QUERIES
        if name != "op_alignment"  # has a module of its own
    )
