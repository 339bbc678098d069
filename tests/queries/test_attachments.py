"""Queries of files that go with traces: execution_node_ops and memory_categories."""

import random
from collections import Counter

import pyarrow as pa
import pytest
from queries.plans import bad_joins, plan
from queries.small_tables import SmallTables, parsed
from seeds import seeds
from written_archives import write_archive

from hta_sql.archive import Archive


def fill(host: SmallTables, table: str, rows: str | list[dict]) -> None:
    """Rows of a table that SmallTables does not have; job j, rank 0 unless told."""
    schema = host.con.sql(f"FROM {table}_schema()").to_arrow_table().schema
    if isinstance(rows, str):
        rows = parsed(rows, {field.name: field.type for field in schema})
    full = [{"job": "j", "rank": 0, "position": at} | row for at, row in enumerate(rows)]
    host.con.register("filled", pa.Table.from_pylist(full, schema=schema))
    host.con.execute(f"CREATE OR REPLACE TABLE given_{table} AS FROM filled")
    host.con.unregister("filled")
    host.con.execute(f"CREATE OR REPLACE VIEW {table} AS FROM given_{table}")


@pytest.fixture
def joined(host):
    """What execution_node_ops gives for ops and nodes: (event_id, node_id, joined_by)."""

    def run(ops: str, nodes: str, **parameters) -> list[tuple]:
        host.fill(host_ops=ops)
        fill(host, "execution_nodes", nodes)
        rows = host.run("execution_node_ops", **parameters)
        assert host.broken_promises("execution_node_ops", **parameters) == []
        return [(row["rank"], row["event_id"], row["node_id"], row["joined_by"]) for row in rows]

    yield run
    for table in ("execution_nodes", "memory_events"):
        fill(host, table, "")


def test_by_record_function_id(joined):
    """Then external ids do not matter; nor does what is no operator."""
    assert joined(
        """
        event_id  cat              name  external_id  record_function_id
        1         cpu_op           a     9            5
        2         user_annotation  b     5            6
        3         cpu_op           c     7            0
        4         cuda_runtime     c     7            7
        5         cpu_op           b     5            5
        6         Operator         c     7            -
        7         cpu_op           c     5            7
        """,
        """
        node_id  record_function_id  name
        50       5                   a
        60       6                   b
        70       7                   c
        10       -                   a
        """,
    ) == [
        (0, 1, 50, "record_function_id"),
        (0, 2, 60, "record_function_id"),
        (0, 7, 70, "record_function_id"),
    ]


def test_by_external_id(joined):
    """Where no operator has the number; each rank by itself."""
    ops = """
        rank  event_id  name  external_id  record_function_id
        0     1         a     5            -
        0     2         b     6            0
        0     3         x     7            -
        1     4         a     5            8
        1     5         b     8            6
    """
    nodes = """
        rank  node_id  record_function_id  name
        0     50       5                   a
        0     60       6                   b
        0     70       7                   c
        1     51       5                   a
        1     61       6                   b
    """
    assert joined(ops, nodes) == [
        (0, 1, 50, "external_id"),
        (0, 2, 60, "external_id"),
        (1, 5, 61, "record_function_id"),
    ]
    assert joined(ops, nodes, only_ranks=[1]) == [(1, 5, 61, "record_function_id")]
    assert joined(ops, nodes, only_jobs=["k"]) == []


@pytest.mark.parametrize(("names", "count"), [("aab", 2), ("abb", 0), ("ab-", 0), ("aaa", 3)])
def test_external_ids_that_count_something_else(joined, names, count):
    """Half or fewer of those that meet agree in name: then those that do agree by chance."""
    ops = "event_id name external_id\n" + "\n".join(
        f"{at} {name} {at}" for at, name in enumerate(names, start=1)
    )
    nodes = "node_id record_function_id name\n" + "\n".join(f"1{at} {at} a" for at in (1, 2, 3))
    assert len(joined(ops, nodes)) == count


def test_the_first_of_two_nodes_of_one_number(joined):
    assert joined(
        "event_id name record_function_id\n1 a 5\n2 b 6\n3 a 5",
        "position node_id record_function_id name\n3 53 5 a\n1 51 5 a\n0 60 6 x\n2 62 6 b",
    ) == [(0, 1, 51, "record_function_id"), (0, 3, 51, "record_function_id")]


def test_selection_comes_before_what_external_ids_mean(joined):
    ops = "event_id step name external_id\n1 1 a 1\n2 2 b 2\n3 2 b 3"
    nodes = "node_id record_function_id name\n11 1 a\n12 2 a\n13 3 a"
    assert joined(ops, nodes) == []
    assert joined(ops, nodes, only_steps=[1]) == [(0, 1, 11, "external_id")]


def test_categories(host):
    #   -1  +10 parameter +5 unknown       row 0, at the first time of all: 5
    #    5  +4 temporary                   row 1
    #    5  -4 temporary +4 of category 9  row 1
    #    7  +1 gradient                    row 2
    #    5  -10 parameter                  row 3: a time again, but not behind its like
    fill(
        host,
        "memory_events",
        """
        at_ns  bytes  category
        -1     10     parameter
        -1     5      unknown
        5      4      temporary
        5      -4     temporary
        5      4      -
        7      1      gradient
        5      -10    parameter
    """,
    )
    wanted = """
        position  at_ns  parameter_bytes  temporary_bytes  gradient_bytes  total_bytes
        0         5      10               0                0               15
        1         5      10               0                0               19
        2         7      10               0                1               20
        3         5      0                0                1               10
    """
    rows = host.run("memory_categories")
    columns = wanted.split("\n")[1].split()
    assert [[row[name] for name in columns] for row in rows] == [
        [int(value) for value in line.split()] for line in wanted.strip().split("\n")[1:]
    ]
    assert host.broken_promises("memory_categories") == []
    assert host.run("memory_categories", only_ranks=[1]) == []
    fill(host, "memory_events", "")


def test_odd_times_and_sizes(host):
    fill(host, "memory_events", f"at_ns bytes category\n-1 {2**62} input\n-5 {2**62} input\n-5 1 -")
    rows = host.run("memory_categories")
    found = [
        (row["position"], row["at_ns"], row["input_bytes"], row["total_bytes"]) for row in rows
    ]
    assert found == [(0, None, 2**62, 2**62), (1, None, None, None)]
    assert host.broken_promises("memory_categories") == []
    fill(host, "memory_events", "")


def brute_categories(rows: list[dict]) -> list[tuple]:
    """By walking through each rank's changes, as HTA does."""
    found = []
    for rank in sorted({row["rank"] for row in rows}):
        mine = sorted((r for r in rows if r["rank"] == rank), key=lambda r: r["position"])
        first = min((r["at_ns"] for r in mine if r["at_ns"] >= 0), default=None)
        sums, last = Counter(), object()
        steps = []
        for row in mine:
            if row["at_ns"] != last:
                steps.append(None)
                last = row["at_ns"]
            sums[row["category"]] += row["bytes"]
            steps[-1] = (
                last if last >= 0 else first,
                sums["input"],
                sums["gradient"],
                sum(sums.values()),
            )
        found += [(rank, at, *step) for at, step in enumerate(steps)]
    return found


@pytest.mark.parametrize("seed", seeds(20))
def test_categories_of_random_changes(host, seed):
    rng = random.Random(seed)
    rows = [
        {
            "rank": rank,
            "position": at,
            "at_ns": rng.choice([-1, -1, 3, 3, 4, 9]),
            "bytes": rng.randint(-9, 9),
            "category": rng.choice(["input", "gradient", "unknown"]),
        }
        for rank in (0, 2)
        for at in range(rng.randint(0, 12))
    ]
    rng.shuffle(rows)
    fill(host, "memory_events", rows)
    assert [
        (
            r["rank"],
            r["position"],
            r["at_ns"],
            r["input_bytes"],
            r["gradient_bytes"],
            r["total_bytes"],
        )
        for r in host.run("memory_categories")
    ] == brute_categories(rows)
    fill(host, "memory_events", "")


def test_joins(host):
    """None grows with the square, neither of many rows nor where few are expected."""
    host.fill()
    host.con.execute("""
        INSERT INTO given_host_ops BY NAME
        SELECT 'j' AS job, i % 2 AS rank, i AS event_id, 'cpu_op' AS cat, 'op' || i % 97 AS name,
            i // 1000 AS step, i AS external_id, CASE WHEN i % 2 = 0 THEN i END
            AS record_function_id
        FROM range(100000) AS t (i)
    """)
    host.con.execute("""
        CREATE OR REPLACE TABLE given_execution_nodes AS
        FROM execution_nodes_schema()
        UNION ALL BY NAME
        SELECT 'j' AS job, CAST(i % 2 AS INTEGER) AS rank, i AS position, i AS node_id,
            i AS record_function_id, 'op' || i % 97 AS name
        FROM range(1, 100000) AS t (i)
    """)
    host.con.execute("CREATE OR REPLACE VIEW execution_nodes AS FROM given_execution_nodes")
    host.con.execute("""
        CREATE OR REPLACE TABLE given_memory_events AS
        FROM memory_events_schema()
        UNION ALL BY NAME
        SELECT 'j' AS job, CAST(i % 2 AS INTEGER) AS rank, i AS position, i // 3 AS at_ns,
            i AS bytes, 'input' AS category
        FROM range(100000) AS t (i)
    """)
    host.con.execute("CREATE OR REPLACE VIEW memory_events AS FROM given_memory_events")
    assert len(host.run("execution_node_ops")) == 99_999
    assert len(host.run("memory_categories")) == 66_667
    calls = [
        f"FROM {query}_v1({given})"
        for query in ("execution_node_ops", "memory_categories")
        for given in ("", "only_ranks := [1]", "only_jobs := ['j']")
    ]
    assert [call for call in calls if bad_joins(host.con, call)] == []
    host.fill()
    for table in ("execution_nodes", "memory_events"):
        fill(host, table, "")
    assert [call for call in calls if bad_joins(host.con, call)] == []


def test_only_files_of_selected_ranks_are_read(tmp_path):
    rows = [
        {"rank": rank, "event_id": at, "name": "k", "start_ns": at, "dur_ns": 1}
        for rank in range(4)
        for at in range(10)
    ]
    with Archive(write_archive(tmp_path / "archive", host_ops=rows)) as archive:
        call = "FROM execution_node_ops_v1(only_ranks := [1, 2])"
        read = [node["extra_info"].get("Scanning Files") for node in plan(archive.con, call)]
    assert [files for files in read if files] == ["2/4"]
