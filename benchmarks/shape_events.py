"""Events of traces of odd shapes."""

import gzip
from pathlib import Path
from typing import IO, Any

Event = dict[str, Any]


HEAD = (
    b'{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100"}],'
    b' "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 1},'
    b' "baseTimeNanoseconds": 1735689600000000000, "traceEvents": [\n'
)


TAIL = b'\n], "traceName": "drawn.json"}\n'


HOST = 4000  # the process


LONG_TAILS = 100


NESTED = 2000  # spans in one another


LONG_NAME = "x" * 10_000_000


LONG_NAME_EVERY = 20_000  # events


def op(name: str, ts: int, dur: int, tid: int = 1, **args: Any) -> Event:
    return host("cpu_op", name, ts, dur, tid, args)


def annotation(name: str, ts: int, dur: int, tid: int = 1) -> Event:
    return host("user_annotation", name, ts, dur, tid, {})


def launch(correlation: int, ts: int, dur: int, tid: int = 1) -> Event:
    return host(
        "cuda_runtime", "cudaLaunchKernel", ts, dur, tid, {"cbid": 211, "correlation": correlation}
    )


def host(cat: str, name: str, ts: int, dur: int, tid: int, args: Event) -> Event:
    return {
        "ph": "X",
        "cat": cat,
        "name": name,
        "pid": HOST,
        "tid": tid,
        "ts": ts,
        "dur": dur,
        "args": args,
    }


def kernel(
    correlation: int, ts: int, dur: int, stream: int = 7, name: str = "gemm", **args: Any
) -> Event:
    return {
        "ph": "X",
        "cat": "kernel",
        "name": name,
        "pid": 0,
        "tid": stream,
        "ts": ts,
        "dur": dur,
        "args": {
            "device": 0,
            "context": 1,
            "stream": stream,
            "correlation": correlation,
            "grid": [132, 1, 1],
            "block": [256, 1, 1],
            "est. achieved occupancy %": 40,
            **args,
        },
    }


def opened(path: str | Path, mode: str) -> IO[bytes]:
    if str(path).endswith(".gz"):
        # Without the time of writing, so that the same trace is the same file.
        return gzip.GzipFile(path, mode, compresslevel=1, mtime=0)
    return open(path, mode)
