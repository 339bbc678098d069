"""Reads the graphs that a program recorded: from capture traces, or from the trace itself.

A capture trace is a trace of the time when a server recorded its CUDA or HIP graphs. It has the
operators and launches, which a replay lacks.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import duckdb

from hta_sql.database.layers import literal
from hta_sql.database.sql_files import SqlFiles, set_variables
from hta_sql.ingestion.find import shown
from hta_sql.places.storage import Place, open_bytes, stamp
from hta_sql.store.row_groups import RowGroups

FILES = SqlFiles("ingest")
# Capture traces, each with the files of its tables.
Captures = Sequence[tuple[Place, dict[str, Path]]]
DETAILS = "execution_details.json"
# Whether graphs/captured_ops can have rows. To plan that statement takes longer than to ask.
CAPTURES = """
SELECT 1 FROM captured_host_ops
WHERE is_runtime_call(cat) AND contains(name, 'BeginCapture')
LIMIT 1
"""
# As in replayed_id. Graphs with operations beyond this number count as not captured.
MOST_OPS = 1 << 24


def write_captured_ops(
    con: duckdb.DuckDBPyConnection, own: dict[str, Path], captures: Captures, target: Path
) -> bool:
    """Write the table captured_ops; returns whether there is a graph.

    `own` has the tables host_ops and events of the trace, and `captures` the same of each capture
    trace, with its file.
    """
    first_graph = first_id = 0
    writer = None
    for path, tables in [(None, own), *captures]:
        for name in ("host_ops", "events"):
            rows = f"read_parquet({literal(tables[name])}, hive_partitioning = false)"
            con.execute(
                f"CREATE OR REPLACE TEMP VIEW captured_{name} AS FROM {with_end(name, rows)}"
            )
        if not con.execute(CAPTURES).fetchall():
            continue
        set_variables(
            con,
            first_graph=first_graph,
            first_id=first_id,
            file_name=shown(path.name) if path else "",
            file_batch=batch_of(path) if path else None,
        )
        found = con.sql(FILES.text("graphs/captured_ops")).to_arrow_table()
        if first_id + len(found) > MOST_OPS:
            break
        if len(found):
            writer = writer or RowGroups(target, found.schema)
            writer.write_table(found)
            first_graph = found["graph"][-1].as_py() + 1
            first_id += len(found)
    if writer:
        writer.close()
    return writer is not None


def with_end(name: str, rows: str) -> str:
    if name == "events":
        return rows
    return f"(SELECT *, start_ns + dur_ns AS end_ns FROM {rows})"


def batch_of(path: Place) -> int | None:
    """The batch size of a capture trace, if the file `execution_details.json` beside it has one."""
    try:
        with open_bytes(path.parent / DETAILS) as file:
            details = json.loads(file.read())
    except (OSError, ValueError):
        return None
    for entry in details if isinstance(details, list) else [details]:
        if isinstance(entry, dict) and entry.get("file") == path.name:
            size = entry.get("batch_size")
            return size if isinstance(size, int) and not isinstance(size, bool) else None
    return None


def stamped(path: Place) -> dict:
    """What identifies a version of a capture trace, for the column graph_captures."""
    size, modified_ns = stamp(path)
    return {"path": shown(path), "file_bytes": size, "modified_ns": modified_ns}
