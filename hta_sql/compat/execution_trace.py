"""HTA's functions on PyTorch's execution traces: their nodes in the data frame of a trace."""

from __future__ import annotations

import json
import tempfile
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

import hta_sql
from hta_sql.errors import BadParameter, IngestError
from hta_sql.ingestion.ingest import ingest

if TYPE_CHECKING:
    from hta_sql.compat.trace import Trace

# The categories of spans that have nodes.
CATEGORIES = ("cpu_op", "user_annotation")
# Columns of add_et_column, and the attributes of nodes that they contain.
COLUMNS = {"et_node_name": "name", "op_schema": "op_schema"} | {
    f"{side}_{what}": f"{side}_{what}"
    for side in ("input", "output")
    for what in ("shapes", "types")
}


class Node(NamedTuple):
    """A node of an execution trace: an operator or annotation, with its inputs and outputs."""

    id: int
    parent_id: int | None
    name: str
    rf_id: int | None
    op_schema: str
    input_shapes: list[Any]
    input_types: list[str]
    output_shapes: list[Any]
    output_types: list[str]


class ExecutionTrace(NamedTuple):
    """An execution trace: its nodes, by id."""

    nodes: dict[int, Node]


def load_execution_trace(et_file: str | PathLike[str]) -> ExecutionTrace:
    """Read an execution trace; raises IngestError if the file is none."""
    file = Path(et_file).expanduser()
    with tempfile.TemporaryDirectory(prefix="hta-sql-") as folder:
        done = ingest([file], folder, job="execution_trace", report=lambda line: None)
        if [outcome.status for outcome in done.attachments] != ["ingested"]:
            raise IngestError(f"{file}: no execution trace can be read here")
        with hta_sql.open(folder) as run:
            rows = run.sql(
                "SELECT node_id, parent_id, name, record_function_id, op_schema, input_shapes, "
                "input_types, output_shapes, output_types FROM execution_nodes ORDER BY position"
            ).to_pylist()
    nodes = []
    for row in rows:
        *facts, schema, shapes, types, out_shapes, out_types = row.values()
        lists = [json.loads(text or "[]") for text in (shapes, types, out_shapes, out_types)]
        nodes.append(Node(*facts, schema or "", *lists))
    return ExecutionTrace({node.id: node for node in nodes})


def correlate_execution_trace(trace: Trace, rank: int, et: ExecutionTrace) -> None:
    """Add the column `et_node` to the data frame of a rank: the node of each operator."""
    rows = trace.get_trace(rank)
    known = trace.symbol_table.sym_index
    cats = [known[category] for category in CATEGORIES if category in known]
    of_id = {node.rf_id: node.id for node in et.nodes.values() if node.rf_id is not None}
    rows["et_node"] = rows["external_id"].map(of_id).where(rows["cat"].isin(cats))


def add_et_column(trace_df: pd.DataFrame, et: ExecutionTrace, column: str) -> None:
    """Add a column with an attribute of each span's node, such as `op_schema`."""
    if "et_node" not in trace_df:
        raise BadParameter("the data frame has no et_node; call correlate_execution_trace first")
    if column not in COLUMNS:
        raise BadParameter(f"column is {column!r}; there are {', '.join(COLUMNS)}")
    values = {node.id: getattr(node, COLUMNS[column]) for node in et.nodes.values()}
    trace_df[column] = trace_df["et_node"].map(values)
