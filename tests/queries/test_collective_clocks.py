"""Collectives and clocks; imbalance, timeline and heatmap."""

import pytest
from queries.collectives import TYPED_EMPTY, call, columns


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
