"""PyTorch execution traces: what ingest makes of them, whole or broken, and where they belong."""

import gzip
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hand_written import rows, span, trace_text
from raw_json import TRACES

import hta_sql
from hta_sql.errors import ArchiveError, IngestError
from hta_sql.ingestion import stream

OLD = "1.0.1"
NEW = "1.1.1-chakra.0.0.4"
TENSOR = [6, 7, 0, 65536, 4, "cuda:0"]


def node(at: int, schema: str = OLD, **given) -> dict:
    """A node as PyTorch writes it: flat up to schema 1.0, with lists of attributes since 1.1."""
    facts = {
        "rf_id": at,
        "fw_parent": 0,
        "seq_id": -1,
        "scope": 0,
        "tid": 1,
        "fw_tid": 0,
        "op_schema": "aten::mm(Tensor self) -> Tensor",
    } | given
    name, parent = facts.pop("name", f"op{at}"), facts.pop("parent", 1)
    values = facts.pop("inputs", [TENSOR, 1])
    shapes, types = [[256, 256], []], ["Tensor(float)", "Int"]
    if schema == OLD:
        return (
            {"name": name, "id": at, "parent": parent}
            | facts
            | {
                "inputs": values,
                "input_shapes": shapes,
                "input_types": types,
                "outputs": [TENSOR],
                "output_shapes": shapes[:1],
                "output_types": types[:1],
            }
        )
    facts |= {"kernel_backend": "", "kernel_file": ""} | facts
    return {
        "id": at,
        "name": name,
        "ctrl_deps": parent,
        "inputs": {"values": values, "shapes": shapes, "types": types, "strides": [[256, 1], []]},
        "outputs": {
            "values": [TENSOR],
            "shapes": shapes[:1],
            "types": types[:1],
            "strides": [[256, 1]],
        },
        "attrs": [
            {"name": key, "type": "string" if isinstance(value, str) else "uint64", "value": value}
            for key, value in facts.items()
        ],
    }


def execution_trace(nodes, schema: str = OLD, pid: int = 7, behind: str = "") -> str:
    texts = [text if isinstance(text, str) else json.dumps(text) for text in nodes]
    return (
        f'{{\n  "schema": "{schema}", "pid": {pid}, "time": "2023-07-14 11:53:07", '
        f'"start_ts": 5,\n  "nodes": [\n    '
        + ",\n    ".join(texts)
        + f'\n  ],\n  "finish_ts": 9{behind}\n}}'
    )


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def write_trace(path: Path, pid: int = 1) -> Path:
    return write(path, trace_text([span(f"op{at}", ts=at, pid=pid) for at in range(3)]))


def ingested(folder: Path, text: str | bytes, name: str = "et_rank_0.json"):
    write(folder / "job" / name, text)
    summary = hta_sql.ingest(folder / "job", folder / "archive", workers=1)
    assert not summary.failed, summary
    return hta_sql.open(folder / "archive")


def attached(archive: Path) -> list[tuple]:
    with hta_sql.open(archive) as run:
        return rows(run, "SELECT job, rank, kind, rank_source FROM attachments ORDER BY ALL")


# What a node says.


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


# Damage.


def broken(kind: str, schema: str) -> str:
    """A node that is not whole, as text."""
    whole = json.dumps(node(9, schema))
    with_nan = json.dumps(node(9, schema, inputs=["N"])).replace('"N"', "nan")
    return {
        "no closing brace": whole[:-1],
        "no opening brace": whole[1:],
        "quote in a name": whole.replace("op9", 'say "hi" here'),
        "cut in a list": whole[:-60],
        "a key twice": whole.replace('"id"', '"id": 8, "id"', 1),
        "a key twice beside nan": with_nan.replace('"outputs"', '"outputs": 8, "outputs"'),
        "no id": whole.replace('"id"', '"di"', 1),
        "no whole id": whole.replace('"id": 9', '"id": 1.5'),
        "an id that is no number": whole.replace('"id": 9', '"id": [9]'),
        "a huge id": whole.replace('"id": 9', f'"id": {2**64}'),
        "no object": "[1, 2]",
        "null": "null",
        "bad UTF-8": whole.replace("op9", "op\udcff"),
    }[kind]


BROKEN = (
    "no closing brace",
    "no opening brace",
    "quote in a name",
    "cut in a list",
    "a key twice",
    "a key twice beside nan",
    "no id",
    "no whole id",
    "an id that is no number",
    "a huge id",
    "no object",
    "null",
    "bad UTF-8",
)


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("schema", [OLD, NEW])
@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_node_costs_no_other(tmp_path, kind, schema, count):
    if count == 2 and "opening" in kind:
        pytest.skip("nothing tells that they are two")
    good = [node(at, schema) for at in (2, 3, 4)]
    bad_text = broken(kind, schema)
    elements = [good[0], *[bad_text] * count, *good[1:]]
    text = execution_trace(elements, schema).encode("utf-8", "surrogateescape")
    with ingested(tmp_path, text) as run:
        assert rows(run, "SELECT position, node_id FROM execution_nodes ORDER BY 1") == [
            (0, 2),
            (count + 1, 3),
            (count + 2, 4),
        ]
        bad = run.sql("FROM quarantine ORDER BY event_id").to_pylist()
        [file] = run.sql("FROM attachments").to_pylist()
        assert run.check_tables() == []
    assert [row["event_id"] for row in bad] == list(range(1, count + 1))
    for row in bad:
        assert row["path"].endswith("et_rank_0.json") and row["reason"]
        assert row["bytes"] == bad_text.encode("utf-8", "surrogateescape")
        assert text[row["byte_offset"] :].startswith(row["bytes"])
    assert (file["status"], file["row_count"], file["quarantined_count"]) == ("complete", 3, count)
    assert json.loads(file["metadata"])["finish_ts"] == 9


@pytest.mark.parametrize("place", ["first", "last"])
@pytest.mark.parametrize("kind", ["quote in a name", "no closing brace", "null", "a huge id"])
@pytest.mark.parametrize("schema", [OLD, NEW])
def test_a_broken_node_at_either_end(tmp_path, kind, place, schema):
    bad_text = broken(kind, schema)
    good = [node(at, schema) for at in (2, 3, 4)]
    elements = [bad_text, *good] if place == "first" else [*good, bad_text]
    with ingested(tmp_path, execution_trace(elements, schema, behind=', "x": [1]')) as run:
        assert rows(run, "SELECT node_id FROM execution_nodes ORDER BY 1") == [(2,), (3,), (4,)]
        assert rows(run, "SELECT decode(bytes) FROM quarantine") == [(bad_text,)]
        assert rows(run, "SELECT status FROM attachments") == [("complete",)]


@pytest.mark.parametrize("schema", [OLD, NEW])
@pytest.mark.parametrize("seed", range(12))
def test_random_damage(tmp_path, monkeypatch, seed, schema):
    """Whatever is done to some nodes, all others are there."""
    rng = random.Random(seed)
    nodes = [json.dumps(node(at, schema, pg_desc="a } , { b")) for at in range(2, 202)]
    hit = rng.sample(range(200), 10)
    for at in hit:
        data = list(nodes[at])
        for _ in range(rng.choice([1, 1, 3])):
            place = rng.randrange(len(data))
            data[place] = rng.choice(['"', "", "}", "{", "\\", "\x02", "[", ",", "é", '"a"', ": "])
        nodes[at] = "".join(data)
    monkeypatch.setattr(stream, "PIECE_BYTES", 9000)
    monkeypatch.setattr(stream, "READ_BYTES", 1000)
    with ingested(tmp_path, execution_trace(nodes, schema)) as run:
        kept = {name for (name,) in rows(run, "SELECT name FROM execution_nodes")}
        [(status, count)] = rows(
            run, "SELECT status, row_count + quarantined_count FROM attachments"
        )
        assert run.check_tables() == []
    assert kept >= {f"op{at + 2}" for at in range(200) if at not in hit}
    assert status == "complete" and abs(count - 200) <= 4


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("schema", [OLD, NEW])
def test_a_file_that_ends_early(tmp_path, schema, packed):
    rng = random.Random(5)  # so that it does not pack into nothing
    nodes = [node(at, schema, name=f"op{rng.getrandbits(300)}") for at in range(2, 2000)]
    text = execution_trace(nodes, schema).encode()
    data = gzip.compress(text, mtime=0) if packed else text
    with ingested(tmp_path, data[: len(data) // 2]) as run:
        ids = [at for (at,) in rows(run, "SELECT node_id FROM execution_nodes ORDER BY 1")]
        [(status, bad)] = rows(run, "SELECT status, quarantined_count FROM attachments")
    assert status == (
        "truncated: gzip data ends early"
        if packed
        else "truncated: the file ends before its list of nodes does"
    )
    assert ids == list(range(2, len(ids) + 2)) and 500 < len(ids) < 1500 and bad <= 1


@pytest.mark.parametrize("end", ["[", "[ {"])
def test_a_file_that_ends_at_once(tmp_path, end):
    with ingested(tmp_path, f'{{"schema": "1.0.1", "nodes": {end}') as run:
        [(status, count)] = rows(run, "SELECT status, row_count FROM attachments")
        assert status.startswith("truncated") and count == 0


def test_no_nodes(tmp_path):
    for text in (execution_trace([]), '{"schema":"1.0.1","nodes":[]}'):
        with ingested(tmp_path, text) as run:
            assert rows(run, "SELECT status, row_count, quarantined_count FROM attachments") == [
                ("complete", 0, 0)
            ]
            assert rows(run, "SELECT count(*) FROM execution_nodes") == [(0,)]
            assert run.execution_node_ops().num_rows == 0


@pytest.mark.parametrize("schema", [OLD, NEW])
def test_pieces_of_any_size(tmp_path, monkeypatch, schema):
    nodes = [node(at, schema) for at in range(2, 102)]
    for size in (700, 5000, 40_000):
        monkeypatch.setattr(stream, "PIECE_BYTES", size)
        monkeypatch.setattr(stream, "READ_BYTES", 512)
        folder = tmp_path / str(size)
        with ingested(folder, execution_trace(nodes, schema)) as run:
            assert rows(run, "SELECT position, node_id FROM execution_nodes ORDER BY 1") == [
                (at, at + 2) for at in range(100)
            ]
            assert rows(run, "SELECT status, quarantined_count FROM attachments") == [
                ("complete", 0)
            ]


# Of which rank.


def test_rank_as_told(tmp_path):
    """By the user, else by the file's name; a trace of the job does not matter then."""
    write_trace(tmp_path / "job/rank_5.json")
    one = write(tmp_path / "job/et.json", execution_trace([node(2)]))
    write(tmp_path / "job/et-rank-3.json.gz", gzip.compress(execution_trace([node(2)]).encode()))
    hta_sql.ingest(tmp_path / "job", tmp_path / "archive", ranks={9: one})
    assert attached(tmp_path / "archive") == [
        ("job", 3, "execution_trace", "file name"),
        ("job", 9, "execution_trace", "given"),
    ]


def test_several_files_told_to_be_of_one_rank(tmp_path):
    trace = write_trace(tmp_path / "job/a.json")
    other = write(tmp_path / "job/b.json", execution_trace([node(2)]))
    hta_sql.ingest([trace, other], tmp_path / "archive", ranks={4: [trace, other]})
    assert attached(tmp_path / "archive") == [("job", 4, "execution_trace", "given")]
    with pytest.raises(IngestError, match="rank 4 and of rank 5"):
        hta_sql.ingest(trace, tmp_path / "archive", ranks={4: [trace], 5: [trace]})


@pytest.mark.parametrize("at_once", [True, False])
def test_rank_of_the_only_trace(tmp_path, at_once):
    said = []
    trace = write_trace(tmp_path / "job/rank_5.json")
    other = write(tmp_path / "job/et.json", execution_trace([node(2)]))
    for files in [[trace, other]] if at_once else [[trace], [other]]:
        hta_sql.ingest(files, tmp_path / "archive", report=said.append)
    assert attached(tmp_path / "archive") == [("job", 5, "execution_trace", "only rank")]
    assert said == []


def test_rank_by_the_process(tmp_path):
    """Of several ranks the one whose operations ran in the process; not where several did."""
    for rank in (0, 1, 2):
        write_trace(tmp_path / f"job/rank_{rank}.json", pid=100 + min(rank, 1))
    for name, pid in (("a", 100), ("b", 101)):
        write(tmp_path / f"job/et_{name}.json", execution_trace([node(2)], pid=pid))
    said = []
    hta_sql.ingest(tmp_path / "job", tmp_path / "archive", report=said.append)
    assert attached(tmp_path / "archive") == [
        ("job", 0, "execution_trace", "pid"),
        ("job", 1, "execution_trace", "order"),
    ]
    [line] = said
    assert "et_b.json" in line and "rank 1" in line and "--rank" in line


def test_rank_by_the_process_after_compact(tmp_path):
    """Also of a rank ingested anew, whose old rows are still in the file that ranks share."""
    archive = tmp_path / "archive"
    for rank in (0, 1, 2):
        write_trace(tmp_path / f"job/rank_{rank}.json", pid=100 + rank)
    hta_sql.ingest(tmp_path / "job", archive)
    hta_sql.compact(archive)
    write_trace(tmp_path / "job/rank_1.json", pid=201)
    hta_sql.ingest(tmp_path / "job", archive)
    for name, pid in (("a", 102), ("b", 201), ("c", 100), ("d", 101)):
        write(tmp_path / f"job/et_{name}.json", execution_trace([node(2)], pid=pid))
    summary = hta_sql.ingest(tmp_path / "job", archive)
    assert {o.path.name: (o.rank, o.status) for o in summary.attachments} == {
        "et_a.json": (2, "ingested"),
        "et_b.json": (1, "ingested"),
        "et_c.json": (0, "ingested"),
        "et_d.json": (3, "ingested"),
    }
    assert [source for *_, source in attached(archive)] == ["pid"] * 3 + ["order"]


def test_rank_by_the_process_of_ranks_without_operations(tmp_path):
    """Together they have no file."""
    archive = tmp_path / "archive"
    for rank in (0, 1):
        write(tmp_path / f"job/rank_{rank}.json", trace_text([span(cat="kernel")]))
    hta_sql.ingest(tmp_path / "job", archive)
    hta_sql.compact(archive)
    et = write(tmp_path / "job/et.json", execution_trace([node(2)]))
    assert [o.error for o in hta_sql.ingest(et, archive).attachments] == [None]


@pytest.mark.parametrize("broken", ["gone", "damaged"])
def test_processes_that_cannot_be_read(tmp_path, broken):
    """They fail the files that need them, and no other."""
    archive = tmp_path / "archive"
    for job in ("bad", "good"):
        for rank in (0, 1):
            write_trace(tmp_path / f"t/{job}/rank_{rank}.json", pid=100 + rank)
    hta_sql.ingest(tmp_path / "t", archive)
    [file] = archive.glob("host_ops/job=bad/rank=1/*.parquet")
    file.unlink() if broken == "gone" else file.write_bytes(b"PAR1 and no more")
    for job in ("bad", "good"):
        write(tmp_path / f"t/{job}/et.json", execution_trace([node(2)], pid=101))
        write(tmp_path / f"t/{job}/et_rank_5.json", execution_trace([node(2)], pid=101))
    summary = hta_sql.ingest(tmp_path / "t", archive)
    found = {(o.job, o.path.name): (o.rank, o.status) for o in summary.attachments}
    assert found == {
        ("bad", "et.json"): (None, "failed"),
        ("bad", "et_rank_5.json"): (5, "ingested"),
        ("good", "et.json"): (1, "ingested"),
        ("good", "et_rank_5.json"): (5, "ingested"),
    }
    [error] = [outcome.error for outcome in summary.attachments if outcome.error]
    assert error.startswith("its rank cannot be told by its process: ") and "--rank" in error


def test_processes_of_a_job_are_read_once(tmp_path, monkeypatch):
    """However many files ask for them."""
    for rank in range(4):
        write_trace(tmp_path / f"job/rank_{rank}.json", pid=100 + rank)
    hta_sql.ingest(tmp_path / "job", tmp_path / "archive")
    for rank in range(4):
        write(tmp_path / f"job/et_{rank}x.json", execution_trace([node(2)], pid=100 + rank))
    opened, is_opened = [], pq.ParquetFile.__init__

    def note(self, source, *given, **more):
        opened.append(str(source))
        is_opened(self, source, *given, **more)

    monkeypatch.setattr(pq.ParquetFile, "__init__", note)
    hta_sql.ingest(tmp_path / "job", tmp_path / "archive", workers=1)
    assert [row[1:] for row in attached(tmp_path / "archive")] == [
        (rank, "execution_trace", "pid") for rank in range(4)
    ]
    assert len([path for path in opened if "/host_ops/" in path]) == 4


def test_rank_by_order(tmp_path):
    """And the same again: a file keeps the rank that it has in the archive."""
    for name in ("et_a", "et_b"):
        write(tmp_path / f"job/{name}.json", execution_trace([node(2)]))
    said = []
    for _ in range(2):
        summary = hta_sql.ingest(tmp_path / "job", tmp_path / "archive", report=said.append)
        assert [(o.path.name, o.rank) for o in summary.attachments] == [
            ("et_a.json", 0),
            ("et_b.json", 1),
        ]
    assert [o.status for o in summary.attachments] == ["unchanged"] * 2
    assert len(said) == 2 and "nothing tells the rank of this execution trace" in said[0]
    (tmp_path / "job/et_a.json").unlink()
    summary = hta_sql.ingest(tmp_path / "job", tmp_path / "archive")
    assert [(o.rank, o.status) for o in summary.attachments] == [(1, "unchanged")]


def test_jobs_are_those_of_folders(tmp_path):
    write_trace(tmp_path / "one/rank_0.json")
    write(tmp_path / "one/et/et.json", execution_trace([node(2)]))
    hta_sql.ingest(tmp_path / "one", tmp_path / "a")
    assert attached(tmp_path / "a") == [("et", 0, "execution_trace", "order")]
    hta_sql.ingest(tmp_path / "one", tmp_path / "b", job="mine")
    assert attached(tmp_path / "b") == [("mine", 0, "execution_trace", "only rank")]


def test_two_of_one_rank(tmp_path):
    """The second one fails and says what to do; the trace and the first are in the archive."""
    write_trace(tmp_path / "job/rank_0.json")
    for name in ("et_a", "et_b"):
        write(tmp_path / f"job/{name}.json", execution_trace([node(2)]))
    summary = hta_sql.ingest(tmp_path / "job", tmp_path / "archive")
    assert summary.failed == 1
    assert [(o.path.name, o.status) for o in summary.attachments] == [
        ("et_a.json", "ingested"),
        ("et_b.json", "failed"),
    ]
    error = summary.attachments[1].error
    assert "et_a.json" in error and "rank 0" in error and "--rank" in error and "\n" not in error
    assert [o.status for o in summary.traces] == ["ingested"]
    # The one that the archive has goes first from now on.
    write(tmp_path / "job/et_0.json", execution_trace([node(2)]))
    summary = hta_sql.ingest(tmp_path / "job", tmp_path / "archive")
    assert {o.path.name: o.status for o in summary.attachments} == {
        "et_0.json": "failed",
        "et_a.json": "unchanged",
        "et_b.json": "failed",
    }
    (tmp_path / "job/et_0.json").unlink()
    write(tmp_path / "job/et_rank_0.json", execution_trace([node(2)]))
    summary = hta_sql.ingest(tmp_path / "job", tmp_path / "fresh")
    assert {o.path.name: o.status for o in summary.attachments} == {
        "et_a.json": "failed",
        "et_b.json": "failed",
        "et_rank_0.json": "ingested",
    }


def test_same_rank_from_elsewhere(tmp_path):
    trace = write_trace(tmp_path / "job/rank_0.json")
    one = write(tmp_path / "job/et.json", execution_trace([node(2)]))
    two = write(tmp_path / "other/job/et.json", execution_trace([node(2), node(3)]))
    archive = tmp_path / "archive"
    hta_sql.ingest([trace, one], archive)
    summary = hta_sql.ingest([two, trace], archive)
    [failed] = summary.attachments
    assert failed.status == "failed" and str(one) in failed.error and "--force" in failed.error
    assert [o.status for o in summary.traces] == ["unchanged"]
    assert hta_sql.ingest(two, archive, force=True).attachments[0].status == "replaced"
    with hta_sql.open(archive) as run:
        assert rows(run, "SELECT count(*) FROM execution_nodes") == [(2,)]
        assert rows(run, "SELECT count(*) FROM events") == [(3,)]


# The archive.


def test_again(tmp_path):
    """Unchanged ones are skipped, also when only touched; changed ones take the other's place."""
    write_trace(tmp_path / "job/rank_0.json")
    path = write(tmp_path / "job/et.json", execution_trace([node(2), "null"]))
    archive = tmp_path / "archive"

    def statuses(**options) -> list[str]:
        summary = hta_sql.ingest(tmp_path / "job", archive, **options)
        return [outcome.status for outcome in [*summary.traces, *summary.attachments]]

    def counts() -> list[tuple]:
        with hta_sql.open(archive) as run:
            assert run.check_tables() == []
            return rows(
                run,
                "SELECT (SELECT count(*) FROM execution_nodes), "
                "(SELECT count(*) FROM quarantine), (SELECT count(*) FROM events)",
            )

    assert statuses() == ["ingested"] * 2 and counts() == [(1, 1, 3)]
    before = set(archive.glob("*/*/*/*.parquet"))
    assert statuses() == ["unchanged"] * 2
    os.utime(path, ns=(1, 1))
    assert statuses() == ["unchanged"] * 2
    assert set(archive.glob("*/*/*/*.parquet")) == before
    write(path, execution_trace([node(2), node(3)]))
    assert statuses() == ["unchanged", "replaced"] and counts() == [(2, 0, 3)]
    assert not list(archive.glob("quarantine/*/*/*.parquet"))
    assert statuses(force=True) == ["replaced"] * 2 and counts() == [(2, 0, 3)]
    assert len(list(archive.glob("execution_nodes/*/*/*.parquet"))) == 1
    assert len(list(archive.glob("events/*/*/*.parquet"))) == 1


def test_two_ingests_of_one_folder_at_once(tmp_path):
    """What the other one has published meanwhile is unchanged."""
    write_trace(tmp_path / "job/rank_0.json")
    write(tmp_path / "job/et.json", execution_trace([node(2)]))

    def other(files) -> None:
        assert not hta_sql.ingest(tmp_path / "job", tmp_path / "archive").failed

    summary = hta_sql.ingest(tmp_path / "job", tmp_path / "archive", planned=other)
    assert [outcome.status for outcome in summary.outcomes] == ["replaced", "unchanged"]
    assert attached(tmp_path / "archive") == [("job", 0, "execution_trace", "only rank")]


def test_trace_and_attachment_do_not_disturb_each_other(tmp_path):
    """They share the folder of their rank in quarantine."""
    bad = trace_text([span(), "5"])
    trace = write(tmp_path / "job/rank_0.json", bad)
    other = write(tmp_path / "job/et.json", execution_trace([node(2), "null", "[]"]))
    archive = tmp_path / "archive"
    hta_sql.ingest([trace, other], archive)

    def held() -> list[tuple]:
        with hta_sql.open(archive) as run:
            assert run.check_tables() == []
            return rows(
                run,
                "SELECT parse_filename(path), count(*) FROM quarantine GROUP BY ALL ORDER BY ALL",
            )

    expected = [("et.json", 2), ("rank_0.json", 1)]
    assert held() == expected
    for path in (trace, other):
        hta_sql.ingest(path, archive, force=True)
        assert held() == expected
    write(trace, trace_text([span()]))
    hta_sql.ingest(trace, archive)
    assert held() == [("et.json", 2)]


def test_a_file_is_there_as_a_whole_or_not_at_all(tmp_path):
    """What a killed ingest has left is not read, and goes with the next one of its rank."""
    archive = tmp_path / "archive"
    path = write(tmp_path / "job/et_rank_0.json", execution_trace([node(2)]))
    hta_sql.ingest(path, archive)
    [file] = archive.glob("execution_nodes/job=job/rank=0/*.parquet")
    left = file.with_name("feedfeedfeedfeed.parquet")
    shutil.copy(file, left)
    other = archive / "execution_nodes/job=job/rank=1/feedfeedfeedfeed.parquet"
    other.parent.mkdir()
    shutil.copy(file, other)
    with hta_sql.open(archive) as run:
        assert rows(run, "SELECT rank, count(*) FROM execution_nodes GROUP BY ALL") == [(0, 1)]
    hta_sql.ingest(path, archive, force=True)
    assert not left.exists() and other.exists()
    (archive / "attachments.parquet").unlink()
    with hta_sql.open(archive) as run:
        assert rows(run, "SELECT count(*) FROM execution_nodes") == [(0,)]


@pytest.mark.parametrize("seed", range(4))
def test_killed_at_any_moment(tmp_path, seed):
    traces, archive = tmp_path / "job", tmp_path / "archive"
    for rank in range(3):
        write_trace(traces / f"rank_{rank}.json")
        nodes = [node(at, NEW) for at in range(2, 3000)]
        write(traces / f"et_rank_{rank}.json", execution_trace(nodes, NEW))
    code = "import sys, hta_sql; hta_sql.ingest(sys.argv[1], sys.argv[2], workers=1)"
    ingest = subprocess.Popen([sys.executable, "-c", code, traces, archive])
    try:
        ingest.wait(random.Random(seed).uniform(0.5, 2.5))
    except subprocess.TimeoutExpired:
        ingest.kill()
        ingest.wait()
    if (archive / "traces.parquet").exists():
        with hta_sql.open(archive) as run:
            counts = rows(run, "SELECT count(*) FROM execution_nodes GROUP BY rank")
            assert {count for (count,) in counts} <= {2998}
            assert run.check_tables() == []
    assert not hta_sql.ingest(traces, archive, workers=1).failed
    with hta_sql.open(archive) as run:
        assert rows(run, "SELECT rank, count(*) FROM execution_nodes GROUP BY ALL ORDER BY 1") == [
            (0, 2998),
            (1, 2998),
            (2, 2998),
        ]
    assert len(list(archive.glob("execution_nodes/*/*/*.parquet"))) == 3
    assert not list((archive / ".staging").glob("*"))


def test_missing_rows_are_noticed(tmp_path):
    archive = tmp_path / "archive"
    hta_sql.ingest(write(tmp_path / "job/et_rank_0.json", execution_trace([node(2)])), archive)
    [file] = archive.glob("execution_nodes/*/*/*.parquet")
    file.unlink()
    with hta_sql.open(archive) as run:
        assert run.check_tables() == [
            "job job rank 0: execution_nodes holds 0 of 1 rows; ingest it again with --force"
        ]


def test_several_archives(tmp_path):
    """One may have the traces and another what goes with them; none may have the same."""
    hta_sql.ingest(write_trace(tmp_path / "job/rank_0.json"), tmp_path / "a")
    other = write(tmp_path / "job/et_rank_0.json", execution_trace([node(2, name="op0")]))
    for name in ("b", "c"):
        hta_sql.ingest(other, tmp_path / name)
    with hta_sql.open(tmp_path / "a", tmp_path / "b") as run:
        assert rows(
            run, "SELECT (SELECT count(*) FROM execution_nodes), (SELECT count(*) FROM events)"
        ) == [(1, 3)]
    with pytest.raises(ArchiveError, match="the execution trace of job 'job' rank 0 is in"):
        hta_sql.open(tmp_path / "b", tmp_path / "c")


def test_an_archive_of_another_schema(tmp_path):
    """Columns that it lacks are NULL, and it says so."""
    archive = tmp_path / "archive"
    hta_sql.ingest(write(tmp_path / "job/et_rank_0.json", execution_trace([node(2)])), archive)
    [file] = archive.glob("execution_nodes/*/*/*.parquet")
    pq.write_table(pq.read_table(file, partitioning=None).drop_columns(["op_schema"]), file)
    manifest = pq.read_table(archive / "attachments.parquet", partitioning=None)
    rows_now = [row | {"schema_version": 1} for row in manifest.to_pylist()]
    pq.write_table(
        type(manifest).from_pylist(rows_now, manifest.schema), archive / "attachments.parquet"
    )
    with pytest.warns(UserWarning, match="by an earlier hta_sql"):
        run = hta_sql.open(archive)
    with run:
        assert rows(run, "SELECT node_id, op_schema FROM execution_nodes") == [(2, None)]


def command(*words) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "hta_sql.cli", *map(str, words)], capture_output=True, text=True
    )


def test_what_the_command_says(tmp_path):
    write_trace(tmp_path / "job/rank_0.json")
    write(tmp_path / "job/et.json", execution_trace([node(2), "null", node(3)]))
    done = command("ingest", tmp_path / "job", tmp_path / "archive")
    lines = [line.rsplit(", ", 1)[0] for line in done.stderr.splitlines()]
    assert lines[:2] == [
        "job rank 0: ingested, 3 events",
        "job rank 0: ingested, execution trace, 2 nodes, 1 quarantined",
    ]
    assert done.stderr.splitlines()[2].startswith("1 trace, 1 execution trace: 2 ingested; ")
    assert done.returncode == 0
    write(tmp_path / "job/et2.json", execution_trace([node(2)]))
    done = command("ingest", tmp_path / "job", tmp_path / "archive")
    assert done.returncode == 1 and "et2.json: failed: " in done.stderr
    assert "1 trace, 2 execution traces: 2 unchanged, 1 failed; " in done.stderr
    one, two = (tmp_path / f"job/{name}.json" for name in ("rank_0", "et"))
    words = ["--rank", f"3={one}", "--rank", f"3={two}", one, two, tmp_path / "other"]
    assert command("ingest", *words).returncode == 0
    assert attached(tmp_path / "other") == [("job", 3, "execution_trace", "given")]
    assert command("check", tmp_path / "archive").returncode == 0
    named = write(tmp_path / "x.json", '{"nodes": []}')
    assert command("ingest", named, tmp_path / "archive").returncode == 1


# PyTorch's own.


@pytest.mark.skipif(not TRACES.is_dir(), reason=f"no real traces: {TRACES} is no folder")
def test_real_execution_trace(tmp_path):
    """Every node against its JSON, and what HTA's test asserts of the very same file."""
    path = TRACES / "execution_trace/et/simple_add_et.json.gz"
    hta_sql.ingest(TRACES / "execution_trace", tmp_path / "archive", job="simple_add")
    with gzip.open(path) as file:
        nodes = json.load(file)["nodes"]
    with gzip.open(TRACES / "execution_trace/simple_add_trace.json.gz") as file:
        events = json.load(file)["traceEvents"]
    with hta_sql.open(tmp_path / "archive") as run:
        found = run.sql("FROM execution_nodes ORDER BY position").to_pylist()
        joined = run.execution_node_ops().to_pylist()
        assert rows(run, "SELECT rank, rank_source FROM attachments") == [(0, "only rank")]
    assert len(found) == len(nodes) == 38
    for at, (row, raw) in enumerate(zip(found, nodes, strict=True)):
        assert (row["position"], row["node_id"], row["name"]) == (at, raw["id"], raw["name"])
        assert row["parent_id"] == (raw["parent"] if raw["id"] > 1 else None)
        assert row["record_function_id"] == (raw["rf_id"] or None)
        assert row["sequence_number"] == (raw["seq_id"] if raw["seq_id"] >= 0 else None)
        assert (row["scope"], row["thread_id"]) == (raw["scope"], raw["tid"])
        assert row["op_schema"] == (raw["op_schema"] or None)
        for column in (
            "inputs",
            "input_shapes",
            "input_types",
            "outputs",
            "output_shapes",
            "output_types",
        ):
            assert json.loads(row[column]) == raw[column]
        assert row["attributes"] is None
    # By HTA's rule: the ids of the nodes lie within the trace's, so that each names one.
    by_id = {raw["rf_id"]: raw for raw in nodes if "execution_trace|" not in raw["name"]}
    expected = [
        (at, event["name"], by_id[event["args"]["External id"]]["id"])
        for at, event in enumerate(events)
        if event.get("cat") in ("cpu_op", "user_annotation")
        and event["args"]["External id"] in by_id
    ]
    assert [(row["event_id"], row["name"], row["node_id"]) for row in joined] == expected
    assert len(expected) == len({node_id for *_, node_id in expected}) == 36
    assert {row["joined_by"] for row in joined} == {"external_id"}


def test_a_rank_without_a_trace_is_told(tmp_path):
    """A trace that comes later may be of another rank than the one guessed."""
    et = write(tmp_path / "et.json", execution_trace([node(2)]))
    trace = write_trace(tmp_path / "t.json")
    said = []
    hta_sql.ingest(et, tmp_path / "archive", job="j")
    hta_sql.ingest(trace, tmp_path / "archive", job="j", ranks={5: trace}, report=said.append)
    assert said == [
        "et.json: taken as rank 0 of 'j', which has no trace of that rank; "
        "--force --rank N=et.json changes it"
    ]
    said.clear()
    hta_sql.ingest(et, tmp_path / "archive", job="j", ranks={5: et}, force=True, report=said.append)
    assert said == []
    assert attached(tmp_path / "archive") == [("j", 5, "execution_trace", "given")]
