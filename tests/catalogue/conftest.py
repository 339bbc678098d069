"""Fixtures of these tests."""

from contextlib import closing

import duckdb
import pytest
from catalogue.sql_files import CATALOG

from hta_sql.database.layers import load_base, load_queries


@pytest.fixture(scope="module")
def con():
    """The whole catalogue over the empty stubs."""
    with closing(duckdb.connect()) as con:
        load_base(con, CATALOG)
        load_queries(con, CATALOG)
        yield con
