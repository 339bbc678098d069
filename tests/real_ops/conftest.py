"""Fixtures of these tests."""

import pytest
from raw_json import TraceFile


@pytest.fixture(scope="session")
def trace(trace_file: TraceFile) -> TraceFile:
    return trace_file
