"""Collectives: who takes part, and when a recording is at odds with itself."""

import pytest
from queries.collectives import call, columns

MANY = list(range(0, 128, 2))


CUT = f"[{', '.join(map(str, MANY[:29]))}, ..., {MANY[-1]}]"


def config(ranks) -> str:
    return (
        '{"distributedInfo": {"pg_config": [{"pg_name": "0", "ranks": [1, 2]}, '
        f'{{"pg_name": "0", "pg_size": 64, "ranks": {ranks}}}]}}}}'
    )


@pytest.mark.parametrize(
    ("text", "given", "metadata", "source"),
    [
        (str(MANY), {}, None, "trace"),
        (CUT, {}, config(MANY), "distributedInfo"),
        (CUT, {}, config(f'"{MANY}"'), "distributedInfo"),
        (CUT, {"group_start_rank": 0, "group_stride": 2}, None, "start and stride"),
        (CUT, {"group_start_rank": 0, "group_stride": 3}, None, "first and last ranks"),
        (CUT, {"group_start_rank": 0, "group_stride": -1}, config([5]), "first and last ranks"),
        (CUT.replace("126", "999"), {"group_start_rank": 0, "group_stride": 2}, config(MANY), None),
        ("[0, 2, ...]", {"group_start_rank": 0, "group_stride": 2}, None, "start and stride"),
        ("[0, 2, ...]", {}, None, None),
    ],
)
def test_ranks_are_rebuilt(comm, text, given, metadata, source):
    comm.fill(
        [call(rank, 0, 100, group_size=64, process_group_ranks=text, **given) for rank in (0, 2)],
        traces=[{"rank": rank, "metadata": metadata, "world_size": 200} for rank in (0, 2)],
    )
    [row] = comm.run("process_groups")
    assert row["ranks_source"] == source
    assert row["ranks"] == (None if source is None else MANY)
    assert (row["group_size"], row["trace_count"], row["call_count"]) == (64, 2, 2)
    assert comm.broken_promises("process_groups") == []
    assert len(comm.run("collectives")) == 1  # paired all the same


def test_the_world_without_a_list(comm):
    for text in (None, "[]"):
        comm.fill(
            [call(rank, 0, 100, process_group_ranks=text) for rank in (0, 1)],
            traces=[{"rank": rank, "world_size": 2} for rank in (0, 1)],
        )
        [row] = comm.run("process_groups")
        assert (row["ranks"], row["ranks_source"]) == ([0, 1], "world size")
    # Four ranks with groups of two that say nothing of themselves: nobody can tell them apart.
    comm.fill([call(rank, 0, 100, process_group_ranks=None) for rank in range(4)])
    assert comm.run("collectives") == []
    assert columns(comm.run("collective_audit"), "reason", "rank", "collective_count") == [
        ("unknown_members", None, 4)
    ]


@pytest.mark.parametrize(
    ("desc", "ranks", "name", "world", "role"),
    [
        ("mesh_tp", [0, 1], "allreduce", 8, "tensor"),
        ("TENSOR_PARALLEL_GROUP", [0, 4], "allreduce", 8, "tensor"),
        ("mesh_shard_cp", [0, 4], "allreduce", 8, "context"),
        ("mesh_dp_replicate", [0, 1], "allreduce", 8, "data"),
        ("mesh_ep", [0, 1], "all_to_all", 8, "expert"),
        ("undefined", [0, 1], "all_to_all", 8, "expert"),
        ("undefined", [0, 4], "allreduce", 8, "data"),
        ("undefined", [0, 1], "allreduce", 8, "tensor"),
        ("default_pg", [0, 1], "allreduce", 2, "data"),
        ("undefined", [0, 1, 5], "allreduce", 8, None),
    ],
)
def test_roles(comm, desc, ranks, name, world, role):
    comm.fill(
        [
            call(
                rank,
                0,
                100,
                process_group_desc=desc,
                group_size=len(ranks),
                process_group_ranks=str(ranks),
                collective_name=name,
            )
            for rank in ranks
        ],
        traces=[{"rank": rank, "host": "a", "world_size": world} for rank in ranks],
    )
    [row] = comm.run("process_groups")
    assert row["role"] == role, row
    assert (row["evidence"] is None) == (role is None)


def test_several_kernels_of_one_call(comm):
    """Coalesced calls share their ids: the first belongs to the first, the second to the second."""
    comm.fill(
        [
            call(rank, 100 * i + rank, 100 * i + 50, event_id=10 * i + rank, comms_id=2**64 - 1)
            for rank in (0, 1)
            for i in range(3)
        ]
    )
    members = comm.run("collective_members")
    assert columns(members, "collective_id", "rank", "event_id") == [
        (i + 1, rank, 10 * i + rank) for i in range(3) for rank in (0, 1)
    ]
    assert {row["comms_id"] for row in comm.run("collectives")} == {2**64 - 1}
    assert comm.run("collective_audit") == []


def test_two_faults_of_one_collective(comm):
    group = {"group_size": 4, "process_group_ranks": "[0, 1, 2, 3]"}
    odd = {2: {"dtype": "Half"}, 3: {"in_nelems": None}}
    comm.fill([call(rank, 0, 100, **(group | odd.get(rank, {}))) for rank in range(4)])
    assert columns(comm.run("collective_audit"), "reason", "rank", "detail") == [
        ("other_dtype", 2, "Half instead of Float"),
        ("other_size", 3, "none in, 1000 out instead of 1000 in, 1000 out"),
    ]
    assert columns(comm.run("collective_audit", only_ranks=[3]), "finding", "rank") == [(2, 3)]


def test_members_that_disagree_what_it_is(comm):
    """Of a reduce some may be done early: nobody is blamed for what may not have been a wait."""
    agreed = [call(rank, start, 500, comms_id=1) for rank, start in ((0, 100), (1, 400))]
    at_odds = [
        call(0, 600, 900, seq=2, comms_id=2),
        call(1, 800, 900, seq=2, comms_id=2, collective_name="reduce"),
    ]
    comm.fill(agreed + at_odds)
    [row] = comm.run("straggler_blame", min_late_ns=0)
    assert (row["collective_id"], row["rank"], row["late_ns"]) == (1, 1, 300)
    [row] = comm.run("lost_gpu_time", min_late_ns=0)
    assert (row["late_count"], row["wait_ns"]) == (1, 300)
    assert columns(comm.run("stragglers"), "rank", "collective_count") == [(0, 1), (1, 1)]
    assert columns(comm.run("collective_audit"), "reason", "collective_id") == [("other_name", 2)]
