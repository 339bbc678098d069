"""Queries across ranks on random rows, beside plain Python: overlaps, ties, no lengths, several
jobs, devices and groups, ids that come twice."""

import random
from collections import Counter, defaultdict

import pytest
from queries.brute_collectives import caused, collectives, members
from seeds import seeds

SEEDS = range(16)
GROUPS = {"a": "[0, 1, 2]", "b": "[0, 2]", "c": "[1, 2, 3]"}


def random_rows(rng: random.Random) -> list[dict]:
    rows = []
    for job in ("i", "j")[: rng.choice([1, 2])]:
        with_ids = {group: rng.random() < 0.6 for group in GROUPS}
        for _ in range(rng.choice([0, 3, 12, 25])):
            group = rng.choice([*GROUPS])
            seq = rng.choice([1, 2, 3, 4, 4, 5, 6])
            name = ["allreduce", "broadcast", "_allgather_base", "barrier"][seq % 4]
            dtype = rng.choice([*"AB"]) and ["Float", "Half", "Float8_e4m3fn", "Weird"][seq % 4]
            for rank in eval(GROUPS[group]):
                if rng.random() < 0.1:
                    continue
                start = rng.randrange(60)
                rows.append(
                    {
                        "job": job,
                        "rank": rank,
                        "device": rng.choice([0, 0, 1]),
                        "stream": 20,
                        "kind": "communication",
                        "name": "nccl",
                        "collective_name": name,
                        "dtype": dtype,
                        "in_nelems": 10 * seq,
                        "out_nelems": 20 * seq,
                        "process_group_name": group,
                        "process_group_desc": group,
                        "group_size": len(eval(GROUPS[group])),
                        "process_group_ranks": GROUPS[group],
                        "in_split_sizes": "[]",
                        "out_split_sizes": "[]",
                        "seq": seq,
                        "comms_id": 2**64 - seq if with_ids[group] else None,
                        "start_ns": start,
                        "end_ns": start + rng.choice([0, 1, 5, 5, 9, 30]),
                    }
                )
        for _ in range(rng.choice([0, 5, 40])):
            start = rng.randrange(80)
            rows.append(
                {
                    "job": job,
                    "rank": rng.randrange(4),
                    "device": rng.choice([0, 0, 1, None]),
                    "kind": rng.choice(["computation", "computation", "memory"]),
                    "name": "k",
                    "collective_name": None,
                    "comms_id": None,
                    "seq": None,
                    "start_ns": start,
                    "end_ns": start + rng.choice([0, 1, 3, 10, 25]),
                }
            )
    for event_id, row in enumerate(rows):
        row["event_id"] = event_id
    return rows


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_random_rows(comm, seed):
    rng = random.Random(seed)
    rows = random_rows(rng)
    comm.fill(rng.sample(rows, len(rows)))
    found, together = {}, defaultdict(set)
    for row in comm.run("collective_members"):
        together[row["job"], row["collective_id"]].add((row["rank"], row["event_id"]))
        found[row["job"], row["rank"], row["event_id"]] = row
    wanted = members(rows)
    assert found.keys() == wanted.keys()
    for key, (ids, wait, exposed) in wanted.items():
        row = found[key]
        assert (row["wait_ns"], row["exposed_wait_ns"]) == (wait, exposed), key
        assert together[row["job"], row["collective_id"]] == ids
    wanted = collectives(rows)
    results = comm.run("collectives")
    assert len(results) == len(wanted)
    for row in results:
        ids = frozenset((row["job"], *key) for key in together[row["job"], row["collective_id"]])
        transfer, size, speed = wanted[ids]
        assert (row["transfer_ns"], row["bytes"]) == (transfer, size)
        assert row["busbw_gbps"] == (None if speed is None else pytest.approx(speed))
    last_ranks = {(row["job"], row["collective_id"]): row["last_rank"] for row in results}
    last_of = {key: last_ranks[row["job"], row["collective_id"]] for key, row in found.items()}
    lasts = {
        (row["job"], row["rank"]): [
            row["last_count"],
            row["caused_wait_ns"],
            row["caused_exposed_wait_ns"],
        ]
        for row in comm.run("stragglers")
        if row["last_count"]
    }
    assert lasts == caused(rows, last_of)
    busy = {
        key[:-1]: len(
            set().union(
                *(
                    range(a["start_ns"], a["end_ns"])
                    for a in rows
                    if (a["job"], a["rank"]) == key[:2] and key[2] in (a["kind"], "busy")
                )
            )
        )
        for key in {(a["job"], a["rank"], kind, 0) for a in rows for kind in (a["kind"], "busy")}
    }
    summed: Counter = Counter()
    for row in comm.run("heatmap", bucket_count=rng.choice([1, 5, 13])):
        summed[row["job"], row["rank"], row["kind"]] += row["busy_ns"]
    # A rank whose clock is moved by clocks that do not fit keeps what it did.
    for key, ns in busy.items():
        assert summed[key] == ns
    for query in (
        "collectives",
        "collective_members",
        "stragglers",
        "collective_audit",
        "collective_bandwidth",
        "clock_offsets",
        "heatmap",
        "kernel_timeline",
        "process_groups",
        "straggler_blame",
        "lost_gpu_time",
        "rank_imbalance",
    ):
        given = {"min_late_ns": 0} if query in ("straggler_blame", "lost_gpu_time") else {}
        assert comm.broken_promises(query, **given) == [], query
        result = comm.run(query, **given)
        if seed % 4 == 0:
            comm.fill(rng.sample(rows, len(rows)))
            assert comm.run(query, **given) == result, f"{query} depends on the order of its rows"
        of_job = comm.run(query, **given, only_jobs=["i"])
        assert of_job == [row for row in result if row["job"] == "i"], query


@pytest.mark.seeds
def test_random_rows_are_worth_it():
    seen = Counter()
    for seed in SEEDS:
        rows = random_rows(random.Random(seed))
        for _, wait, exposed in members(rows).values():
            seen["waits"] += wait > 0
            seen["hidden in part"] += 0 < exposed < wait
        for transfer, size, speed in collectives(rows).values():
            seen["no length"] += transfer == 0
            seen["no size"] += size is None
            seen["speed"] += speed is not None
    assert min(seen.values()) > 10, seen


def test_who_is_last_of_equal_ones(comm):
    """Durations of whole microseconds: of those that came last together nobody is favoured."""
    rng = random.Random(0)
    rows, last_together = [], []
    for c in range(2000):
        shortest = rng.sample(range(6), rng.choice([2, 3]))
        last_together.append(shortest)
        for rank in range(6):
            wait = 0 if rank in shortest else 3000
            rows.append(
                {
                    "rank": rank,
                    "event_id": c,
                    "kind": "communication",
                    "name": "nccl",
                    "collective_name": "allreduce",
                    "process_group_name": "0",
                    "group_size": 6,
                    "process_group_ranks": "[0, 1, 2, 3, 4, 5]",
                    "comms_id": c,
                    "start_ns": 10_000 * c + 5000 - wait,
                    "dur_ns": 2000 + wait,
                }
            )
    comm.fill(rows)
    lasts = [row["last_rank"] for row in comm.run("collectives")]
    assert all(last in of for last, of in zip(lasts, last_together, strict=True))
    counts = [row["last_count"] for row in comm.run("stragglers")]
    assert counts == [lasts.count(rank) for rank in range(6)]
    assert min(counts) > 0.9 * 2000 / 6 and max(counts) < 1.1 * 2000 / 6
    assert not any(row["is_straggler"] for row in comm.run("stragglers"))
    blamed = [row["rank"] for row in comm.run("straggler_blame", min_late_ns=0)]
    assert len(blamed) == 2000 and blamed == lasts
