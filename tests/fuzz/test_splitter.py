"""The splitters on the fuzzer's corpus and on drawn JSON: any cut gives what json.loads gives."""

import json
from collections import Counter

import pytest
from fuzz.corpus import CORPUS
from fuzz.splitter import check
from hypothesis import given, settings
from hypothesis import strategies as st

from hta_sql.ingestion.elements import Walk
from hta_sql.ingestion.kinds import EVENTS

SETTINGS = settings(max_examples=200, deadline=None, derandomize=True, database=None)

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
events = st.builds(
    lambda ph, ts, more: {"ph": ph, "ts": ts} | more,
    st.sampled_from("XiMsfC"),
    st.integers(),
    st.dictionaries(st.sampled_from(["name", "args", "a}", 'b"', "c\\"]), values),
)
blanks = st.sampled_from(["", " ", "\n  ", "\t"])


@pytest.mark.parametrize("name, data, why", CORPUS, ids=[row[0] for row in CORPUS])
def test_corpus(name, data, why):
    check(data)
    for end in range(len(data)):
        check(data[:end])


@SETTINGS
@given(st.lists(events, max_size=6), blanks, st.booleans())
def test_walk_finds_what_json_has(found, blank, is_ascii):
    text = f",{blank}".join(json.dumps(event, ensure_ascii=is_ascii) for event in found)
    text = text.encode("utf-8", "surrogatepass").decode("latin-1")
    parts = [part for batch in Walk(text, EVENTS).batches() for part in batch]
    assert all(part.stopped_by is None for part in parts)
    read = [
        json.loads(text[part.start : part.end].encode("latin-1").decode("utf-8", "surrogatepass"))
        for part in parts
    ]
    assert read == found


@SETTINGS
@given(st.lists(events, min_size=1, max_size=6), st.data())
def test_a_cut_costs_no_event_around_it(found, draw):
    """Bytes are taken out of one event: all others are found."""
    texts = [json.dumps(event) for event in found]
    at = draw.draw(st.integers(0, len(texts) - 1))
    begin = draw.draw(st.integers(0, len(texts[at]) - 1))
    end = draw.draw(st.integers(begin, len(texts[at])))
    texts[at] = texts[at][:begin] + texts[at][end:]
    text = ", ".join(texts)
    check(text.encode())
    parts = [part for batch in Walk(text, EVENTS).batches() for part in batch]
    sound = [text[part.start : part.end] for part in parts if part.stopped_by is None]
    assert not Counter(texts[:at] + texts[at + 1 :]) - Counter(sound)


@SETTINGS
@given(st.binary(max_size=200))
def test_any_bytes(data):
    check(data)


@SETTINGS
@given(values, st.sampled_from(["", ",", "]", "}", " {"]))
def test_any_value(value, behind):
    check((json.dumps(value) + behind).encode())
