"""Fixtures of these tests."""

import pytest
from real_files import TraceFile


@pytest.fixture(scope="session")
def trace(trace_file: TraceFile) -> TraceFile:
    return trace_file
