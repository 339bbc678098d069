"""Fixtures of these tests."""

from pathlib import Path

import pytest

import hta_sql
from hta_sql.demo import write_job


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Traces of a job, of it once more, and with its attention 60 times as slow; archives."""
    root = tmp_path_factory.mktemp("compared")
    for name, planted in {
        "before": {"seed": 1},
        "again": {"seed": 2},
        "slow": {"seed": 3, "bottleneck": "compute"},
    }.items():
        write_job(root / name / "llama", ranks=2, steps=3, layers=2, **planted)
        hta_sql.ingest(root / name, root / f"{name}.archive")
    hta_sql.ingest([root / "before"], root / "all", job="before")
    hta_sql.ingest([root / "slow"], root / "all", job="slow")
    return root
