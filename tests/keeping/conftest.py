"""Archives of jobs with several ranks, and a store of objects on this machine."""

import shutil
from collections.abc import Callable
from pathlib import Path

import fleets
import pytest


@pytest.fixture(scope="session")
def _fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fleet") / "archive"
    return fleets.write_fleet(folder, {"llama 7b": 3, "bert": 2, "one": 1})


@pytest.fixture
def fleet(_fleet: Path, tmp_path: Path) -> Path:
    """Three jobs with three ranks, two and one; the test's own copy."""
    return Path(shutil.copytree(_fleet, tmp_path / "fleet"))


@pytest.fixture
def uploaded(bucket: str, fs) -> Callable[[Path, str], str]:
    """Copy an archive there: uploaded(folder, "archive") gives its URL."""

    def upload(archive: Path, name: str) -> str:
        fs.put(f"{archive}/", f"{bucket}/{name}/", recursive=True)
        return f"{bucket}/{name}"

    return upload
