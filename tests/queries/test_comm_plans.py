"""How the queries across ranks run: no join that grows with the square, no job read in vain."""

import json

import pytest
from queries.conftest import COMM_QUERIES
from queries.plans import bad_joins, plan
from queries.small_tables import SmallTables
from written_archives import write_archive

from hta_sql.archive import Archive

RANKS = 8
# Tests of rows that an equality has brought together, few for each row, whatever grows: one row for
# each device, rank, lane, job or bucket of time. A shift of bits is no comparison.
FEW = (
    "first_ns",
    "reference_rank < reference_rank",
    "reference_rank > reference_rank",
    "long_count",
    "rank_count != rank_count",
    "first_start_ns",
    "<< 40",
    "bucket = greatest(first_bucket, begun_bucket)",
    "_apart_ns",
    "start_ns <= at_ns",
    "start_ns < until_ns",
    "end_ns > from_ns",
    "at_ns < end_ns",
    "at_ns >= start_ns",
    "until_ns > start_ns",
    "from_ns < end_ns",
    "middle_dur_ns",
)
ALL = {"straggler_blame": "min_late_ns := 0", "lost_gpu_time": "min_late_ns := 0"}


@pytest.fixture(scope="module")
def large():
    """Of eight ranks 40,000 kernels and as many collectives, all-to-alls and messages among them,
    with and without ids."""
    tables = SmallTables()
    tables.con.execute(f"""
        INSERT INTO given_gpu_activities BY NAME
        SELECT
            'j' AS job, i % {RANKS} AS rank, 0 AS device, 7 AS stream, i AS event_id,
            'kernel' AS cat, 'computation' AS kind, 'k' || i % 97 AS name, name AS short_name,
            100 * i AS start_ns, 500 AS dur_ns, start_ns + dur_ns AS end_ns, i // 4000 AS step,
            1000000 + i AS launch_id, '1' AS launch_pid, '1' AS launch_tid, 2000000 + i AS op_id
        FROM range(40000) AS t (i)
        UNION ALL BY NAME
        SELECT
            'j' AS job, i % {RANKS} AS rank, 0 AS device, 20 AS stream, 100000 + i AS event_id,
            'kernel' AS cat, 'communication' AS kind, 'nccl' AS name, name AS short_name,
            800 * c + 40 * (rank + c % 7) AS start_ns, 800 * c + 700 AS end_ns,
            end_ns - start_ns AS dur_ns, i // 4000 AS step,
            1100000 + i AS launch_id, '1' AS launch_pid, '1' AS launch_tid, 2100000 + i AS op_id,
            CASE
                WHEN c % 10 = 9 THEN if(rank % 2 = 0, 'send', 'recv')
                WHEN c % 10 = 8 THEN 'all_to_all'
                ELSE 'allreduce'
            END AS collective_name,
            if(collective_name = 'send', rank + 1, NULL) AS dst_rank,
            if(collective_name = 'recv', rank - 1, NULL) AS src_rank,
            'Float' AS dtype, 1000 AS in_nelems, 1000 AS out_nelems, {RANKS} AS group_size,
            if(c % 2 = 0, 'with', 'without') AS process_group_name, 'group' AS process_group_desc,
            '[0, 1, 2, 3, 4, 5, 6, 7]' AS process_group_ranks,
            if(c % 10 = 8, '[1, 1, 2, 1, 1, 1, 1, 2]', '[]') AS in_split_sizes,
            in_split_sizes AS out_split_sizes,
            if(c % 2 = 0, c, NULL) AS seq, if(c % 2 = 0, c, NULL)::UBIGINT AS comms_id
        FROM (SELECT i, i // {RANKS} AS c FROM range(40000) AS t (i))
    """)
    # Each rank computes 500 of 800 ns, from 100 * rank on.
    tables.con.execute("""
        CREATE MACRO computed(rank, at_ns) AS CASE
            WHEN at_ns < 100 * rank THEN 0
            ELSE (at_ns - 100 * rank) // 800 * 500 + least(500, (at_ns - 100 * rank) % 800)
        END
    """)
    tables.con.execute("""
        UPDATE given_gpu_activities SET
            computed_before_ns = computed(rank, start_ns),
            hidden_ns = CASE
                WHEN kind <> 'computation' THEN computed(rank, end_ns) - computed(rank, start_ns)
            END
    """)
    tables.con.execute(f"""
        INSERT INTO given_host_ops BY NAME
        SELECT
            'j' AS job, i % {RANKS} AS rank, 2000000 + i AS event_id, 'cpu_op' AS cat,
            'aten::mm' AS name, '1' AS pid, '1' AS tid, 100 * i AS start_ns, 90 AS dur_ns,
            start_ns + dur_ns AS end_ns, i // 4000 AS step
        FROM range(140000) AS t (i)
        UNION ALL BY NAME
        SELECT
            'j' AS job, i % {RANKS} AS rank, 5000000 + i AS event_id, 'user_annotation' AS cat,
            'ProfilerStep#' || i // {RANKS} AS name, '1' AS pid, '1' AS tid,
            400000 * (i // {RANKS}) AS start_ns, 390000 AS dur_ns, start_ns + dur_ns AS end_ns
        FROM range(80) AS t (i)
    """)
    tables.con.execute(f"""
        INSERT INTO given_traces BY NAME
        SELECT 'j' AS job, unnest(range({RANKS})) AS rank, 0 AS start_ns
    """)
    return tables


def worse_joins(con, sql) -> list[str]:
    return [join for join in bad_joins(con, sql) if not any(text in join for text in FEW)]


@pytest.mark.parametrize("query", COMM_QUERIES)
@pytest.mark.parametrize("given", ["", "only_ranks := [1]"])
def test_joins(large, query, given):
    sql = f"FROM {query}_v1({', '.join(filter(None, [ALL.get(query), given]))})"
    if not given and query != "collective_audit":
        assert large.con.execute(sql).fetchone() is not None
    assert worse_joins(large.con, sql) == []


@pytest.mark.parametrize("query", COMM_QUERIES)
def test_joins_where_few_rows_are_expected(comm, query):
    comm.fill()
    assert worse_joins(comm.con, f"FROM {query}_v1(only_jobs := ['j'])") == []


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """An archive of two jobs of two ranks."""
    root = tmp_path_factory.mktemp("jobs") / "archive"
    rows = [
        {"job": job, "rank": rank, "event_id": at, "name": "k", "start_ns": at, "dur_ns": 1}
        for job in "ij"
        for rank in range(2)
        for at in range(10)
    ]
    with Archive(write_archive(root, gpu_activities=rows, host_ops=rows)) as archive:
        yield archive.con


@pytest.fixture(scope="module", params=["comms_id", "order", "one lacks some"])
def steps_of_ranks(request, tmp_path_factory):
    """An archive of eight ranks with 400 all-reduces each, in 40 steps; with ids or without."""
    rows = [
        {
            "rank": rank,
            "event_id": c,
            "stream": 20,
            "name": "nccl",
            "kind": "communication",
            "step": c // 10,
            "start_ns": 1000 * c + 40 * rank,
            "dur_ns": 900 - 40 * rank,
            "hidden_ns": 10,
            "computed_before_ns": 30 * c,
            "collective_name": "allreduce",
            "dtype": "Float",
            "in_nelems": 8,
            "out_nelems": 8,
            "group_size": RANKS,
            "process_group_name": "0",
            "process_group_ranks": "[0, 1, 2, 3, 4, 5, 6, 7]",
            "comms_id": c if request.param == "comms_id" else None,
        }
        for rank in range(RANKS)
        for c in range(400)
        if (rank, c % 10, request.param) != (3, 4, "one lacks some")
    ] + [
        {
            "rank": rank,
            "event_id": 1000 + c,
            "name": f"k{c % 7}",
            "step": c // 10,
            "kind": "computation",
            "start_ns": 1000 * c,
            "dur_ns": 30,
            "computed_before_ns": 30 * c,
        }
        for rank in range(RANKS)
        for c in range(400)
    ]
    root = tmp_path_factory.mktemp("steps") / "archive"
    with Archive(write_archive(root, gpu_activities=rows)) as archive:
        yield archive.con


@pytest.mark.parametrize("query", COMM_QUERIES)
def test_no_operator_has_many_more_rows_than_there_are(steps_of_ranks, query, tmp_path):
    """As where a join finds its rows by one of two equalities, and tests the other. DuckDB, which
    knows little of the rows that a file's filters leave, then expects none at all."""
    file = tmp_path / "profile.json"
    steps_of_ranks.execute("SET enable_profiling = 'json'")
    steps_of_ranks.execute(f"SET profiling_output = '{file}'")
    steps_of_ranks.execute(f"FROM {query}_v1({ALL.get(query, '')})").fetchall()
    steps_of_ranks.execute("PRAGMA disable_profiling")

    def most(node) -> int:
        return max([node.get("intermediate_rows") or 0, *map(most, node.get("children", []))])

    [root] = json.loads(file.read_text())["operator"]
    assert 400 < most(root) < 60_000


@pytest.mark.parametrize("query", COMM_QUERIES)
def test_only_files_of_selected_jobs_are_read(files, query):
    read = [
        node["extra_info"]["Scanning Files"]
        for node in plan(files, f"FROM {query}_v1(only_jobs := ['j'])")
        if node["extra_info"].get("Scanning Files", "").endswith("/4")
    ]
    assert read and set(read) == {"2/4"}
