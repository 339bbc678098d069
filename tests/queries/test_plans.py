"""How the queries run: no join that grows with the square, no file read in vain."""

from pathlib import Path

import pytest
from queries.conftest import GPU_QUERIES, HOST_QUERIES
from queries.plans import bad_joins, plan
from queries.small_tables import SmallTables
from written_archives import write_archive

from hta_sql.archive import Archive
from hta_sql.catalogue.catalog import Catalog

# test_attachments does the same for these, whose tables are filled there.
ATTACHED = {"execution_node_ops", "memory_categories"}
# The newest versions, and earlier ones.
QUERIES = (
    *(query for query in GPU_QUERIES + HOST_QUERIES if query not in ATTACHED),
    "idle_gaps_v1",
    "idle_time_breakdown_v1",
)
# What a call cannot do without, and finds nothing without.
REQUIRED = {
    "kernel_sequences": "operator := 'aten::linear', min_length := 1",
    "call_stack": "of_event := 1000004",
    "under_operator": "of_name := 'aten::%'",
    "after_event": "of_name := 'aten::%'",
    "before_event": "of_name := 'aten::%'",
    "between_events": "first_name := 'op', second_name := 'aten::%'",
}
# What is given instead to the one that takes one rank, and no steps.
INSTEAD = {
    ("call_stack", "only_ranks := [1], only_steps := [3]"): "of_rank := 1",
    ("call_stack", "only_ranks := [1, 2]"): "of_rank := 1",
    ("under_operator", "only_ranks := [1], only_steps := [3]"): "only_ranks := [1]",
    ("after_event", "only_ranks := [1], only_steps := [3]"): "only_ranks := [1]",
    ("before_event", "only_ranks := [1], only_steps := [3]"): "only_ranks := [1]",
    ("between_events", "only_ranks := [1], only_steps := [3]"): "only_ranks := [1]",
}
# Those that read a table twice, or another one than gpu_activities.
FILES_READ = {
    "profiler_steps": ["2/4"] * 3,
    "job_phases": ["2/4"] * 2,
    "category_breakdown": ["2/4"] * 4,
    "idle_gaps": ["2/4"] * 7,
    "idle_gaps_v1": ["2/4"] * 4,
    "idle_reasons": ["2/4"] * 7,
    "kernel_sequences": ["2/4"] * 2,
    "op_launch_delay": ["2/4"] * 2,
    "hardware_counters": [],  # of ranks with counters
    "annotation_stats": [],  # of events
    "annotated_kernels": ["2/4"] * 3,
    "op_stats": ["2/4"] * 5,
    "op_calls": ["2/4"] * 4,
    "op_flops": ["2/4"] * 5,
    "step_mfu": ["2/4"] * 5,
    "call_stack": ["1/4"] * 10,
    "folded_stacks": ["2/4"] * 8,
    "module_stats": ["2/4"] * 4,
    "thread_stats": ["2/4"] * 3,
    "sync_points": ["2/4"] * 4,
    "memory_peak": ["2/4"] * 2,
    "under_operator": ["2/4"] * 3,
    "after_event": ["2/4"] * 3,
    "before_event": ["2/4"] * 3,
    "between_events": ["2/4"] * 3,
}


@pytest.fixture(scope="module")
def large():
    """Of two ranks 100,000 activities, their launches, operators and annotations, modules,
    counters, waits and memory."""
    tables = SmallTables()
    tables.con.execute("""
        INSERT INTO given_gpu_activities BY NAME
        SELECT
            'j' AS job, i % 2 AS rank, 0 AS device, 7 + i % 2 AS stream, i AS event_id,
            if(i % 3 = 2, 'gpu_memcpy', 'kernel') AS cat,
            ['computation', 'communication', 'memory'][1 + i % 3] AS kind,
            if(i % 3 = 2, 'Memcpy HtoD', 'k' || i % 97) AS name, name AS short_name,
            100 * i AS start_ns, i % 310 AS dur_ns, start_ns + dur_ns AS end_ns,
            i // 10000 AS step, i AS correlation, 1000 AS bytes, 2.5 AS bandwidth_gbps,
            0.5 AS occupancy_frac, 2.0 AS blocks_per_sm,
            1000000 + 4 * i AS launch_id, 'cudaLaunchKernel' AS launch_name,
            '1' AS launch_pid, '1' AS launch_tid,
            start_ns - 90 AS launch_start_ns, start_ns - 80 AS launch_end_ns,
            launch_id - 1 AS op_id,
            if(i % 5 = 0, NULL, 5000000 + i // 100) AS annotation_id
        FROM range(100000) AS t (i)
    """)
    # Of each launch: two operators around it, and itself; of each 100 an annotation.
    tables.con.execute("""
        INSERT INTO given_host_ops BY NAME
        SELECT
            'j' AS job, i % 2 AS rank, 1000000 + 4 * i - j AS event_id,
            if(j = 0, 'cuda_runtime', 'cpu_op') AS cat,
            ['cudaLaunchKernel', 'op', 'aten::linear'][1 + j] AS name, '1' AS pid, '1' AS tid,
            100 * i - 90 - j AS start_ns, 10 + 2 * j AS dur_ns, start_ns + dur_ns AS end_ns,
            i // 10000 AS step, 2 - j AS depth, if(j < 2, event_id - 1, NULL) AS parent_id,
            event_id - (2 - j) AS root_id, parent_id AS op_id, 5000000 + i // 100 AS annotation_id,
            if(i % 3 = 0, NULL, 7000000 + i // 10) AS module_id, i % 3 = 0 AS is_backward,
            if(i % 3 = 0, event_id - 400, NULL) AS forward_id, hash(j, i % 50) AS stack_hash,
            if(j > 0, '[[64,' || i % 7 || '],[64,' || i % 7 || ']]', NULL) AS input_dims,
            if(j > 0, '["float","float"]', NULL) AS input_types,
            if(j > 0, '["",""]', NULL) AS concrete_inputs
        FROM range(100000) AS t (i), range(3) AS s (j)
        UNION ALL BY NAME
        SELECT
            'j' AS job, i % 2 AS rank, 5000000 + i AS event_id, 'user_annotation' AS cat,
            if(i % 100 < 2, 'ProfilerStep#' || i // 100, 'note' || i % 7) AS name,
            '1' AS pid, '1' AS tid,
            10000 * i AS start_ns, 9900 AS dur_ns, start_ns + dur_ns AS end_ns,
            i // 100 AS step, 0 AS depth, event_id AS root_id, NULL AS op_id,
            NULL AS annotation_id, NULL AS module_id, false AS is_backward, NULL AS forward_id,
            hash(name) AS stack_hash, NULL AS input_dims, NULL AS input_types,
            NULL AS concrete_inputs
        FROM range(1000) AS t (i)
        UNION ALL BY NAME
        SELECT
            'j' AS job, i % 2 AS rank, 10000000 + i AS event_id, 'cuda_runtime' AS cat,
            'cudaStreamSynchronize' AS name, '1' AS pid, '1' AS tid,
            1000 * i - 80 AS start_ns, 5 AS dur_ns, start_ns + dur_ns AS end_ns,
            i // 1000 AS step, 2 AS depth, 1000000 + 40 * i - 1 AS parent_id,
            1000000 + 40 * i - 2 AS root_id, parent_id AS op_id
        FROM range(10000) AS t (i)
        UNION ALL BY NAME
        SELECT
            'j' AS job, i % 2 AS rank, 7000000 + i AS event_id, 'python_function' AS cat,
            'nn.Module: Block_' || i % 32 AS name, '1' AS pid, '1' AS tid,
            1000 * i AS start_ns, 990 AS dur_ns, start_ns + dur_ns AS end_ns,
            i // 1000 AS step, 1 AS depth, 5000000 + i // 10 AS parent_id, parent_id AS root_id,
            parent_id AS annotation_id, false AS is_backward, hash(i % 7, i % 32) AS stack_hash
        FROM range(10000) AS t (i)
    """)
    tables.con.execute("""
        INSERT INTO given_events BY NAME
        SELECT
            'j' AS job, i % 2 AS rank, 6000000 + i AS event_id, 'X' AS ph,
            if(i % 2 = 0, 'gpu_user_annotation', 'cuda_profiler_range') AS cat,
            'note' || i % 7 AS name, '0' AS pid, '7' AS tid,
            100 * i AS start_ns, 90 AS dur_ns, start_ns + dur_ns AS end_ns,
            '{"counter": 5}' AS args
        FROM range(50000) AS t (i)
        UNION ALL BY NAME
        SELECT
            'j' AS job, i % 2 AS rank, 8000000 + i AS event_id, 'i' AS ph,
            'cpu_instant_event' AS cat, '[memory]' AS name, '1' AS pid, '1' AS tid,
            100 * i AS start_ns,
            '{"Device Type": 1, "Device Id": 0, "Bytes": 512, "Addr": 5, "Total Allocated": '
            || 512 * (i % 40) || ', "Total Reserved": 20480}' AS args
        FROM range(50000) AS t (i)
        UNION ALL BY NAME
        SELECT
            'j' AS job, i % 2 AS rank, 9000000 + i AS event_id, 'X' AS ph, 'cuda_sync' AS cat,
            'Stream Sync' AS name, '0' AS pid, '7' AS tid, 1000 * i AS start_ns, 90 AS dur_ns,
            start_ns + dur_ns AS end_ns, 4 * i + 9000003 AS correlation, 7 AS stream,
            '{"cuda_sync_kind": "Stream Sync"}' AS args
        FROM range(10000) AS t (i)
    """)
    tables.con.execute("""
        INSERT INTO given_traces BY NAME
        SELECT 'j' AS job, unnest([0, 1]) AS rank, 0 AS start_ns, 10000000 AS end_ns
    """)
    return tables


def call_of(query, given=""):
    """A call with what it requires and what is given."""
    given = INSTEAD.get((query, given), given)
    return f"FROM {query}({', '.join(filter(None, [REQUIRED.get(query), given]))})"


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("given", ["", "only_ranks := [1], only_steps := [3]"])
def test_joins(large, query, given):
    assert large.con.execute(call_of(query)).fetchone() is not None
    assert bad_joins(large.con, call_of(query, given)) == []


@pytest.mark.parametrize("query", QUERIES)
def test_joins_where_few_rows_are_expected(gpu, host, query):
    """DuckDB guesses a few rows where it is told one job of many, or has seen none yet."""
    tables = host if query in HOST_QUERIES else gpu
    tables.fill()
    assert bad_joins(tables.con, call_of(query, "only_jobs := ['j']")) == []


@pytest.mark.parametrize(
    "condition",
    [
        "true",
        "a.start_ns < b.end_ns",
        "a.rank = b.rank AND a.start_ns < b.end_ns AND b.start_ns < a.end_ns",
    ],
)
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
    rows = [
        {"rank": rank, "event_id": at, "name": "k", "start_ns": at, "dur_ns": 1}
        for rank in range(4)
        for at in range(10)
    ]
    with Archive(write_archive(root, gpu_activities=rows, host_ops=rows)) as archive:
        yield archive.con


@pytest.mark.parametrize("query", QUERIES)
def test_only_files_of_selected_ranks_are_read(files, query):
    read = [
        node["extra_info"]["Scanning Files"]
        for node in plan(files, call_of(query, "only_ranks := [1, 2]"))
        if node["extra_info"].get("Scanning Files", "").endswith("/4")
    ]
    assert read == FILES_READ.get(query, ["2/4"])


def test_plans_keep_their_budget(files):
    """Planning is most of what a query on a small archive takes, and it grows with the operators of
    the plan. A query that needs more gets more in plan_budget.txt, and a line in the CHANGELOG."""
    lines = Path(__file__).with_name("plan_budget.txt").read_text().splitlines()
    budget = {name: int(most) for name, most in map(str.split, lines)}
    size = {name: len(plan(files, call_of(name))) for name in Catalog.load().newest}
    assert budget.keys() == size.keys()
    assert {name: n for name, n in size.items() if n > budget[name]} == {}
    # One far above its plan would let the plan grow unseen.
    assert {name: n for name, n in size.items() if budget[name] > 1.3 * n + 10} == {}
