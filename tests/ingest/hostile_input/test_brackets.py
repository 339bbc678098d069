"""Hostile input: brackets, keys and lists, in pieces."""

import json
import random

import pytest
from hand_written import ingested, rows, span, trace_text
from ingest.hostile_input.hostile import FIRST, FOUR, LAST, ONE, THREE, TWO, in_object, list_of
from seeds import seeds

from hta_sql.ingestion import brackets, metadata, stream, trace
from hta_sql.ingestion.brackets import Brackets, ValueEnd


def plain_marks(data: bytes) -> list[tuple[int, int, bool]]:
    found, depth, in_string, escaped = [], 0, False, False
    for at, byte in enumerate(data.decode("latin-1")):
        if escaped:
            escaped = False
        elif byte == "\\":
            escaped = True
        elif byte == '"':
            in_string = not in_string
            found.append((at, depth, in_string))
        elif not in_string and byte in "{[]}":
            depth += 1 if byte in "{[" else -1
            found.append((at, depth, False))
    return found


@pytest.mark.parametrize("seed", seeds(20))
def test_brackets(monkeypatch, seed):
    rng = random.Random(seed)
    data = bytes(rng.choices(b'{}[]"\\\\a,', k=rng.randrange(300)))
    monkeypatch.setattr(brackets, "SLICE_BYTES", rng.randrange(1, 20))
    found = [
        (begin + at, depth, begins)
        for begin, marks in Brackets().slices(data, 0, len(data))
        for at, depth, begins in zip(*map(list, marks), strict=True)
    ]
    assert found == plain_marks(data)


@pytest.mark.parametrize(
    "value",
    ['{"a": "}\\"]", "b": [{}, []]}', '[1, "]", {"c": "["}]', '"a\\\\"', "17.5", "null", "{}"],
)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_where_a_value_ends(value, size):
    data = (value + ", {").encode()
    end, at = ValueEnd(), 0
    while (found := end.find(data[at : at + size])) is None:
        at += size
        assert at < len(data)
    assert at + found == len(value)


@pytest.mark.parametrize("size", [1, 40, 2000])
@pytest.mark.parametrize("blanks", [b" ", b"\n" * 99])
def test_a_key_is_found_in_bytes_that_become_more(size, blanks):
    text = (
        b'{"a": {"traceEvents": [1]}, "b": "\\"traceEvents\\": [", "traceEvents": 1, '
        b'"traceEvents"%b:%b[2]}' % (blanks, blanks)
    )
    search = metadata.KeySearch()
    found = None
    for end in range(size, len(text) + size, size):
        found = search.find(text[:end], end >= len(text))
        if found:
            break
    begin = text.rindex(b'"traceEvents"')
    assert found == (begin, text.index(b"[2") + 1)


@pytest.mark.parametrize("where", ["before", "behind"])
def test_keys_too_long_to_read(tmp_path, monkeypatch, where):
    monkeypatch.setattr(metadata, "LONGEST_KEYS_BYTES", 1000)
    keys = f'"distributedInfo": {{"rank": 3}}, "a": "{"x" * 2000}"'
    options = {"before": keys + ", "} if where == "before" else {"after": ", " + keys}
    archive = ingested(tmp_path, {"t.json": trace_text([FIRST, LAST], **options)})
    [(status, rank)] = rows(archive, "SELECT status, rank FROM traces")
    assert status.startswith("damaged: of the keys around the events, which are over") and rank == 3


# How many events each has, and how many rows beside them.
APART = {
    "appended": (in_object(list_of(2)) + in_object(list_of(2, 2)), 4, 1),
    "appended, of one event": (in_object(ONE) + in_object(TWO) + in_object(THREE), 3, 2),
    "a line each": ("\n".join(in_object(list_of(2, 2 * at)) for at in range(50)), 100, 49),
    "long ones appended": (
        "".join(in_object(list_of(9000, 9000 * at)) for at in range(3)),
        27000,
        2,
    ),
    "bare lists appended": (f"[{list_of(2)}][{list_of(2, 2)}]", 4, 1),
    "lists in the list": (in_object(f"[{ONE}], [{TWO}], [{THREE}], [{FOUR}]"), 4, 5),
    "lists in a bare list": (f"[[{ONE}], [{TWO}]]", 2, 3),
    "some in lists": (in_object(f"[{ONE}], [{TWO}], {THREE}"), 3, 3),
    "keys behind lists in the list": (f'{{"traceEvents": [[{ONE}], [{TWO}]], "a": 1}}', 2, 3),
    "nothing before": (f"[null, {ONE}]", 1, 1),
    "blanks before": ("[" + " " * 200_000 + ONE + "]", 1, 0),
}


@pytest.mark.parametrize("kind", APART)
def test_what_is_in_other_lists(tmp_path, kind):
    """No event is lost, nor a byte that is none: the rows lie side by side."""
    text, count, beside = APART[kind]
    with ingested(tmp_path, text) as run:
        assert rows(run, "SELECT name FROM events ORDER BY event_id") == [
            (f"op{at}",) for at in range(count)
        ]
        assert rows(run, "SELECT status, quarantined_count FROM traces") == [("complete", beside)]
        for offset, data in rows(run, "SELECT byte_offset, bytes FROM quarantine"):
            assert text.encode()[offset : offset + len(data)] == data and b'"ph"' not in data


def test_lists_of_one_name_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "READ_BYTES", 1 << 10)
    monkeypatch.setattr(stream, "PIECE_BYTES", 1 << 14)
    lists = (f'"traceEvents": [{list_of(300, 300 * at)}]' for at in range(10))
    with ingested(tmp_path, "{" + ", ".join(lists) + "}") as run:
        assert rows(run, "SELECT count(DISTINCT name), count(*) FROM events") == [(3000, 3000)]


@pytest.mark.parametrize("seed", seeds(40))
def test_blanks_around_lists_in_pieces(tmp_path, monkeypatch, seed):
    """Wherever a piece ends between two lists: all events are read, and nothing beside them."""
    rng = random.Random(seed)
    monkeypatch.setattr(stream, "READ_BYTES", rng.choice([300, 700]))
    monkeypatch.setattr(stream, "PIECE_BYTES", rng.choice([1_500, 2_500, 5_000]))

    def blanks() -> str:
        return rng.choice(["", " ", "\n" * rng.randrange(900)])

    texts = [1, [{"ph": 1}], "]", "],", "} , {"]
    counts = [rng.randrange(30) for _ in range(rng.randint(2, 5))]
    parts = []
    for count in counts:
        events = rng.choice([",", " ,\n"]).join(
            json.dumps(span("n" * rng.randrange(60), ts=at, x=rng.choice(texts)))
            for at in range(count)
        )
        keys = rng.choice(["", '"z": [1, 2],', '"y": {"traceEvents": [1]},'])
        parts.append(f'{keys}"traceEvents"{blanks()}:{blanks()}[{events}{blanks()}]{blanks()}')
    file = tmp_path / "rank_0.json"
    file.write_text("{" + f",{blanks()}".join([*parts, '"q": 2']) + "}")
    facts = trace.ingest_trace(file, tmp_path / "staging", threads=1 + seed % 2).facts
    assert facts["event_count"] == sum(counts)
    assert (facts["quarantined_count"], facts["status"]) == (0, "complete")
