"""Bandwidth of random copies, against plain Python."""

import random

import pytest
from queries import brute_memory_bandwidth as brute
from queries.bandwidths import COPY_KINDS, JOBS, QUERIES, SEEDS, UNIX
from queries.small_tables import completed
from seeds import seeds


def random_activities(rng):
    rows = []
    for number in range(JOBS):
        base = rng.choice([0, UNIX])
        ranks, devices = rng.choice([[0], [0, 1, 3]]), rng.choice([[0], [0, 1], [None, 7]])
        names = rng.sample([name for name, _ in COPY_KINDS if name], rng.choice([1, 2, 5]))
        bandwidths = rng.choice([[0.1, 0.2, 0.3, 0.7], [None], [2.5, None, 0.0, 671.25, -1.0]])
        longest = rng.choice([0, 3, 8, 30])
        for _ in range(rng.choice([0, 1, 2, 6, 15, 40])):
            rows.append(
                {
                    "job": f"job{number}",
                    "rank": rng.choice(ranks),
                    "device": rng.choice(devices),
                    "stream": rng.choice([None, 0, 7, 20]),
                    "step": rng.choice([None, 1, 2, 12]),
                    "kind": rng.choice(["memory", "memory", "memory", "computation"]),
                    "name": rng.choice(names),
                    "start_ns": base + rng.randint(0, 40),
                    "dur_ns": rng.randint(0, longest),
                    "bytes": rng.choice([None, 0, 1, 1000, 123_456_789_012]),
                    "bandwidth_gbps": rng.choice(bandwidths),
                }
            )
    return [completed("gpu_activities", row, i) for i, row in enumerate(rows)]


def random_parameters(rng):
    parameters = {
        "only_jobs": [f"job{number}" for number in rng.sample(range(JOBS), 18)],
        "only_ranks": rng.choice([[0], [1, 3], [5]]),
        "only_steps": rng.choice([[1], [2, 12], []]),
    }
    return {name: value for name, value in parameters.items() if rng.random() < 0.4}


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_random_copies(gpu, seed):
    rng = random.Random(seed)
    activities = random_activities(rng)
    for query in QUERIES:
        for given in ({}, random_parameters(rng)):
            wanted = list(getattr(brute, query)(activities, **given))
            gpu.compare(query, wanted, {"gpu_activities": activities}, seed, **given)


@pytest.mark.seeds
def test_random_copies_are_worth_it():
    """Every case that the queries have to tell apart comes up."""
    activities = [row for seed in SEEDS for row in random_activities(random.Random(seed))]
    groups = [rows for _, rows in brute.copies(activities)]
    series = [brute.points(rows) for rows in groups]
    known = [[row for row in rows if brute.bandwidth(row) is not None] for rows in groups]
    kinds = {kind for _, kind in COPY_KINDS}
    assert {key[3] for key, _ in brute.copies(activities)} == kinds
    assert any(not rows for rows in known)
    assert any(0 < len(few) < len(rows) for few, rows in zip(known, groups, strict=True))
    assert any(row["dur_ns"] == 0 for rows in groups for row in rows)
    # Ends and beginnings at one instant, copies that overlap, and points that are none.
    assert any(len(points) < 2 * len(rows) for points, rows in zip(series, known, strict=True))
    assert any(brute.time_of(rows) < sum(r["dur_ns"] for r in rows) for rows in groups)
    assert any(value == 0 for points in series for _, value in points[:-1])
    # Doubles would leave a residue.
    assert any(
        sum([float(brute.bandwidth(r)) for r in rows] + [-float(brute.bandwidth(r)) for r in rows])
        for rows in known
    )


def test_bytes_below_zero_are_not_known(gpu):
    gpu.expect(
        "memory_bandwidth_summary",
        """
        count  mean  bytes  copy_count
        1      10    100    2
    """,
        activities="""
        name         kind    start_ns  end_ns  bytes
        Memcpy~HtoD  memory  0         10      100
        Memcpy~HtoD  memory  20        30      -5
    """,
    )
