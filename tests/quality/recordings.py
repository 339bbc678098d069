"""A small recording with nothing wrong, as rows of the tables; tests spoil one thing each."""

from collections.abc import Callable
from typing import Any

Tables = dict[str, list[dict[str, Any]]]
GPU = "NVIDIA H100 80GB HBM3"


def healthy(ranks: tuple[int, ...] = (0,), job: str = "j") -> Tables:
    """Two steps a rank, each with an operator, a launch and a kernel; and a collective.

    step         [ 1            ][ 2            ]
    operator       [mm      ]      [mm      ]
    launch           [L]             [L]
    stream 7              [k]             [k]
    stream 20                               [c]
    """
    tables: Tables = {"gpu_activities": [], "host_ops": [], "traces": []}
    for rank in ranks:
        whose = {"job": job, "rank": rank}
        tables["traces"].append(
            whose
            | {
                "world_size": len(ranks),
                "backend": "nccl",
                "device_name": GPU,
                "event_count": 100,
                "quarantined_count": 0,
                "gpu_activity_count": 3,
                "rank_source": "distributedInfo",
                "time_format": "relative to base",
                "base_ns": 5,
                "start_ns": 100_001,
                "end_ns": 300_001,
            }
        )
        add = tables["host_ops"].append
        for step in (1, 2):
            at = 100_001 * step
            in_step = whose | {"step": step}
            add(span(in_step, f"ProfilerStep#{step}", at, 100_000, "user_annotation"))
            add(span(in_step, "train.py(1): main", at + 1, 99_000, "python_function"))
            add(span(in_step, "aten::mm", at + 5, 90_000, input_dims="[[2,2]]", sequence_number=1))
            call = span(in_step, "cudaLaunchKernel", at + 10, 10, "cuda_runtime", correlation=step)
            add(call)
            tables["gpu_activities"].append(
                launched(in_step, call, start_ns=at + 30, dur_ns=101, name="mm")
            )
        call = span(in_step, "cudaLaunchKernel", at + 40, 10, "cuda_runtime", correlation=3)
        add(call)
        tables["gpu_activities"].append(
            launched(
                in_step,
                call,
                start_ns=at + 200,
                dur_ns=50,
                name="nccl",
                stream=20,
                kind="communication",
                collective_name="allreduce",
                process_group_name="0",
                group_size=len(ranks),
                seq=1,
                comms_id=77,
            )
        )
    for name in ("gpu_activities", "host_ops"):
        for number, row in enumerate(tables[name]):
            row["event_id"] = number
    return tables


def span(whose: dict, name: str, start_ns: int, dur_ns: int, cat: str = "cpu_op", **more) -> dict:
    return whose | {"name": name, "cat": cat, "start_ns": start_ns, "dur_ns": dur_ns} | more


def launched(whose: dict, call: dict, **more) -> dict:
    """A GPU activity of a launch."""
    return (
        whose
        | {
            "correlation": call["correlation"],
            "launch_id": call["correlation"],
            "launch_name": call["name"],
            "launch_start_ns": call["start_ns"],
            "launch_end_ns": call["start_ns"] + call["dur_ns"],
        }
        | more
    )


def spoiled(change: Callable[[Tables], None], ranks: tuple[int, ...] = (0,)) -> Tables:
    """The recording after a change."""
    tables = healthy(ranks)
    change(tables)
    return tables


def found(small, tables: Tables, **parameters) -> dict[str, dict]:
    """The rows of trace_quality by check, of a recording that has each check at most once."""
    small.fill(**tables)
    rows = small.run("trace_quality", **parameters)
    assert small.broken_promises("trace_quality", **parameters) == []
    assert len({row["check"] for row in rows}) == len(rows), rows
    return {row["check"]: row for row in rows}
