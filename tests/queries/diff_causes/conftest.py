"""Fixtures of these tests."""

import pytest
from queries.diff_causes.plans import fill_large
from queries.small_tables import SmallTables


@pytest.fixture(scope="module")
def small():
    return SmallTables()


# How it runs


@pytest.fixture(scope="module")
def large():
    """Of two jobs of two ranks 80,000 operators with kernels in 20 steps, and collectives."""
    tables = SmallTables()
    fill_large(tables.con)
    return tables
