"""What is found in a made-up job, and what was made."""

from collections import defaultdict

SIZES = [8, 16, 64]


def pairs_found(comm) -> set[frozenset]:
    members = defaultdict(set)
    for row in comm.run("collective_members"):
        members[row["collective_id"]].add((row["rank"], row["event_id"]))
    assert set(members) == {row["collective_id"] for row in comm.run("collectives")}
    return {frozenset(found) for found in members.values()}


def pairs_made(made) -> set[frozenset]:
    return {frozenset(c.items()) for c in made.collectives if len(c) > 1}


def promises(comm) -> None:
    for name in (
        "collectives",
        "collective_members",
        "collective_audit",
        "clock_offsets",
        "stragglers",
        "straggler_blame",
        "lost_gpu_time",
        "process_groups",
    ):
        assert comm.broken_promises(name) == [], name


def audit(comm) -> list[tuple]:
    return [
        (row["reason"], row["rank"], row["collective_count"])
        for row in comm.run("collective_audit")
    ]
