"""Lengths of queues of random jobs, against plain Python."""

import random

import pytest
from queries import brute_queue_lengths as brute_force
from queries.brute_force import grouped
from queries.queues import QUERIES
from queries.small_tables import completed
from seeds import seeds

JOBS = 30  # in one table, so that a few hundred small cases cost a few dozen calls


SEEDS = range(8)


UNIX = 1_712_151_111_631_234_567


def random_tables(rng):
    activities, traces = [], []
    for number in range(JOBS):
        job, base = f"job{number}", rng.choice([0, UNIX])
        ranks, devices = rng.choice([[0], [0, 1, 3]]), rng.choice([[0], [0, 1], [None, 7]])
        streams = rng.choice([[7], [7, 20, 0], [None, 13]])
        longest_wait, earliest = rng.choice([0, 2, 10, 60]), rng.choice([0, 0, 0, 5])
        launches = [base + rng.randint(0, 40) for _ in range(10)]
        has_launch = rng.choice([1, 0.7])
        for _ in range(rng.choice([0, 1, 2, 6, 15, 40])):
            launch = rng.randrange(10)  # also of several activities
            start_ns = launches[launch] + rng.randint(-earliest, longest_wait)
            row = {"start_ns": start_ns, "launch_id": None, "launch_start_ns": None}
            if rng.random() < has_launch:
                row |= {"launch_id": 1000 + launch, "launch_start_ns": launches[launch]}
            activities.append(
                row
                | {
                    "job": job,
                    "rank": rng.choice(ranks),
                    "device": rng.choice(devices),
                    "stream": rng.choice(streams),
                    "step": rng.choice([None, 1, 2, 12]),
                    "dur_ns": rng.randint(0, 8),
                }
            )
        traces += [
            {
                "job": job,
                "rank": rank,
                "start_ns": base - 5,
                "end_ns": rng.choice([None, base + 200]),
            }
            for rank in ranks
            if rng.random() < 0.9
        ]
    return {
        "gpu_activities": [completed("gpu_activities", row, i) for i, row in enumerate(activities)],
        "traces": traces,
    }


def random_parameters(rng, query):
    parameters = {
        "only_jobs": [f"job{number}" for number in rng.sample(range(JOBS), 18)],
        "only_ranks": rng.choice([[0], [1, 3], [5]]),
        "only_steps": rng.choice([[1], [2, 12], []]),
    }
    parameters = {name: value for name, value in parameters.items() if rng.random() < 0.4}
    if query == "queue_full_time":
        parameters["max_queue_length"] = rng.choice([-1, 0, 1, 2, 5])
    return parameters


def wanted_of(query, tables, given):
    rows = [tables["gpu_activities"]] + [tables["traces"]] * (query == "queue_full_time")
    return list(getattr(brute_force, query)(*rows, **given))


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_random_jobs(gpu, seed):
    rng = random.Random(seed)
    tables = random_tables(rng)
    for query in QUERIES:
        for given in ({}, random_parameters(rng, query)):
            gpu.compare(query, wanted_of(query, tables, given), tables, seed, **given)


@pytest.mark.seeds
def test_random_jobs_are_worth_it():
    """Every case that the queries have to tell apart comes up."""
    all_tables = [random_tables(random.Random(seed)) for seed in SEEDS]

    def rows_of(query, **given):
        return [row for tables in all_tables for row in wanted_of(query, tables, given)]

    summaries = rows_of("queue_length_summary")
    assert len(summaries) > 500
    assert any(row["time_weighted_mean"] is None for row in summaries)
    assert any(row["min"] < -1 for row in summaries)
    assert any(row["min"] == 0 and row["early_start_count"] > 0 for row in summaries)
    assert any(row["device"] is None and row["stream"] is None for row in summaries)
    fracs = [row["full_frac"] for row in rows_of("queue_full_time", max_queue_length=2)]
    assert None in fracs and 0 in fracs and any(fracs)
    by_instant = [
        {(row["at_ns"], row["change"]) for row in rows}
        for _, rows in grouped(rows_of("queue_length_series"), *brute_force.STREAM)
    ]
    assert any(
        (at_ns, -change) in of_stream for of_stream in by_instant for at_ns, change in of_stream
    )
    launched = [row for tables in all_tables for row in tables["gpu_activities"]]
    assert any(row["launch_id"] is None for row in launched)
    of_launches = grouped(
        [row for row in launched if row["launch_id"]], *brute_force.STREAM, "launch_id"
    )
    assert any(len(rows) > 1 for _, rows in of_launches)
