"""Whatever is broken is quarantined with its offset and reason, and costs no good event."""

import gzip
import random
import zlib

import pytest
from hand_written import ingested, rows, span, trace_text
from seeds import seeds

import hta_sql
from hta_sql.errors import IngestError
from hta_sql.ingestion import stream

# Without the time, which would make names of tests differ from one process to the next.
ZIPPED_TWICE = gzip.compress(gzip.compress(b"{}", mtime=0), mtime=0)

GOOD = [span(f"op{at}", ts=10 * at, dur=5, note='a }, { "ph" ] }') for at in range(20)]

BROKEN = {
    "unescaped quote": '{"ph": "X", "name": "say "hi"", "pid": 1, "tid": 1, "ts": 1, "dur": 1}',
    "bad escape": r'{"ph": "X", "name": "a\qb", "pid": 1, "tid": 1, "ts": 1, "dur": 1}',
    "control character": '{"ph": "X", "name": "a\x01b", "pid": 1, "tid": 1, "ts": 1, "dur": 1}',
    "missing value": '{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": , "dur": 1}',
    "stamp is NaN": '{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": NaN, "dur": 1}',
    "dur is infinite": '{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": Infinity}',
    "stamp is text": '{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": "soon", "dur": 1}',
    "stamp is an object": '{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": {}, "dur": 1}',
    "stamp beyond all time": '{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1e18, "dur": 1}',
    "no stamp": '{"ph": "X", "name": "a", "pid": 1, "tid": 1, "dur": 1}',
    "no stamp on a flow": '{"ph": "s", "name": "a", "pid": 1, "tid": 1, "id": 1}',
    "no dur": '{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1}',
    "negative dur": '{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": -1}',
    "over seven days": '{"ph": "X", "name": "a", "pid": 1, "ts": 1, "dur": 604800000000.001}',
    "no phase": '{"name": "a", "ts": 1, "dur": 1}',
    "null": "null",
    "a list": '[{"ph": "X"}]',
    "two phases": '{"ph": "X", "ph": "i", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1}',
}


def check(archive, elements: list[dict | str], bad: dict[int, str], data: bytes) -> None:
    """All but the elements at `bad` are events, with their ids and times; those are quarantined."""
    assert rows(archive, "SELECT event_id, name, start_ns, dur_ns FROM events ORDER BY 1") == [
        (at, element["name"], element["ts"] * 1000, element["dur"] * 1000)
        for at, element in enumerate(elements)
        if at not in bad
    ]
    found = archive.sql("FROM quarantine ORDER BY event_id").to_pylist()
    assert [row["event_id"] for row in found] == sorted(bad)
    for row in found:
        assert row["reason"]
        at = row["byte_offset"]
        assert data[at : at + len(row["bytes"])] == row["bytes"]
        assert row["bytes"].decode("utf-8", "replace") == bad[row["event_id"]]
    [(events, quarantined)] = rows(archive, "SELECT event_count, quarantined_count FROM traces")
    assert (events, quarantined) == (len(elements) - len(bad), len(bad))


@pytest.mark.damage
@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.parametrize("at", [0, 7, 20], ids=["first", "middle", "last"])
def test_one_broken_element(tmp_path, kind, at):
    elements = [*GOOD[:at], BROKEN[kind], *GOOD[at:]]
    text = trace_text(elements, before='"schemaVersion": 1, ', after=', "traceName": "t"')
    archive = ingested(tmp_path, text)
    check(archive, elements, {at: BROKEN[kind]}, text.encode())
    assert rows(archive, "SELECT status FROM traces") == [("complete",)]


def test_invalid_utf8(tmp_path):
    text = trace_text([GOOD[0], span("BAD", ts=3), GOOD[1]]).encode().replace(b"BAD", b"B\xff\xfeD")
    archive = ingested(tmp_path, text)
    assert rows(archive, "SELECT event_id FROM events ORDER BY 1") == [(0,), (2,)]
    [(event_id, reason)] = rows(archive, "SELECT event_id, reason FROM quarantine")
    assert event_id == 1 and "UTF-8" in reason


def test_all_kinds_at_once(tmp_path):
    rng = random.Random(0)
    elements: list = [*GOOD, *BROKEN.values()]
    rng.shuffle(elements)
    text = trace_text(elements)
    bad = {at: element for at, element in enumerate(elements) if isinstance(element, str)}
    check(ingested(tmp_path, text), elements, bad, text.encode())


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity", "nan", "inf"])
def test_not_a_number_in_arguments_is_kept(tmp_path, literal):
    """The span around it is sound; also where another event sends the piece the slow way."""
    odd = '{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 2, '
    odd += f'"args": {{"device": 0, "warps per SM": {literal}, "stream": 7}}}}'
    for folder, more in (("fast", []), ("slow", [BROKEN["bad escape"]])):
        (tmp_path / folder).mkdir()
        archive = ingested(tmp_path / folder, trace_text([odd, *more, GOOD[0]]))
        assert rows(archive, "SELECT stream, dur_ns FROM gpu_activities") == [(7, 2000)]
        assert archive.sql("FROM quarantine").num_rows == len(more)


@pytest.mark.parametrize("seed", seeds(25))
def test_cut_anywhere(tmp_path, seed):
    """A file that ends early keeps every event that is whole; the rest is one bad element."""
    text = trace_text(GOOD, before='"schemaVersion": 1,', after=', "traceName": "t"').encode()
    first, last = text.index(b"[") + 1, text.rindex(b"]")
    cut = random.Random(seed).randrange(first, len(text) - 3)
    archive = ingested(tmp_path, text[:cut])
    whole = [e for e in GOOD if text.index(f'"{e["name"]}"'.encode()) + 92 <= cut]
    ids = [row[0] for row in rows(archive, "SELECT event_id FROM events ORDER BY 1")]
    assert ids == list(range(len(ids))) and len(whole) - 1 <= len(ids) <= len(whole) + 1
    [(status,)] = rows(archive, "SELECT status FROM traces")
    assert status.startswith("truncated")
    kept = rows(archive, "SELECT bytes FROM quarantine")
    if cut < last:
        ends = [text.index(b"}}", text.index(f'"op{at}"'.encode())) + 2 for at in ids]
        rest = text[ends[-1] if ends else first : cut].strip(b" ,\n")
        assert [row[0] for row in kept] == ([rest] if rest else [])
    else:
        assert not kept


@pytest.mark.parametrize("keep", [0.2, 0.5, 0.9, 0.99])
def test_truncated_gzip(tmp_path, keep):
    rng = random.Random(1)
    events = [span(f"op{rng.random()}", ts=at, dur=1) for at in range(5000)]
    zipped = gzip.compress(trace_text(events).encode(), mtime=0)
    archive = ingested(tmp_path, {"rank_0.json.gz": zipped[: int(len(zipped) * keep)]})
    [(count, quarantined, status)] = rows(
        archive, "SELECT event_count, quarantined_count, status FROM traces"
    )
    assert status.startswith("truncated: gzip data ends early")
    assert 0.1 * keep < count / 5000 < 1 and quarantined <= 1
    assert rows(archive, "SELECT count(*), max(event_id) + 1 FROM events") == [(count, count)]


def test_damaged_gzip(tmp_path):
    rng = random.Random(1)
    events = [span(f"op{rng.random()}", ts=at, dur=1) for at in range(5000)]
    zipped = bytearray(gzip.compress(trace_text(events).encode(), mtime=0))
    zipped[len(zipped) // 2 : len(zipped) // 2 + 50] = b"\xff" * 50
    archive = ingested(tmp_path, {"rank_0.json.gz": bytes(zipped)})
    [(status, count)] = rows(archive, "SELECT status, event_count FROM traces")
    assert status.startswith("truncated: gzip data damaged") and count > 1000


def test_gzip_of_several_members(tmp_path):
    text = trace_text(GOOD).encode()
    parts = [gzip.compress(part) for part in (text[:300], text[300:700], text[700:])]
    archive = ingested(tmp_path, {"rank_0.json.gz": b"".join(parts)})
    assert rows(archive, "SELECT event_count, status FROM traces") == [(20, "complete")]


@pytest.mark.parametrize("behind", [b"\0" * 100, b"garbage", b"\x1f", b"\0x" * 200_000])
def test_what_follows_on_gzip_data_is_none_of_it(tmp_path, behind):
    zipped = gzip.compress(trace_text(GOOD).encode())
    archive = ingested(tmp_path, {"rank_0.json.gz": zipped + behind})
    [(count, status)] = rows(archive, "SELECT event_count, status FROM traces")
    assert count == 20
    # One byte alone may be the begin of another member.
    assert status == ("truncated: gzip data ends early" if behind == b"\x1f" else "complete")


def test_gzip_by_content_not_by_name(tmp_path):
    archive = ingested(tmp_path, {"rank_0.json": gzip.compress(trace_text(GOOD).encode())})
    assert rows(archive, "SELECT event_count FROM traces") == [(20,)]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("\ufeff" + trace_text(GOOD), 20),
        (trace_text(GOOD).replace("\n", "\r\n"), 20),
        (trace_text(GOOD).replace("\n", "").replace(": ", ":").replace(", ", ","), 20),
        (trace_text([]), 0),
        ('{"traceEvents":[]}', 0),
        ("[" + ",".join('{"ph":"i","name":"x","ts":1}' for _ in range(3)) + "]", 3),
        ('[{"ph":"i","name":"x","ts":1},\n', 1),
        ("[]", 0),
        ('{"note": "\\"traceEvents\\": [1]", "traceEvents": [{"ph":"i","ts":1}]}', 1),
        ('{"old": {"traceEvents": [1]}, "traceEvents": [{"ph":"i","ts":1}]}', 1),
        ('{"traceEvents": [{"ph":"i","ts":1}], "deviceProperties": [{"id": 0}, {"id": 1}]}', 1),
        ('{"traceEvents": [{"ph":"i","ts":1,"args":{"a":[{"b":1}, {"c":[]}, {"ph":2}]}}]}', 1),
        (
            '{"traceEvents": [{"ph":"i","ts":1,"name":"]}, {\\"ph\\": 1} ] }"}], "traceName": "x"}',
            1,
        ),
    ],
)
def test_shapes_of_files(tmp_path, text, count):
    archive = ingested(tmp_path, text)
    assert rows(archive, "SELECT event_count, quarantined_count FROM traces") == [(count, 0)]
    assert archive.temporal_breakdown().num_rows == 0


@pytest.mark.parametrize(("piece", "read"), [(3000, 700), (32 << 20, 1 << 20)])
def test_many_small_pieces(tmp_path, monkeypatch, piece, read):
    """Cuts fall everywhere: in lists of objects, in strings like events, beside broken ones. In
    one piece, the end is looked for from the middle of it."""
    rng = random.Random(7)
    elements: list = []
    for at in range(400):
        nested = [{"ph": "X", "name": "}, {"}, {"x": [{}, {"y": 1}]}] * rng.randrange(4)
        elements.append(span(f"op{at}", ts=at, dur=1, nested=nested, text='"}, {"ph": "X"'))
    for at in rng.sample(range(400), 12):
        elements[at] = BROKEN[rng.choice(list(BROKEN))]
    text = trace_text(elements, after=', "deviceProperties": [{"id": 0}, {"id": 1}]')
    bad = {at: element for at, element in enumerate(elements) if isinstance(element, str)}
    monkeypatch.setattr(stream, "PIECE_BYTES", piece)
    monkeypatch.setattr(stream, "READ_BYTES", read)
    archive = ingested(tmp_path, text)
    check(archive, elements, bad, text.encode())
    assert rows(archive, "SELECT status, device_count FROM traces") == [("complete", 2)]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.json", b"", "the file is empty"),
        ("a.json", b"hello", "not JSON: it begins with b'hello'"),
        ("a.json", b'{"events": []}', 'no "traceEvents" (found "events")'),
        ("a.json", b"[1, 2]", "a JSON list, but not of events"),
        ("a.json", b'[{"a": 1}]', "a JSON list, but not of events"),
        ("a.json.gz", gzip.compress(b'{"nodes": []}', mtime=0), 'no "traceEvents" (found "nodes")'),
        ("a.json.gz", b"\x1f\x8b\x08\x00garbage", "gzip data ends early"),
        ("a.json", '{"traceEvents": []}'.encode("utf-16"), "not JSON: it is UTF-16"),
        ("a.json", b"PK\x03\x04...", "not JSON: it is a zip archive"),
        ("a.json.gz", ZIPPED_TWICE, "not JSON: it is packed by gzip twice"),
        ("a.json", zlib.compress(b"{}"), "not JSON"),
    ],
)
def test_no_trace(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(IngestError) as error:
        hta_sql.ingest(tmp_path / name, tmp_path / "archive")
    assert name in str(error.value) and "\n" not in str(error.value)
    assert said in str(error.value)
    assert not (tmp_path / "archive").exists()
