"""Large jobs, and the joins that grow with them."""

import json


def fill_large(con) -> None:
    """Of each layer's operator an inner one with a kernel; in the second job one more now and then,
    and other shapes, kernels and times."""
    con.execute("""
        INSERT INTO given_host_ops BY NAME
        SELECT
            j AS job, i % 2 AS rank, 10 * i + k AS event_id,
            if(k = 2, 'cuda_runtime', 'cpu_op') AS cat,
            if(k = 2, 'cudaLaunchKernel', ['outer', 'inner'][1 + k] || i // 2 % 97) AS name,
            '1' AS pid, '1' AS tid, 1000 * i + 10 * k AS start_ns, 900 - 100 * k AS dur_ns,
            start_ns + dur_ns AS end_ns, i // 1000 AS step,
            if(k > 0, 10 * i + k - 1, NULL) AS op_id, op_id AS parent_id,
            i // 2 % 3 = 0 AS is_backward,
            if(is_backward AND i > 10, 10 * (i - 2), NULL) AS forward_id,
            '[[8,' || i % 5 + if(j = 'b' AND i // 2 % 97 = 5, 1, 0) || ']]' AS input_dims
        FROM range(20000) AS t (i), (VALUES ('a'), ('b')) AS jobs (j), range(3) AS s (k)
        WHERE NOT (j = 'a' AND i // 2 % 97 = 7)
        UNION ALL BY NAME
        SELECT
            j AS job, i % 2 AS rank, 1000000 + i AS event_id, 'user_annotation' AS cat,
            'ProfilerStep#' || i // 2 AS name, '1' AS pid, '1' AS tid,
            1000000 * (i // 2) AS start_ns, 999000 AS dur_ns, start_ns + dur_ns AS end_ns,
            i // 2 AS step
        FROM range(40) AS t (i), (VALUES ('a'), ('b')) AS jobs (j)
    """)
    con.execute("""
        INSERT INTO given_gpu_activities BY NAME
        SELECT
            j AS job, i % 2 AS rank, 0 AS device, 7 AS stream, 2000000 + i AS event_id,
            'kernel' AS cat, 'computation' AS kind,
            'k' || i // 2 % 97 + if(j = 'b' AND i // 2 % 97 = 11, 200, 0) AS name,
            name AS short_name, 1000 * i AS start_ns,
            700 + i % 7 + if(j = 'b' AND i // 2 % 97 = 13, 200, 0) AS dur_ns,
            start_ns + dur_ns AS end_ns, i // 1000 AS step, 10 * i + 1 AS op_id
        FROM range(20000) AS t (i), (VALUES ('a'), ('b')) AS jobs (j)
        UNION ALL BY NAME
        SELECT
            j AS job, i % 2 AS rank, 0 AS device, 20 AS stream, 3000000 + i AS event_id,
            'kernel' AS cat, 'communication' AS kind, 'nccl' AS name, name AS short_name,
            20000 * (i // 2) AS start_ns, 700 AS dur_ns, start_ns + dur_ns AS end_ns,
            i // 50 AS step, 'allreduce' AS collective_name, 'Float' AS dtype,
            1000 AS in_nelems, 1000 AS out_nelems, 2 AS group_size, '0' AS process_group_name,
            'default_pg' AS process_group_desc, '[0, 1]' AS process_group_ranks, i // 2 AS seq
        FROM range(1000) AS t (i), (VALUES ('a'), ('b')) AS jobs (j)
    """)
    con.execute("""
        INSERT INTO given_traces BY NAME
        SELECT unnest(['a', 'a', 'b', 'b']) AS job, unnest([0, 1, 0, 1]) AS rank
    """)


def profile(con, sql, file) -> dict:
    """What each node of a statement's plan did."""
    con.execute("SET enable_profiling = 'json'")
    con.execute(f"SET profiling_output = '{file}'")
    con.execute(sql).fetchall()
    con.execute("PRAGMA disable_profiling")
    [root] = json.loads(file.read_text())["operator"]
    return root


def nodes(root) -> list[dict]:
    return [root, *(node for child in root.get("children", []) for node in nodes(child))]


def grown_joins(root) -> list[str]:
    """Joins that compare every row with every other, unless with the two sides or a single row."""
    return [
        node["type"]
        for node in nodes(root)
        if node["type"]
        in (
            "CROSS_PRODUCT",
            "NESTED_LOOP_JOIN",
            "BLOCKWISE_NL_JOIN",
            "IE_JOIN",
            "PIECEWISE_MERGE_JOIN",
        )
        and min(child["intermediate_rows"] for child in node["children"]) > 2
    ]
