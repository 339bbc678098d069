"""Execution traces: what a node says, and which files are such."""

import json

import pytest
from hand_written import rows, span, trace_text
from ingest.execution_traces import NEW, OLD, execution_trace, ingested, node, write, write_trace

import hta_sql


@pytest.mark.parametrize("schema", [OLD, "1.0.2-chakra.0.0.4", NEW])
def test_a_node(tmp_path, schema):
    """The same columns, however PyTorch writes them."""
    shape = OLD if schema == OLD else NEW
    given = node(5, shape, parent=4, seq_id=3, tid=2, fw_tid=1, fw_parent=9, scope=1)
    with ingested(tmp_path, execution_trace([given], schema)) as run:
        [row] = run.sql("FROM execution_nodes").to_pylist()
        [file] = run.sql("FROM attachments").to_pylist()
    strides = None if shape == OLD else "[[256,1],[]]"
    assert row == {
        "job": "job",
        "rank": 0,
        "position": 0,
        "node_id": 5,
        "parent_id": 4,
        "name": "op5",
        "record_function_id": 5,
        "sequence_number": 3,
        "scope": 1,
        "thread_id": 2,
        "forward_thread_id": 1,
        "forward_parent_id": 9,
        "op_schema": "aten::mm(Tensor self) -> Tensor",
        "kernel_backend": None,
        "kernel_file": None,
        "inputs": '[[6,7,0,65536,4,"cuda:0"],1]',
        "input_shapes": "[[256,256],[]]",
        "input_types": '["Tensor(float)","Int"]',
        "input_strides": strides,
        "outputs": '[[6,7,0,65536,4,"cuda:0"]]',
        "output_shapes": "[[256,256]]",
        "output_types": '["Tensor(float)"]',
        "output_strides": None if shape == OLD else "[[256,1]]",
        "attributes": None,
    }
    assert (file["status"], file["row_count"], file["quarantined_count"]) == ("complete", 1, 0)
    assert (file["format"], file["pid"]) == (schema, "7")
    assert json.loads(file["metadata"]) == {
        "schema": schema,
        "pid": 7,
        "time": "2023-07-14 11:53:07",
        "start_ts": 5,
        "finish_ts": 9,
    }


@pytest.mark.parametrize("schema", [OLD, NEW])
def test_numbers_that_mean_nothing_are_null(tmp_path, schema):
    """PyTorch writes 0 and -1 where there is no number; the root is its own parent."""
    root = node(
        1,
        schema,
        name="[pytorch|profiler|execution_trace|process]",
        parent=1,
        rf_id=0,
        op_schema="",
    )
    with ingested(tmp_path, execution_trace([root], schema)) as run:
        assert rows(
            run,
            "SELECT node_id, parent_id, record_function_id, sequence_number, forward_thread_id, "
            "forward_parent_id, op_schema FROM execution_nodes",
        ) == [(1, None, None, None, None, None, None)]


def test_attributes_beyond_the_usual(tmp_path):
    """Of collectives, of generated kernels, and keys that other tools add."""
    nodes = [
        node(2, NEW, pg_name="0", in_msg_nelems=5, in_split_size="[1, 2]"),
        node(3, NEW, kernel_backend="triton", kernel_file="k.py"),
        node(4, NEW, debug='a "quoted" \\ word\n') | {"dur": 5, "cat": {"x": [1]}},
        node(5, OLD) | {"dur": 5},
    ]
    with ingested(tmp_path, execution_trace(nodes, NEW)) as run:
        found = run.sql("FROM execution_nodes ORDER BY position").to_pylist()
    assert [json.loads(row["attributes"] or "null") for row in found] == [
        {"pg_name": "0", "in_msg_nelems": 5, "in_split_size": "[1, 2]"},
        None,
        {"debug": 'a "quoted" \\ word\n', "dur": 5, "cat": {"x": [1]}},
        {"dur": 5},
    ]
    assert [(row["kernel_backend"], row["kernel_file"]) for row in found] == [
        (None, None),
        ("triton", "k.py"),
        (None, None),
        (None, None),
    ]


@pytest.mark.parametrize("value", ["NaN", "nan", "-inf", "Infinity", "1e400"])
def test_values_that_are_no_numbers(tmp_path, value):
    """Older PyTorch writes them bare; they cost neither the node nor the one behind it."""
    text = execution_trace([node(2, inputs=["here"]), node(3)]).replace('"here"', value)
    with ingested(tmp_path, text) as run:
        assert rows(run, "SELECT node_id FROM execution_nodes ORDER BY 1") == [(2,), (3,)]
        assert rows(run, "SELECT count(*) FROM quarantine") == [(0,)]


@pytest.mark.parametrize("schema", [OLD, NEW])
def test_odd_types_of_what_matters_less(tmp_path, schema):
    """They are NULL; what is whole in quotes is a number."""
    odd = node(2, schema, rf_id="17", seq_id=[1], scope=1.5, tid=None, fw_tid=True, op_schema=5)
    huge = node(3, schema, rf_id=2**64 - 1, parent=-(2**70))
    other = {"id": "4", "attrs": [5, {"name": "rf_id"}, {}], "inputs": None, "outputs": 5}
    with ingested(tmp_path, execution_trace([odd, huge, other], schema)) as run:
        assert rows(
            run,
            "SELECT node_id, parent_id, record_function_id, sequence_number, scope, thread_id, "
            "forward_thread_id, op_schema, inputs, outputs FROM execution_nodes ORDER BY position",
        ) == [
            (
                2,
                1,
                17,
                None,
                None,
                None,
                None,
                "5",
                '[[6,7,0,65536,4,"cuda:0"],1]',
                '[[6,7,0,65536,4,"cuda:0"]]',
            ),
            (
                3,
                None,
                None,
                None,
                0,
                1,
                None,
                "aten::mm(Tensor self) -> Tensor",
                '[[6,7,0,65536,4,"cuda:0"],1]',
                '[[6,7,0,65536,4,"cuda:0"]]',
            ),
            (4, None, None, None, None, None, None, None, None, "5"),
        ]


# Which files are execution traces.


def test_keys_in_any_order(tmp_path):
    """Sorted keys put the schema behind the nodes, and nodes begin with other keys."""
    for name, schema in (("old_rank_0", OLD), ("new_rank_1", NEW)):
        whole = json.loads(execution_trace([node(2, schema), node(3, schema)], schema))
        write(tmp_path / f"job/{name}.json", json.dumps(whole, sort_keys=True, indent=1))
    hta_sql.ingest(tmp_path / "job", tmp_path / "archive")
    with hta_sql.open(tmp_path / "archive") as run:
        assert rows(run, "SELECT rank, format, row_count, status FROM attachments ORDER BY 1") == [
            (0, OLD, 2, "complete"),
            (1, NEW, 2, "complete"),
        ]
        nodes = rows(
            run, "SELECT rank, node_id, record_function_id FROM execution_nodes ORDER BY ALL"
        )
        assert nodes == [(0, 2, 2), (0, 3, 3), (1, 2, 2), (1, 3, 3)]


OTHERS = {
    "no schema": '{"nodes": []}',
    "a graph": '{"directed": true, "nodes": [{"id": 1, "name": "a"}], "links": []}',
    "schema of something else": '{"schema": "https://x.org", "nodes": [{"id": 1}]}',
    "nodes inside": '{"schema": "1.0.1", "graph": {"nodes": [{"id": 1, "rf_id": 1}]}}',
    "a list": '[{"schema": "1.0.1", "nodes": []}]',
}


@pytest.mark.parametrize("kind", OTHERS)
def test_what_is_no_execution_trace(tmp_path, kind):
    write_trace(tmp_path / "job/rank_0.json")
    other = write(tmp_path / "job/other.json", OTHERS[kind])
    summary = hta_sql.ingest(tmp_path / "job", tmp_path / "archive")
    assert [path for path, _ in summary.skipped] == [other]
    assert not summary.attachments and not summary.failed
    assert not (tmp_path / "archive/attachments.parquet").exists()


def test_a_trace_with_nodes_in_it_is_a_trace(tmp_path):
    nodes = json.dumps([node(2)])
    before = f'"schema": "1.0", "x": {{"nodes": {nodes}}},'
    text = trace_text([span("op", nodes=[1])], before)
    write(tmp_path / "job/rank_0.json", text)
    summary = hta_sql.ingest(tmp_path / "job", tmp_path / "archive")
    assert [o.kind for o in summary.traces] == ["trace"] and not summary.attachments
