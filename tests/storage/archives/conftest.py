"""Fixtures of these tests."""

from pathlib import Path

import pytest

import hta_sql
from hta_sql.demo import write_job


@pytest.fixture(scope="module")
def traces(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("traces")
    write_job(folder / "job", ranks=2, steps=2, layers=1)
    return folder


@pytest.fixture(scope="module")
def on_disk(traces, tmp_path_factory) -> Path:
    archive = tmp_path_factory.mktemp("disk") / "archive"
    hta_sql.ingest(traces, archive, workers=1)
    return archive
