"""Call stacks over random rows, against plain Python."""

import random
from collections import Counter
from zlib import crc32

import pytest
from queries import brute_stacks
from seeds import seeds

NAMES = ("step", "a", "a;b", "a:b", "c\nd", "", None)


CATS = ("cpu_op", "user_annotation", "python_function", "cuda_runtime")


MAIN, SECOND_MAIN, AUTOGRAD, SECOND_AUTOGRAD = "1", "2", "3", "4"


def placed(spans):
    """Each span of one thread in the stack, by walking it: nested, crossing, empty, equal ones."""
    stack = []
    for span in sorted(spans, key=lambda s: (s["start_ns"], -s["end_ns"], s["event_id"])):
        start = span["start_ns"]

        def is_over(outer, span=span):
            both_empty = outer["start_ns"] == outer["end_ns"] == span["start_ns"] == span["end_ns"]
            return outer["end_ns"] <= span["start_ns"] and not both_empty

        while stack and (is_over(stack[-1]) or stack[-1]["end_ns"] < span["end_ns"]):
            outer = stack.pop()
            if outer["end_ns"] > start:
                outer["cut_ns"] = start
        names = [*(stack[-1]["names"] if stack else ()), span["name"]]
        span |= {
            "parent_id": stack[-1]["event_id"] if stack else None,
            "root_id": (stack or [span])[0]["event_id"],
            "depth": len(stack),
            "names": names,
            "stack_hash": crc32(repr(names).encode()),
        }
        stack.append(span)


def random_rank(rng, job, rank):
    ids = iter(rng.sample(range(90), 90))
    ops = []
    for tid in (MAIN, SECOND_MAIN, AUTOGRAD, SECOND_AUTOGRAD):
        spans = []
        for _ in range(rng.randrange(15)):
            start = rng.choice((0, 1, 2, 3, rng.randrange(20)))
            spans.append(
                {
                    "job": job,
                    "rank": rank,
                    "event_id": next(ids),
                    "cat": rng.choice(CATS),
                    "name": rng.choice(NAMES),
                    "pid": "1",
                    "tid": tid,
                    "start_ns": start,
                    "end_ns": start + rng.choice((0, 1, 3, 9, 20, 25 - start)),
                    "cut_ns": None,
                    "caller_id": None,
                    "step": rng.choice((None, 1, 2)),
                }
            )
            spans[-1]["dur_ns"] = spans[-1]["end_ns"] - start
        placed(spans)
        ops += spans
    for op in ops:
        if op["depth"] == 0 and op["tid"] in (AUTOGRAD, SECOND_AUTOGRAD):
            # Of the main thread, whenever: the queries go by the link alone.
            op["caller_id"] = rng.choice(
                [
                    None,
                    *(
                        outer["event_id"]
                        for outer in ops
                        if outer["cat"] == "user_annotation" and outer["tid"] == MAIN
                    ),
                ]
            )
        op["forward_id"] = rng.choice([None, *(other["event_id"] for other in ops)])
        del op["names"]
    launches = [op["event_id"] for op in ops if op["cat"] == "cuda_runtime"]
    activities = []
    for _ in range(rng.randrange(8)):
        start, dur = rng.randrange(40), rng.choice((0, 1, 5))
        name = rng.choice(NAMES)
        activities.append(
            {
                "job": job,
                "rank": rank,
                "event_id": next(ids),
                "cat": "kernel",
                "name": name,
                "short_name": name,
                "device": rng.choice((None, 0, 1)),
                "stream": rng.choice((None, 0, 7)),
                "start_ns": start,
                "dur_ns": dur,
                "end_ns": start + dur,
                "launch_id": rng.choice([None, *launches]),
                "step": rng.choice((None, 1, 2)),
            }
        )
    return activities, ops


def random_rows(seed):
    rng = random.Random(seed)
    activities, ops = [], []
    for job, rank in (("j", 0), ("j", 1), ("k", 0)):
        of_rank = random_rank(rng, job, rank)
        activities += of_rank[0]
        ops += of_rank[1]
    return {"gpu_activities": activities, "host_ops": ops}


SELECTIONS = (
    {},
    {"only_ranks": [1]},
    {"only_jobs": ["k"]},
    {"only_steps": [1]},
    {"only_steps": [2], "only_ranks": [0]},
)


@pytest.mark.parametrize("seed", seeds(10))
def test_random_folded_stacks(host, seed):
    tables = random_rows(seed)
    given = {"weight": ("gpu", "host")[seed % 2]} | SELECTIONS[seed % len(SELECTIONS)]
    wanted = list(brute_stacks.folded_stacks(*tables.values(), **given))
    host.compare("folded_stacks", wanted, tables, seed, **given)


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("seed", seeds(10))
def test_random_folded_stacks_that_are_too_deep(host, seed, most):
    tables = random_rows(seed)
    given = {"weight": ("gpu", "host")[seed % 2]}
    wanted = list(brute_stacks.folded_stacks(*tables.values(), **given, most=most))
    with host.replaced("most_frames", most):
        host.compare("folded_stacks", wanted, tables, seed, **given)


@pytest.mark.parametrize("seed", seeds(10))
def test_random_call_stacks(host, seed):
    tables = random_rows(seed)
    rng = random.Random(seed)
    event = rng.choice(tables["host_ops"] + tables["gpu_activities"])
    given = {"of_event": event["event_id"]} | rng.choice(({}, {"of_rank": event["rank"]}))
    wanted = list(brute_stacks.call_stack(*tables.values(), **given))
    host.compare("call_stack", wanted, tables, seed, **given)
    for of_event in rng.sample(range(90), 2):
        wanted = list(brute_stacks.call_stack(*tables.values(), of_event))
        assert host.run("call_stack", of_event=of_event) == wanted


def test_random_rows_are_worth_it():
    """They have what is easily wrong, and often."""
    seen = Counter()
    for seed in range(20):
        activities, ops = random_rows(seed).values()
        by_id = {(op["job"], op["rank"], op["event_id"]): op for op in ops}
        for op in ops:
            seen["deep"] += op["depth"] >= 4
            seen["cut"] += op["cut_ns"] is not None
            seen["empty"] += op["dur_ns"] == 0
            seen["called by another thread"] += op["caller_id"] is not None
            caller = by_id.get((op["job"], op["rank"], op["caller_id"]))
            if caller:
                seen["caller is called"] += caller["depth"] > 0
                seen["caller was cut"] += caller["cut_ns"] is not None
                seen["caller is empty"] += caller["dur_ns"] == 0
        for (_, _), rank in brute_stacks.ranks(activities, ops):
            for event in [*rank.ops, *rank.activities]:
                relations = Counter(row["relation"] for row in rank.call_stack(event))
                seen.update(relations)
                seen["forward pass and activities"] += (
                    relations["forward"] and relations["activity"] > 0
                )
        stacks = Counter(
            (row["job"], row["rank"], row["stack"])
            for row in brute_stacks.folded_stacks(activities, ops)
        )
        seen["stacks"] += len(stacks)
        seen["of several activities"] += len(activities) - len(stacks)
    rare = {"caller is empty": 1, "of several activities": 5, "caller was cut": 5}
    assert {what: n for what, n in seen.items() if n < rare.get(what, 20)} == {}
    assert len(seen) == 16
