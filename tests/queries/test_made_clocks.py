"""Jobs of many ranks: clocks and the straggler found, and nothing moved by clocks."""

import pytest
from queries.made_job import CAUSES, T0, make, without
from queries.pairing import SIZES, audit, pairs_found, pairs_made, promises
from seeds import seeds

pytestmark = pytest.mark.queries


@pytest.mark.parametrize("ranks", SIZES)
@pytest.mark.parametrize("seed", seeds([1, 2]))
@pytest.mark.parametrize("ids", ["comms_id", "none"])
def test_clock_offsets(comm, ranks, seed, ids):
    made = make(ranks=ranks, seed=seed, ids=ids, steps=4, layers=1 if ranks == 64 else 3)
    comm.fill(**made.tables())
    rows = comm.run("clock_offsets")
    assert [row["rank"] for row in rows] == list(range(ranks))
    for row in rows:
        offset, drift = made.clocks[row["rank"]]
        assert row["reference_rank"] == 0 and row["reference_ns"] == T0
        assert abs(row["offset_ns"] - offset) <= min(5_000, row["residual_ns"] + 1), row
        assert row["residual_ns"] <= 5_000
        # Over the window, offset and drift together.
        last = max(a["start_ns"] for a in made.activities) - T0
        wrong = row["offset_ns"] - offset + last * (row["drift_ppm"] - drift) / 1e6
        assert abs(wrong) <= 5_000, row
    assert comm.broken_promises("clock_offsets") == []


def test_clocks_through_other_ranks(comm):
    """Without the world's collectives rank 7 is tied to 0 by its own groups only."""
    made = without(make(ranks=16, steps=5), lambda a: a["stream"] == 22)
    comm.fill(**made.tables())
    for row in comm.run("clock_offsets"):
        assert row["reference_rank"] == 0
        assert abs(row["offset_ns"] - made.clocks[row["rank"]][0]) <= 5_000
    apart = without(made, lambda a: a["stream"] == 21)  # what is left ties four each
    comm.fill(**apart.tables())
    rows = comm.run("clock_offsets")
    assert [row["reference_rank"] for row in rows] == [4 * (r // 4) for r in range(16)]
    for row in rows:
        truth = made.clocks[row["rank"]][0] - made.clocks[row["reference_rank"]][0]
        assert abs(row["offset_ns"] - truth) <= 5_000
    alone = without(apart, lambda a: a["rank"] == 6 and a["stream"] == 20)
    comm.fill(**alone.tables())
    assert [row["rank"] for row in comm.run("clock_offsets") if row["offset_ns"] is None] == [6]
    assert comm.broken_promises("clock_offsets") == []


def test_far_apart_clocks(comm):
    """Ten minutes between machines that nobody has set."""
    made = make(ranks=8, steps=5)
    for table in (made.activities, made.ops):
        for row in table:
            if row["rank"] >= 4:
                for key in row.keys() & {"start_ns", "end_ns", "launch_start_ns", "launch_end_ns"}:
                    row[key] += 600_000_000_000
    comm.fill(**made.tables())
    assert pairs_found(comm) == pairs_made(made)
    for row in comm.run("clock_offsets"):
        late = 600_000_000_000 if row["rank"] >= 4 else 0
        assert abs(row["offset_ns"] - made.clocks[row["rank"]][0] - late) <= 5_000
    skews = [row["start_skew_ns"] for row in comm.run("collectives")]
    aligned = [row["aligned_wait_ns"] for row in comm.run("collective_members")]
    assert max(skews) < 10_000_000 and max(aligned) < 10_000_000


def test_waits_do_not_move_with_clocks(comm):
    waits = []
    for clocks in (False, True):
        made = make(ranks=8, seed=3, clocks=clocks, jitter_ns=0)
        comm.fill(**made.tables())
        waits.append(
            [
                (row["rank"], row["event_id"], row["wait_ns"], row["exposed_wait_ns"])
                for row in comm.run("collective_members")
            ]
        )
        ends = {(row["rank"], row["event_id"]): row for row in made.activities}
        for row in comm.run("collective_members"):
            activity = ends[row["rank"], row["event_id"]]
            assert row["dur_ns"] == activity["end_ns"] - activity["start_ns"]
            assert abs(row["aligned_wait_ns"] - row["wait_ns"]) <= 150
    # A drifting clock measures durations by a few millionths otherwise.
    still, moved = (sorted(rows) for rows in waits)
    assert [row[:2] for row in still] == [row[:2] for row in moved]
    for one, other in zip(still, moved, strict=True):
        assert abs(one[2] - other[2]) <= 80 and abs(one[3] - other[3]) <= 80


@pytest.mark.parametrize("cause", CAUSES)
@pytest.mark.parametrize(("ranks", "straggler"), [(8, 3), (16, 9), (64, 42)])
def test_straggler_and_its_cause(comm, cause, ranks, straggler):
    made = make(ranks=ranks, straggler=straggler, cause=cause, steps=2 if ranks == 64 else 4)
    comm.fill(**made.tables())
    rows = comm.run("stragglers")
    assert [row["rank"] for row in rows if row["is_straggler"]] == [straggler]
    assert [row["rank"] for row in rows if row["position"] == 1] == [straggler]

    lost = comm.run("lost_gpu_time")
    first = lost[0]
    assert (first["rank"], first["cause"]) == (straggler, cause)
    assert first["host"] == f"node-{straggler // 8}"
    # But for the first ones, which have none before them to begin from.
    assert first["lost_gpu_ns"] > 0.7 * sum(row["lost_gpu_ns"] for row in lost)
    if cause == "host":
        assert first["host_name"] == "enumerate(DataLoader)#next"
        assert first["kernel_name"] is None
    else:
        assert first["kernel_name"] == {"computation": "gemm", "copy": "Memcpy HtoD"}[cause]
        assert first["op_name"] == {"computation": "aten::gemm", "copy": "aten::Memcpy HtoD"}[cause]

    blame = comm.run("straggler_blame", min_late_ns=100_000)
    roots = [row for row in blame if row["is_root"] and row["cause"] != "unexplained"]
    assert {(row["rank"], row["cause"]) for row in roots} == {(straggler, cause)}
    # Ranks that it held up in one group came late to another.
    assert {row["hop"] for row in roots} >= {0, 1}
    assert all(
        row["rank"] != straggler and row["cause"] == "waiting"
        for row in blame
        if not row["is_root"]
    )
    firsts = {}
    for row in comm.run("collectives"):
        firsts.setdefault(row["group_id"], row["collective_id"])
    # Of the first ones of a group nobody knows when its members were last together.
    assert {row["collective_id"] for row in blame if row["cause"] == "unexplained"} <= {
        *firsts.values()
    }
    promises(comm)


def test_nobody_is_a_straggler(comm):
    for seed in range(5):
        comm.fill(**make(ranks=16, seed=seed, steps=4).tables())
        assert [row["rank"] for row in comm.run("stragglers") if row["is_straggler"]] == []


def test_a_rank_without_steps_is_found_as_well(comm):
    made = make(ranks=8, straggler=3, steps=4)
    for row in made.activities:
        if row["rank"] == 3:
            row["step"] = None
    comm.fill(**made.tables())
    assert [row["rank"] for row in comm.run("stragglers") if row["is_straggler"]] == [3]
    of_step = comm.run("stragglers", only_steps=[1])
    assert [row["rank"] for row in of_step if row["is_straggler"]] == [3]
    assert comm.run("stragglers", only_steps=[77]) == []


def test_who_waited_for_a_message_is_no_straggler(comm):
    """0 is slow; with it 1, which sends to 2, so that 2 is late to 3."""
    rows, at = [], 0
    for i in range(40):
        at += 2_000_000
        slow = at + 500_000
        times = {0: slow, 1: at + 100_000 + i % 7, 2: at + 50_000 + i % 5, 3: at + 60_000}
        end = slow + 50_000
        rows += [member(rank, times[rank], end, i, "a", "[0, 1]") for rank in (0, 1)]
        rows.append(
            member(
                1, end + 1_000, end + 31_000, i, "p", "[1, 2]", collective_name="send", dst_rank=2
            )
        )
        rows.append(
            member(2, times[2], end + 31_000, i, "p", "[1, 2]", collective_name="recv", src_rank=1)
        )
        rows += [
            member(2, end + 40_000, end + 90_000, i, "b", "[2, 3]"),
            member(3, times[3], end + 90_000, i, "b", "[2, 3]"),
        ]
    for event_id, row in enumerate(rows):
        row["event_id"] = event_id
    comm.fill(rows, traces=[{"rank": rank} for rank in range(4)])
    assert [row["rank"] for row in comm.run("stragglers") if row["is_straggler"]] == [0]
    assert comm.broken_promises("stragglers") == []


def member(rank, start, end, seq, group, ranks, **given):
    return {
        "rank": rank,
        "start_ns": start,
        "end_ns": end,
        "seq": seq,
        "stream": 20,
        "kind": "communication",
        "name": "nccl",
        "collective_name": "allreduce",
        "dtype": "Half",
        "in_nelems": 64,
        "out_nelems": 64,
        "process_group_name": group,
        "group_size": 2,
        "process_group_ranks": ranks,
    } | given


def test_messages(comm):
    made = make(ranks=16, messages=True, steps=4)
    comm.fill(**made.tables())
    rows = comm.run("point_to_point")
    found = [(r["src_rank"], r["send_event_id"], r["dst_rank"], r["recv_event_id"]) for r in rows]
    assert sorted(found) == sorted(made.messages)
    assert {row["bytes"] for row in rows} == {1024}
    assert pairs_found(comm) == pairs_made(made)  # none of them is a collective
    assert audit(comm) == []
    assert comm.broken_promises("point_to_point") == []
    lost = next(a for a in made.activities if a["rank"] == 6 and a["name"] == "nccl_recv")
    partial = without(made, lambda a: a is lost)
    comm.fill(**partial.tables())
    assert len(comm.run("point_to_point")) == len(rows) - 1
    assert audit(comm) == [("missing_rank", 6, 1)]


def test_ids_to_the_last_bit(comm):
    made = make(ranks=8)
    comm.fill(**made.tables())
    wanted = {a["comms_id"] for a in made.activities if "comms_id" in a}
    assert min(wanted) > 2**63 and all(value % 2 for value in wanted)
    assert {row["comms_id"] for row in comm.run("collectives")} == wanted
    # Two groups whose ids are equal, as hashes may be.
    for row in made.activities:
        if row.get("process_group_name") == "tp":
            row["comms_id"] = row["seq"]
    comm.fill(**made.tables())
    assert pairs_found(comm) == pairs_made(made)
