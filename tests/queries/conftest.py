import pytest

pytest.register_assert_rewrite("queries.small_tables")

from queries.small_tables import SmallTables  # noqa: E402 - after the line above

from hta_sql.catalog import Catalog  # noqa: E402

GPU_QUERIES = tuple(
    name for name, query in Catalog.load().newest.items() if query.theme == "gpu"
)


@pytest.fixture(scope="session")
def gpu() -> SmallTables:
    """The queries of a device's time over small tables."""
    return SmallTables(GPU_QUERIES)
