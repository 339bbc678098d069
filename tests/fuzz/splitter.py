"""What must hold of the pure-Python splitters for any bytes."""

import json

from hta_sql.ingestion.brackets import ValueEnd
from hta_sql.ingestion.elements import SEPARATORS, Walk
from hta_sql.ingestion.kinds import EVENTS
from hta_sql.ingestion.metadata import KeySearch, read_keys, split_tail
from hta_sql.ingestion.values import SCANNER


def check(data: bytes) -> None:
    """Raise if a splitter fails, loses bytes, or reads sound text otherwise than a JSON decoder."""
    check_walk(data)
    check_key_search(data)
    check_value_end(data)
    for is_array in (False, True):
        end, _ = split_tail(data, is_array)
        assert 0 <= end <= len(data)
    read_keys(b'{"":0' + data)


def check_walk(data: bytes) -> None:
    """Elements lie in order, only separators are between them, and sound ones are JSON."""
    text = data.decode("latin-1")
    at = 0
    walk = Walk(text, EVENTS)
    for elements in walk.batches():
        for element in elements:
            assert SEPARATORS.fullmatch(text, at, element.start), (at, element)
            assert element.start < element.end <= len(text), element
            if element.stopped_by is None:
                _, end = SCANNER.raw_decode(text[element.start : element.end])
                assert end == element.end - element.start, element
            at = element.end
    assert SEPARATORS.fullmatch(text, at, walk.end), (at, walk.end)
    assert walk.list_ends or walk.end == len(text)


def check_key_search(data: bytes) -> None:
    """The list is found at the same place, whether all bytes are there or they arrive in parts."""
    whole = KeySearch().find(data, True)
    search = KeySearch()
    for end in range(1, len(data) + 7, 7):
        if found := search.find(data[:end], end >= len(data)):
            assert found == whole
            return
    assert whole is None


def check_value_end(data: bytes) -> None:
    """A value ends where a JSON decoder says so, in whatever parts it arrives."""
    try:
        _, end = json.JSONDecoder().raw_decode(data.decode("latin-1"))
    except (ValueError, RecursionError):
        return
    if data[:1] not in (b"{", b"[", b'"'):
        return  # other values end at a separator
    for size in (1, 3, len(data)):
        value, at = ValueEnd(), 0
        while (found := value.find(data[at : at + size])) is None:
            at += size
        assert at + found == end
