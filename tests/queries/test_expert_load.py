"""Time in kernels of experts, and rows of all-to-alls, by rank."""

import json
import random
from collections import defaultdict

import pytest
from queries.collectives import call
from seeds import seeds

EXPERT, OTHER = "fused_moe_kernel", "softmax_warp_forward"


def kernel(rank: int, start: int, end: int, name: str = EXPERT, **given) -> dict:
    return {
        "rank": rank,
        "event_id": 1000 + start,
        "stream": 7,
        "kind": "computation",
        "name": name,
        "start_ns": start,
        "end_ns": end,
    } | given


def exchange(rank: int, start: int, end: int, sent: str, received: str) -> dict:
    return call(
        rank,
        start,
        end,
        event_id=start,
        collective_name="all_to_allv",
        in_split_sizes=sent,
        out_split_sizes=received,
    )


def test_two_ranks(comm):
    """Rank 1 gets 30 of 40 tokens, and its experts take 3 times as long."""
    comm.fill(
        [
            exchange(0, 1, 5, "[5, 15]", "[5, 5]"),
            exchange(1, 1, 3, "[5, 15]", "[15, 15]"),
            kernel(0, 10, 20),
            kernel(1, 10, 40),
            kernel(1, 50, 60, OTHER),
            call(0, 70, 80, event_id=70),  # an all-reduce
        ]
    )
    first, second = comm.run("expert_load")
    assert first == {
        "job": "j",
        "rank": 0,
        "expert_kernel_count": 1,
        "expert_ns": 10,
        "expert_frac": 1.0,
        "load_ratio": 0.5,
        "all_to_all_count": 1,
        "all_to_all_ns": 4,
        "sent_row_count": 20,
        "received_row_count": 10,
        "received_ratio": 0.5,
    }
    assert (second["expert_frac"], second["load_ratio"]) == (0.75, 1.5)
    assert (second["received_row_count"], second["received_ratio"]) == (30, 1.5)


def test_splits_that_are_not_all_there(comm):
    comm.fill([exchange(0, 1, 5, "[5, 15, ...]", "[5, 5]"), exchange(0, 9, 10, "[]", "[]")])
    [row] = comm.run("expert_load")
    assert (row["all_to_all_count"], row["sent_row_count"], row["received_row_count"]) == (
        1,
        None,
        10,
    )
    assert (row["expert_ns"], row["expert_frac"], row["load_ratio"]) == (0, None, None)


def test_a_rank_with_neither_has_no_row(comm):
    comm.fill([kernel(0, 1, 2, OTHER), call(0, 5, 6)])
    assert comm.run("expert_load") == []


@pytest.mark.parametrize("seed", seeds(range(4)))
def test_random_ranks(comm, seed):
    rng = random.Random(seed)
    activities, expected = [], {}
    for rank in range(5):
        experts, computing, sent, received, durations = [], [], [], [], []
        for at in range(rng.choice([0, 3, 10])):
            start, length = 100 * at, rng.choice([0, 1, 7])
            what = rng.choice(["expert", "other", "exchange"])
            if what == "exchange":
                splits = [[rng.randint(0, 9) for _ in range(5)] for _ in range(2)]
                activities.append(exchange(rank, start, start + length, *map(json.dumps, splits)))
                sent.append(sum(splits[0]))
                received.append(sum(splits[1]))
                durations.append(length)
                continue
            name = EXPERT if what == "expert" else OTHER
            activities.append(kernel(rank, start, start + length, name))
            computing.append(length)
            if what == "expert":
                experts.append(length)
        if experts or durations:
            expected[rank] = (
                len(experts),
                sum(experts),
                sum(experts) / sum(computing) if sum(computing) else None,
                len(durations),
                sum(durations),
                sum(sent) if sent else None,
                sum(received) if received else None,
            )
    comm.fill(activities)
    columns = (
        "expert_kernel_count",
        "expert_ns",
        "expert_frac",
        "all_to_all_count",
        "all_to_all_ns",
        "sent_row_count",
        "received_row_count",
    )
    rows = comm.run("expert_load")
    assert {row["rank"]: tuple(row[column] for column in columns) for row in rows} == expected
    ratios = defaultdict(list)
    for row in rows:
        for name in ("load_ratio", "received_ratio"):
            ratios[name].append(row[name])
    for values in ratios.values():
        known = [value for value in values if value is not None]
        assert not known or sum(known) / len(known) == pytest.approx(1)
    assert comm.broken_promises("expert_load") == []
