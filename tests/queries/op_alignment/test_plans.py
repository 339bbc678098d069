"""How op_alignment runs on large jobs."""

from collections import Counter

import pytest
from queries.diff_causes.plans import fill_large, grown_joins, nodes, profile
from queries.small_tables import SmallTables

from hta_sql.database import alignment


@pytest.fixture(scope="module")
def large():
    tables = SmallTables()
    alignment.register(tables.con)
    fill_large(tables.con)
    return tables


@pytest.mark.parametrize(
    "given",
    [
        "",
        f"base_steps := {list(range(20))}, test_steps := {list(range(20))}",
        "base_job := 'a', test_job := 'b', base_ranks := [0, 1], test_ranks := [0, 1]",
    ],
)
def test_joins(large, tmp_path, given):
    root = profile(large.con, f"FROM op_alignment_v1({given})", tmp_path / "profile.json")
    assert grown_joins(root) == []
    # No join finds its rows by one of two equalities, to test the other.
    assert max(node["intermediate_rows"] for node in nodes(root)) <= 250_000


def test_the_large_ones_changes_are_found(large):
    relations = Counter(row["relation"] for row in large.run("op_alignment"))
    assert relations["matched"] > 900 and relations["inserted"] > 5 and relations["reshaped"] > 5
