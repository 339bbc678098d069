"""HTA's side, run by HTA's own Python: load a trace, then call its counterparts of our queries.

Only the load itself is timed, not HTA's imports, which is in its favour.
"""

import json
import resource
import sys
import time
from importlib.metadata import version

from hta.trace_analysis import TraceAnalysis


def load(trace: str, calls: dict, repeats: int, enough_s: float) -> dict:
    """Load, then time each call `repeats` times or until `enough_s` are spent; the best counts."""
    begin, cpu = time.perf_counter(), cpu_s()
    analysis = TraceAnalysis(trace_files={0: trace}, include_last_profiler_step=True)
    wall_s, used_s, peak_bytes = time.perf_counter() - begin, cpu_s() - cpu, peak()
    best = {}
    for method, arguments in calls.items():
        times = []
        while len(times) < repeats and sum(times) < enough_s:
            at = time.perf_counter()
            try:
                getattr(analysis, method)(**arguments)
            except Exception as error:
                print(f"{method}: {error}", file=sys.stderr)
                break
            times.append(time.perf_counter() - at)
        best[method] = min(times, default=None)
    return {
        "wall_s": wall_s,
        "cpu_s": used_s,
        "peak_bytes": peak_bytes,
        "calls": best,
        "versions": {name: version(name) for name in ("HolisticTraceAnalysis", "pandas")},
    }


def diff(traces: list[str], repeats: int) -> dict:
    """Load two traces, then compare them `repeats` times; the best counts."""
    from hta.common.trace import Trace
    from hta.trace_diff import LabeledTrace, TraceDiff

    labeled = [
        LabeledTrace(label=label, t=Trace(trace_files={0: f"{folder}/rank_0.json.gz"}))
        for label, folder in zip(("one", "other"), traces, strict=True)
    ]
    steps = [trace.iterations() for trace in labeled]
    times = []
    for _ in range(repeats):
        at = time.perf_counter()
        TraceDiff.compare_traces(
            *labeled, control_iteration=steps[0], test_iteration=steps[1], use_short_name=False
        )
        times.append(time.perf_counter() - at)
    return {"s": min(times)}


def usages() -> list:
    return [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]


def cpu_s() -> float:
    return sum(usage.ru_utime + usage.ru_stime for usage in usages())


def peak() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return max(usage.ru_maxrss for usage in usages()) * unit


if __name__ == "__main__":
    task = {"load": load, "diff": diff}[sys.argv[1]]
    print("\n" + json.dumps(task(**json.loads(sys.argv[2]))))
