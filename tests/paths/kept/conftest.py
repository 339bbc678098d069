"""Archives of a made-up job, for paths that are stored in them."""

from pathlib import Path

import pytest
from shared import made_once

import hta_sql
from hta_sql.demo import write_job


def make(folder: Path) -> None:
    """Two ranks of a made-up job, and their traces in `llama`."""
    write_job(folder / "llama", ranks=2, steps=2, layers=1, gzip=False)
    hta_sql.ingest([folder / "llama"], folder / "archive")


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """An archive of the test's own, beside its traces."""
    make(tmp_path)
    return tmp_path / "archive"


@pytest.fixture(scope="session")
def unchanged_archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One without paths, for tests that compute none."""
    return made_once(tmp_path_factory, "llama", make) / "archive"


@pytest.fixture(scope="session")
def of_two_steps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One with the paths of both steps, for tests that only read."""

    def make_paths(folder: Path) -> None:
        make(folder)
        with hta_sql.open(folder / "archive") as run:
            run.compute_critical_path(step=0)
            run.compute_critical_path(step=1)

    return made_once(tmp_path_factory, "llama-paths", make_paths) / "archive"
