"""Fixtures of these tests."""

import uuid

import pytest
from upath import UPath


@pytest.fixture
def archive():
    return UPath(f"memory://{uuid.uuid4().hex}/archive")
