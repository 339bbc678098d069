"""Finds the steps of a trace.

The first of these that the trace has marks its steps: what matches the user's pattern; the
annotations of the user's rules; the annotations ProfilerStep#N; the annotations of a framework
(sql/relations/steps/step_rules.sql); an annotation that repeats; the launches of graphs.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hta_sql.database.sql_files import SqlFiles
from hta_sql.ingestion.nesting import NOBODY, last_around
from hta_sql.ingestion.own_steps import OwnSteps
from hta_sql.ingestion.temporary import make_table
from hta_sql.store.row_groups import table_writer

FILES = SqlFiles("ingest")
BY_PATTERN, BY_RULES = "steps/chosen", "steps/of_frameworks"
OTHERS = ("steps/repeated", "steps/graph_launches")
WITH_NAMES = "steps/marks_with_names"
NO_MARKS = pa.schema(
    [
        ("number", pa.int64()),
        *((name, pa.string()) for name in ("step_name", "marked_by")),
        ("event_id", pa.int64()),
        *((name, pa.string()) for name in ("pid", "tid")),
        *((name, pa.int64()) for name in ("start_ns", "dur_ns")),
    ]
)
IN_ORDER = [("start_ns", "ascending"), ("event_id", "ascending")]
OUTER_FIRST = [("start_ns", "ascending"), ("end_ns", "descending"), ("event_id", "ascending")]


def find_steps(con: duckdb.DuckDBPyConnection, own: OwnSteps) -> pa.Table:
    """Make the tables `step_marks` and `step_segments`; returns the marks, in order.

    `step_segments` is the trace's time cut where steps begin and end, with the step from there on,
    if any. If steps overlap, the one that began last counts.
    """
    marks = numbered(first_marks(con, own))
    make_table(con, "step_marks", marks)
    starts, ends = marks["start_ns"].to_pylist(), marks["end_ns"].to_pylist()
    instants = sorted({*starts, *ends})
    found = last_around(starts, ends, instants[:-1], instants[1:])
    numbers = marks["step"].to_pylist()
    steps_from = [None if at == NOBODY else numbers[at] for at in found] + [None] * bool(instants)
    make_table(
        con,
        "step_segments",
        pa.table(
            {"start_ns": pa.array(instants, pa.int64()), "step": pa.array(steps_from, pa.int64())}
        ),
    )
    return marks


def first_marks(con: duckdb.DuckDBPyConnection, own: OwnSteps) -> pa.Table:
    """The marks by the first rule that gives any."""
    if own.pattern is not None:
        con.execute("SET VARIABLE steps_pattern = ?", [own.pattern])
        if len(marks := marks_by(con, BY_PATTERN)):
            return marks
    if own.rules:
        rows = [
            {"position": at, "framework": framework, "name_pattern": pattern}
            for at, (pattern, framework) in enumerate(own.rules)
        ]
        make_table(con, "step_rules_now", pa.Table.from_pylist(rows))
        if len(marks := marks_by(con, BY_RULES)):
            return marks
    if len(marks := marks_by(con, "steps/profiler_steps")):
        return marks
    make_table(con, "step_rules_now", con.sql("FROM step_rules()").to_arrow_table())
    for name in (BY_RULES, *OTHERS):
        if len(marks := marks_by(con, name)):
            return marks
    return NO_MARKS.empty_table()


def marks_by(con: duckdb.DuckDBPyConnection, name: str) -> pa.Table:
    """The marks by one rule. Some rules give names, and the spans with these names are the
    marks."""
    marks = con.sql(FILES.text(name)).to_arrow_table()
    if len(marks) and "event_id" not in marks.column_names:
        make_table(con, "step_names", marks)
        marks = con.sql(FILES.text(WITH_NAMES)).to_arrow_table()
    return marks


def numbered(marks: pa.Table) -> pa.Table:
    """The marks in order, each with its step: the number in its name if all names have one, else
    its place in the order. Without numbers, a mark inside another one is a part of it, not a
    step."""
    ends = pc.add(marks["start_ns"], marks["dur_ns"])
    marks = marks.append_column("end_ns", ends).sort_by(IN_ORDER)
    numbers = marks["number"]
    if numbers.null_count:
        marks = marks.sort_by(OUTER_FIRST)
        ends = marks["end_ns"].to_numpy()
        reached = np.maximum.accumulate(np.append(np.iinfo(np.int64).min, ends))[:-1]
        marks = marks.filter(pa.array(ends > reached))
        numbers = pa.array(range(len(marks)), pa.int64())
    return marks.drop_columns(["number"]).add_column(0, "step", numbers)


def write_steps(marks: pa.Table, target: Path) -> bool:
    """Write the table step_marks, unless the steps are ProfilerStep annotations, which host_ops
    has. Returns whether there is a file."""
    if not len(marks) or marks["marked_by"][0].as_py() == "PyTorch":
        return False
    rows = marks.drop_columns(["end_ns"])
    with table_writer(target, rows.schema) as writer:
        writer.write_table(rows)
    return True
