"""Communication of one rank alone."""

import random
from statistics import median

import pytest
from queries.collectives import call
from seeds import seeds

BYTES = {"Float": 4, "BFloat16": 2, "Byte": 1}
# Operation, passes, and whether a rank keeps its own share: nccl-tests, doc/PERFORMANCE.md.
FACTORS = {
    "allreduce": (2, True),
    "_allgather_base": (1, True),
    "broadcast": (1, False),
    "barrier": None,
    "something_new": None,
}


def test_one_rank_of_two(comm):
    """
    rank 0   [== allreduce )      [= allreduce )    10 and 8
             [ gemm )             [ gemm        )   4 and 8 of them are hidden
    """
    comm.fill(
        [
            call(0, 0, 10, event_id=1),
            call(0, 20, 28, event_id=2, seq=2),
            {"event_id": 3, "stream": 7, "start_ns": 0, "end_ns": 4},
            {"event_id": 4, "stream": 7, "start_ns": 20, "end_ns": 28},
            {
                "event_id": 5,
                "kind": "communication",
                "name": "cross_device_reduce",
                "short_name": "cross_device_reduce",
                "start_ns": 40,
                "end_ns": 45,
            },
        ]
    )
    first, second = comm.run("rank_collectives")
    assert first == {
        "job": "j",
        "rank": 0,
        "process_group": "0",
        "name": "allreduce",
        "dtype": "Float",
        "bytes": 4000,
        "group_size": 2,
        "count": 2,
        "total_ns": 18,
        "mean_ns": 9,
        "min_ns": 8,
        "p50_ns": 9,
        "p95_ns": 10,
        "max_ns": 10,
        "bytes_total": 8000,
        "hidden_frac": 12 / 18,
        "busbw_lower_bound_gbps": 4000 * 2 * (1 / 2) / 8,
    }
    assert (second["name"], second["process_group"], second["bytes"], second["hidden_frac"]) == (
        "cross_device_reduce",
        None,
        None,
        0,
    )
    assert second["busbw_lower_bound_gbps"] is None


def test_a_barrier_has_no_bytes(comm):
    comm.fill([call(0, 0, 10, collective_name="barrier", in_nelems=0, out_nelems=0)])
    [row] = comm.run("rank_collectives")
    assert (row["bytes"], row["bytes_total"], row["busbw_lower_bound_gbps"]) == (None, None, None)


def test_splits_have_no_bandwidth(comm):
    comm.fill([call(0, 0, 10, collective_name="all_to_allv", in_split_sizes="[1, 2]")])
    [row] = comm.run("rank_collectives")
    assert (row["bytes"], row["busbw_lower_bound_gbps"]) == (4000, None)


def percentile(values: list[int], share: float) -> float:
    values = sorted(values)
    at = share * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (at - low)


def brute(calls: list[dict]) -> dict[tuple, dict]:
    groups: dict[tuple, list[dict]] = {}
    for row in calls:
        size = max(row["in_nelems"], row["out_nelems"])
        size = size * BYTES[row["dtype"]] or None
        key = (row["rank"], row["process_group_name"], row["collective_name"], row["dtype"], size)
        groups.setdefault(key, []).append(row)
    found = {}
    for key, rows in groups.items():
        times = [row["end_ns"] - row["start_ns"] for row in rows]
        size = key[-1]
        group = max(row["group_size"] for row in rows)
        factor = FACTORS[key[2]]
        bound = None
        if factor and size and min(times):
            passes, keeps = factor
            bound = size * passes * ((group - 1) / group if keeps else 1) / min(times)
        found[key] = {
            "group_size": group,
            "count": len(rows),
            "total_ns": sum(times),
            "mean_ns": sum(times) / len(times),
            "min_ns": min(times),
            "p50_ns": median(times),
            "p95_ns": percentile(times, 0.95),
            "max_ns": max(times),
            "bytes_total": size and size * len(rows),
            "busbw_lower_bound_gbps": bound,
        }
    return found


@pytest.mark.parametrize("seed", seeds(10))
def test_random_calls(comm, seed):
    draw = random.Random(seed)
    calls = []
    for at in range(draw.randint(0, 60)):
        start = draw.randint(0, 1000)
        calls.append(
            call(
                draw.randint(0, 2),
                start,
                start + draw.randint(0, 40),
                event_id=at,
                collective_name=draw.choice(list(FACTORS)),
                dtype=draw.choice(list(BYTES)),
                in_nelems=draw.choice([0, 64, 100]),
                out_nelems=draw.choice([0, 64, 400]),
                group_size=4,
                process_group_name=draw.choice(["0", "1"]),
            )
        )
    comm.fill(calls)
    rows = comm.run("rank_collectives")
    assert comm.broken_promises("rank_collectives") == []
    wanted = brute(calls)
    assert len(rows) == len(wanted)
    for row in rows:
        key = tuple(row[name] for name in ("rank", "process_group", "name", "dtype", "bytes"))
        for column, value in wanted[key].items():
            assert row[column] == pytest.approx(value, abs=0.5 if column.endswith("_ns") else 1e-9)
