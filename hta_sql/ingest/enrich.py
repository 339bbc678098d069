"""What ingest derives from the events of a trace: its tables host_ops and gpu_activities.

SQL does it, in the files of sql/enrich; what runs inside what is found by Python (stacks.py), where
spans may cross each other in any way.
"""

from __future__ import annotations

from functools import cache
from itertools import groupby
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hta_sql.catalog import sql_root
from hta_sql.ingest.nesting import NOBODY, last_around
from hta_sql.ingest.side_by_side import Aside
from hta_sql.ingest.stacks import build_stacks
from hta_sql.ingest.temporary import make_table

ROW_GROUP_ROWS = 122_880
# Columns of numbers that mostly grow a little from row to row, and of text that hardly repeats.
DELTA_COLUMNS = {
    "event_id", "start_ns", "dur_ns", "correlation", "external_id", "parent_id", "root_id",
    "launch_id", "launch_start_ns", "launch_end_ns", "op_id", "annotation_id", "module_id",
    "record_function_id", "computed_before_ns", "hidden_ns",
}  # fmt: skip
LONG_COLUMNS = {"id", "args"}


def enrich(
    con: duckdb.DuckDBPyConnection, files: dict[str, Path], folder: Path, threads: int = 1
) -> dict:
    """Write host_ops and gpu_activities, with files of its own in this folder; returns what was
    counted."""
    con.execute(f"SET threads = {threads}")
    events = f"read_parquet({literal(files['events'])}, hive_partitioning = false)"
    con.execute(f"CREATE TEMP VIEW trace_events AS FROM {events}")
    for name in ("threads", "numbered_ops"):
        run_file(con, name)
    build_forward_threads(con)
    run_file(con, "forward_ops")
    if not con.execute("FROM forward_ops LIMIT 1").fetchall():
        run_file(con, "forward_ops_by_flows")
    run_file(con, "host_spans")
    build_step_segments(con)
    build_stacks(con, folder)
    build_thread_callers(con)
    run_file(con, "launches")
    counts = {
        "host_op_count": write_query(con, "host_ops", files["host_ops"], threads),
        "gpu_activity_count": write_query(
            con, "gpu_activities", files["gpu_activities"], threads
        ),
    }
    [(start_ns, end_ns)] = con.execute(
        "SELECT min(start_ns), max(start_ns + dur_ns) FROM trace_events WHERE ph = 'X'"
    ).fetchall()
    return counts | {"start_ns": start_ns, "end_ns": end_ns}


def build_forward_threads(con: duckdb.DuckDBPyConnection) -> None:
    """The table `forward_threads`: which thread autograd means by each of its numbers, which is not
    told. Each is one thread, no two the same; where two would do as well, it is neither."""
    pairs = con.sql(enrichment("forward_pairs")).fetchall()
    found: dict[int, int] = {}
    seen: set[int] = set()
    taken: set[int] = set()
    # Equally likely threads of a number stand together.
    for (number, *_), as_good in groupby(pairs, key=lambda pair: (pair[0], *pair[2:])):
        threads = [thread for _, thread, *_ in as_good if thread not in taken]
        if not threads or number in seen:
            continue
        seen.add(number)
        if len(threads) == 1:
            found[number] = threads[0]
            taken.add(threads[0])
    make_table(con, "forward_threads", pa.table({
        "fwd_thread_id": pa.array(found, pa.int64()), "thread": pa.array(found.values(), pa.int64())
    }))  # fmt: skip


def build_step_segments(con: duckdb.DuckDBPyConnection) -> None:
    """The table `step_segments`: the trace's time cut where steps begin and end, with the step from
    there on, if any. Where steps overlap, the one that began last counts."""
    steps = con.sql(enrichment("steps")).fetchnumpy()
    starts, ends = steps["start_ns"].tolist(), steps["end_ns"].tolist()
    instants = sorted({*starts, *ends})
    found = last_around(starts, range(len(starts)), ends, instants[:-1], instants[1:])
    numbers = steps["step"].tolist()
    steps_from = [None if at == NOBODY else numbers[at] for at in found] + [None] * bool(instants)
    make_table(con, "step_segments", pa.table({
        "start_ns": pa.array(instants, pa.int64()), "step": pa.array(steps_from, pa.int64()),
    }))  # fmt: skip


def build_thread_callers(con: duckdb.DuckDBPyConnection) -> None:
    """The table `thread_callers`: for outermost spans of autograd's threads, what the main thread
    was at. Of several around a span, the one that began last."""
    outer = con.sql(enrichment("main_annotations")).fetchnumpy()
    event_ids = caller_ids = np.empty(0, np.int64)
    if len(outer["event_id"]):
        inner = con.sql(enrichment("outermost_of_autograd")).fetchnumpy()
        starts, ends = outer["start_ns"].tolist(), outer["end_ns"].tolist()
        found = np.array(last_around(
            starts, range(len(starts)), ends, inner["start_ns"].tolist(), inner["end_ns"].tolist()
        ), np.int64)  # fmt: skip
        event_ids = inner["event_id"][found != NOBODY]
        caller_ids = outer["event_id"][found[found != NOBODY]]
    make_table(con, "thread_callers", pa.table({"event_id": event_ids, "caller_id": caller_ids}))


def run_file(con: duckdb.DuckDBPyConnection, name: str) -> None:
    con.execute(enrichment(name))


@cache
def enrichment(name: str) -> str:
    return (sql_root() / "enrich" / f"{name}.sql").read_text()


def write_query(
    con: duckdb.DuckDBPyConnection, name: str, target: Path, threads: int = 1
) -> int:
    """Write what the query in sql/enrich/<name>.sql returns; its number of rows."""
    count = 0
    with (
        con.sql(enrichment(name)).to_arrow_reader(ROW_GROUP_ROWS) as batches,
        table_writer(target, batches.schema) as writer,
        Aside(threads) as aside,
    ):
        for batch in batches:
            aside.do(writer.write_batch, batch)
            count += len(batch)
    return count


def table_writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    """A Parquet file in which ids and times are differences and repeated words a dictionary."""
    deltas = [field.name for field in schema if field.name in DELTA_COLUMNS]
    text = [field.name for field in schema if field.name not in [*deltas, *LONG_COLUMNS]]
    return pq.ParquetWriter(
        path,
        schema,
        compression="zstd",
        compression_level=1,
        use_dictionary=text,
        column_encoding=dict.fromkeys(deltas, "DELTA_BINARY_PACKED"),
        write_statistics=[*deltas, *text],
    )


def literal(path: Path) -> str:
    """A path of ours as an SQL string; COPY takes no bound parameter there."""
    return "'" + str(path).replace("'", "''") + "'"


