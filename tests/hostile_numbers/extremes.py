"""Traces in which numbers, and what stands in their place, are as odd as JSON lets them be."""

import gzip
import json
import random
import re
from pathlib import Path
from typing import Any

from hand_written import span

from hta_sql.demo import write_job

MOST, LEAST = 2**63 - 1, -(2**63)
BIG = 2**62
SEVEN_DAYS_US = 7 * 86_400 * 10**6

# JSON texts, since no library writes all of them.
EXTREMES = [
    *map(str, (0, -1, 1, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**53 + 1, -(2**53) - 1)),
    *map(str, (BIG, -BIG, MOST, LEAST, LEAST + 1, 2**64 - 1, 2**64, -(2**64), 10**400)),
    # The largest number that is taken for a size, and the longest span.
    *map(str, (10**12 - 1, 1 - 10**12, 2**48, SEVEN_DAYS_US, 2_250_000_000_000_000, -(10**13))),
    *(
        "1e308",
        "-1e308",
        "1e-320",
        "1e999",
        "-1e999",
        "NaN",
        "Infinity",
        "-Infinity",
        "1.5",
        "-0.0",
    ),
    *("true", "null", '""', "[]", "{}", '"NaN"', '"inf"', '"1e308"', f'"{MOST}"', f'"{LEAST}"'),
    # Lists of numbers, alone, in each other and in texts.
    f"[{MOST}, {MOST}, {MOST}]",
    f"[{BIG}, 2, 2]",
    '["a", -1, null]',
    f"[[{BIG}, {BIG}], [{BIG}, {BIG}]]",
    f"[[{10**12 - 1}, {10**12 - 1}], [{10**12 - 1}, {10**12 - 1}]]",
    f'"[{BIG}, {BIG}]"',
    f'"[0, {2**31 - 1}, -1, ..., {2**31}]"',
    f'["{BIG}", "[{MOST}]", "1e308", "nan", "[{10**12 - 1}, {10**12 - 1}]"]',
    '["float", "c10::BFloat16", "long int", "Scalar", "TensorList"]',
    "[" + ", ".join([str(MOST)] * 10_000) + "]",
    "[" * 60 + "]" * 60,
    '{"a": {"b": [1, 2, {"c": null}]}}',
    '"' + "x" * 20_000 + '"',
    '"\\u0000"',
]
_PLACE = re.compile(r'"@(\d+)@"')


def plain_job(folder: Path) -> list[dict]:
    """The traces of two ranks, with every kind of event and argument that queries read."""
    write_job(folder, ranks=2, steps=2, layers=1)
    traces = []
    for rank in range(2):
        trace = json.loads(gzip.decompress((folder / f"rank_{rank}.json.gz").read_bytes()))
        trace["traceEvents"] += more_events(rank, first_us(trace))
        trace["distributedInfo"]["pg_config"] = [
            {"pg_name": "0", "pg_desc": "default_pg", "pg_size": 2, "ranks": [0, 1]}
        ]
        traces.append(trace)
    return traces


def first_us(trace: dict) -> float:
    return min(event["ts"] for event in trace["traceEvents"] if event["ph"] == "X")


def more_events(rank: int, at: float) -> list[dict]:
    """What made-up jobs lack: messages, exchanges with splits, counters and nodes of graphs."""
    common = {"device": 0, "stream": 20, "Process Group Name": "0", "dtype": "Float"}
    kernel = {"cat": "kernel", "pid": 0, "tid": 20, "dur": 5}
    communication = common | {"Process Group Ranks": "[0, 1]", "Group size": 2}
    message = {"Collective name": "recv" if rank else "send", "Src Rank": 0, "Dst Rank": 1}
    exchange = {"Collective name": "all_to_allv", "In split size": "[3, 5]"}
    graph = {"graph id": 7, "graph node id": 9, "correlation": 4_000_000}
    counted = {"cat": "cuda_profiler_range", "pid": 0, "tid": 20, "dur": 5}
    copied = {"cat": "gpu_memcpy", "name": "Memcpy HtoD (Pageable -> Device)", "pid": 0, "tid": 20}
    return [
        span("ncclDevKernel_SendRecv", at + 900, **kernel, **communication, **message)
        | {"name": "ncclDevKernel_SendRecv"},
        span("ncclDevKernel_SendRecv", at + 920, **kernel, **communication, **exchange)
        | {"name": "ncclDevKernel_SendRecv"},
        *(
            span("graph_kernel", at + 940 + n, **kernel, **(graph | {"graph node id": n}))
            for n in range(3)
        ),
        *(span(f"counted {n}", at + 960 + n, **counted, inst_sum=5, ratio=0.5) for n in range(3)),
        *(
            span(ts=at + 980 + n, **copied, device=0, stream=20, bytes=4096, correlation=n)
            for n in range(3)
        ),
        {"ph": "C", "cat": "x", "name": "counter", "pid": 1, "ts": at, "args": {"value": 3}},
    ]


def places_of(trace: dict) -> dict[tuple, list[tuple[dict, Any]]]:
    """Where numbers and the like stand, by the kind of event and the argument."""
    found: dict[tuple, list[tuple[dict, Any]]] = {}
    for event in trace["traceEvents"]:
        kind = (event["ph"], str(event.get("cat")), event["ph"] != "X" and str(event.get("name")))
        for holder in (event, event.get("args", {})):
            for key in holder:
                if key not in ("args", "ph"):
                    found.setdefault((*kind, holder is event, key), []).append((holder, key))
    for device in trace["deviceProperties"]:
        for key in device:
            found.setdefault(("device", key), []).append((device, key))
    for key in [key for key in trace["distributedInfo"] if key != "rank"]:
        found.setdefault(("distributed", key), []).append((trace["distributedInfo"], key))
    for group in trace["distributedInfo"]["pg_config"]:
        for key in group:
            found.setdefault(("group", key), []).append((group, key))
    for key in [key for key in trace if key not in ("traceEvents", "distributedInfo")]:
        found.setdefault(("file", key), []).append((trace, key))
    return found


def with_extremes(traces: list[dict], number: int, at_once: float) -> list[str]:
    """The traces as JSON, with an extreme at places of each kind, the same on all ranks.

    Each next number gives each kind of place the next extreme. `at_once` is the share of the
    places of a kind that get it, but for stamps and the like, which each event needs.
    """
    texts = []
    for trace in traces:
        trace = json.loads(json.dumps(trace))
        rng = random.Random(number)
        for order, (kind, places) in enumerate(sorted(places_of(trace).items(), key=str)):
            few = kind[0] not in ("X", "i") or kind[-2] is True
            if kind[0] == "file" and rng.random() < 0.8:
                continue
            count = min(2, len(places)) if few else max(2, int(len(places) * at_once))
            for holder, key in rng.sample(places, min(count, len(places))):
                holder[key] = f"@{(number + order) % len(EXTREMES)}@"
        text = json.dumps(trace)
        texts.append(_PLACE.sub(lambda place: EXTREMES[int(place[1])], text))
    return texts
