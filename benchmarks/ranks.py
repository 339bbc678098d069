"""An archive of many ranks with many collectives, written by DuckDB: traces of that size would be
gigabytes of JSON, and only the queries across ranks are measured over it."""

import shutil
from pathlib import Path


def write_archive(out: str, ranks: int, collectives: int) -> None:
    """`ranks` ranks with `collectives` all-reduces of all of them, a kernel before each."""
    import duckdb

    from hta_sql import SCHEMA_VERSION, __version__
    from hta_sql.catalogue.catalog import Catalog
    from hta_sql.database.layers import load_base

    root = Path(out)
    shutil.rmtree(root, ignore_errors=True)
    con = duckdb.connect()
    load_base(con, Catalog.load())
    con.execute(f"""
        CREATE TABLE members AS
        SELECT *, max(start_ns) OVER (PARTITION BY c) + 100000 + hash(c) % 50000 AS end_ns
        FROM (
            -- Every rank comes up to 0.2 ms late, the last one another 0.15 ms.
            SELECT
                c, r,
                1000000 * c + 300000 + (hash(r, c) % 200000)::BIGINT
                    + if(r = {ranks} - 1, 150000, 0) AS start_ns
            FROM range({collectives}) AS t (c), range({ranks}) AS q (r)
        )
    """)
    con.execute(f"""
        CREATE TABLE activities AS
        SELECT
            r, 2 * c + 1 AS event_id, 'communication' AS kind, 20 AS stream,
            'ncclDevKernel_AllReduce_Sum_bf16_RING_LL' AS name, start_ns,
            end_ns - start_ns AS dur_ns,
            'allreduce' AS collective_name, 'BFloat16' AS dtype, 8388608 AS in_nelems,
            8388608 AS out_nelems, {ranks} AS group_size, '0' AS process_group_name,
            'default_pg' AS process_group_desc, c AS seq, hash(c) AS comms_id,
            '[' || array_to_string(range({ranks}), ', ') || ']' AS process_group_ranks
        FROM members
        UNION ALL BY NAME
        SELECT
            r, 2 * c AS event_id, 'computation' AS kind, 7 AS stream, 'gemm_' || c % 7 AS name,
            1000000 * c AS start_ns, members.start_ns - 3000 - 1000000 * c AS dur_ns
        FROM members
    """)
    con.execute("""
        CREATE TABLE rows AS
        SELECT
            *,
            -- Kernels of computation overlap nothing here.
            coalesce(sum(dur_ns) FILTER (kind = 'computation') OVER (
                PARTITION BY r ORDER BY start_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ), 0) AS computed_before_ns,
            if(kind = 'computation', NULL, 0) AS hidden_ns
        FROM activities
    """)
    named = {name for name, *_ in con.execute("DESCRIBE rows").fetchall()}
    given = {
        "device": "0",
        "cat": "'kernel'",
        "short_name": "name",
        "step": "event_id // 80",
        "launch_id": "10000000 + event_id",
        "launch_pid": "'1'",
        "launch_tid": "'1'",
    }
    given |= {name: name for name in named}
    columns = ", ".join(
        f"({given.get(name, 'NULL')})::{kind} AS {name}"
        for name, kind, *_ in con.execute("DESCRIBE FROM gpu_activities_schema()").fetchall()
        if name not in ("job", "rank", "end_ns")
    )
    for rank in range(ranks):
        folder = root / "gpu_activities" / "job=ranks" / f"rank={rank}"
        folder.mkdir(parents=True)
        con.execute(
            f"COPY (SELECT {columns} FROM rows WHERE r = {rank} ORDER BY start_ns) "
            f"TO '{folder}/ranks-{rank}.parquet' (COMPRESSION zstd)"
        )
    con.execute(f"""
        COPY (
            FROM traces_schema()
            UNION ALL BY NAME
            SELECT
                'ranks' AS job, r::INTEGER AS rank, 'ranks-' || r AS trace_id,
                'complete' AS status, 0 AS start_ns, {ranks} AS world_size,
                'node-' || r // 8 AS host, '{__version__}' AS hta_sql_version,
                {SCHEMA_VERSION} AS schema_version
            FROM range({ranks}) AS t (r)
        ) TO '{root}/traces.parquet'
    """)
