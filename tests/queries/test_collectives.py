"""Collectives: waits and bandwidth."""

import pytest
from queries.collectives import call, columns


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
