"""Hostile input: what stands between events, before and behind their list."""

import signal
from collections.abc import Iterator

import pytest
from hand_written import ingested, rows, trace_text
from ingest.hostile_input.hostile import ALARM_S, BROKEN, FIRST, LAST, MB, check_ids, names

from hta_sql.ingestion import stream


def repeated(unit: str, size: int) -> str:
    return unit * (size // len(unit))


# What stands between the first and the last event, or is all of the file.
BETWEEN = {
    "objects in a broken event": r'{"ph":"X","bad":\q,"l":[0' + ',{"k":[0',
    "objects that never end": ',{"k":[0',
    "keys that never end": '{"',
    "beginnings of events": '{"ph"',
    "events in one another": '{"ph":"X","args":{"a":[',
    "events in strings": '{"ph":"X","name":"',
    "brackets": "[",
    "nested objects": '{"a":',
    "closing brackets": "],",
    "ends of the list": '],"a":1,',
    "ends of a nested list": '],"a":{},"b":"c","d":[',
    "quotes": '"',
    "backslashes": '"\\',
    "numbers": "1,",
    "words": "nul,",
    "empty objects": "{},",
    "broken events": '{"ph":x},',
    "useless events": '{"ph":"X"},',
    "blanks": " ",
    "commas": ",",
    "zeros": "\0",
}


# Once in front of the repeated part; and how often that has to be a multiple.
ONCE = {"objects in a broken event": r'{"ph":"X","bad":\q,"l":[0'}


KEEPS_THE_LAST = {
    "closing brackets",
    "numbers",
    "words",
    "empty objects",
    "broken events",
    "useless events",
    "blanks",
    "commas",
    "zeros",
    "quotes",
    "beginnings of events",
    "keys that never end",
    "brackets",
}


def between(kind: str, size: int) -> str:
    once = ONCE.get(kind, "")
    unit = BETWEEN[kind].removeprefix(once)
    # An even number of quotes.
    middle = once + repeated(unit * 2, size)
    return f'{{"traceEvents": [{FIRST}, {middle}, {LAST}]}}'


HEADS = {
    "lists of that name": ('{"a":[', '{"traceEvents":[]},', "0],"),
    "objects": ('{"a":[', "{},", "0],"),
    "keys": ("{", '"a":"b",', ""),
    "keys of that name": ("{", '"traceEvents":1,', ""),
    "a text": ('{"a":"', "x", '",'),
}


TAILS = {
    "objects": (',"a":[', "{},", "0]}"),
    "keys": (",", '"a":"b",', '"c":1}'),
    "broken keys": ("", ',"a":x', "}"),
    "brackets": (',"a":', "[", ""),
    "a text": (',"a":"', "x", '"}'),
}


def with_head(kind: str, size: int) -> str:
    before, unit, behind = HEADS[kind]
    return f'{before}{repeated(unit, size)}{behind}"traceEvents": [{FIRST}, {LAST}]}}'


def with_tail(kind: str, size: int) -> str:
    before, unit, behind = TAILS[kind]
    return f'{{"traceEvents": [{FIRST}, {LAST}]{before}{repeated(unit, size)}{behind}'


@pytest.fixture(autouse=True)
def alarm() -> Iterator[None]:
    def ring(*_: object) -> None:
        raise TimeoutError(f"not done after {ALARM_S} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(ALARM_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.damage
@pytest.mark.parametrize("kind", BETWEEN)
def test_between_events(tmp_path, decoded, kind):
    text = between(kind, MB)
    archive = ingested(tmp_path, text)
    found = names(archive)
    assert found[0] == "first"
    assert "last" in found or kind not in KEEPS_THE_LAST
    check_ids(archive)
    # In some passes over the text, of which each decodes a few times in vain.
    assert sum(decoded) < 30 * len(text)
    assert len(decoded) < 2 * len(text)


@pytest.mark.parametrize("kind", HEADS)
def test_before_the_list(tmp_path, decoded, kind):
    text = with_head(kind, 4 * MB)
    assert names(ingested(tmp_path, text)) == ["first", "last"]
    assert sum(decoded) < 1 * MB


@pytest.mark.parametrize("kind", TAILS)
def test_behind_the_list(tmp_path, decoded, kind):
    text = with_tail(kind, 2 * MB)
    assert names(ingested(tmp_path, text)) == ["first", "last"]
    assert sum(decoded) < 30 * len(text)


def test_two_broken_events_are_two(tmp_path):
    """Also where their first key is not that of the others."""
    archive = ingested(tmp_path, trace_text([FIRST, BROKEN, BROKEN, LAST]))
    assert names(archive) == ["first", "last"]
    assert rows(archive, "SELECT event_id, bytes FROM quarantine ORDER BY 1") == [
        (1, BROKEN.encode()),
        (2, BROKEN.encode()),
    ]


def test_a_bracket_too_many_ends_no_list(tmp_path):
    """Behind it stands what looks like a key of the file, and then more events."""
    strays = '1, 1], "block": [128, 1, 1], "more": "Memcpy'
    archive = ingested(tmp_path, trace_text([FIRST, strays, LAST], after=', "traceName": "t"'))
    assert names(archive) == ["first", "last"]
    check_ids(archive)


@pytest.mark.parametrize("behind", ["", "]"])
def test_a_bracket_before_an_event_takes_in_none(tmp_path, behind):
    text = trace_text([FIRST, "[" + FIRST, LAST + behind, LAST], after=', "traceName": "t"')
    archive = ingested(tmp_path, text)
    assert names(archive) == ["first", "first", "last", "last"]
    check_ids(archive)
    assert rows(archive, "SELECT DISTINCT bytes FROM quarantine ORDER BY 1")[-1] == (
        (behind or "[").encode(),
    )


def test_more_lists_of_the_same_name(tmp_path):
    lists = ", ".join(f'"traceEvents": [{event}], "n": 1' for event in (FIRST, FIRST, LAST))
    archive = ingested(tmp_path, f"{{{lists}}}")
    assert names(archive) == ["first", "first", "last"]
    assert rows(archive, "SELECT status FROM traces") == [("complete",)]


def test_keys_behind_many_lists(tmp_path, monkeypatch, decoded):
    """They are not read again for each list."""
    monkeypatch.setattr(stream, "PIECE_BYTES", 500_000)
    monkeypatch.setattr(stream, "READ_BYTES", 50_000)
    lists, keys = '"traceEvents": [],' * 14, '"a":[],' * 100_000
    text = f'{{{lists} "traceEvents": [{FIRST}, {LAST}], {keys} "b": 1}}'
    archive = ingested(tmp_path, text)
    assert names(archive) == ["first", "last"]
    assert 10 < len(decoded) < 50_000
    assert rows(archive, "SELECT status FROM traces") == [("complete",)]
