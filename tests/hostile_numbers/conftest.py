"""Fixtures of these tests."""

import pytest
from hostile_numbers.extremes import plain_job


@pytest.fixture(scope="session")
def plain_traces(tmp_path_factory) -> list[dict]:
    return plain_job(tmp_path_factory.mktemp("plain"))
