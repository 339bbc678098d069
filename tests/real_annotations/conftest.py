"""Fixtures of these tests."""

import pytest

import hta_sql


@pytest.fixture
def run_over(real_archive):
    """The archive with other rows in a table: call it with the table and these rows' SQL."""
    with hta_sql.open(real_archive) as run:

        def over(table: str, sql: str):
            con = run.con  # with all queries loaded, so that none replaces the view again
            con.execute(f"CREATE TEMP TABLE other_rows AS {sql}")
            con.execute(f"CREATE OR REPLACE VIEW {table} AS FROM other_rows")
            return run

        yield over
