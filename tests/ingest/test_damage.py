"""Damage costs what is damaged: no neighbour, no clock, no rank."""

import json
import random

import pytest
from hand_written import ingested, rows, span, trace_text
from seeds import seeds

from hta_sql.ingestion import stream

pytestmark = pytest.mark.damage

BASE = 1_767_189_312_000_000_000
KEYS = f'"baseTimeNanoseconds": {BASE}, "distributedInfo": {{"backend": "nccl", "rank": 5}}'
EVENTS = [span(f"op{at}", ts=10 * at, dur=5) for at in range(6)]

MENDED = {
    "NaN": b'"load": NaN',
    "infinity": b'"load": [1, -Infinity]',
    "bad UTF-8": b'"host_name": "a\xff\xfeb"',
    "bad escape": rb'"path": "C:\data\x"',
    "control character": b'"note": "a\x01\tb"',
    "zeros behind the end": b'"note": 1',
}
LOST = {
    "unescaped quote": b'"note": "say "hi""',
    "missing value": b'"note": , "more": 1',
    "missing brace": b'"note": {"a": 1',
}


def trace_with(keys: bytes, where: str) -> bytes:
    """Six events; KEYS and other keys stand before or behind them."""
    text = trace_text(EVENTS, before='"B": 1, ', after=', "A": 1').encode()
    keys = KEYS.encode() + b", " + keys
    name = b'"B": 1' if where == "before" else b'"A": 1'
    return text.replace(name, keys, 1)


@pytest.mark.parametrize("where", ["before", "behind"])
@pytest.mark.parametrize("kind", [*MENDED, *LOST])
def test_broken_keys_cost_neither_clock_nor_rank(tmp_path, kind, where):
    text = trace_with((MENDED | LOST)[kind], where)
    text += b"\0" * 100 if kind.startswith("zeros") else b""
    archive = ingested(tmp_path, {"trace.json": text})
    assert rows(
        archive, "SELECT rank, rank_source, base_ns, event_count, quarantined_count FROM traces"
    ) == [(5, "distributedInfo", BASE, 6, 0)]
    assert rows(archive, "SELECT min(start_ns), max(start_ns) FROM events") == [
        (BASE, BASE + 50_000)
    ]
    [(status,)] = rows(archive, "SELECT status FROM traces")
    if kind in MENDED:
        assert status == "complete"
    else:
        assert status == "damaged: the keys around the events are broken JSON"


@pytest.mark.parametrize("quotes", [1, 2, 3])
@pytest.mark.parametrize("behind", [0, 1, 3])
def test_quotes_in_the_last_events_do_not_hide_the_end(tmp_path, quotes, behind):
    bad = '{"ph": "X", "name": "' + 'say " so' * quotes + '", "ts": 1, "dur": 1}'
    elements = [*EVENTS, bad, *EVENTS[:behind]]
    archive = ingested(tmp_path, trace_text(elements, after=f", {KEYS}"))
    assert rows(archive, "SELECT base_ns, status, event_count, quarantined_count FROM traces") == [
        (BASE, "complete", 6 + behind, 1)
    ]
    assert rows(archive, "SELECT bytes FROM quarantine") == [(bad.encode(),)]


@pytest.mark.parametrize("size", [1000, 70_000, 1_100_000])
def test_long_lists_behind_the_events(tmp_path, size):
    items = [{"id": at, "text": "x" * 20} for at in range(size // 35)]
    text = trace_text(EVENTS, after=f', "items": {json.dumps(items)}, {KEYS}')
    archive = ingested(tmp_path, text)
    assert rows(archive, "SELECT base_ns, status, event_count, quarantined_count FROM traces") == [
        (BASE, "complete", 6, 0)
    ]
    [(metadata,)] = rows(archive, "SELECT metadata FROM traces")
    assert json.loads(metadata)["items"] == items


GOOD = '{"ph": "X", "name": "n", "pid": 1, "tid": 1, "ts": 1, "dur": 1, "args": %s}'
BROKEN = {
    "no closing brace": GOOD[:-1] % '{"a": 1}',
    "no closing braces": GOOD[:-1] % '{"a": 1',
    "one brace more": GOOD % '{"a": 1}}',
    "a bracket more": GOOD % '{"a": [1]]}',
    "no opening brace": GOOD[1:] % '{"a": 1}',
    "broken behind objects": GOOD % '{"a": [{"b": 1}, {"c": {"d": 2}}], "e": "x"y"}',
    "broken before objects": GOOD % '{"e": "x"y", "a": [{"b": 1}, {"c": {"d": 2}}]}',
    "cut in its name": '{"ph": "X", "cat": "cpu_op", "name": "n',
    "cut in a key": GOOD[:-3] + '{"Exter',
    "key not closed": GOOD % '{"External id:1}',
    "a key twice": GOOD.replace('"ts"', '"dur": 5, "ts"') % "{}",
    "cut in a list": GOOD[:-3] + '{"a": [1, 2',
    "broken in a list of objects": GOOD % '{"a": [{"b": 1}, {"b": x}, {"b": 1}]}',
}


@pytest.mark.parametrize(
    ("kind", "count"),
    # Where none of two opens, nothing tells that they are two.
    [*((kind, 1) for kind in BROKEN), *((kind, 2) for kind in BROKEN if "opening" not in kind)],
)
def test_neighbours_survive(tmp_path, kind, count):
    """Also events with many objects in them, which begin and end like events."""
    nested = span("nested", ts=99, dur=1, a=[{"b": at, "c": {}} for at in range(100)])
    around = [*EVENTS[:3], nested]
    elements = [*around, *[BROKEN[kind]] * count, nested, *EVENTS[3:]]
    archive = ingested(tmp_path, trace_text(elements, after=f", {KEYS}"))
    good = [at for at in range(len(elements)) if not 4 <= at < 4 + count]
    assert rows(archive, "SELECT event_id, name FROM events ORDER BY 1") == [
        (at, elements[at]["name"]) for at in good
    ]
    assert rows(archive, "SELECT event_id, decode(bytes) FROM quarantine ORDER BY 1") == [
        (at, BROKEN[kind]) for at in range(4, 4 + count)
    ]


@pytest.mark.parametrize("seed", seeds(40))
def test_random_damage(tmp_path, monkeypatch, seed):
    """Whatever is done to some events, all others are there, each under its own id or more."""
    rng = random.Random(seed)
    keys = ["ph", "name", "cat", "pid", "tid", "ts", "dur", "args"]
    rng.shuffle(keys)
    events = []
    for at in range(300):
        event = span(f"op{at}", ts=at, dur=1, text="a } , { b", list=[{"x": 1}, {"y": []}])
        events.append(json.dumps({key: event[key] for key in keys}))
    hit = rng.sample(range(300), 15)
    for at in hit:
        data = list(events[at])
        for _ in range(rng.choice([1, 1, 3])):
            place = rng.randrange(len(data))
            data[place] = rng.choice(['"', "", "}", "{", "\\", "\x02", "[", ",", "é", '"a"', ": "])
        events[at] = "".join(data)
    monkeypatch.setattr(stream, "PIECE_BYTES", 5000)
    monkeypatch.setattr(stream, "READ_BYTES", 1000)
    archive = ingested(tmp_path, trace_text(events, after=f", {KEYS}"))
    kept = {name for (name,) in rows(archive, "SELECT name FROM events")}
    assert kept >= {f"op{at}" for at in range(300) if at not in hit}
    assert rows(archive, "SELECT base_ns, status FROM traces") == [(BASE, "complete")]
    [(count,)] = rows(archive, "SELECT event_count + quarantined_count FROM traces")
    assert abs(count - 300) <= 2  # a brace may be lost so that two of them are one


def test_a_key_twice_does_not_decide_what_stamps_mean(tmp_path):
    """Neither does the stray stamp beside it, alone with which it might be read."""
    stray = span("stray", ts=1_716_900_000_000_000, dur=1)
    elements = [stray, BROKEN["a key twice"], *EVENTS * 20]
    archive = ingested(tmp_path, trace_text(elements, before=f"{KEYS}, "))
    assert rows(archive, "SELECT base_ns, event_count, quarantined_count FROM traces") == [
        (BASE, 120, 2)
    ]


def test_a_key_twice_beside_what_is_no_number(tmp_path):
    """Python reads no `nan`, so that DuckDB alone finds the key."""
    bad = BROKEN["a key twice"].replace("{}", '{"a": nan}')
    for folder, elements in (("alone", [bad]), ("among", [*EVENTS, bad, *EVENTS])):
        (tmp_path / folder).mkdir()
        archive = ingested(tmp_path / folder, trace_text(elements))
        assert rows(archive, "SELECT event_count, quarantined_count FROM traces") == [
            (len(elements) - 1, 1)
        ]


@pytest.mark.parametrize("cut", ['"warps": 5}', '"block": [4, 1, 1], "warps": 5}', "}", "}}"])
def test_a_cut_event_is_no_end_of_the_list(tmp_path, cut):
    """Behind a list among its arguments, the others look like keys of the file."""
    event = GOOD % '{"grid": [1, 2, 3], "block": [4, 1, 1], "warps": 5}'
    text = trace_text([*EVENTS, event])
    archive = ingested(tmp_path, text[: text.rindex(cut, 0, text.rindex("]")) + len(cut)])
    [(status, metadata)] = rows(archive, "SELECT status, metadata FROM traces")
    assert status.startswith("truncated") and json.loads(metadata) == {}


def test_keys_beyond_the_profilers_are_kept(tmp_path):
    more = {"tts": 3, "cname": "good", "id2": {"local": "0x1"}, "v": 1.5}
    events = [EVENTS[0] | more, EVENTS[1]]
    archive = ingested(tmp_path, trace_text(events))
    [(first,), (second,)] = rows(archive, "SELECT more FROM events ORDER BY event_id")
    assert json.loads(first) == more and second is None


@pytest.mark.parametrize("kind", ["broken before objects", "a key twice", "no closing brace"])
def test_many_broken_events(tmp_path, kind):
    """So many that a search of the piece for each of them would take minutes."""
    bad = BROKEN[kind]
    elements = [bad if at % 10 == 0 else EVENTS[0] for at in range(60_000)]
    archive = ingested(tmp_path, trace_text(elements))
    assert rows(archive, "SELECT event_count, quarantined_count FROM traces") == [(54_000, 6_000)]


@pytest.mark.parametrize("stray", ['"soon"', "null", "[1]", "{}", '"1e30"', "-1e300", '"nan"'])
def test_stamps_of_a_wrong_kind(tmp_path, stray):
    bad = GOOD.replace('"ts": 1', f'"ts": {stray}') % "{}"
    archive = ingested(tmp_path, trace_text([EVENTS[0], bad, EVENTS[1]]))
    assert rows(archive, "SELECT event_id, reason FROM quarantine") == [
        (1, 'missing or unusable "ts"')
    ]
