"""Fixtures of these tests."""

import pytest
from export.conftest import exported

# Several ranks


@pytest.fixture(scope="module")
def whole(archive, tmp_path_factory) -> dict:
    return exported("perfetto", archive, tmp_path_factory.mktemp("whole") / "job.json.gz")
