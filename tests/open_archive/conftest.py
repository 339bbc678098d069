"""Fixtures of these tests."""

import pytest

import hta_sql


@pytest.fixture
def run(tiny_archive):
    with hta_sql.open(tiny_archive) as run:
        yield run
