"""Queries across ranks on random rows, beside plain Python: overlaps, ties, no lengths, several
jobs, devices and groups, ids that come twice."""

import random
from collections import Counter, defaultdict

import pytest
from queries.brute_collectives import caused, collectives, members

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
                rows.append({
                    "job": job, "rank": rank, "device": rng.choice([0, 0, 1]), "stream": 20,
                    "kind": "communication", "name": "nccl", "collective_name": name,
                    "dtype": dtype, "in_nelems": 10 * seq, "out_nelems": 20 * seq,
                    "process_group_name": group, "process_group_desc": group,
                    "group_size": len(eval(GROUPS[group])), "process_group_ranks": GROUPS[group],
                    "in_split_sizes": "[]", "out_split_sizes": "[]", "seq": seq,
                    "comms_id": 2**64 - seq if with_ids[group] else None,
                    "start_ns": start, "end_ns": start + rng.choice([0, 1, 5, 5, 9, 30]),
                })  # fmt: skip
        for _ in range(rng.choice([0, 5, 40])):
            start = rng.randrange(80)
            rows.append({
                "job": job, "rank": rng.randrange(4), "device": rng.choice([0, 0, 1, None]),
                "kind": rng.choice(["computation", "computation", "memory"]), "name": "k",
                "collective_name": None, "comms_id": None, "seq": None, "start_ns": start,
                "end_ns": start + rng.choice([0, 1, 3, 10, 25]),
            })  # fmt: skip
    for event_id, row in enumerate(rows):
        row["event_id"] = event_id
    return rows


@pytest.mark.parametrize("seed", SEEDS)
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
    lasts = {
        (row["job"], row["rank"]):
            [row["last_count"], row["caused_wait_ns"], row["caused_exposed_wait_ns"]]
        for row in comm.run("stragglers") if row["last_count"]
    }  # fmt: skip
    assert lasts == caused(rows)
    busy = {
        key[:-1]: len(set().union(*(range(a["start_ns"], a["end_ns"]) for a in rows
                                    if (a["job"], a["rank"]) == key[:2]
                                    and key[2] in (a["kind"], "busy"))))
        for key in {(a["job"], a["rank"], kind, 0) for a in rows for kind in (a["kind"], "busy")}
    }
    summed: Counter = Counter()
    for row in comm.run("heatmap", bucket_count=rng.choice([1, 5, 13])):
        summed[row["job"], row["rank"], row["kind"]] += row["busy_ns"]
    # A rank whose clock is moved by clocks that do not fit keeps what it did.
    for key, ns in busy.items():
        assert summed[key] == ns
    for query in ("collectives", "collective_members", "stragglers", "collective_audit",
                  "collective_bandwidth", "clock_offsets", "heatmap", "kernel_timeline",
                  "process_groups", "straggler_blame", "lost_gpu_time", "rank_imbalance"):
        given = {"min_late_ns": 0} if query in ("straggler_blame", "lost_gpu_time") else {}
        assert comm.broken_promises(query, **given) == [], query
        result = comm.run(query, **given)
        if seed % 4 == 0:
            comm.fill(rng.sample(rows, len(rows)))
            assert comm.run(query, **given) == result, f"{query} depends on the order of its rows"
        of_job = comm.run(query, **given, only_jobs=["i"])
        assert of_job == [row for row in result if row["job"] == "i"], query


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
