"""How the queries run: no join that grows with the square, no file read in vain."""

import json

import pytest
from conftest import write_archive
from queries.conftest import GPU_QUERIES
from queries.small_tables import SmallTables

from hta_sql.archive import Archive

READS_OPS = ("profiler_steps",)


def plan(con, sql):
    """All nodes of a statement's plan."""
    [(_, text)] = con.execute(f"EXPLAIN (FORMAT json) {sql}").fetchall()
    nodes, waiting = [], json.loads(text)
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        waiting += node["children"]
    return nodes


def bad_joins(con, sql):
    """Joins that compare every row of a side with many of the other."""
    found = []
    for node in plan(con, sql):
        conditions = node["extra_info"].get("Conditions", [])
        conditions = [conditions] if isinstance(conditions, str) else conditions
        if "CROSS" in node["name"] or "NESTED_LOOP" in node["name"] or "NL_JOIN" in node["name"]:
            found.append(node["name"])
        if "JOIN" in node["name"]:
            found += [c for c in conditions if any(sign in c for sign in "<>!")]
    return found


@pytest.fixture(scope="module")
def large():
    """100,000 activities of two ranks, 200,000 host operations."""
    tables = SmallTables(GPU_QUERIES)
    tables.con.execute("""
        INSERT INTO given_gpu_activities BY NAME
        SELECT
            'j' AS job, i % 2 AS rank, 0 AS device, i AS event_id, 'kernel' AS cat,
            ['computation', 'communication', 'memory'][1 + i % 3] AS kind, 'k' || i % 97 AS name,
            name AS short_name, 10 * i AS start_ns, i % 31 AS dur_ns, start_ns + dur_ns AS end_ns,
            i // 10000 AS step
        FROM range(100000) AS t (i)
    """)
    tables.con.execute("""
        INSERT INTO given_host_ops BY NAME
        SELECT
            'j' AS job, i % 2 AS rank, i AS event_id, 'cpu_op' AS cat,
            if(i % 20000 < 2, 'ProfilerStep#' || i // 20000, 'op') AS name,
            5 * i AS start_ns, 4 AS dur_ns, start_ns + dur_ns AS end_ns, i // 20000 AS step
        FROM range(200000) AS t (i)
    """)
    return tables


@pytest.mark.parametrize("query", GPU_QUERIES)
@pytest.mark.parametrize("given", ["", "only_ranks := [1], only_steps := [3]"])
def test_joins(large, query, given):
    assert len(large.run(query)) > 0
    assert bad_joins(large.con, f"FROM {query}_v1({given})") == []


@pytest.mark.parametrize("condition", [
    "true",
    "a.start_ns < b.end_ns",
    "a.rank = b.rank AND a.start_ns < b.end_ns AND b.start_ns < a.end_ns",
])
def test_bad_joins_are_noticed(large, condition):
    assert bad_joins(
        large.con,
        f"SELECT count(a.name || b.name) FROM gpu_activities AS a JOIN gpu_activities AS b "
        f"ON {condition}",
    )


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """An archive of four ranks; its path looks as if it told ranks, too."""
    root = tmp_path_factory.mktemp("ranks") / "job=other" / "rank=1" / "archive"
    rows = [{"rank": rank, "event_id": at, "name": "k", "start_ns": at, "dur_ns": 1}
            for rank in range(4) for at in range(10)]
    with Archive(write_archive(root, gpu_activities=rows, host_ops=rows)) as archive:
        yield archive.con


@pytest.mark.parametrize("query", GPU_QUERIES)
def test_only_files_of_selected_ranks_are_read(files, query):
    read = [
        node["extra_info"]["Scanning Files"]
        for node in plan(files, f"FROM {query}_v1(only_ranks := [1, 2])")
        if node["extra_info"].get("Scanning Files", "").endswith("/4")
    ]
    assert read == ["2/4"] * (3 if query in READS_OPS else 1)
