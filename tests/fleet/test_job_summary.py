"""job_summary: against plain Python, other queries and as drawn."""

import random
from collections import Counter
from datetime import datetime

import pytest
from fleet.brute_summary import NS, job_summary
from fleet.jobs import SEEDS, in_ns, random_tables
from queries.made_job import Simulation
from queries.plans import bad_joins
from queries.small_tables import same
from seeds import seeds


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_random_jobs(summary, seed):
    rng = random.Random(seed)
    tables = random_tables(rng)
    wanted = list(job_summary(tables["gpu_activities"], tables["host_ops"], tables["traces"]))
    summary.fill(**in_ns(tables))
    result = summary.run("job_summary")
    shown = [{k: row[k] for k in want} for row, want in zip(result, wanted, strict=True)]
    wrong = [pair for pair in zip(shown, wanted, strict=True) if not same(*pair)]
    assert wrong[:1] == []
    assert summary.broken_promises("job_summary") == []
    agrees_with_other_queries(summary, result)
    of_two = summary.run("job_summary", only_jobs=["g", "i"])
    assert of_two == [row for row in result if row["job"] in ("g", "i")]
    summary.fill(**{name: rng.sample(rows, len(rows)) for name, rows in in_ns(tables).items()})
    assert summary.run("job_summary") == result


def agrees_with_other_queries(summary, result) -> None:
    """Sums over other queries' rows are what a job's row says."""
    sums: dict[str, Counter] = {row["job"]: Counter() for row in result}
    for query, columns in {
        "temporal_breakdown": (
            "span_ns",
            "busy_ns",
            "compute_ns",
            "exposed_communication_ns",
            "exposed_memory_ns",
            "idle_ns",
            "communication_ns",
        ),
        "comm_comp_overlap": ("overlap_ns",),
        "lost_gpu_time": ("lost_gpu_ns",),
    }.items():
        for row in summary.run(query):
            for column in columns:
                sums[row["job"]][column] += row[column]
    by_rank: dict[str, Counter] = {row["job"]: Counter() for row in result}
    for row in summary.run("lost_gpu_time"):
        by_rank[row["job"]][row["rank"]] += row["lost_gpu_ns"]
    gaps = {row["job"]: Counter() for row in result}
    for row in summary.run("idle_gaps"):
        gaps[row["job"]][row["cause"]] += row["part_ns"]
    kernels = {row["job"]: Counter() for row in result}
    for row in summary.run("kernel_stats", short_names=True):
        if row["kind"] != "memory":
            kernels[row["job"]][row["name"]] += row["total_ns"]
    for row in result:
        job = row["job"]
        assert row["gpu_span_ns"] == sums[job].pop("span_ns", 0)
        assert {name: row[name] for name in sums[job]} == sums[job]
        causes = ("host_wait", "launching", "queued", "kernel_wait", "unknown")
        columns = (f"{cause.replace('unknown', 'unknown_wait')}_ns" for cause in causes)
        assert [row[name] for name in columns] == [gaps[job][cause] for cause in causes]
        assert row["top_kernel_ns"] == max(kernels[job].values(), default=None)
        lost = {rank: ns for rank, ns in by_rank[job].items() if ns > 0}
        worst = min(lost, key=lambda rank, lost=lost: (-lost[rank], rank), default=None)
        assert (row["worst_rank"], row["worst_rank_lost_ns"]) == (worst, lost.get(worst))


@pytest.mark.seeds
def test_random_jobs_are_worth_it():
    """They have jobs with and without each thing."""
    rows = [
        row
        for seed in SEEDS
        for row in job_summary(
            *(
                random_tables(random.Random(seed))[name]
                for name in ("gpu_activities", "host_ops", "traces")
            )
        )
    ]
    for column in (
        "lost_gpu_ns",
        "overlap_ns",
        "host_wait_ns",
        "kernel_wait_ns",
        "launching_ns",
        "queued_ns",
        "unknown_wait_ns",
        "outside_ns",
        "exposed_memory_ns",
        "step_count",
        "gpu_span_ns",
    ):
        some = sum(row[column] > 0 for row in rows)
        assert 4 < some < len(rows), column


def test_drawn(summary):
    """Two ranks; the second computes longer, so that the first waits for it in the collective.

    The last steps end at 80 on rank 0, and at 120 on rank 1.

    ticks   0    5    10   15   20   25
    rank 0  [gemm)[== nccl =====)   [add)
    rank 1  [==== gemm ====)[ncc)[cp)
    host 0                      []             the launch of add
    """

    def activity(rank, name, start, end, kind="computation", **more):
        return {
            "rank": rank,
            "name": name,
            "kind": kind,
            "start_ns": start * NS,
            "end_ns": end * NS,
        } | more

    nccl = {
        "kind": "communication",
        "collective_name": "allreduce",
        "comms_id": 1,
        "seq": 1,
        "process_group_name": "0",
        "process_group_desc": "0",
        "group_size": 2,
        "process_group_ranks": "[0, 1]",
        "dtype": "Float",
        "in_nelems": 1,
        "out_nelems": 1,
    }
    summary.fill(
        gpu_activities=[
            activity(0, "gemm", 0, 5),
            activity(0, "nccl", 5, 19, **nccl),
            activity(0, "add", 23, 27, launch_id=9, launch_start_ns=20 * NS, launch_end_ns=21 * NS),
            activity(1, "gemm", 0, 15),
            activity(1, "nccl", 15, 19, **nccl),
            activity(1, "cp", 19, 21, kind="memory"),
        ],
        host_ops=[
            {
                "rank": rank,
                "name": f"ProfilerStep#{step}",
                "cat": "user_annotation",
                "start_ns": 30 * NS * step,
                "dur_ns": dur * NS,
            }
            for rank, step, dur in [(0, 1, 10), (0, 2, 20), (1, 1, 30), (1, 2, 60)]
        ],
        traces=[
            {
                "rank": rank,
                "host": f"n{rank}",
                "device_name": "H100",
                "world_size": 2,
                "start_ns": 1_700_000_000_000_000_000 + rank,
            }
            for rank in (0, 1)
        ],
    )
    [row] = summary.run("job_summary")
    ticks = {name: ns / NS for name, ns in row.items() if name.endswith("_ns")}
    assert ticks == {
        "step_mean_ns": 30,
        "step_p50_ns": 25,
        "gpu_span_ns": 27 + 21,
        "outside_ns": (80 - 27) + (120 - 21),
        "busy_ns": 23 + 21,
        "compute_ns": 9 + 15,
        "communication_ns": 14 + 4,
        "overlap_ns": 0,
        "exposed_communication_ns": 18,
        "exposed_memory_ns": 2,
        "idle_ns": 4,
        "host_wait_ns": 1,
        "launching_ns": 1,
        "queued_ns": 0,
        "kernel_wait_ns": 2,
        "unknown_wait_ns": 0,
        "lost_gpu_ns": 10,
        "top_kernel_ns": 20,
        "worst_rank_lost_ns": 10,
    }
    assert {name: value for name, value in row.items() if not name.endswith("_ns")} == {
        "job": "j",
        "started_at": datetime(2023, 11, 14, 22, 13, 20),
        "rank_count": 2,
        "world_size": 2,
        "host_count": 2,
        "device_name": "H100",
        "step_count": 2,
        "utilisation_frac": 44 / 200,
        "busy_frac": 44 / 48,
        "compute_frac": 24 / 48,
        "overlap_frac": 0.0,
        "exposed_communication_frac": 18 / 48,
        "idle_frac": 4 / 48,
        "lost_gpu_frac": 10 / 48,
        "top_kernel": "gemm",
        "top_kernel_frac": 20 / 42,
        "worst_rank": 1,
        "top_finding": None,
        "top_finding_rule": None,
        "top_gain_frac": None,
        "finding_count": None,
        "worst_rank_host": "n1",
    }


def test_without_gpus(summary):
    summary.fill(host_ops=[{"name": "aten::mm", "start_ns": 0, "dur_ns": 5}], traces=[{}])
    [row] = summary.run("job_summary")
    assert {name for name, value in row.items() if value is None} == {
        "started_at",
        "world_size",
        "device_name",
        "step_mean_ns",
        "step_p50_ns",
        "utilisation_frac",
        "busy_frac",
        "compute_frac",
        "overlap_frac",
        "exposed_communication_frac",
        "idle_frac",
        "lost_gpu_frac",
        "top_kernel",
        "top_kernel_ns",
        "top_kernel_frac",
        "worst_rank",
        "worst_rank_host",
        "worst_rank_lost_ns",
        # In plain SQL, findings are not known before they are stored.
        "top_finding",
        "top_finding_rule",
        "top_gain_frac",
        "finding_count",
    }
    assert {value for value in row.values() if isinstance(value, int)} == {0, 1}


@pytest.mark.parametrize("cause", ["computation", "copy", "host"])
def test_a_slow_rank_is_the_worst(summary, cause):
    made = Simulation(ranks=8, straggler=5, cause=cause, steps=3).made
    summary.fill(**made.tables())
    [row] = summary.run("job_summary")
    assert (row["worst_rank"], row["worst_rank_host"]) == (5, "node-0")
    agrees_with_other_queries(summary, [row])


def test_plan(summary):
    """No join compares every row with many: but for what lost_gpu_time's has, none at all."""
    summary.fill(**Simulation(ranks=8, steps=3).made.tables())
    own = bad_joins(summary.con, "FROM job_summary_v2()")
    assert set(own) <= set(bad_joins(summary.con, "FROM lost_gpu_time_v1()"))
