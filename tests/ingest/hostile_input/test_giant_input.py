"""Hostile input: giants, bombs and very many errors."""

import gzip
import json
import os
import subprocess
import sys
import zlib
from collections.abc import Iterable

import pytest
from hand_written import ingested, rows, span, trace_text
from ingest.hostile_input.hostile import ALARM_S, BROKEN, FIRST, GIANT, LAST, MB, check_ids, names

from hta_sql.ingestion import elements, parse, trace

# Too long to parse, or to hold.
GIANTS = {
    "a text": '{"s": "' + "a" * (17 * MB) + '"}}',
    "many numbers": '{"l": [' + "1," * (9 * MB) + "1]}}",
    "numbers that fit the file, not the parser": '{"l": [' + "1," * (7 * MB) + "1]}}",
    "many escapes": '{"s": "' + '\\"' * (9 * MB) + '"}}',
}


@pytest.mark.big
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


@pytest.mark.big
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


@pytest.mark.big
@pytest.mark.parametrize("threads", [1, 2])
def test_an_event_with_millions_of_numbers(tmp_path, threads):
    """It takes more memory than other events may; those beside it do not pay for it."""
    file = tmp_path / "rank_0.json"
    file.write_text(trace_text([FIRST, GIANT + '{"l": [' + "1," * 4_500_000 + "1]}}", LAST]))
    facts = trace.ingest_trace(file, tmp_path / "staging", threads=threads).facts
    assert (facts["event_count"], facts["quarantined_count"]) == (3, 0)
    [(limit,)] = trace.database(tmp_path).sql("SELECT current_setting('memory_limit')").fetchall()
    assert limit == "381.4 MiB"  # 400 MB again


@pytest.mark.big
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


@pytest.mark.big
def test_a_number_longer_than_a_piece(tmp_path):
    text = trace_text([FIRST, "1" * (20 * MB), LAST])
    archive = ingested(tmp_path, text)
    assert names(archive) == ["first", "last"]
    assert rows(archive, "SELECT event_id, byte_length FROM quarantine") == [(1, 20 * MB)]


@pytest.mark.big
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


@pytest.mark.big
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


@pytest.mark.big
def test_a_tail_that_unfolds_to_nothing(tmp_path):
    zipped = bomb(f'{{"traceEvents": [{FIRST}, {LAST}], "a": "', "x", '"}', 400 * MB)
    archive = ingested(tmp_path, {"rank_0.json.gz": zipped})
    assert names(archive) == ["first", "last"]
    [(status,)] = rows(archive, "SELECT status FROM traces")
    assert status.startswith("damaged: not read beyond byte")


@pytest.mark.big
def test_what_is_alike_and_sound_is_read(tmp_path):
    """A file that gzip makes small is no trap for that alone."""
    text = trace_text([FIRST] * 200_000)
    zipped = gzip.compress(text.encode(), 9)
    assert len(text) > parse.TRAP_RATIO * len(zipped)
    archive = ingested(tmp_path, {"rank_0.json.gz": zipped})
    assert rows(archive, "SELECT event_count, status FROM traces") == [(200_000, "complete")]
