"""Fixtures of these tests."""

from pathlib import Path

import pytest
from written_archives import activity


@pytest.fixture
def archive(make_archive) -> Path:
    """Jobs a, b and c of two ranks, which differ in how long they take."""
    return make_archive(
        gpu_activities=[
            activity(
                job=job, rank=rank, event_id=i, start_ns=100 * i, dur_ns=10 * number + rank + i
            )
            for number, job in enumerate("abc", start=1)
            for rank in (0, 1)
            for i in range(3)
        ]
    )
