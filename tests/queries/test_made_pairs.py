"""Jobs of many ranks: every pair right, each fault named once."""

import pytest
from queries.made_job import make, without
from queries.pairing import SIZES, audit, pairs_found, pairs_made, promises

pytestmark = pytest.mark.queries


@pytest.mark.parametrize("ids", ["comms_id", "seq", "none"])
@pytest.mark.parametrize("ranks", SIZES)
def test_clean_windows(comm, ranks, ids):
    made = make(ranks=ranks, ids=ids, steps=1 if ranks == 64 else 4)
    comm.fill(**made.tables())
    assert pairs_found(comm) == pairs_made(made)
    assert audit(comm) == []
    assert {row["paired_by"] for row in comm.run("collectives")} == {
        {"none": "order"}.get(ids, ids)
    }
    promises(comm)


def missing_first(made, rank: int, stream: int):
    first = min(
        (a for a in made.activities if a["rank"] == rank and a["stream"] == stream),
        key=lambda a: a["start_ns"],
    )
    return without(made, lambda a: a is first)


@pytest.mark.parametrize("ids", ["comms_id", "seq", "none"])
@pytest.mark.parametrize("stream", [20, 21, 22])
@pytest.mark.parametrize("with_steps", [True, False])
def test_missing_first_collective(comm, ids, stream, with_steps):
    """The rank was being recorded: its kernels ran before."""
    made = missing_first(make(ids=ids, with_steps=with_steps), 2, stream)
    comm.fill(**made.tables())
    assert pairs_found(comm) == pairs_made(made)
    assert audit(comm) == [("missing_rank", 2, 1)]


@pytest.mark.parametrize("ids", ["comms_id", "seq", "none"])
@pytest.mark.parametrize(("cut", "side"), [("start", 0.37), ("end", 0.61)])
@pytest.mark.parametrize("ranks", [8, 64])
def test_partial_window(comm, ids, cut, side, ranks):
    """One rank was recorded later, or stopped earlier, in the middle of a step."""
    made = make(ranks=ranks, ids=ids, steps=3, layers=1 if ranks == 64 else 3)
    times = [a["start_ns"] for a in made.activities if a["rank"] == 5]
    at = min(times) + int(side * (max(times) - min(times)))
    partial = without(made, lambda a: a["rank"] == 5 and (a["start_ns"] < at) == (cut == "start"))
    comm.fill(**partial.tables())
    assert pairs_found(comm) == pairs_made(partial)
    lost = sum(
        c.keys() != d.keys() for c, d in zip(made.collectives, partial.collectives, strict=True)
    )
    assert lost > 3
    assert audit(comm) == [("cut_by_window", 5, lost)]
    promises(comm)


@pytest.mark.parametrize(
    ("ids", "new"), [("comms_id", {}), ("comms_id", {"comms_id": 900}), ("seq", {}), ("none", {})]
)
def test_one_call_too_many(comm, ids, new):
    """One row of whom it is, and not that all others lack it; the others' pairs stay right."""
    made = make(ranks=8, ids=ids)
    calls = [a for a in made.activities if a["rank"] == 2 and a["stream"] == 20]
    call = calls[len(calls) // 2]
    after = {"start_ns": call["end_ns"] + 500, "end_ns": call["end_ns"] + 4500}
    made.activities.append(call | new | after | {"event_id": 10**6})
    comm.fill(**made.tables())
    assert audit(comm) == [("extra_call", 2, 1)]
    assert pairs_found(comm) == pairs_made(made)
    promises(comm)


def test_one_call_too_many_while_another_rank_was_not_recorded(comm):
    made = make(ranks=8)
    times = sorted(a["start_ns"] for a in made.activities if a["rank"] == 6)
    made = without(made, lambda a: a["rank"] == 6 and a["start_ns"] >= times[int(0.6 * len(times))])
    comm.fill(**made.tables())
    [cut] = audit(comm)
    last = max(
        (a for a in made.activities if a["rank"] == 2 and a["stream"] == 22),
        key=lambda a: a["start_ns"],
    )
    before = {"start_ns": last["start_ns"] - 5000, "end_ns": last["start_ns"] - 1000}
    made.activities.append(last | before | {"event_id": 10**6, "comms_id": 900})
    comm.fill(**made.tables())
    assert audit(comm) == [cut, ("extra_call", 2, 1)]


def test_several_faults_each_named_once(comm):
    made = missing_first(make(ranks=16), 9, 21)
    for row in made.activities:  # another format on one rank, and one collective of another name
        if row["rank"] == 3 and row.get("seq") == 2 and row["stream"] == 22:
            row["dtype"] = "Half"
        if row["rank"] == 6 and row.get("seq") == 3 and row["stream"] == 20:
            row["collective_name"] = "broadcast"
        if row["rank"] == 7 and row.get("seq") == 4 and row["stream"] == 20:
            row["in_nelems"] = 77
    swapped = [
        a
        for a in made.activities
        if a["rank"] == 12 and a["stream"] == 21 and a.get("seq") in (5, 6)
    ]
    one, two = sorted(swapped, key=lambda a: a["start_ns"])
    for key in ("seq", "comms_id", "collective_name", "in_nelems", "out_nelems"):
        one[key], two[key] = two[key], one[key]
    comm.fill(**made.tables())
    assert audit(comm) == [
        ("missing_rank", 9, 1),
        ("other_dtype", 3, 1),
        ("other_name", 6, 1),
        ("other_size", 7, 1),
        ("out_of_order", 12, 1),
    ]
    details = {row["reason"]: row["detail"] for row in comm.run("collective_audit")}
    assert details["other_dtype"] == "Half instead of Float"
    assert details["other_name"] == "broadcast instead of allreduce"
    assert details["out_of_order"] == "Seq 5 after 6"
    assert comm.broken_promises("collective_audit") == []
