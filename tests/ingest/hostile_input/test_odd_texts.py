"""Hostile input: tails, keys, halves of pairs and stamps."""

import gzip
import json

import pytest
from hand_written import ingested, rows, span
from ingest.hostile_input.hostile import FIRST, LAST, MB, ONE, in_object

from hta_sql.ingestion import stream, trace

# What stands behind the last event, with blanks in place of the @.
BLANK_TAILS = {
    "in an object": "]@}",
    "before keys": ']@, "traceName": "t"}',
    "behind a comma": '],@"traceName": "t"}',
    "before a list of that name": ']@, "traceName": "t", "o": {"traceEvents": [{"ph": "X"}]}}',
    "in a list": "]@",
}


@pytest.mark.big
@pytest.mark.parametrize("blanks", [15 * MB, 40 * MB, 80 * MB])
@pytest.mark.parametrize("tail", BLANK_TAILS)
def test_a_tail_of_blanks(tmp_path, blanks, tail):
    file = tmp_path / "rank_0.json.gz"
    begin = "" if tail == "in a list" else '{"traceEvents": '
    text = f"{begin}[{FIRST}, {LAST}{BLANK_TAILS[tail].replace('@', ' ' * blanks)}"
    file.write_bytes(gzip.compress(text.encode(), 1))
    found = trace.ingest_trace(file, tmp_path / "staging")
    assert (found.facts["event_count"], found.facts["quarantined_count"]) == (2, 0)
    assert found.facts["status"] == "complete"
    assert found.metadata.get("traceName") == ("t" if '"t"' in text else None)


KEYS = {
    "half pairs": r'"traceName": "a\ud800", "host_name": "b\udc00", "\ud800": 1',
    "half pairs as bytes": '"traceName": "a\ud800", "host_name": "b\ud800"',
    "long numbers": '"a": 1' + "0" * 500 + ', "b": [NaN, 1e999, -Infinity]',
    "deep": '"a": ' + '{"b": ' * 1000 + "1" + "}" * 1000,
    "odd ranks": '"distributedInfo": {"rank": true, "world_size": 1e300}',
    "fractions of a rank": '"distributedInfo": {"rank": 3.5, "world_size": ' + "9" * 24 + "}",
    "endless ranks": '"distributedInfo": {"rank": Infinity, "world_size": NaN}',
}


@pytest.mark.parametrize("place", ["before", "behind"])
@pytest.mark.parametrize("kind", KEYS)
def test_odd_keys_around_the_list(tmp_path, kind, place):
    events = f'"traceEvents": [{ONE}]'
    parts = [KEYS[kind], events] if place == "before" else [events, KEYS[kind]]
    text = ("{" + ", ".join(parts) + ', "last": 5}').encode("utf-8", "surrogatepass")
    with ingested(tmp_path, text) as run:
        assert rows(run, "SELECT event_count, rank, status, world_size FROM traces") == [
            (1, 0, "complete", None)
        ]
        assert rows(run, "SELECT json_extract(metadata, '$.last')::INTEGER FROM traces") == [(5,)]


def test_half_pairs_in_columns_of_traces(tmp_path):
    text = f'{{"host_name": "b\\udc00\\ud83d\\ude00", "traceEvents": [{ONE}]}}'
    with ingested(tmp_path, text) as run:
        assert rows(run, "SELECT host, metadata->>'host_name' FROM traces") == [
            ("b\ufffd\U0001f600", "b\ufffd\U0001f600")
        ]


def test_half_pairs(tmp_path):
    """Python writes them, and half of a pair is no character; whole pairs and what only looks so
    stay."""
    name = r"a\ud800b\\ud800\ud83d\ude00\udc00"
    event = span("op", ts=1, key="KEY")
    text = json.dumps(event).replace('"op"', f'"{name}"').replace("KEY", r"\uDBFF")
    with ingested(tmp_path, in_object(f"{FIRST}, {text}, {LAST}")) as run:
        assert rows(run, "SELECT name, args->>'key' FROM events WHERE event_id = 1") == [
            ("a\ufffdb\\ud800\U0001f600\ufffd", "\ufffd")
        ]
        assert rows(run, "SELECT count(*) FROM events") == [(3,)]


@pytest.mark.parametrize("more", [" text", "}", "\n{}", "]"])
def test_more_behind_the_end(tmp_path, more):
    with ingested(tmp_path, f'{{"a": 1, "traceEvents": [{ONE}], "b": 2}}{more}') as run:
        assert rows(run, "SELECT event_count, status, metadata->>'b' FROM traces") == [
            (1, "damaged: more behind its end", "2")
        ]


def with_stamps(stamps: list[str], before: str = ",") -> str:
    """A trace whose spans begin at these stamps, as they are written."""
    events = (
        json.dumps(span(ts="STAMP", padding="x" * 100)).replace('"STAMP"', stamp)
        for stamp in stamps
    )
    return in_object(before.join(events))


@pytest.mark.parametrize("before", [",", ",\n  "])
def test_unpadded_stamps_in_pieces(tmp_path, monkeypatch, before):
    monkeypatch.setattr(stream, "PIECE_BYTES", 1 << 14)
    monkeypatch.setattr(stream, "READ_BYTES", 1 << 10)
    text = with_stamps([f"1710000000{at:06}.{at * 7919 % 1000}" for at in range(1000)], before)
    with ingested(tmp_path, text) as run:
        assert rows(run, "SELECT time_format, quarantined_count FROM traces") == [
            ("absolute, unpadded nanoseconds", 0)
        ]
        assert rows(run, "SELECT start_ns FROM events ORDER BY event_id") == [
            (1710000000000000000 + 1000 * at + at * 7919 % 1000,) for at in range(1000)
        ]


def test_exponents_among_absolute_stamps(tmp_path):
    """As exact as the others, and none is lost."""
    stamps = [
        "1710000000000001.123",
        "1710000000000002.125e0",
        "171000000000000.3127E+1",
        "17100000000000041.29e-1",
    ] * 500
    with ingested(tmp_path, with_stamps(stamps)) as run:
        found = [
            ns - 1710000000000000000
            for (ns,) in rows(run, "SELECT start_ns FROM events ORDER BY event_id")
        ]
    assert found == [1123, 2125, 3127, 4129] * 500
