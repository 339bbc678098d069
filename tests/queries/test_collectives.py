"""Collectives over small tables: drawn cases, golden bandwidths, what is not there."""

import pytest

TYPED_EMPTY = (
    "collectives",
    "collective_members",
    "collective_audit",
    "collective_bandwidth",
    "clock_offsets",
    "rank_imbalance",
    "stragglers",
    "point_to_point",
    "pipeline_bubbles",
    "all_to_all_matrix",
    "process_groups",
    "straggler_blame",
    "lost_gpu_time",
)


def call(rank: int, start: int, end: int, **given) -> dict:
    """A member of the first all-reduce of a group of the ranks 0 and 1."""
    return {
        "rank": rank,
        "event_id": rank + 10 * (given.get("seq", 1) or 0),
        "stream": 20,
        "kind": "communication",
        "name": "nccl",
        "collective_name": "allreduce",
        "start_ns": start,
        "end_ns": end,
        "dtype": "Float",
        "in_nelems": 1000,
        "out_nelems": 1000,
        "group_size": 2,
        "process_group_name": "0",
        "process_group_desc": "default_pg",
        "process_group_ranks": "[0, 1]",
        "seq": 1,
        "in_split_sizes": "[]",
        "out_split_sizes": "[]",
    } | given


def columns(rows, *names) -> list[tuple]:
    return [tuple(row[name] for name in names) for row in rows]


def test_waits(comm):
    """
    rank 0    [wwwwwwwwwwww========)     w wait
    rank 1         [wwwwwww========)
    rank 2                 [=======)
    rank 0's kernels [==)     [==)       5 + 3 of its 80 are hidden
    """
    comm.fill(
        [
            call(rank, start, 300, group_size=3, process_group_ranks="[0, 1, 2]")
            for rank, start in ((0, 100), (1, 150), (2, 180))
        ]
        + [
            {"rank": 0, "event_id": 90, "start_ns": 90, "end_ns": 105},
            {"rank": 0, "event_id": 91, "start_ns": 177, "end_ns": 250, "stream": 8},
            {"rank": 0, "event_id": 92, "start_ns": 178, "end_ns": 179, "stream": 9},
        ]
    )
    assert columns(
        comm.run("collective_members"),
        "rank",
        "wait_ns",
        "exposed_wait_ns",
        "aligned_wait_ns",
        "is_last",
    ) == [(0, 80, 72, 80, False), (1, 30, 30, 30, False), (2, 0, 0, 0, True)]
    [row] = comm.run("collectives")
    assert (row["start_skew_ns"], row["transfer_ns"], row["wait_ns"], row["last_rank"]) == (
        80,
        120,
        110,
        2,
    )
    assert (row["start_ns"], row["end_ns"], row["end_skew_ns"]) == (100, 300, 0)
    assert (row["member_count"], row["group_size"], row["paired_by"]) == (3, 3, "seq")
    assert columns(comm.run("collective_members", only_ranks=[1]), "rank", "wait_ns") == [(1, 30)]
    assert comm.run("collectives", only_ranks=[7]) == []
    assert comm.run("collectives", only_steps=[7]) == []
    assert comm.run("collectives", only_jobs=["k"]) == []


def test_archives_without_hidden_ns(comm):
    """Of an earlier schema: what is not known is NULL and not a part of what is."""
    calls = [call(rank, start, 500) for rank, start in ((0, 100), (1, 100), (2, 450))]
    work = [{"rank": rank, "event_id": 90, "start_ns": 0, "end_ns": 300} for rank in (0, 1)]
    comm.fill(calls + work)
    totals = ("stragglers", "caused_exposed_wait_ns"), ("lost_gpu_time", "lost_gpu_ns")
    for query, column in totals:
        more = {"min_late_ns": 0} if query == "lost_gpu_time" else {}
        assert [row[column] for row in comm.run(query, **more) if row["rank"] == 2] == [300]
    comm.con.execute("UPDATE given_gpu_activities SET hidden_ns = NULL WHERE rank = 0")
    for query, column in totals:
        more = {"min_late_ns": 0} if query == "lost_gpu_time" else {}
        assert [row[column] for row in comm.run(query, **more) if row["rank"] == 2] == [None]
        assert comm.broken_promises(query, **more) == []
    assert columns(comm.run("collective_members"), "rank", "exposed_wait_ns") == [
        (0, None),
        (1, 150),
        (2, 0),
    ]


def test_equally_late(comm):
    comm.fill([call(0, 100, 200), call(1, 1100, 1200)])
    [row] = comm.run("collectives")
    assert (row["last_rank"], row["wait_ns"]) == (0, 0)
    assert [row["last_count"] for row in comm.run("stragglers")] == [0, 0]
    assert comm.run("straggler_blame", min_late_ns=0) == []


def test_roots_may_be_done_early(comm):
    """Of a broadcast durations do not tell who came last; clocks do, where an all-reduce ties."""
    sent = [
        call(0, 400, 420, seq=2, collective_name="broadcast"),
        call(1, 300, 460, seq=2, collective_name="broadcast"),
    ]
    comm.fill(sent)
    [row] = comm.run("collectives")
    assert (row["last_rank"], row["start_skew_ns"], row["transfer_ns"]) == (None, None, 20)
    comm.fill([*sent, call(0, 100, 200), call(1, 90, 200)])
    assert columns(comm.run("collectives"), "name", "last_rank", "start_skew_ns") == [
        ("allreduce", 0, 10),
        ("broadcast", 0, 100),
    ]
    assert [row["collective_count"] for row in comm.run("stragglers")] == [1, 1]


DTYPES = {
    "BFloat16": 2,
    "Half": 2,
    "Float": 4,
    "Double": 8,
    "Long": 8,
    "Byte": 1,
    "Float8_e4m3fn": 1,
    "Float8_e5m2": 1,
    "Float8_e4m3fnuz": 1,
    "Float8_e8m0fnu": 1,
    "ComplexFloat": 8,
    "Int": 4,
    "Bool": 1,
}
# name: elements in and out of each of four ranks, those of the message, and the factor by hand.
GOLDEN = {
    "allreduce": (4096, 4096, 4096, 1.5),
    "allreduce_coalesced": (4096, 4096, 4096, 1.5),
    "all_gather": (1024, 4096, 4096, 0.75),
    "_allgather_base": (1024, 4096, 4096, 0.75),
    "allgather_into_tensor_coalesced": (1024, 4096, 4096, 0.75),
    "reduce_scatter": (4096, 1024, 4096, 0.75),
    "_reduce_scatter_base": (4096, 1024, 4096, 0.75),
    "reduce_scatter_tensor_coalesced": (4096, 1024, 4096, 0.75),
    "all_to_all": (4096, 4096, 4096, 0.75),
    "broadcast": (4096, 4096, 4096, 1.0),
    "_broadcast_oop": (4096, 4096, 4096, 1.0),
    "reduce": (4096, 4096, 4096, 1.0),
    "gather": (1024, 4096, 4096, 0.75),
    "scatter": (1024, 4096, 4096, 0.75),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_bandwidth(comm, name):
    nelems_in, nelems_out, message, factor = GOLDEN[name]
    comm.fill(
        [
            call(
                rank,
                9000 * seq + 10 * rank,
                9000 * seq + 1040,
                seq=seq,
                dtype=dtype,
                group_size=4,
                event_id=4 * seq + rank,
                collective_name=name,
                process_group_name=dtype,
                process_group_ranks="[0, 1, 2, 3]",
                in_nelems=nelems_in,
                out_nelems=nelems_out,
            )
            for seq, dtype in enumerate(DTYPES)
            for rank in range(4)
        ]
    )
    rows = comm.run("collectives")
    assert [row["dtype"] for row in rows] == list(DTYPES)
    for row in rows:
        size = message * DTYPES[row["dtype"]]
        assert (row["bytes"], row["transfer_ns"]) == (size, 1010)
        assert row["algbw_gbps"] == pytest.approx(size / 1010)
        assert row["busbw_gbps"] == pytest.approx(factor * size / 1010)
    rows = comm.run("collective_bandwidth")
    assert {row["dtype"] for row in rows} == DTYPES.keys()
    for row in rows:
        size = message * DTYPES[row["dtype"]]
        assert (row["name"], row["bytes"], row["count"]) == (name, size, 1)
        for column in ("busbw_gbps", "p01_busbw_gbps", "p50_busbw_gbps", "p99_busbw_gbps"):
            assert row[column] == pytest.approx(factor * size / 1010)
    assert comm.run("collective_audit") == []


def test_bandwidth_is_no_mean_of_bandwidths(comm):
    comm.fill(
        [
            call(rank, 1000 * i, 1000 * i + 100 * (1 + 3 * i), seq=i + 1)
            for rank in (0, 1)
            for i in (0, 1)
        ]
    )
    [row] = comm.run("collective_bandwidth")
    assert row["busbw_gbps"] == row["algbw_gbps"] == pytest.approx(8000 / 500)
    assert row["p50_busbw_gbps"] == pytest.approx((40 + 10) / 2)


def test_barrier_and_unknown_dtype(comm):
    comm.fill(
        [
            call(rank, 0, 100, seq=1, collective_name="barrier", in_nelems=0, out_nelems=0)
            for rank in (0, 1)
        ]
        + [call(rank, 200, 300, seq=2, dtype="Float3_new") for rank in (0, 1)]
        + [call(rank, 400, 500, seq=3, collective_name="telepathy") for rank in (0, 1)]
    )
    assert columns(comm.run("collectives"), "name", "bytes", "algbw_gbps", "busbw_gbps") == [
        ("barrier", None, None, None),
        ("allreduce", None, None, None),
        ("telepathy", 4000, 40.0, None),
    ]
    assert columns(comm.run("collective_bandwidth"), "name", "bytes", "busbw_gbps") == [
        ("allreduce", None, None),
        ("barrier", None, None),
        ("telepathy", 4000, None),
    ]
    assert columns(comm.run("collective_audit"), "reason", "collective_id", "detail") == [
        ("unknown_dtype", 2, "number format Float3_new has no size in dtype_sizes"),
        ("unknown_operation", 3, "telepathy has no factor in bus_factors"),
    ]


def split_calls(**given) -> list[dict]:
    """Ranks 3 and 5 of a group: rows of 10 elements; 3 keeps 4 of 6 rows, 5 gives away all."""
    group = {"collective_name": "all_to_allv", "process_group_ranks": "[3, 5]", "dtype": "Half"}
    return [
        call(
            3,
            0,
            100,
            in_nelems=60,
            out_nelems=100,
            in_split_sizes="[4, 2]",
            out_split_sizes="[4, 6]",
            **group,
        )
        | given,
        call(
            5,
            0,
            100,
            in_nelems=60,
            out_nelems=20,
            in_split_sizes="[6, 0]",
            out_split_sizes="[2, 0]",
            **group,
        )
        | given,
    ]


def test_uneven_all_to_all(comm):
    comm.fill(split_calls())
    assert columns(comm.run("all_to_all_matrix"), "src_rank", "dst_rank", "bytes") == [
        (3, 3, 80),
        (3, 5, 40),
        (5, 3, 120),
        (5, 5, 0),
    ]
    [row] = comm.run("collectives")  # the busiest gets 60 elements
    assert (row["bytes"], row["busbw_gbps"]) == (120, pytest.approx(1.2))
    assert columns(comm.run("all_to_all_matrix", only_ranks=[5]), "src_rank", "dst_rank") == [
        (3, 5),
        (5, 3),
        (5, 5),
    ]
    assert comm.broken_promises("all_to_all_matrix") == []
    comm.fill(split_calls(in_split_sizes="[4, 2, ..., 1]"))
    assert comm.run("all_to_all_matrix") == []
    assert [row["busbw_gbps"] for row in comm.run("collectives")] == [None]
    assert columns(comm.run("collective_audit"), "reason", "collective_count") == [
        ("splits_cut_short", 1)
    ]


def test_even_all_to_all_and_a_sender_without_trace(comm):
    group = {"collective_name": "all_to_all", "process_group_ranks": "[0, 4, 8]", "group_size": 3}
    comm.fill([call(rank, 0, 100, in_nelems=30, out_nelems=30, **group) for rank in (0, 8)])
    assert columns(comm.run("all_to_all_matrix"), "src_rank", "dst_rank", "bytes") == [
        (0, 0, 40),
        (0, 4, 40),
        (0, 8, 40),
        (4, 0, 40),
        (4, 8, 40),
        (8, 0, 40),
        (8, 4, 40),
        (8, 8, 40),
    ]
    assert columns(comm.run("collective_audit"), "reason", "detail") == [
        ("trace_missing", "no trace of rank 4")
    ]


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


def test_disorder_is_no_drift(comm):
    """Calls of a rank in reverse look like a clock that runs backwards."""
    ends = [(seq, 50 + 1000 * seq) for seq in range(10)]
    calls = [call(0, 1000 * end - 50_000, 1000 * end, seq=seq) for seq, end in ends]
    calls += [
        call(1, 1000 * end - 50_000, 1000 * end, seq=9 - seq, event_id=100 + seq)
        for seq, end in ends
    ]
    comm.fill(calls)
    [row] = comm.run("collective_audit")
    assert (row["reason"], row["rank"], row["collective_count"]) == ("out_of_order", 1, 9)
    assert {row["drift_ppm"] for row in comm.run("clock_offsets")} == {0}


def test_ends_at_one_instant_are_no_clock_that_stands(comm):
    calls = [call(0, 1000 * seq, 1000 * seq + 50, seq=seq) for seq in range(10)]
    calls += [call(1, 1000 * seq, 9050, seq=seq, event_id=100 + seq) for seq in range(10)]
    comm.fill(calls)
    assert columns(comm.run("clock_offsets"), "rank", "drift_ppm") == [(0, 0), (1, 0)]


def test_a_seq_that_is_none(comm):
    comm.fill(
        [
            call(rank, 100 * i, 100 * i + 50, seq=seq, event_id=10 * i + rank)
            for rank in (0, 1)
            for i, seq in enumerate([5, -1, 6])
        ]
    )
    assert {row["paired_by"] for row in comm.run("collectives")} == {"order"}
    assert comm.run("collective_audit") == []


def test_one_end_says_little_of_a_clock(comm):
    comm.fill([call(0, 100_000, 200_000), call(1, 100_000, 203_000)])
    [_, row] = comm.run("clock_offsets")
    assert (row["offset_ns"], row["anchor_count"]) == (3_000, 1)
    assert row["residual_ns"] == 100_000


def test_a_clock_known_by_another_rank(comm):
    """Ranks 0 and 2 share no collective, but both do with 1."""
    group = {"group_size": 3, "process_group_ranks": "[0, 1, 2]"}
    comm.fill(
        [
            call(rank, 1000 * i, 1000 * i + 500 + 10 * rank, seq=i, event_id=3 * i + rank, **group)
            for i in range(20)
            for rank in range(3)
            if (rank != 0 or i < 10) and (rank != 2 or i >= 10)
        ]
    )
    assert columns(comm.run("clock_offsets"), "offset_ns", "reference_rank") == [
        (0, 0),
        (10, 0),
        (20, 0),
    ]


def test_bandwidth_where_some_splits_are_cut_short(comm):
    group = {"collective_name": "all_to_allv", "dtype": "Float"}
    comm.fill(
        [
            call(
                rank,
                100 * i,
                100 * i + 10,
                seq=i,
                event_id=2 * i + rank,
                in_split_sizes=splits[rank],
                out_split_sizes=splits[1 - rank],
                **group,
            )
            for i, splits in enumerate([("[0, 1]", "[1, 0]"), ("[1, ...]", "[1, ...]")])
            for rank in (0, 1)
        ]
    )
    assert columns(comm.run("collective_bandwidth"), "count", "busbw_gbps") == [(2, None)]
    assert comm.broken_promises("collective_bandwidth") == []


def test_order_that_fits_nowhere(comm):
    """Without ids, and another program on each rank: rather no pairs than wrong ones."""
    comm.fill(
        [
            call(
                rank,
                100 * i,
                100 * i + 50,
                seq=None,
                event_id=10 * i + rank,
                collective_name=["allreduce", "broadcast", "barrier"][(i * (rank + 1)) % 3],
            )
            for rank in (0, 1)
            for i in range(5 - rank)
        ]
    )
    assert columns(comm.run("collective_audit"), "reason", "rank", "collective_count") == [
        ("not_paired", 1, 4)
    ]
    assert comm.run("collectives") == []


@pytest.mark.parametrize(
    "tables",
    [
        {},
        {
            "gpu_activities": [call(0, 0, 100), call(0, 200, 300, seq=2)],
            "traces": [{"rank": 0, "world_size": 2}],
        },
        {
            "gpu_activities": [
                {
                    "rank": 0,
                    "start_ns": 0,
                    "end_ns": 9,
                    "name": "ncclKernel",
                    "kind": "communication",
                }
            ],
            "traces": [{"rank": 0}],
        },
        {
            "host_ops": [
                {"rank": rank, "name": "record_param_comms", "start_ns": 0, "end_ns": 9}
                for rank in (0, 1)
            ],
            "traces": [{"rank": 0, "backend": "gloo"}, {"rank": 1, "backend": "gloo"}],
        },
    ],
)
@pytest.mark.parametrize("query", TYPED_EMPTY)
def test_nothing_across_ranks(comm, query, tables):
    """No rows: nothing at all, one rank, no arguments, gloo on CPUs."""
    comm.fill(**tables)
    assert comm.run(query) == []


def test_imbalance(comm):
    comm.fill(
        [
            {
                "rank": rank,
                "event_id": i,
                "start_ns": start,
                "end_ns": end,
                "kind": kind,
                "device": d,
            }
            for i, (rank, start, end, kind, d) in enumerate(
                [
                    (0, 0, 10, "computation", 0),
                    (0, 5, 30, "communication", 0),
                    (1, 0, 20, "computation", 0),
                    (1, 30, 40, "memory", 0),
                    (1, 7, 27, "computation", 1),
                ]
            )
        ],
        host_ops=[
            {
                "rank": 1,
                "name": "ProfilerStep#3",
                "cat": "user_annotation",
                "step": 3,
                "start_ns": 0,
                "end_ns": 50,
                "event_id": 50,
            }
        ],
    )
    found = {row["metric"]: row for row in comm.run("rank_imbalance")}
    assert list(found) == ["communication", "compute", "exposed_communication", "idle", "memory"]
    assert columns(found.values(), "mean_ns", "min_ns", "min_rank", "max_ns", "max_rank") == [
        (13, 0, 1, 25, 0),
        (25, 10, 0, 40, 1),
        (10, 0, 1, 20, 0),
        (5, 0, 0, 10, 1),
        (5, 0, 0, 10, 1),
    ]
    assert found["compute"]["imbalance"] == 40 / 25
    assert comm.broken_promises("rank_imbalance") == []


def test_timeline(comm):
    """Rank 1's clock is 1000 ns ahead; the window is told from the first activity."""
    rows = [
        call(0, 100, 200),
        call(1, 1150, 1200),
        {"rank": 0, "event_id": 1, "start_ns": 20, "end_ns": 90},
        {"rank": 1, "event_id": 2, "start_ns": 1210, "end_ns": 1211},
        {"rank": 2, "event_id": 3, "start_ns": 70, "end_ns": 80},
    ]
    comm.fill(rows)
    assert columns(
        comm.run("kernel_timeline"), "rank", "stream", "start_ns", "from_start_ns", "is_aligned"
    ) == [
        (0, 7, 20, 0, True),
        (0, 20, 100, 80, True),
        (1, 7, 210, 190, True),
        (1, 20, 150, 130, True),
        (2, 7, 70, 50, False),
    ]
    given = {"window_from_ns": 70, "window_until_ns": 190, "min_dur_ns": 2}
    assert columns(comm.run("kernel_timeline", **given), "rank", "from_start_ns") == [
        (0, 80),
        (1, 130),
    ]
    assert columns(comm.run("kernel_timeline", **given, only_ranks=[1]), "from_start_ns") == [
        (130,)
    ]
    assert comm.broken_promises("kernel_timeline") == []


def test_heatmap(comm):
    comm.fill(
        [
            {"rank": 0, "event_id": 1, "start_ns": 0, "end_ns": 25},
            {"rank": 0, "event_id": 2, "start_ns": 20, "end_ns": 30, "stream": 8},
            {"rank": 0, "event_id": 3, "start_ns": 22, "end_ns": 40, "kind": "memory"},
            {"rank": 1, "event_id": 4, "start_ns": 35, "end_ns": 36},
        ]
    )
    assert columns(comm.run("heatmap", bucket_count=4), "rank", "kind", "bucket", "busy_ns") == [
        (rank, kind, bucket, busy)
        for rank, kind, times in [
            (0, "busy", [10, 10, 10, 10]),
            (0, "computation", [10, 10, 10, 0]),
            (0, "memory", [0, 0, 8, 10]),
            (1, "busy", [0, 0, 0, 1]),
            (1, "computation", [0, 0, 0, 1]),
            (1, "memory", [0, 0, 0, 0]),
        ]
        for bucket, busy in enumerate(times)
    ]
    for count in (1, 3, 7, 100):
        rows = comm.run("heatmap", bucket_count=count)
        assert len(rows) == 6 * count
        assert sum(row["busy_ns"] for row in rows if row["kind"] == "busy") == 41
        assert comm.broken_promises("heatmap", bucket_count=count) == []
