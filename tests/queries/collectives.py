"""Drawn collectives."""

TYPED_EMPTY = (
    "collectives",
    "collective_members",
    "collective_audit",
    "collective_bandwidth",
    "clock_offsets",
    "rank_imbalance",
    "stragglers",
    "point_to_point",
    "pipeline_bubbles",
    "all_to_all_matrix",
    "process_groups",
    "straggler_blame",
    "lost_gpu_time",
)


def call(rank: int, start: int, end: int, **given) -> dict:
    """A member of the first all-reduce of a group of the ranks 0 and 1."""
    return {
        "rank": rank,
        "event_id": rank + 10 * (given.get("seq", 1) or 0),
        "stream": 20,
        "kind": "communication",
        "name": "nccl",
        "collective_name": "allreduce",
        "start_ns": start,
        "end_ns": end,
        "dtype": "Float",
        "in_nelems": 1000,
        "out_nelems": 1000,
        "group_size": 2,
        "process_group_name": "0",
        "process_group_desc": "default_pg",
        "process_group_ranks": "[0, 1]",
        "seq": 1,
        "in_split_sizes": "[]",
        "out_split_sizes": "[]",
    } | given


def columns(rows, *names) -> list[tuple]:
    return [tuple(row[name] for name in names) for row in rows]
