"""How diff_causes runs on large jobs."""

import pytest
from queries.diff_causes.plans import grown_joins, nodes, profile


@pytest.mark.parametrize("given", ["", "base_job := 'a', test_job := 'b', base_steps := [3, 4, 5]"])
def test_joins(large, tmp_path, given):
    root = profile(large.con, f"FROM diff_causes_v1({given})", tmp_path / "profile.json")
    assert grown_joins(root) == []
    # No join finds its rows by one of two equalities, to test the other.
    assert 20_000 < max(node["intermediate_rows"] for node in nodes(root)) <= 250_000


def test_the_large_ones_changes_are_found(large):
    found = {(row["cause"], row["name"]) for row in large.run("diff_causes")}
    assert {("calls", "outer7"), ("kernels", "inner11"), ("kernel_time", "k13")} <= found


@pytest.mark.parametrize("condition", ["true", "a.start_ns < b.end_ns", "a.rank <> b.rank"])
def test_grown_joins_are_noticed(large, tmp_path, condition):
    sql = f"""
        SELECT count(a.name || b.name)
        FROM (FROM gpu_activities LIMIT 1000) AS a
        JOIN (FROM gpu_activities LIMIT 1000) AS b ON {condition}
    """
    assert grown_joins(profile(large.con, sql, tmp_path / "profile.json"))
