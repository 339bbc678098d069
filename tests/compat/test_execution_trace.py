"""Execution traces in data frames, for the trace in conftest.py."""

import json

import pandas as pd
import pytest

from hta_sql.compat import TraceAnalysis
from hta_sql.compat.execution_trace import (
    add_et_column,
    correlate_execution_trace,
    load_execution_trace,
)
from hta_sql.errors import BadParameter, IngestError


def node(number: int, name: str, record: int, schema: str = "") -> dict:
    attributes = {"rf_id": (record, "uint64"), "op_schema": (schema, "string")}
    return {
        "id": number,
        "name": name,
        "ctrl_deps": 1,
        "inputs": {"values": [[5, 6]], "shapes": [[2, 3]], "types": ["Tensor(float)"]},
        "outputs": {"values": [[7]], "shapes": [[3]], "types": ["Tensor(float)"]},
        "attrs": [
            {"name": key, "type": kind, "value": value} for key, (value, kind) in attributes.items()
        ],
    }


@pytest.fixture
def files(traces, tmp_path):
    """The trace, with an id on aten::mm and on a launch, and an execution trace with both ids."""
    trace = json.loads((traces / "rank_0.json").read_text())
    for place, record in ((2, 11), (3, 12)):
        trace["traceEvents"][place]["args"] = {"External id": record}
    (tmp_path / "rank_0.json").write_text(json.dumps(trace))
    nodes = [node(3, "aten::mm", 11, "aten::mm(Tensor a)"), node(4, "cudaLaunchKernel", 12)]
    et = {"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": nodes}
    (tmp_path / "et.json").write_text(json.dumps(et))
    return tmp_path


def test_nodes_are_in_the_data_frame(files):
    et = load_execution_trace(files / "et.json")
    assert {number: (node.name, node.rf_id) for number, node in et.nodes.items()} == {
        3: ("aten::mm", 11),
        4: ("cudaLaunchKernel", 12),
    }
    t = TraceAnalysis(trace_files=["rank_0.json"], trace_dir=files).t
    correlate_execution_trace(t, 0, et)
    rows = t.get_trace(0)
    assert rows["et_node"].dropna().to_dict() == {2: 3}  # calls have none
    for column, value in [
        ("et_node_name", "aten::mm"),
        ("op_schema", "aten::mm(Tensor a)"),
        ("input_shapes", [[2, 3]]),
        ("output_types", ["Tensor(float)"]),
    ]:
        add_et_column(rows, et, column)
        assert rows.at[2, column] == value and pd.isna(rows.at[3, column])


def test_errors(files):
    et = load_execution_trace(files / "et.json")
    with pytest.raises(IngestError, match="rank_0.json: no execution trace can be read here"):
        load_execution_trace(files / "rank_0.json")
    with pytest.raises(BadParameter, match="no et_node; call correlate_execution_trace first"):
        add_et_column(pd.DataFrame(), et, "op_schema")
    with pytest.raises(BadParameter, match="column is 'x'; there are et_node_name, op_schema"):
        add_et_column(pd.DataFrame({"et_node": []}), et, "x")
