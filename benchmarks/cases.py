"""The cases: what is measured, and how. Every one is a name that `--only` can select."""

from typing import Any

from hta_sql.catalogue.catalog import Catalog

# What HTA calls our queries. Its kernel breakdown does two of them in one call.
HTA_CALLS: dict[str, dict[str, Any]] = {
    "get_temporal_breakdown": {"visualize": False},
    "get_comm_comp_overlap": {"visualize": False},
    "get_gpu_kernel_breakdown": {"visualize": False},
    "get_profiler_steps": {},
    "get_idle_time_breakdown": {"visualize": False},
    "get_cuda_kernel_launch_stats": {"visualize": False},
    "get_queue_length_time_series": {},
    "get_queue_length_summary": {},
    "get_memory_bw_time_series": {},
    "get_memory_bw_summary": {},
    "get_gpu_user_annotation_breakdown": {"visualize": False},
}
# What a query cannot do without; and queries that are worth a second case.
PARAMETERS: dict[str, dict[str, Any]] = {
    "kernel_sequences": {"operator": "aten::linear", "min_length": 1},
    "call_stack": {"of_event": 0},  # the first step, with all that it called
}
SECOND_CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "annotation_stats(host)": ("annotation_stats", {"source": "host"}),
    "folded_stacks(host)": ("folded_stacks", {"weight": "host"}),
    "op_stats(by_shape)": ("op_stats", {"by_shape": True}),
}
COUNTERPARTS = {
    "temporal_breakdown": "get_temporal_breakdown",
    "comm_comp_overlap": "get_comm_comp_overlap",
    "kernel_kind_breakdown": "get_gpu_kernel_breakdown",
    "kernel_stats": "get_gpu_kernel_breakdown",
    "profiler_steps": "get_profiler_steps",
    "idle_time_breakdown": "get_idle_time_breakdown",
    "launch_stats": "get_cuda_kernel_launch_stats",
    "queue_length_series": "get_queue_length_time_series",
    "queue_length_summary": "get_queue_length_summary",
    "memory_bandwidth_series": "get_memory_bw_time_series",
    "memory_bandwidth_summary": "get_memory_bw_summary",
    "annotation_stats": "get_gpu_user_annotation_breakdown",
}


def calls() -> dict[str, tuple[str, dict[str, Any]]]:
    """What is asked: a query and its parameters, by the name of the case."""
    first = {name: (name, PARAMETERS.get(name, {})) for name in Catalog.load().newest}
    return first | SECOND_CASES


def names() -> list[str]:
    """All cases, in the order in which they are run and shown."""
    load = ["ours", "json", "json_without_gc", "hta", "workers", "huge", "stacks"]
    return [
        *(f"load/{name}" for name in load),
        "cli/list",
        "cli/run",
        *(f"query/{name}" for name in calls()),
        "stacks",
        "growth",
        "ranks",
        "path",
        "diff",
        "shown",
    ]
