"""Derives the tables host_ops and gpu_activities from the events of a trace.

The SQL files in sql/ingest do most of it. Python finds which span runs inside which (stacks.py),
since spans may cross each other in any way, and adds that to the events (host_ops.py).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, groupby
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from hta_sql.database.layers import literal
from hta_sql.ingestion.captures import Captures, write_captured_ops
from hta_sql.ingestion.gpu_activities import FILES, write_gpu_activities
from hta_sql.ingestion.host_ops import Found, first_ids, write_host_ops
from hta_sql.ingestion.nesting import NOBODY, last_around
from hta_sql.ingestion.own_steps import NOT_NAMED, OwnSteps
from hta_sql.ingestion.replays import attribute_replays
from hta_sql.ingestion.stacks import Columns, build_stacks
from hta_sql.ingestion.steps import find_steps, write_steps
from hta_sql.ingestion.temporary import make_table

# To plan the statement of long names takes a tenth of the ingest of a small trace.
NO_LONG_NAMES = """
CREATE OR REPLACE TEMP TABLE long_names (name VARCHAR, kind VARCHAR, short_name VARCHAR)
"""
GRAPH_LAUNCHES = "SELECT 1 FROM launches WHERE contains(launch_name, 'GraphLaunch') LIMIT 1"


def enrich(
    con: duckdb.DuckDBPyConnection,
    files: dict[str, Path],
    folder: Path,
    threads: int = 1,
    has_long_names: bool = False,
    steps: OwnSteps = NOT_NAMED,
    read_captures: Callable[[], Captures] = list,
) -> dict:
    """Write host_ops, gpu_activities and, if needed, step_marks; returns numbers of rows, and the
    trace's span.

    Temporary files go to `folder`. If events have long names, these are cut. `steps` is what the
    user says of steps. If the trace launches graphs, `read_captures` is called for the files of its
    capture traces, unless there is a file of captured_ops already. Takes tables without a file out
    of `files`.
    """
    # With long names, one thread needs the memory that several threads would share.
    con.execute(f"SET threads = {1 if has_long_names else threads}")
    events = f"read_parquet({literal(files['events'])}, hive_partitioning = false)"
    con.execute(f"CREATE TEMP VIEW whole_events AS FROM {events}")
    con.execute(f"CREATE OR REPLACE TEMP MACRO has_long_names() AS {has_long_names}")
    FILES.run(con, "trace_events")
    marks = find_steps(con, steps)
    for name in ("threads", "numbered_ops"):
        FILES.run(con, name)
    build_forward_threads(con)
    FILES.run(con, "forward_ops")
    if not con.execute("FROM forward_ops LIMIT 1").fetchall():
        FILES.run(con, "forward_ops_by_flows")
    FILES.run(con, "host_spans")
    stacks = build_stacks(con, folder / "stack.arrow", first_ids(files["events"]), threads)
    host_op_count = write_host_ops(
        files["events"],
        files["host_ops"],
        stacks.places,
        callers=thread_callers(con, stacks.of_autograd),
        forward=forward_operators(con),
        cuts=stacks.cuts,
        cut_names=has_long_names,
        threads=threads,
    )
    host_ops = f"read_parquet({literal(files['host_ops'])}, hive_partitioning = false)"
    con.execute(f"CREATE TEMP VIEW host_ops AS FROM {host_ops}")
    FILES.run(con, "launches")
    find_graphs(con, files, read_captures)
    con.execute(FILES.text("long_names") if has_long_names else NO_LONG_NAMES)
    FILES.run(con, "activity_names")
    counts = {
        "host_op_count": host_op_count,
        "gpu_activity_count": write_gpu_activities(
            con, files["events"], files["gpu_activities"], folder, threads
        ),
    }
    if not write_steps(marks, files["step_marks"]):
        del files["step_marks"]
    [(start_ns, end_ns)] = con.execute(
        "SELECT min(start_ns), max(start_ns + dur_ns) FROM trace_events WHERE ph = 'X'"
    ).fetchall()
    return counts | {"start_ns": start_ns, "end_ns": end_ns}


def find_graphs(
    con: duckdb.DuckDBPyConnection, files: dict[str, Path], read_captures: Callable[[], Captures]
) -> None:
    """Write captured_ops and graph_replays if the trace launches graphs that were captured in it or
    in a capture trace, and make the table `replayed`."""
    captured = files["captured_ops"]
    is_found = captured.exists()
    if not is_found and con.execute(GRAPH_LAUNCHES).fetchall():
        is_found = write_captured_ops(con, files, read_captures(), captured)
    if not attribute_replays(con, captured if is_found else None, files["graph_replays"]):
        del files["graph_replays"]
    if not is_found:
        del files["captured_ops"]


def build_forward_threads(con: duckdb.DuckDBPyConnection) -> None:
    """Make the table `forward_threads`: the thread that each of autograd's numbers stands for.

    The trace does not record it. Each number is one thread, and no two numbers are the same thread.
    If two threads fit a number equally well, it gets neither.
    """
    found: dict[int, int] = {}
    seen: set[int] = set()
    taken: set[int] = set()
    batches = con.sql(FILES.text("forward_pairs")).to_arrow_reader()
    pairs = chain.from_iterable(
        zip(*(column.to_pylist() for column in batch.columns), strict=True) for batch in batches
    )
    # Threads that fit a number equally well are adjacent.
    for (number, *_), as_good in groupby(pairs, key=lambda pair: (pair[0], *pair[2:])):
        threads = [thread for _, thread, *_ in as_good if thread not in taken]
        if not threads or number in seen:
            continue
        seen.add(number)
        if len(threads) == 1:
            found[number] = threads[0]
            taken.add(threads[0])
    make_table(
        con,
        "forward_threads",
        pa.table(
            {
                "fwd_thread_id": pa.array(found, pa.int64()),
                "thread": pa.array(found.values(), pa.int64()),
            }
        ),
    )


def thread_callers(con: duckdb.DuckDBPyConnection, of_autograd: Columns) -> Found:
    """For each outermost span of autograd's threads, the main thread's annotation around it.

    If several annotations are around a span, the one that began last counts.
    """
    outer = con.sql(FILES.text("main_annotations")).fetchnumpy()
    order = np.argsort(of_autograd["start_ns"], kind="stable")
    inner = {name: values[order] for name, values in of_autograd.items()}
    found = np.array(
        last_around(
            outer["start_ns"].tolist(),
            outer["end_ns"].tolist(),
            inner["start_ns"].tolist(),
            inner["end_ns"].tolist(),
        ),
        np.int64,
    )
    is_called = found != NOBODY
    return Found(inner["event_id"][is_called], outer["event_id"][found[is_called]])


def forward_operators(con: duckdb.DuckDBPyConnection) -> Found:
    forward = con.sql("SELECT event_id, forward_id FROM forward_ops").fetchnumpy()
    return Found(forward["event_id"], forward["forward_id"])
