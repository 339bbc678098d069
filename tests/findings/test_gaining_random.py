"""What part of the GPU time shortens the step: the same in plain Python, on random streams."""

import random

import pytest
from findings.drawn import Rules


@pytest.fixture(scope="module")
def rules() -> Rules:
    return Rules()


def drawn(rng: random.Random) -> tuple[list[dict], list[dict]]:
    """Activities on up to three streams, and waits of the host."""
    activities, waits = [], []
    for stream in range(rng.randint(1, 3)):
        now = 0
        for _ in range(rng.randint(1, 12)):
            now += rng.choice([0, 0, rng.randint(1, 20)])
            dur_ns = rng.randint(0, 10)
            launched_ns = now - rng.randint(0, 25)
            launch = {
                "launch_id": rng.choice([1000 + len(activities), 1000, None]),
                "launch_start_ns": launched_ns,
                "launch_end_ns": launched_ns + rng.randint(0, 10),
            }
            if launch["launch_id"] is None:
                launch = {}
            activities.append(
                {
                    "event_id": len(activities),
                    "stream": stream,
                    "start_ns": now,
                    "end_ns": now + dur_ns,
                    "name": f"k{len(activities)}",
                }
                | launch
            )
            now += dur_ns
    for number in range(rng.randint(0, 4)):
        start_ns = rng.randint(0, 80)
        waits.append(
            {
                "event_id": 5000 + number,
                "cat": "cuda_runtime",
                "name": "cudaStreamSynchronize",
                "start_ns": start_ns,
                "end_ns": start_ns + rng.randint(1, 30),
            }
        )
    return activities, waits


def gains(activities: list[dict], waits: list[dict]) -> dict[str, int]:
    """The duration of each kernel, or 0 if the next late launch on its stream is no use."""
    late = {}
    seen: set[int] = set()
    for row in sorted(activities, key=lambda r: (r["start_ns"], r["event_id"])):
        before = [
            r["end_ns"]
            for r in activities
            if r["stream"] == row["stream"] and in_order(r) < in_order(row)
        ]
        since = max(before, default=None)
        if since is None or row["start_ns"] <= since or row.get("launch_end_ns") is None:
            continue
        if row["launch_end_ns"] <= since or row["launch_id"] in seen:
            continue
        seen.add(row["launch_id"])
        ends = [w["end_ns"] for w in waits if w["start_ns"] <= since]
        late[row["event_id"]] = bool(ends) and since <= max(ends) <= row["start_ns"]
    result = {}
    for row in activities:
        after = [
            r
            for r in activities
            if r["stream"] == row["stream"]
            and in_order(r) > in_order(row)
            and r["event_id"] in late
        ]
        first = min(after, key=in_order, default=None)
        counts = first is None or late[first["event_id"]]
        result[row["name"]] = row["end_ns"] - row["start_ns"] if counts else 0
    return result


def in_order(row: dict) -> tuple[int, int]:
    return row["start_ns"], row["event_id"]


@pytest.mark.parametrize("seed", range(6))
def test_gaining_time(rules, seed):
    activities, waits = drawn(random.Random(seed))
    rules.fill(activities, waits)
    found = {row["name"]: row["gaining_ns"] for row in rules.shared("gpu_work")}
    assert found == gains(activities, waits)
