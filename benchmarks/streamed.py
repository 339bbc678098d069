"""Traces of any size: the steps of a small made-up job over and over, each time later and under
other ids. Written as a stream, at the speed of the disk rather than of the generator."""

import re
from pathlib import Path

# What has to differ from one repetition to the next, with the whole part of its number.
_NUMBER = re.compile(
    rb'("(?:ts|correlation|External id|id|Record function id|Sequence number|Seq|Comms Id|Ev Idx)"'
    rb": |ProfilerStep#)(\d+)"
)
_FIRST_METADATA = re.compile(rb',\n  \{\n    "name": "process_name", "ph": "M"')
_EVENTS = b'"traceEvents": ['
# Ids of one repetition are below this.
_IDS = 10_000_000


def write_job(out: str, ranks: int, rank_bytes: int, steps: int = 4) -> dict[str, int]:
    """Traces of about `rank_bytes` each into the folder `out`; how much was written."""
    from hta_sql.demo import write_job

    folder = Path(out)
    base = folder / "base"
    write_job(base, ranks=ranks, steps=steps, layers=32, scale=3, gzip=False)
    written = events = 0
    for rank in range(ranks):
        source = base / f"rank_{rank}.json"
        size, count = repeat(source, folder / source.name, rank_bytes, steps)
        written, events = written + size, events + count
        source.unlink()
    return {"bytes": written, "event_count": events}


def repeat(source: Path, target: Path, size: int, steps: int) -> tuple[int, int]:
    """Write a trace like `source` with its steps repeated; its bytes and events."""
    text = source.read_bytes()
    begin = text.index(_EVENTS) + len(_EVENTS)
    end = _FIRST_METADATA.search(text, begin).start()
    parts = _NUMBER.split(text[begin:end])
    # literal, key, number, literal, key, number, …, literal
    fixed = [parts[0] + parts[1]]
    fixed += [parts[at] + parts[at + 1] for at in range(3, len(parts) - 1, 3)]
    keys, numbers = parts[1::3], [int(number) for number in parts[2::3]]
    times = [n for key, n in zip(keys, numbers, strict=True) if key == b'"ts": ']
    period_us = max(times) - min(times) + 1_000_000
    shifts = {b'"ts": ': period_us, b"ProfilerStep#": steps}
    repetitions = max(1, round(size / (end - begin)))
    event_count = text.count(b'"ph": "', begin, end)
    with target.open("wb") as file:
        file.write(text[:begin])
        for turn in range(repetitions):
            pieces = [b","] if turn else []
            for literal, key, number in zip(fixed, keys, numbers, strict=True):
                pieces += (literal, b"%d" % (number + turn * shifts.get(key, _IDS)))
            file.write(b"".join([*pieces, parts[-1]]))
        file.write(text[end:])
        written = file.tell()
    return written, repetitions * event_count + text.count(b'"ph": "', end)
