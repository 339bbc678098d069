"""PyTorch's memory timelines: damage, and beside others."""

import gzip
import json
import random

import pytest
from hand_written import rows, span, trace_text
from ingest.memory_timelines import CHANGES, held, ingested
from real_files import TRACES

import hta_sql
from hta_sql.ingestion import memory_timeline, stream

pytestmark = pytest.mark.damage

BROKEN = {
    "a word": ('[1, 2, "x", 4]', "not four whole numbers"),
    "NaN": ("[NaN, 2, 3, 4]", "not four whole numbers"),
    "a fraction": ("[1.5, 2, 3, 4]", "not four whole numbers"),
    "true": ("[true, 2, 3, 4]", "not four whole numbers"),
    "null": ("null", "not four whole numbers"),
    "an object": ('{"a": [1, 2, 3, 4]}', "not four whole numbers"),
    "a list around": ("[[1, 2, 3, 4]]", "not four whole numbers"),
    "a list inside": ("[1, [2], 3, 4]", "not four whole numbers"),
    "three": ("[1, 2, 3]", "not four whole numbers"),
    "five": ("[1, 2, 3, 4, 5]", "not four whole numbers"),
    "none": ("[]", "not four whole numbers"),
    "huge": (f"[1, 2, {2**63}, 4]", "not four whole numbers"),
    "a key twice": ('{"a": 1, "a": 2}', "not four whole numbers"),
    "no end": ("[1, 2, 3", "broken JSON: Not closed"),
    "no comma": ("[1 2, 3, 4]", "broken JSON: Expecting ',' delimiter"),
    "a missing number": ("[1, , 3, 4]", "broken JSON: Expecting value"),
    "no word": ("[1, x, 3, 4]", "broken JSON: Expecting value"),
    "bad UTF-8": ('["\udcff", 2, 3, 4]', "not four whole numbers"),
}


@pytest.mark.parametrize("place", [0, 3, 6])
@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_change_costs_no_other(tmp_path, kind, place):
    bad, reason = BROKEN[kind]
    if place == 0 and (not bad.startswith("[") or bad.startswith("[[")):
        pytest.skip("not taken for a timeline")
    texts = [json.dumps(change) for change in CHANGES]
    text = "[" + ", ".join([*texts[:place], bad, *texts[place:]]) + "]"
    if kind == "no end" and place == 6:
        text += "]"  # else nothing tells that the last bracket is the list's
        bad += "]"
        reason = "not four whole numbers"
    if kind == "a missing number" and place == 6:
        reason = "broken JSON: The text ends within it"  # so near to its end
    with ingested(tmp_path, text.encode("utf-8", "surrogateescape")) as run:
        assert held(run) == [tuple(change) for change in CHANGES]
        found = run.sql("FROM quarantine").to_pylist()
        assert [(row["event_id"], row["reason"], row["bytes"]) for row in found] == [
            (place, reason, bad.encode("utf-8", "surrogateescape"))
        ]
        assert text.encode("utf-8", "surrogateescape")[found[0]["byte_offset"] :].startswith(
            found[0]["bytes"]
        )
        positions = [at for (at,) in rows(run, "SELECT position FROM memory_events ORDER BY 1")]
        assert positions == [at for at in range(7) if at != place]
        assert rows(run, "SELECT status, row_count, quarantined_count FROM attachments") == [
            ("complete", 6, 1)
        ]
        assert run.check_tables() == []


@pytest.mark.parametrize("bad", ["[1, x, 3, 4]", '[1, "x, 3, 4]', "[1, 2, 3", "null"])
def test_many_broken_changes(tmp_path, bad):
    """So many that a search of the piece for each of them would take minutes."""
    text = ",".join([json.dumps(CHANGES[0]), *[f"{bad},[1,2,3,4]"] * 50_000])
    with ingested(tmp_path, f"[{text}]") as run:
        [(status, good, lost)] = rows(
            run, "SELECT status, row_count, quarantined_count FROM attachments"
        )
    assert status == "complete" and good > 0 and lost > 10
    if '"' not in bad:  # every other quote ends a word
        assert (good, lost) == (50_001, 50_000)


@pytest.mark.parametrize("size", [64, 100, 1000, 10**6])
def test_pieces_of_any_size(tmp_path, monkeypatch, size):
    rng = random.Random(size)
    changes = [
        [at, rng.randint(1, 4), rng.randint(-(10**18), 10**18), rng.randrange(8)]
        for at in range(500)
    ]
    bad = {50: '[1, "a, [b", 3, 4]', 200: "null", 300: "[1, 2, 3"}
    elements = [bad.get(at, json.dumps(change)) for at, change in enumerate(changes)]
    monkeypatch.setattr(memory_timeline, "PIECE_BYTES", size)
    monkeypatch.setattr(stream, "READ_BYTES", max(16, size // 2))
    with ingested(tmp_path, "\ufeff [\n" + " ,\n".join(elements) + "]\n", "rank_0.raw.json") as run:
        assert held(run) == [tuple(c) for at, c in enumerate(changes) if at not in bad]
        assert rows(run, "SELECT event_id, decode(bytes) FROM quarantine ORDER BY 1") == [
            *bad.items()
        ]
        assert rows(run, "SELECT status FROM attachments") == [("complete",)]


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_that_ends_early(tmp_path, packed):
    rng = random.Random(3)
    changes = [[rng.getrandbits(60), 2, rng.getrandbits(40), 4] for _ in range(3000)]
    text = json.dumps(changes).encode()
    path = tmp_path / "job/rank_0.raw.gz"
    path.parent.mkdir()
    data = gzip.compress(text, mtime=0) if packed else text
    path.write_bytes(data[: len(data) // 2])
    hta_sql.ingest(tmp_path / "job", tmp_path / "archive")
    with hta_sql.open(tmp_path / "archive") as run:
        found = held(run)
        [(status, count)] = rows(run, "SELECT status, quarantined_count FROM attachments")
    assert 1000 < len(found) < 2000 and count <= 1
    assert found == [tuple(change) for change in changes[: len(found)]]
    assert status == (
        "truncated: gzip data ends early"
        if packed
        else "truncated: the file ends before its list does"
    )


@pytest.mark.parametrize("text", ["[]", "[\n ]\n"])
def test_an_empty_list(tmp_path, text):
    """By its name; of any other it stays a trace without events."""
    with ingested(tmp_path, text) as run:
        assert rows(run, "SELECT kind, status, row_count FROM attachments") == [
            ("memory_timeline", "complete", 0)
        ]
        assert run.memory_categories().num_rows == 0
    (tmp_path / "rank_0.json").write_text(text)
    summary = hta_sql.ingest(tmp_path / "rank_0.json", tmp_path / "other")
    assert [outcome.kind for outcome in summary.traces] == ["trace"]


def test_more_behind_the_list(tmp_path):
    with ingested(tmp_path, json.dumps(CHANGES) + json.dumps(CHANGES)) as run:
        assert len(held(run)) == 6
        assert rows(run, "SELECT status FROM attachments") == [
            ("damaged: more stands behind the list",)
        ]


def test_again_and_beside_an_execution_trace(tmp_path):
    """One of each kind for a rank; each is replaced alone."""
    job, archive = tmp_path / "job", tmp_path / "archive"
    job.mkdir()
    (job / "rank_0.json").write_text(trace_text([span()]))
    (job / "et.json").write_text('{"schema": "1.0.1", "nodes": [{"id": 1, "rf_id": 0}]}')
    timeline = job / "memory.raw.gz"
    timeline.write_bytes(gzip.compress(json.dumps(CHANGES).encode(), mtime=0))

    def statuses(**options) -> list[tuple]:
        summary = hta_sql.ingest(job, archive, **options)
        return [(o.kind, o.rank, o.status) for o in summary.attachments]

    both = [("execution_trace", 0), ("memory_timeline", 0)]
    assert statuses() == [(*of, "ingested") for of in both]
    assert statuses() == [(*of, "unchanged") for of in both]
    timeline.write_bytes(gzip.compress(json.dumps(CHANGES[:2]).encode(), mtime=0))
    assert statuses() == [(*both[0], "unchanged"), (*both[1], "replaced")]
    with hta_sql.open(archive) as run:
        assert held(run) == [tuple(change) for change in CHANGES[:2]]
        assert rows(run, "SELECT count(*) FROM execution_nodes") == [(1,)]
        assert run.check_tables() == []
    assert len(list(archive.glob("memory_events/*/*/*.parquet"))) == 1


# HTA's.


@pytest.mark.skipif(not TRACES.is_dir(), reason=f"no real traces: {TRACES} is no folder")
def test_real_timeline(tmp_path):
    """Every change against its JSON, every row against HTA's rule, and the figures it asserts."""
    path = TRACES / "memory_timeline/memory_timeline.raw.gz"
    with gzip.open(path) as file:
        changes = json.load(file)
    times, sizes = [], []
    for at_ns, _, size, category in changes:
        if not times or at_ns != times[-1]:
            times.append(at_ns)
            sizes.append(list(sizes[-1]) if sizes else [0] * 8)
        sizes[-1][category] += size
    first_ns = min(at_ns for at_ns in times if at_ns > 0)
    times = [first_ns if at_ns < 0 else at_ns for at_ns in times]
    hta_sql.ingest(path, tmp_path / "archive")
    with hta_sql.open(tmp_path / "archive") as run:
        assert held(run) == [tuple(change) for change in changes]
        found = [tuple(row.values()) for row in run.memory_categories().to_pylist()]
    assert found == [
        ("memory_timeline", 0, at, at_ns, *of, sum(of))
        for at, (at_ns, of) in enumerate(zip(times, sizes, strict=True))
    ]
    assert len(found) == 7721
    assert found[744][4:12] == (
        102440608,
        102228128,
        19395584,
        0,
        2618160128,
        58417152,
        41811968,
        25494440,
    )
    assert max(row[-1] for row in found) == 3082832104
