"""What fits on a page, without a server."""

import sys
from decimal import Decimal
from uuid import UUID

import orjson
import pyarrow as pa
from click.testing import CliRunner

from hta_sql.cli import cli
from hta_sql.mcp.pages import MOST_BYTES, MOST_CHARACTERS, MOST_ROWS, page_of, plain


def test_rows_that_fit():
    table = pa.table({"rank": range(500), "idle_ns": range(500), "name": ["x" * 10] * 500})
    page = page_of(table, False, 0, 3)
    assert [row["rank"] for row in page["rows"]] == [0, 1, 2] and page["next_offset"] == 3
    assert page["summary"] == [
        {"column": "rank", "min": 0, "max": 499, "sum": None},
        {"column": "idle_ns", "min": 0, "max": 499, "sum": 499 * 500 // 2},
    ]
    assert len(page_of(table, False, 0, 10_000)["rows"]) == MOST_ROWS
    last = page_of(table, False, 499, 3)
    assert len(last["rows"]) == 1 and last["next_offset"] is None and last["summary"] == []
    beyond = page_of(table, False, 10**12, 3)
    assert beyond["rows"] == [] and beyond["next_offset"] is None
    assert page_of(table, True, 0, 0)["row_count"] == 500


def test_long_rows_are_fewer_and_one_always_comes():
    table = pa.table({f"c{at}": ["x" * 10_000] * 100 for at in range(20)})
    page = page_of(table, False, 0, 200)
    assert 0 < len(page["rows"]) < 100 and page["next_offset"] == len(page["rows"])
    assert len(orjson.dumps(page["rows"])) < MOST_BYTES + 1000
    assert len(page["rows"][0]["c0"]) == MOST_CHARACTERS
    wide = pa.table({f"c{at}": ["x" * 10_000] for at in range(300)})
    assert len(page_of(wide, False, 0, 1)["rows"]) == 1


def test_sums_that_do_not_fit():
    page = page_of(pa.table({"total_bytes": [2**62] * 3}), False, 0, 1)
    assert page["summary"][0]["max"] == 2**62


def test_values():
    assert plain([float("nan"), {"a": b"\x01"}, (1, None)]) == [None, {"a": "01"}, [1, None]]
    assert plain([Decimal(3), Decimal("0.5"), True, 1 << 80, UUID(int=1)]) == [
        3,
        0.5,
        True,
        str(1 << 80),
        str(UUID(int=1)),
    ]


def test_without_the_extra(tiny_archive, monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp", None)
    result = CliRunner().invoke(cli, ["mcp", str(tiny_archive)])
    assert result.exit_code == 1
    assert result.stderr == (
        "Error: serving assistants needs more packages: pip install 'hta-sql[mcp]'\n"
    )
