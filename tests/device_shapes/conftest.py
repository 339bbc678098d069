"""Fixtures of these tests."""

import pytest
from hand_written import ingested, trace_text


@pytest.fixture
def archive_of(tmp_path):
    return lambda events: ingested(tmp_path, trace_text(events))
