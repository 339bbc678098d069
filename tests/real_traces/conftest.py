"""Fixtures of these tests."""

from collections import defaultdict

import pytest
from raw_json import RawTrace
from real_traces.rows import BRUTE_FORCE


@pytest.fixture(scope="session")
def trace(raw_trace: RawTrace) -> RawTrace:
    return raw_trace


@pytest.fixture(scope="session")
def results(real_run) -> dict:
    """What queries say of the whole archive: rows by query and then (job, rank)."""
    found = {}
    for query in BRUTE_FORCE:
        found[query] = defaultdict(list)
        for row in real_run.query(query).to_pylist():
            found[query][row.pop("job"), row.pop("rank")].append(row)
    return found
