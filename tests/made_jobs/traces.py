"""The demo's traces, read."""

import json
from decimal import Decimal

SMALL = {"ranks": 2, "steps": 2, "layers": 2}


KINDS = {"gpu_memcpy": "memory", "gpu_memset": "memory"}


def nanoseconds(text, time_format: str, base: int = 0) -> int:
    """The number as the file has it, in ns; JSON decimals arrive as text."""
    if time_format == "integer":
        assert isinstance(text, int)
        return text * 1000
    whole, _, fraction = text.partition(".")
    if time_format == "unpadded":
        assert fraction == str(int(fraction))
        return int(whole) * 1000 + int(fraction)
    assert len(fraction) == 3
    return base + int(Decimal(text) * 1000)


def load(text: str, time_format: str = "based") -> tuple[dict, list[dict]]:
    """A trace, and its events with `start`, `end` and, for activities, `kind`, all in Unix ns."""
    trace = json.loads(text, parse_float=str)
    base = trace.get("baseTimeNanoseconds", 0)
    assert (base > 0) == time_format.startswith("based")
    events = trace["traceEvents"]
    for event in events:
        event["start"] = nanoseconds(event["ts"], time_format, base)
        if event["ph"] == "X":
            event["end"] = event["start"] + nanoseconds(event["dur"], time_format)
        if event.get("cat") in ("kernel", *KINDS):
            kind = "communication" if "nccl" in event["name"] else "computation"
            event["kind"] = KINDS.get(event["cat"], kind)
    return trace, events


def of(events, *categories):
    return [event for event in events if event.get("cat") in categories]
