"""Fixtures of these tests."""

import pytest

from hta_sql.ingestion import elements, giants, values


@pytest.fixture
def decoded(monkeypatch) -> list[int]:
    """The lengths of the texts that are decoded."""
    lengths: list[int] = []
    plain = values.first_value

    def counted(text: str, decoder):
        found = plain(text, decoder)
        lengths.append(max(found[1], 1))
        return found

    for module in (elements, giants, values):
        monkeypatch.setattr(module, "first_value", counted)
    return lengths
