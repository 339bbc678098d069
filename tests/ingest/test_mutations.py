"""Real traces, damaged at random: no traceback, no event lost that the damage did not touch, and
every element is an event or in quarantine, once.

    python tests/ingest/test_mutations.py 0 5000
"""

import gzip
import json
import random
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq
import pytest
from seeds import seeds

sys.path.insert(0, str(Path(__file__).parents[1]))
from raw_events import parse
from real_files import TRACE_FILES, TRACES

from hta_sql.ingestion.stream import NotATrace
from hta_sql.ingestion.trace import IngestedTrace, ingest_trace

SEEDS = 10
MUTATIONS_EACH = 20
SEPARATORS = re.compile(r"[ \t\r\n,]*")
# What means something to a reader of JSON, or of traces.
TELLING = (
    b"{",
    b"}",
    b"[",
    b"]",
    b'"',
    b",",
    b":",
    b"\\",
    b"\0",
    b"\xff",
    b"nul",
    b"NaN",
    b"1e999",
    b"-",
    b"\n",
    b"}}",
    b"],",
    b'{"ph":"X"}',
    b'"traceEvents":[',
    b'],"a":',
)

pytestmark = pytest.mark.skipif(not TRACES.is_dir(), reason="no shared/traces here")


class Case(NamedTuple):
    """A trace, whole or damaged; of which events damage did not come near."""

    data: bytes
    untouched: list[bytes]


def part_of_a_trace(rng: random.Random) -> tuple[bytes, list[bytes], bytes]:
    """The head of a real trace, some of its events one after the other, and its tail."""
    path = TRACES / rng.choice(TRACE_FILES).path
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    text = data.decode()
    begin = text.index("[", text.index('"traceEvents"')) + 1
    events, at = [], begin
    decoder = json.JSONDecoder()
    while len(events) < rng.randrange(5, 150):
        at = SEPARATORS.match(text, at).end()
        if text[at] != "{":
            break
        _, end = decoder.raw_decode(text, at)
        events.append(text[at:end].encode())
        at = end
    tail = text[text.rindex("]") :]
    return text[:begin].encode(), events, tail.encode() if len(tail) < 20_000 else b"]}"


def damaged(rng: random.Random, data: bytes) -> bytes:
    """Bytes flipped, lost, doubled, exchanged, cut off, and others put in."""
    text = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 5, 20))):
        if not text:
            break
        at, other = rng.randrange(len(text)), rng.randrange(len(text))
        size = rng.choice((1, 2, 5, 50, 500))
        kind = rng.randrange(7)
        if kind == 0:
            text[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            text[at] = rng.randrange(256)
        elif kind == 2:
            text[at:at] = rng.choice(TELLING)
        elif kind == 3:
            text[at : at + 1] = rng.choice(TELLING)
        elif kind == 4:
            del text[at : at + size]
        elif kind == 5:
            text[at:at] = text[other : other + size]
        elif rng.random() < 0.3:
            del text[at:]
    return bytes(text)


def cases(seed: int, count: int) -> Iterator[Case]:
    rng = random.Random(seed)
    for _ in range(count):
        head, events, tail = part_of_a_trace(rng)
        if rng.random() < 0.7:
            begin = rng.randrange(len(events))
            end = min(len(events), begin + rng.randrange(1, 8))
            middle = damaged(rng, b",\n".join(events[begin:end]))
            untouched = [*events[:begin], *events[end:]]
            body = b",\n".join([*events[:begin], middle, *events[end:]])
            yield Case(head + body + tail, untouched)
        else:
            yield Case(damaged(rng, head + b",\n".join(events) + tail), [])


def check(found: IngestedTrace, untouched: list[bytes]) -> None:
    events = pq.read_table(found.files["events"], columns=["event_id", "ph", "name"]).to_pydict()
    bad = []
    if "quarantine" in found.files:
        bad = pq.read_table(found.files["quarantine"])["event_id"].to_pylist()
    ids = sorted(events["event_id"] + bad)
    assert ids == list(range(len(ids)))
    facts = found.facts
    assert (facts["event_count"], facts["quarantined_count"]) == (len(ids) - len(bad), len(bad))
    wanted = Counter((event["ph"], event.get("name")) for event in map(parse, untouched))
    assert not wanted - Counter(zip(events["ph"], events["name"], strict=True))


def run(folder: Path, seed: int, count: int) -> int:
    """How many of the cases were read; the others are refused, with their reason."""
    read = 0
    for number, case in enumerate(cases(seed, count)):
        file, staging = folder / "rank_0.json", folder / str(number)
        file.write_bytes(case.data)
        try:
            check(ingest_trace(file, staging), case.untouched)
            read += 1
        except NotATrace as refused:
            assert not case.untouched and "\n" not in str(refused)
        except BaseException as error:
            error.add_note(f"seed {seed}, case {number}")
            raise
        shutil.rmtree(staging, ignore_errors=True)
    return read


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_mutations(tmp_path, seed):
    assert run(tmp_path, seed, MUTATIONS_EACH) > MUTATIONS_EACH / 2


if __name__ == "__main__":
    import tempfile

    first, total = int(sys.argv[1]), int(sys.argv[2])
    with tempfile.TemporaryDirectory() as scratch:
        for at in range(first, first + total // MUTATIONS_EACH):
            run(Path(scratch), at, MUTATIONS_EACH)
            print(at, end=" ", flush=True)
