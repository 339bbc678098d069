"""Files that were made to be hard to read: nothing takes longer than in proportion to its bytes, no
memory grows with them, and no event beside them is lost.

Times tell of the machine. What is counted is how much text is decoded, which is what took the time;
an alarm ends what hangs all the same.
"""

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import zlib
from collections.abc import Iterable, Iterator

import pytest
from hand_written import ingested, rows, span, trace_text

from hta_sql.ingestion import brackets, elements, metadata, parse, stream, trace
from hta_sql.ingestion.brackets import Brackets, ValueEnd

MB = 1 << 20
FIRST, LAST = json.dumps(span("first", ts=1)), json.dumps(span("last", ts=2))
BROKEN = '{"name": "a", "ph": "M", "ts": 1, "pid": nul, "args": {}}'
GIANT = '{"ph": "X", "cat": "cpu_op", "name": "g", "pid": 1, "tid": 1, "ts": 2, "dur": 1, "args": '
ALARM_S = 60


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


@pytest.fixture
def decoded(monkeypatch) -> list[int]:
    """The lengths of the texts that are decoded."""
    lengths: list[int] = []
    plain = elements.first_value

    def counted(text: str, decoder):
        found = plain(text, decoder)
        lengths.append(max(found[1], 1))
        return found

    for module in (elements, parse):
        monkeypatch.setattr(module, "first_value", counted)
    return lengths


def names(archive) -> list[str]:
    return [name for (name,) in rows(archive, "SELECT name FROM events ORDER BY event_id")]


def check_ids(archive) -> None:
    """Every element is an event or in quarantine, once."""
    [(count, distinct, last)] = rows(
        archive,
        """
        SELECT count(*), count(DISTINCT event_id), max(event_id)
        FROM (SELECT event_id FROM events UNION ALL SELECT event_id FROM quarantine)
    """,
    )
    assert count == distinct == last + 1
    [(told,)] = rows(archive, "SELECT event_count + quarantined_count FROM traces")
    assert told == count


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


# Too long to parse, or to hold.
GIANTS = {
    "a text": '{"s": "' + "a" * (17 * MB) + '"}}',
    "many numbers": '{"l": [' + "1," * (9 * MB) + "1]}}",
    "numbers that fit the file, not the parser": '{"l": [' + "1," * (7 * MB) + "1]}}",
    "many escapes": '{"s": "' + '\\"' * (9 * MB) + '"}}',
}


@pytest.mark.parametrize("kind", GIANTS)
def test_a_giant_costs_no_other_event(tmp_path, kind):
    giant = GIANT + GIANTS[kind]
    text = trace_text([FIRST, giant, LAST], after=', "traceName": "t"')
    archive = ingested(tmp_path, text)
    assert names(archive) == ["first", "last"]
    [(event_id, offset, length, is_cut, kept)] = rows(
        archive, "SELECT event_id, byte_offset, byte_length, is_cut, bytes FROM quarantine"
    )
    assert (event_id, offset, length) == (1, text.index(giant), len(giant))
    assert giant.encode().startswith(kept)
    assert is_cut == (len(giant) > 16 * MB) and len(kept) == (64 << 10 if is_cut else length)
    assert rows(archive, "SELECT status FROM traces") == [("complete",)]


def test_events_of_many_megabytes(tmp_path):
    """Each fits into the memory of ingest, but not beside another one."""
    file = tmp_path / "rank_0.json.gz"
    texts = (json.dumps(span(f"op{i}", ts=i, text="a" * (13 * MB))) for i in range(20))
    with gzip.open(file, "wt", compresslevel=1) as out:
        out.write('{"traceEvents": [' + next(texts))
        out.writelines("," + text for text in texts)
        out.write("]}")
    facts = trace.ingest_trace(file, tmp_path / "staging", threads=2).facts
    assert (facts["event_count"], facts["quarantined_count"]) == (20, 0)


@pytest.mark.parametrize("threads", [1, 2])
def test_an_event_with_millions_of_numbers(tmp_path, threads):
    """It takes more memory than other events may; those beside it do not pay for it."""
    file = tmp_path / "rank_0.json"
    file.write_text(trace_text([FIRST, GIANT + '{"l": [' + "1," * 4_500_000 + "1]}}", LAST]))
    facts = trace.ingest_trace(file, tmp_path / "staging", threads=threads).facts
    assert (facts["event_count"], facts["quarantined_count"]) == (3, 0)
    [(limit,)] = trace.database(tmp_path).sql("SELECT current_setting('memory_limit')").fetchall()
    assert limit == "381.4 MiB"  # 400 MB again


@pytest.mark.parametrize("threads", [1, 2])
def test_pieces_of_millions_of_numbers(tmp_path, decoded, threads):
    """A piece that takes too much memory is parsed by halves: none of its events is looked at by
    itself, which takes ten times as long."""
    event = GIANT + '{"l": [' + "1," * 450_000 + "1]}}"
    file = tmp_path / "rank_0.json"
    file.write_text(trace_text([FIRST, *[event] * 60, LAST]))
    facts = trace.ingest_trace(file, tmp_path / "staging", threads=threads).facts
    assert (facts["event_count"], facts["quarantined_count"]) == (62, 0)
    assert len(decoded) < 60


def test_a_number_longer_than_a_piece(tmp_path):
    text = trace_text([FIRST, "1" * (20 * MB), LAST])
    archive = ingested(tmp_path, text)
    assert names(archive) == ["first", "last"]
    assert rows(archive, "SELECT event_id, byte_length FROM quarantine") == [(1, 20 * MB)]


def test_too_many_broken_events(tmp_path, monkeypatch):
    """From then on, all up to the next sound event is one broken one, and no sound one is lost."""
    monkeypatch.setattr(parse, "MOST_BROKEN", 100)
    monkeypatch.setattr(elements, "BATCH", 50)
    sound = [json.dumps(span(f"op{at}", ts=at)) for at in range(40)]
    broken = [BROKEN] * 300
    texts = [*broken, *(text for one in sound for text in ("1", "{}", one, '{"ph": "X"}', BROKEN))]
    text = trace_text(texts)
    archive = ingested(tmp_path, text)
    assert names(archive) == [f"op{at}" for at in range(40)]
    check_ids(archive)
    [(status, quarantined)] = rows(archive, "SELECT status, quarantined_count FROM traces")
    assert status.startswith("damaged: broken events behind byte") and 140 <= quarantined < 300
    # Each byte of what is broken is told of.
    spans = rows(archive, "SELECT byte_offset, byte_length, bytes FROM quarantine ORDER BY 1")
    assert all(text.encode()[at : at + size] == kept for at, size, kept in spans)
    left = text.encode()
    for at, size, _ in reversed(spans):
        left = left[:at] + left[at + size :]
    for one in sound:
        left = left.replace(one.encode(), b"", 1)
    assert not left.strip(b' \n,{}[]":traceEvents')


def bomb(before: str, unit: str, behind: str, size: int) -> bytes:
    """Gzipped text with `size` bytes of a repeated unit in it."""
    packer = zlib.compressobj(9, wbits=31)
    part = unit.encode() * (MB // len(unit))
    parts: Iterable[bytes] = [before.encode(), *[part] * (size // MB), behind.encode()]
    return b"".join([*map(packer.compress, parts), packer.flush()])


BOMBS = {
    "blanks": ("", " ", "", True),
    "a text": (GIANT + '{"a": "', "a", '"}}', False),
    "brackets": ("", "[", "1", False),
    "objects": (GIANT + "[", "{},", "1]}", False),
    "nested objects": ("", '{"a":', "1", False),
    "escapes": ('"', "\\\\", '"', False),
    "numbers": ("", "1,", "1", False),
}
# Not by getrusage: what that tells of a new process begins with the memory of the one before.
READ = """
import json, re, sys
import hta_sql
outcome = hta_sql.ingest([sys.argv[1]], sys.argv[2], workers=1).traces[0]
peak_kb = re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1]
print(json.dumps([outcome.error, outcome.row and outcome.row["status"], int(peak_kb) / 1e6]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux tells it")
@pytest.mark.parametrize("kind", BOMBS)
def test_what_unfolds_to_nothing(tmp_path, kind):
    """Half a gigabyte in half a megabyte: read in little memory, given up where it is a trap."""
    before, unit, behind, is_read = BOMBS[kind]
    file = tmp_path / "rank_0.json.gz"
    file.write_bytes(
        bomb(f'{{"traceEvents": [{FIRST}, {before}', unit, f"{behind}, {LAST}]}}", 500 * MB)
    )
    done = subprocess.run(
        [sys.executable, "-c", READ, file, tmp_path / "archive"],
        capture_output=True,
        text=True,
        timeout=ALARM_S,
        env=os.environ,
    )
    assert done.returncode == 0, done.stderr
    error, status, peak_gb = json.loads(done.stdout.splitlines()[-1])
    assert error is None and peak_gb < 1
    if is_read:
        assert status == "complete"
    else:
        assert status.startswith("damaged: not read beyond byte")
        assert "there is no event in the" in status


def test_a_tail_that_unfolds_to_nothing(tmp_path):
    zipped = bomb(f'{{"traceEvents": [{FIRST}, {LAST}], "a": "', "x", '"}', 400 * MB)
    archive = ingested(tmp_path, {"rank_0.json.gz": zipped})
    assert names(archive) == ["first", "last"]
    [(status,)] = rows(archive, "SELECT status FROM traces")
    assert status.startswith("damaged: not read beyond byte")


def test_what_is_alike_and_sound_is_read(tmp_path):
    """A file that gzip makes small is no trap for that alone."""
    text = trace_text([FIRST] * 200_000)
    zipped = gzip.compress(text.encode(), 9)
    assert len(text) > parse.TRAP_RATIO * len(zipped)
    archive = ingested(tmp_path, {"rank_0.json.gz": zipped})
    assert rows(archive, "SELECT event_count, status FROM traces") == [(200_000, "complete")]


# Brackets, by a plain loop.


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


@pytest.mark.parametrize("seed", range(20))
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


def list_of(count: int, begin: int = 0) -> str:
    return ", ".join(json.dumps(span(f"op{at}", ts=at)) for at in range(begin, begin + count))


def in_object(text: str) -> str:
    return f'{{"traceEvents": [{text}]}}'


ONE, TWO, THREE, FOUR = (list_of(1, at) for at in range(4))
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


@pytest.mark.parametrize("seed", range(40))
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


# What stands behind the last event, with blanks in place of the @.
BLANK_TAILS = {
    "in an object": "]@}",
    "before keys": ']@, "traceName": "t"}',
    "behind a comma": '],@"traceName": "t"}',
    "before a list of that name": ']@, "traceName": "t", "o": {"traceEvents": [{"ph": "X"}]}}',
    "in a list": "]@",
}


@pytest.mark.parametrize("blanks", [15 * MB, 18 * MB, 40 * MB])
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
