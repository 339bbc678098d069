"""Single events of a drawn trace."""

from typing import Any

Event = dict[str, Any]
HOST = 4000  # the process


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


def flow(ph: str, cat: str, pid: int, tid: int, ts: int) -> Event:
    end = {"bp": "e"} if ph == "f" else {}
    return {"ph": ph, "id": 1, "cat": cat, "name": cat, "pid": pid, "tid": tid, "ts": ts, **end}
