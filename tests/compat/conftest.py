"""One rank of two profiler steps, with times in fractions of a microsecond.

us     0         20        40        60        80        100      120
host   [ProfilerStep#1==================================)[ProfilerStep#2====…
         [aten::mm=====)
              7  8                        9                  10        launches
7                    [gemm=====)               [HtoD)             [gemm)
20                        [AllReduce)
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hand_written import span, trace_text

from hta_sql.compat import TraceAnalysis


def annotation(name: str, ts: float, dur: float) -> dict:
    return span(name, ts, dur, cat="user_annotation")


def launch(ts: float, dur: float, correlation: int, name: str = "cudaLaunchKernel") -> dict:
    return span(name, ts, dur, cat="cuda_runtime", correlation=correlation)


def activity(name: str, ts: float, dur: float, stream: int, correlation: int, **more) -> dict:
    cat = "gpu_memcpy" if name.startswith("Memcpy") else "kernel"
    args = {"device": 0, "stream": stream, "correlation": correlation} | more
    return span(name, ts, dur, cat, pid=0, tid=stream) | {"args": args}


COPY = "Memcpy HtoD (Pageable -> Device)"
SPANS = [
    annotation("ProfilerStep#1", 0, 100),
    annotation("ProfilerStep#2", 100, 100),
    span("aten::mm", 10, 30),
    launch(20.4, 4.8, 7),
    launch(26, 2, 8),
    launch(70, 1, 9, "cudaMemcpyAsync"),
    launch(110, 2, 10),
    activity("gemm<float>(int)", 30.25, 20.5, 7, 7),
    activity("ncclDevKernel_AllReduce", 40.5, 20, 20, 8),
    activity(COPY, 80, 10, 7, 9, **{"bytes": 10_000, "memory bandwidth (GB/s)": 1.0}),
    activity("gemm<float>(int)", 120, 10, 7, 10),
]


@pytest.fixture(scope="session")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("traces")
    head = f'"distributedInfo": {json.dumps({"rank": 0, "world_size": 1})},'
    (folder / "rank_0.json").write_text(trace_text(SPANS, before=head))
    return folder


@pytest.fixture(scope="session")
def loaded(traces: Path) -> Callable[..., TraceAnalysis]:
    """Load the traces, once for each choice of options."""
    made: dict[tuple, TraceAnalysis] = {}

    def load(exact: bool = True, last_step: bool = False) -> TraceAnalysis:
        key = exact, last_step
        if key not in made:
            made[key] = TraceAnalysis(
                trace_dir=traces, include_last_profiler_step=last_step, exact=exact
            )
        return made[key]

    return load
