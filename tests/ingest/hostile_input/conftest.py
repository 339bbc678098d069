"""Fixtures of these tests."""

import pytest

from hta_sql.ingestion import elements, parse


@pytest.fixture
def decoded(monkeypatch) -> list[int]:
    """The lengths of the texts that are decoded."""
    lengths: list[int] = []
    plain = elements.first_value

    def counted(text: str, decoder):
        found = plain(text, decoder)
        lengths.append(max(found[1], 1))
        return found

    for module in (elements, parse):
        monkeypatch.setattr(module, "first_value", counted)
    return lengths
