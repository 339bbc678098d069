"""Random jobs for job_summary."""

import random

from fleet.brute_summary import NS
from queries.small_tables import completed

SEEDS = range(12)


GROUPS = {"a": "[0, 1, 2]", "b": "[0, 2]"}


def random_tables(rng: random.Random) -> dict[str, list[dict]]:
    """In ticks: jobs of up to three ranks; some without steps, without GPUs, without anything."""
    activities, ops, traces = [], [], []
    for job in ("g", "h", "i", "j"):
        ranks = rng.choice([[0], [0, 1, 2]])
        for rank in ranks:
            traces.append(
                {
                    "job": job,
                    "rank": rank,
                    "world_size": rng.choice([None, 3]),
                    "host": rng.choice([None, "n1", "n2"]),
                    "device_name": rng.choice(["A", "B", None]),
                    "start_ns": rng.choice([None, 5, 1_712_151_111_631_234_567, 10**18 + rank]),
                }
            )
        for _ in range(rng.choice([0, 0, 3, 12])):
            group, seq = rng.choice([*GROUPS]), rng.choice([1, 2, 3, 4, 4, 5])
            name = ["allreduce", "broadcast", "_allgather_base", "barrier"][seq % 4]
            for rank in set(eval(GROUPS[group])) & set(ranks):
                start = rng.randrange(60)
                activities.append(
                    {
                        "job": job,
                        "rank": rank,
                        "device": rng.choice([0, 0, 1]),
                        "stream": 20,
                        "kind": "communication",
                        "name": rng.choice(["nccl", "gemm"]),
                        "collective_name": name,
                        "dtype": "Float",
                        "in_nelems": seq,
                        "seq": seq,
                        "out_nelems": seq,
                        "process_group_name": group,
                        "process_group_desc": group,
                        "group_size": len(eval(GROUPS[group])),
                        "process_group_ranks": GROUPS[group],
                        "comms_id": seq,
                        "step": None,
                        "start_ns": start,
                        "end_ns": start + rng.choice([0, 1, 5, 5, 9, 30]),
                    }
                )
        for _ in range(rng.choice([0, 1, 6, 30])):
            start = rng.randrange(100)
            activities.append(
                {
                    "job": job,
                    "rank": rng.choice(ranks),
                    "device": rng.choice([0, 0, 1, None]),
                    "kind": rng.choice(["computation", "computation", "memory"]),
                    "name": rng.choice(["gemm", "add", "copy"]),
                    "collective_name": None,
                    "comms_id": None,
                    "seq": None,
                    "step": None,
                    "start_ns": start,
                    "end_ns": start + rng.choice([0, 1, 3, 10]),
                }
            )
        for _ in range(rng.choice([0, 0, 8])):
            ops.append(
                {
                    "job": job,
                    "rank": rng.choice(ranks),
                    "start_ns": rng.randrange(60),
                    "cat": rng.choice(["cpu_op", "user_annotation", "python_function"]),
                    "name": rng.choice(["aten::mm", "ProfilerStep#1", "ProfilerStep#2"]),
                    "dur_ns": rng.randrange(30),
                    "step": None,
                }
            )
    for number, a in enumerate(activities):
        a["launch_id"] = rng.choice([None, 1000 + number // 2])
        if a["launch_id"]:
            a["launch_start_ns"] = a["start_ns"] - rng.randrange(20)
            a["launch_end_ns"] = a["launch_start_ns"] + rng.randrange(30)
    return {
        "gpu_activities": [completed("gpu_activities", row, i) for i, row in enumerate(activities)],
        "host_ops": [completed("host_ops", row, i) for i, row in enumerate(ops)],
        "traces": traces,
    }


def in_ns(tables: dict[str, list[dict]]) -> dict[str, list[dict]]:
    """The same with times in ns; those of traces are already."""
    times = ("start_ns", "end_ns", "dur_ns", "launch_start_ns", "launch_end_ns")
    return {
        table: rows
        if table == "traces"
        else [row | {k: NS * row[k] for k in times if row.get(k) is not None} for row in rows]
        for table, rows in tables.items()
    }
