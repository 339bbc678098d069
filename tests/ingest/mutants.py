"""Traces damaged at random: parts of real ones, by bytes and by what the bytes mean."""

import gzip
import json
import random
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from hostile_numbers.extremes import EXTREMES
from real_files import TRACE_FILES, TRACES

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


class Case(NamedTuple):
    """A trace, whole or damaged; of which events damage did not come near."""

    data: bytes
    untouched: list[bytes]


@lru_cache(maxsize=4)
def text_of(path: str) -> str:
    data = (TRACES / path).read_bytes()
    return (gzip.decompress(data) if path.endswith(".gz") else data).decode()


def part_of_a_trace(rng: random.Random) -> tuple[bytes, list[bytes], bytes]:
    """The head of a real trace, some of its events one after the other, and its tail."""
    text = text_of(rng.choice(TRACE_FILES).path)
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


def changed(rng: random.Random, texts: list[bytes], others: list[bytes]) -> list[bytes]:
    """Events that are lost, doubled, exchanged, taken from another trace, or changed inside."""
    events: list[Any] = [json.loads(text) for text in texts]
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(events))
        kind = rng.randrange(6)
        if kind == 0 and len(events) > 1:
            del events[at]
        elif kind == 1:
            events.insert(rng.randrange(len(events)), events[at])
        elif kind == 2:
            other = rng.randrange(len(events))
            events[at], events[other] = events[other], events[at]
        elif kind == 3:
            events[at] = json.loads(rng.choice(others))
        else:
            events[at] = changed_inside(rng, json.loads(json.dumps(events[at])))
    return [with_extremes(json.dumps(event)).encode() for event in events]


def changed_inside(rng: random.Random, event: Any) -> Any:
    """An event with a key lost, renamed or put elsewhere, or a value of another kind."""
    if not isinstance(event, dict):
        return event
    holder = event
    if rng.random() < 0.6 and isinstance(event.get("args"), dict):
        holder = event["args"]
    if not holder:
        return event
    key = rng.choice(list(holder))
    kind = rng.randrange(6)
    if kind == 0:
        del holder[key]
    elif kind == 1:
        holder[key + rng.choice(["", "x", "\\", "\0"])] = holder.pop(key)
    elif kind == 2:
        other = rng.choice(list(holder))
        holder[key], holder[other] = holder[other], holder[key]
    elif kind == 3:
        holder[key] = rng.choice([[holder[key]], {"a": holder[key]}, str(holder[key]), None])
    else:
        holder[key] = f"@{rng.randrange(len(EXTREMES))}@"
    return event


def with_extremes(text: str) -> str:
    return re.sub(r'"@(\d+)@"', lambda place: EXTREMES[int(place[1])], text)


def packed(rng: random.Random, data: bytes) -> bytes:
    """The same by gzip, perhaps damaged there."""
    zipped = gzip.compress(data, 1)
    return damaged(rng, zipped) if rng.random() < 0.5 else zipped


def cases(seed: int, count: int) -> Iterator[Case]:
    """Damaged bytes, damaged events and damaged gzip files. The events around them stay as they
    were, if the file is not damaged as a whole."""
    rng = random.Random(seed)
    for _ in range(count):
        head, events, tail = part_of_a_trace(rng)
        way = rng.random()
        begin = rng.randrange(len(events))
        end = min(len(events), begin + rng.randrange(1, 8))
        around = [*events[:begin], *events[end:]]
        if way < 0.4:
            middle = damaged(rng, b",\n".join(events[begin:end]))
            body = b",\n".join([*events[:begin], middle, *events[end:]])
            yield Case(head + body + tail, around)
        elif way < 0.75:
            _, others, _ = part_of_a_trace(rng)
            middle = changed(rng, events[begin:end], others)
            body = b",\n".join([*events[:begin], *middle, *events[end:]])
            # Stamps of another trace may be dates while these are none.
            yield Case(head + body + tail, around if len(around) > 2 * len(middle) else [])
        elif way < 0.95:
            yield Case(damaged(rng, head + b",\n".join(events) + tail), [])
        else:
            yield Case(packed(rng, head + b",\n".join(events) + tail), [])
