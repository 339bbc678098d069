"""Figures that HTA's own tests assert, or that were measured with it, in whole us."""

import pytest
from hta_cases import needs_hta_outputs

pytestmark = needs_hta_outputs


GOLDEN_BREAKDOWNS = {  # (job, rank, step): idle, compute, non compute, span
    ("two_ranks", 0, 551): (321378, 106252, 172428, 600058),
    ("two_ranks", 1, 551): (328671, 135548, 136455, 600674),
}


GOLDEN_KINDS = {  # (job, step): us by kinds, over all ranks
    ("simple_add", None): {"memory": 39088, "computation": 10670},
    ("alexnet", None): {"memory": 55511, "computation": 10630},
    ("event_sync", 100): {"computation": 49, "memory": 2},
    ("two_ranks", 551): {
        "communication": 305584,
        "computation": 185023,
        "communication+computation": 56747,
        "memory": 2288,
        "communication+memory": 1011,
        "computation+memory": 18,
        "communication+computation+memory": 12,
    },
}


@pytest.mark.parametrize(("job", "rank", "step"), GOLDEN_BREAKDOWNS)
def test_golden_breakdowns(real_run, job, rank, step):
    [row] = real_run.temporal_breakdown(
        only_jobs=[job], only_ranks=[rank], only_steps=[step]
    ).to_pylist()
    found = [row[name] for name in ("idle_ns", "compute_ns", "non_compute_ns", "span_ns")]
    assert found == [1000 * us for us in GOLDEN_BREAKDOWNS[job, rank, step]]
    [of_step] = real_run.step_breakdown(
        only_jobs=[job], only_ranks=[rank], only_steps=[step]
    ).to_pylist()
    assert of_step.pop("step") == step
    assert of_step == row


@pytest.mark.parametrize(("job", "step"), GOLDEN_KINDS)
def test_golden_kinds(real_run, job, step):
    rows = real_run.kernel_kind_breakdown(only_jobs=[job], only_steps=step and [step]).to_pylist()
    found: dict[str, int] = {}
    for row in rows:
        found[row["kinds"]] = found.get(row["kinds"], 0) + row["time_ns"]
    assert found == {kinds: 1000 * us for kinds, us in GOLDEN_KINDS[job, step].items()}


def test_golden_event_sync(real_run):
    """Without the synchronisations, idle is what HTA finds between the kernels of stream 7."""
    [row] = real_run.temporal_breakdown(only_jobs=["event_sync"]).to_pylist()
    assert (row["span_ns"], row["idle_ns"], row["compute_ns"]) == (263_000, 212_000, 49_000)
    [step] = real_run.profiler_steps(only_jobs=["event_sync"]).to_pylist()
    assert step["step"] == 100


def test_golden_overlaps(real_run):
    rows = real_run.comm_comp_overlap(only_jobs=["two_ranks"], only_steps=[551]).to_pylist()
    assert [round(100 * row["overlap_frac"], 2) for row in rows] == [11.81, 20.05]


@pytest.mark.parametrize(
    ("job", "steps", "launched"),
    [
        ("simple_add", None, 98),
        ("nccl", [4, 5], 2516),
        ("ns_resolution", [101, 102, 103, 104], 4876),
    ],
)
def test_golden_launches(real_run, job, steps, launched):
    """Rows of HTA's launch statistics: activities with a launch."""
    [row] = real_run.sql(
        "SELECT count(launch_id) AS launched FROM gpu_activities "
        "WHERE job = $job AND ($steps IS NULL OR list_contains($steps::BIGINT[], step))",
        {"job": job, "steps": steps},
    ).to_pylist()
    assert row["launched"] == launched


def test_golden_nccl(real_run):
    """As HTA's tests have it: 21 NCCL kernels, and the arguments of the longest."""
    rows = real_run.sql(
        "FROM gpu_activities WHERE job = 'nccl' AND kind = 'communication' ORDER BY dur_ns DESC"
    ).to_pylist()
    assert len(rows) == 21
    assert all("ncclKernel" in row["name"] for row in rows)
    expected = {
        "collective_name": "allreduce",
        "in_nelems": 2049000,
        "out_nelems": 2049000,
        "in_split_sizes": "[]",
        "out_split_sizes": "[]",
        "process_group_name": "0",
        "process_group_desc": "default_pg",
        "process_group_ranks": "[0, 1]",
    }
    assert {column: rows[0][column] for column in expected} == expected
