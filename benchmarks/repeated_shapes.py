"""A real trace, again and again, with ids and times of their own."""

import json
import re
from collections.abc import Iterable
from decimal import ROUND_CEILING, Decimal
from pathlib import Path

from shape_events import opened

# What has to differ from one copy to the next, with the whole part of its number: fractions and
# all other text stay as they are written.
_NUMBERS = re.compile(
    r'("(?:ts|correlation|wait_on_cuda_event_record_corr_id|External id|external id|id|Ev Idx'
    r"|Record function id|Sequence number|Seq|Comms Id|Python id|Python parent id"
    r'|Profiler Event Index)"\s*:\s*"?|"ProfilerStep#)(\d+)'
)


_EVENTS = re.compile(r'"traceEvents"\s*:\s*\[')


_BETWEEN = re.compile(r"[\s,]*")


# The same ids under other keys.
_SAME_IDS = {"wait_on_cuda_event_record_corr_id": "correlation", "Python parent id": "Python id"}


def repeated(path: str | Path, times: int, out: str | Path) -> None:
    """Write a trace like the one in `path`, in which everything happens `times` times.

    Each copy begins after the one before it and has ids and steps of its own; what describes
    processes and threads stands there once. Zeros, which mean that there is no id, stay.
    """
    with opened(path, "rb") as file:
        text = file.read().decode()
    begin = _EVENTS.search(text).end()
    described, happened, end, period_us = _split(text, begin)
    literals, keys, numbers = _parts(happened)
    shifts = _shifts(keys, numbers) | {"ts": period_us, "Comms Id": 1}
    moved = [
        (number, shifts[key] if number or key in ("ts", "ProfilerStep") else 0)
        for key, number in zip(keys, numbers, strict=True)
    ]
    with opened(out, "wb") as file:
        file.write((text[:begin] + ",\n".join(described)).encode())
        for turn in range(times):
            pieces = [",\n" if turn or described else ""]
            for literal, (number, shift) in zip(literals, moved, strict=False):
                pieces += (literal, str(number + turn * shift))
            file.write("".join([*pieces, literals[-1]]).encode())
        file.write(text[end:].encode())


def _split(text: str, at: int) -> tuple[list[str], str, int, int]:
    """The events that only describe, the text of all others, where the array ends, and how many
    microseconds the events span."""
    decoder = json.JSONDecoder(parse_float=Decimal)
    described, happened = [], []
    first, last = None, None
    while text[at := _BETWEEN.match(text, at).end()] != "]":
        event, end = decoder.raw_decode(text, at)
        if event.get("ph") == "M":
            described.append(text[at:end])
        else:
            happened.append(text[at:end])
            ts = Decimal(event["ts"])
            first = ts if first is None else min(first, ts)
            ends = ts + Decimal(event.get("dur") or 0)
            last = ends if last is None else max(last, ends)
        at = end
    span = (last - first).to_integral_value(ROUND_CEILING)
    return described, ",\n".join(happened), at, int(span) + 1000


def _parts(text: str) -> tuple[list[str], list[str], list[int]]:
    """The text around the numbers that change (one piece more than numbers), and their keys."""
    parts = _NUMBERS.split(text)  # literal, key, number, literal, key, number, …, literal
    literals = [parts[at] + parts[at + 1] for at in range(0, len(parts) - 1, 3)] + [parts[-1]]
    keys = [re.match(r'"([^"#]+)', key).group(1) for key in parts[1::3]]
    return literals, keys, [int(number) for number in parts[2::3]]


def _shifts(keys: Iterable[str], numbers: Iterable[int]) -> dict[str, int]:
    """By how much an id grows from copy to copy: beyond all that the trace has."""
    largest: dict[str, int] = {}
    for key, number in zip(keys, numbers, strict=True):
        key = _SAME_IDS.get(key, key)
        largest[key] = max(largest.get(key, 0), number)
    shifts = {key: number + 1 for key, number in largest.items()}
    return shifts | {same: shifts[key] for same, key in _SAME_IDS.items() if key in shifts}
