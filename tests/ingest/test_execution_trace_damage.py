"""Execution traces: damage costs no other node."""

import gzip
import json
import random

import pytest
from hand_written import rows
from ingest.execution_traces import NEW, OLD, broken, execution_trace, ingested, node
from seeds import seeds

from hta_sql.ingestion import stream

pytestmark = pytest.mark.damage

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
@pytest.mark.parametrize("seed", seeds(12))
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
