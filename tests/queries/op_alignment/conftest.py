"""Fixtures of these tests."""

import pytest
from queries.small_tables import SmallTables

from hta_sql.database import alignment


@pytest.fixture(scope="module")
def small():
    tables = SmallTables()
    alignment.register(tables.con)
    return tables
