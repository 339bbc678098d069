"""Fixtures of these tests."""

from pathlib import Path

import pytest

import hta_sql
from hta_sql.demo import write_job


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Two ranks of a made-up job, and their traces in `llama`."""
    write_job(tmp_path / "llama", ranks=2, steps=2, layers=1, gzip=False)
    hta_sql.ingest([tmp_path / "llama"], tmp_path / "archive")
    return tmp_path / "archive"
