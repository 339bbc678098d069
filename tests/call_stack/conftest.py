"""Fixtures of these tests."""

from pathlib import Path

import duckdb
import pytest

from hta_sql.ingestion import nesting, stacks
from hta_sql.ingestion.trace import connect


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("staging")


@pytest.fixture(scope="module")
def con(folder) -> duckdb.DuckDBPyConnection:
    con = connect(folder)
    con.execute("CREATE TEMP TABLE step_marks (event_id BIGINT, marked_by VARCHAR)")
    return con


@pytest.fixture
def any_chunks(seed, monkeypatch) -> None:
    """Chunks of a few spans, and leaves taken many at a time always, never, or as usual."""
    monkeypatch.setattr(stacks, "CHUNK_ROWS", [1, 2, 7, 1 << 19][seed % 4])
    monkeypatch.setattr(nesting, "WORTHWHILE", [1, 32, 1_000_000][seed % 3])
