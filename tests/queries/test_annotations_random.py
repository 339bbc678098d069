"""Annotations over random rows, against plain Python."""

import random

import pytest
from queries import brute_annotations
from queries.brute_annotations import from_outer_to_inner, gpu_annotations, over, place
from queries.small_tables import DEFAULTS
from seeds import seeds

SEEDS = range(6)


JOBS = 25


UNIX = 1_712_151_111_631_234_567  # more digits than a double holds


NAMES = ("step", "loss", "ProfilerStep#1", "nccl:all_reduce")


PLACES = ((0, 7), (0, 8), (1, 7), (None, 7), (None, None))


def random_tables(rng):
    activities, ops, events = [], [], []
    for job in range(JOBS):
        base, ranks = rng.choice([0, UNIX]), rng.choice([[0], [0, 1, 3]])
        places = rng.sample(PLACES, rng.choice([1, 3]))
        longest = rng.choice([0, 4, 12, 40])
        hosts = {rank: [None] for rank in ranks}
        event_ids = {rank: iter(rng.sample(range(80), 80)) for rank in ranks}

        def row(dur_ns=None, job=job, base=base, longest=longest, event_ids=event_ids):
            rank, start_ns = rng.choice(list(event_ids)), base + rng.randint(0, 40)
            dur_ns = rng.randint(0, longest) if dur_ns is None else dur_ns
            return {
                "job": f"job{job}",
                "rank": rank,
                "event_id": next(event_ids[rank]),
                "start_ns": start_ns,
                "dur_ns": dur_ns,
                "end_ns": start_ns + dur_ns,
            }

        for _ in range(rng.choice([0, 1, 5, 12])):
            op = row()
            known = hosts[op["rank"]]
            ops.append(
                DEFAULTS["host_ops"]
                | op
                | {
                    "cat": "user_annotation",
                    "name": rng.choice(NAMES),
                    "step": rng.choice([None, 1, 2]),
                    "annotation_id": rng.choice([known[-1], rng.choice(known)]),
                    "external_id": rng.choice([None, *range(8)]),
                }
            )
            known.append(op["event_id"])
        for _ in range(rng.choice([0, 3])):
            ops.append(
                DEFAULTS["host_ops"]
                | row()
                | {"step": 1, "annotation_id": None, "external_id": rng.randrange(8)}
            )
        for _ in range(rng.choice([0, 2, 6, 20])):
            device, stream = rng.choice(places)
            given = rng.choice([True, False])  # as arguments, or as pid and tid
            events.append(
                DEFAULTS["events"]
                | row(rng.choice([None, 20, 30, 40]))
                | {
                    "cat": rng.choice(["gpu_user_annotation"] * 9 + ["user_annotation"]),
                    "ph": rng.choice("X" * 9 + "i"),
                    "name": rng.choice(NAMES),
                    "pid": "other" if given or device is None else str(device),
                    "tid": "other" if given or stream is None else str(stream),
                    "device": device if given else None,
                    "stream": stream if given else None,
                    "external_id": rng.choice([None, *range(8)]),
                }
            )
        for _ in range(rng.choice([0, 1, 6, 30])):
            device, stream = rng.choice(places)
            activity = row()
            activities.append(
                DEFAULTS["gpu_activities"]
                | activity
                | {
                    "device": device,
                    "stream": stream,
                    "name": rng.choice(["gemm", "relu"]),
                    "step": rng.choice([None, 1, 2]),
                    "annotation_id": rng.choice([None, None, rng.choice(hosts[activity["rank"]])]),
                }
            )
    return {"gpu_activities": activities, "host_ops": ops, "events": events}


def random_parameters(rng, query):
    parameters = {
        "only_jobs": [f"job{job}" for job in rng.sample(range(JOBS), 15)],
        "only_ranks": rng.choice([[0], [1, 3], [5]]),
        "only_steps": rng.choice([[1], [2, 12], []]),
        "name_contains": rng.choice(["gem", "e"] if query == "annotated_kernels" else ["st", "#"]),
    }
    return {name: value for name, value in parameters.items() if rng.random() < 0.4}


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_random_rows(gpu, seed):
    rng = random.Random(seed)
    tables = random_tables(rng)
    for query, given in [
        ("annotated_kernels", {}),
        ("annotation_stats", {}),
        ("annotation_stats", {"source": "host"}),
    ]:
        for more in ({}, random_parameters(rng, query), random_parameters(rng, query)):
            wanted = list(getattr(brute_annotations, query)(*tables.values(), **given, **more))
            gpu.compare(query, wanted, tables, seed, **given, **more)


@pytest.mark.seeds
def test_random_rows_are_worth_it():
    """Every case that the queries have to tell apart comes up."""
    tables = [random_tables(random.Random(seed)) for seed in SEEDS]
    found = [row for rows in tables for row in brute_annotations.annotated_kernels(*rows.values())]
    by_source = {"host": 0, "gpu": 0, None: 0}
    for row in found:
        by_source[row["annotation_source"]] += 1
    assert min(by_source.values()) > 100
    gpu_rows = [row for row in found if row["annotation_source"] == "gpu"]
    assert any(row["annotation_path"].count(";") > 1 for row in gpu_rows)
    assert {(row["device"], row["stream"]) for row in gpu_rows} == set(PLACES)
    host_paths = [
        row["annotation_path"].split(";") for row in found if row["annotation_source"] == "host"
    ]
    assert any(len(path) > len(set(path)) for path in host_paths)  # a name within itself
    # The last annotation to begin before an activity is not always the one around it.
    not_the_last = 0
    for rows in tables:
        by_place = {}
        for annotation in gpu_annotations(rows["events"]):
            by_place.setdefault(place(annotation), []).append(annotation)
        for row in rows["gpu_activities"]:
            begun = [
                a
                for a in by_place.get((row["job"], row["rank"], row["device"], row["stream"]), [])
                if a["start_ns"] <= row["start_ns"] and a["end_ns"] > a["start_ns"]
            ]
            around = [a for a in begun if over(a, row)]
            not_the_last += bool(around) and (
                max(begun, key=from_outer_to_inner) is not max(around, key=from_outer_to_inner)
            )
    assert not_the_last > 20
    of_steps = [
        row
        for rows in tables
        for row in brute_annotations.annotation_stats(*rows.values(), only_steps=[1])
    ]
    assert of_steps
