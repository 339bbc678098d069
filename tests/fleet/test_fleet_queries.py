"""fleet_summary and low_utilisation_jobs beside plain Python, on the rows of job_summary."""

import random
from datetime import timedelta

import pytest
from fleet.jobs import in_ns, random_tables
from fleet.stored_tables import StoredTables
from queries.made_job import Simulation
from queries.small_tables import SmallTables, same
from seeds import seeds

SEEDS = range(6)
SUMS = (
    "rank_count",
    "gpu_span_ns",
    "outside_ns",
    "busy_ns",
    "compute_ns",
    "exposed_communication_ns",
    "exposed_memory_ns",
    "idle_ns",
    "lost_gpu_ns",
)
DAY = 86_400 * 10**9
MONDAY = 1_699_833_600 * 10**9  # 2023-11-13


@pytest.fixture(scope="module")
def fleet() -> SmallTables:
    """The queries on stored results, where what is stored is computed anew each time."""
    tables = SmallTables()
    tables.con.execute("CREATE OR REPLACE VIEW stored_job_summary AS FROM job_summary_v2()")
    return tables


def filled(fleet: SmallTables, seed: int) -> tuple[dict[str, str], list[dict]]:
    """Teams of jobs, and the rows of job_summary; jobs begin within three weeks, or unknown when"""
    rng = random.Random(seed)
    tables = in_ns(random_tables(rng))
    jobs = sorted({row["job"] for row in tables["traces"]})
    teams = {job: rng.choice(["red", "blue", None]) for job in jobs}
    begins = {
        job: rng.choice([7, MONDAY - 1, MONDAY, MONDAY + 7 * DAY - 1, MONDAY + 7 * DAY])
        for job in jobs
    }
    for row in tables["traces"]:
        team = teams[row["job"]]
        row["tags"] = [("model", "m")] + ([("team", team)] if team else [])
        row["start_ns"] = begins[row["job"]]
    fleet.fill(**tables)
    return teams, fleet.run("job_summary")


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_sums_of_jobs(fleet, seed):
    teams, rows = filled(fleet, seed)
    groups: dict[tuple, list[dict]] = {}
    for row in rows:
        began = row["started_at"]
        week = began and (began - timedelta(days=began.weekday())).date()
        groups.setdefault((teams[row["job"]], week), []).append(row)
    found = fleet.run("fleet_summary")
    order = [(row["tag_value"], row["week"]) for row in found]
    nulls_last = [(t is None, t or "", w is None, str(w)) for t, w in order]
    assert nulls_last == sorted(nulls_last) and set(order) == set(groups)
    for row in found:
        of_group = groups[row["tag_value"], row["week"]]
        assert row["job_count"] == len(of_group)
        sums = {name: sum(other[name] for other in of_group) for name in SUMS}
        assert {name: row[name] for name in SUMS} == sums
        span = sums["gpu_span_ns"]
        wanted = {
            f"{name}_frac": sums[f"{name}_ns"] / span if span else None
            for name in ("busy", "compute", "exposed_communication", "idle")
        }
        gpu_time = span + sums["outside_ns"]
        wanted |= {
            "utilisation_frac": sums["busy_ns"] / gpu_time if gpu_time else None,
            "lost_gpu_frac": sums["lost_gpu_ns"] / span if span else None,
            "gpu_hours": span / 1e9 / 3600,
            "lost_gpu_hours": sums["lost_gpu_ns"] / 3.6e12,
        }
        assert same({name: row[name] for name in wanted}, wanted)
    assert fleet.broken_promises("fleet_summary") == []
    other = fleet.run("fleet_summary", by_tag="model")
    assert {row["tag_value"] for row in other} == {"m"}
    assert sum(row["gpu_span_ns"] for row in other) == sum(row["gpu_span_ns"] for row in rows)
    week = fleet.run("fleet_summary", since_day="2023-11-13", until_day="2023-11-20")
    assert week == [row for row in found if str(row["week"]) == "2023-11-13"]


def test_what_was_lost_is_a_share_of_where_it_is_known():
    tables = StoredTables("job_summary")
    tables.fill(
        traces=[
            {"job": job, "tags": [("team", team)]}
            for job, team in (("a", "x"), ("b", "x"), ("c", "y"))
        ]
    )
    zeros = dict.fromkeys(
        ["busy_ns", "compute_ns", "exposed_communication_ns", "exposed_memory_ns"], 0
    )
    tables.keep(
        job_summary=[
            zeros
            | {
                "job": job,
                "rank_count": 1,
                "gpu_span_ns": span,
                "idle_ns": span,
                "lost_gpu_ns": lost,
            }
            for job, span, lost in (("a", 100, 25), ("b", 900, None), ("c", 50, None))
        ]
    )
    found = {
        row["tag_value"]: (row["gpu_span_ns"], row["lost_gpu_ns"], row["lost_gpu_frac"])
        for row in tables.result("fleet_summary")
    }
    assert found == {"x": (1000, 25, 0.25), "y": (50, None, None)}


def test_results_of_an_earlier_hta_sql_lack_the_time_outside():
    """Job b computes 90 ns of 100 ns, and its steps last 100 ns longer; of a, this is not known."""
    tables = StoredTables("job_summary")
    tables.fill(traces=[{"job": job, "tags": [("team", job)]} for job in "ab"])
    waits = ("host_wait_ns", "launching_ns", "queued_ns", "kernel_wait_ns", "unknown_wait_ns")
    exposed = ("exposed_communication_ns", "exposed_memory_ns", "lost_gpu_ns")
    alike = dict.fromkeys((*waits, *exposed), 0) | {
        "rank_count": 1,
        "gpu_span_ns": 100,
        "busy_ns": 90,
        "compute_ns": 90,
        "idle_ns": 10,
        "host_wait_ns": 10,
    }
    tables.keep(job_summary=[alike | {"job": "a"}, alike | {"job": "b", "outside_ns": 100}])
    shown = ("job", "gpu_time_ns", "utilisation_frac", "reason", "reason_ns", "outside_ns")
    rows = tables.result("low_utilisation_jobs", below=1.0)
    assert [tuple(row[name] for name in shown) for row in rows] == [
        ("b", 200, 0.45, "outside", 100, 100),
        ("a", 100, 0.9, "host_wait", 10, None),
    ]
    by_team = tables.result("fleet_summary")
    assert [row["utilisation_frac"] for row in by_team] == [None, 0.45]
    [both] = tables.result("fleet_summary", by_tag="colour")
    assert (both["gpu_span_ns"], both["outside_ns"], both["utilisation_frac"]) == (200, None, None)


def test_tag_that_no_job_has(fleet):
    filled(fleet, 0)
    assert {row["tag_value"] for row in fleet.run("fleet_summary", by_tag="colour")} == {None}


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_reasons_and_ranks(fleet, seed):
    _, rows = filled(fleet, seed)
    wanted = []
    for row in rows:
        gpu_time = row["gpu_span_ns"] + row["outside_ns"]
        if gpu_time == 0 or row["compute_ns"] / gpu_time >= 0.8:
            continue
        straggler = min(row["lost_gpu_ns"], row["exposed_communication_ns"])
        parts = {
            "straggler": straggler,
            "communication": row["exposed_communication_ns"] - straggler,
            "memory": row["exposed_memory_ns"],
            "host_wait": row["host_wait_ns"],
            "launching": row["launching_ns"],
            "queued": row["queued_ns"],
            "kernel_wait": row["kernel_wait_ns"],
            "unknown_wait": row["unknown_wait_ns"],
            "outside": row["outside_ns"],
        }
        without = gpu_time - row["compute_ns"]
        assert sum(parts.values()) == without
        reason = max(parts, key=parts.get)  # of equal ones the first
        wanted.append((-without, row["job"], reason, parts[reason], parts))
    wanted.sort(key=lambda row: row[:2])
    found = fleet.run("low_utilisation_jobs", top_k=None)
    assert [
        (
            -r["without_compute_ns"],
            r["job"],
            r["reason"],
            r["reason_ns"],
            {name: r[f"{name}_ns"] for name in r_parts},
        )
        for r, (*_, r_parts) in zip(found, wanted, strict=True)
    ] == wanted
    assert [row["position"] for row in found] == list(range(1, len(found) + 1))
    assert fleet.broken_promises("low_utilisation_jobs") == []
    assert fleet.run("low_utilisation_jobs", top_k=1) == found[:1]
    assert fleet.run("low_utilisation_jobs", below=0.0) == []
    everything = fleet.run("low_utilisation_jobs", below=1.1, top_k=None)
    assert len(everything) == sum(row["gpu_span_ns"] + row["outside_ns"] > 0 for row in rows)


def test_equal_reasons_and_equal_jobs(fleet):
    """Exposed communication, a copy and idle time of 1 us each, and two jobs alike."""
    fleet.fill(
        traces=[{"job": job} for job in ("b", "a")],
        gpu_activities=[
            {
                "job": job,
                "name": name,
                "kind": kind,
                "start_ns": start,
                "end_ns": end,
                "launch_start_ns": 0,
            }
            for job in ("b", "a")
            for name, kind, start, end in [
                ("gemm", "computation", 0, 1000),
                ("nccl", "communication", 1000, 2000),
                ("cp", "memory", 2000, 3000),
                ("gemm", "computation", 4000, 4500),
            ]
        ],
    )
    assert [
        (row["job"], row["position"], row["reason"], row["reason_ns"], row["without_compute_ns"])
        for row in fleet.run("low_utilisation_jobs")
    ] == [("a", 1, "communication", 1000, 3000), ("b", 2, "communication", 1000, 3000)]


def test_a_straggler_is_the_reason(fleet):
    fleet.fill(**Simulation(ranks=8, straggler=5, slow_ns=3_000_000, steps=3).made.tables())
    [row] = fleet.run("low_utilisation_jobs")
    assert (row["reason"], row["worst_rank"], row["worst_rank_host"]) == ("straggler", 5, "node-0")
