"""Fixtures of these tests."""

import json

import pytest
from report.page.pages import Page


@pytest.fixture(scope="module")
def page(reports) -> Page:
    return Page(reports["four"])


@pytest.fixture(scope="module")
def two(reports) -> Page:
    return Page(reports["two"])


@pytest.fixture(scope="module")
def truth(folder) -> dict:
    return json.loads((folder / "before" / "truth.json").read_text())
