"""Made-up jobs with a planted bottleneck: the path names it, and "what if" foretells the job made
again without it.
"""

from functools import cache

import pytest
from paths.conftest import PATH_QUERIES
from seeds import seeds

import hta_sql
from hta_sql.demo import write_job

pytestmark = pytest.mark.queries

PLANTS = {
    "healthy": {"straggler": None},
    "launch": {"straggler": None, "bottleneck": "launch"},
    "compute": {"straggler": None, "bottleneck": "compute"},
    "communication": {"straggler": None, "bottleneck": "communication"},
    "data_loading": {"straggler": None, "bottleneck": "data_loading"},
    "straggler": {"straggler": 2},
}
# What names it, and what takes it away: by how much it was made worse is in hta_sql/demo.
NAMED = {
    "launch": "cpu_bound",
    "compute": "gpu_compute_bound",
    "communication": "gpu_communication_bound",
    "data_loading": "data_loading",
}
FLASH = "pytorch_flash::flash_fwd_kernel"
TAKEN_AWAY = {
    "launch": [("launch_overhead_gone", None)],
    "compute": [("faster", FLASH)],
    "communication": [("faster", "gpu_communication_bound"), ("communication_at_median", None)],
    "data_loading": [("faster", "data_loading")],
    "straggler": [("rank_as_median", "rank 2")],
}
FASTER = {FLASH: 60, "gpu_communication_bound": 20, "data_loading": 14}
SEEDS = (0, 1)
STEPS = (1, 2)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Call it with a seed for an open archive with all jobs, and paths of their steps."""

    @cache
    def archive(seed):
        folder = tmp_path_factory.mktemp("plants")
        for name, plant in PLANTS.items():
            write_job(folder / name, ranks=4, steps=3, layers=3, seed=seed, gzip=False, **plant)
        hta_sql.ingest([folder / name for name in PLANTS], folder / "archive")
        run = hta_sql.open(folder / "archive")
        for step in STEPS:
            run.compute_critical_path(step=step, faster=FASTER)
        return run

    return archive


def step_ns(run, job, step):
    """What a step takes on the host, on the slowest rank."""
    return max(
        row["dur_ns"] for row in run.profiler_steps(only_jobs=[job], only_steps=[step]).to_pylist()
    )


@pytest.mark.parametrize("seed", seeds(SEEDS))
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("plant", NAMED)
def test_the_summary_names_it(made, plant, step, seed):
    run = made(seed)
    for rank in range(4):
        first = run.critical_path_summary(
            only_jobs=[plant], only_ranks=[rank], only_windows=[f"step {step}"]
        ).to_pylist()[0]
        assert (first["bound_by"], first["time_frac"] > 0.5) == (NAMED[plant], True)
    job = {}
    for row in run.critical_path_ranks(
        only_jobs=[plant], only_windows=[f"step {step}"]
    ).to_pylist():
        job[row["bound_by"]] = job.get(row["bound_by"], 0) + row["time_frac"]
    assert max(job, key=job.get) == NAMED[plant]


@pytest.mark.parametrize("seed", seeds(SEEDS))
@pytest.mark.parametrize("step", STEPS)
def test_the_job_names_the_straggler(made, step, seed):
    [first, *others] = (
        made(seed)
        .sql(
            "SELECT rank, sum(time_frac) AS frac FROM critical_path_ranks(only_jobs := "
            "['straggler'], "
            "only_windows := [$window]) WHERE bound_by <> 'data_loading' GROUP BY rank "
            "ORDER BY frac DESC",
            {"window": f"step {step}"},
        )
        .to_pylist()
    )
    assert first["rank"] == 2 and first["frac"] > 0.6
    assert all(row["frac"] < 0.1 for row in others)


@pytest.mark.parametrize("seed", seeds(SEEDS))
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(
    ("plant", "scenario"), [(plant, s) for plant, all_s in TAKEN_AWAY.items() for s in all_s]
)
def test_what_if_it_were_not_there(made, plant, scenario, step, seed):
    """Within 5 % of the job that was made without it; the plants cost 10 to 300 %."""
    run = made(seed)
    [row] = [
        row
        for row in run.what_if(only_jobs=[plant], only_windows=[f"step {step}"]).to_pylist()
        if (row["scenario"], row["subject"]) == scenario
    ]
    healthy = step_ns(run, "healthy", step)
    assert row["step_ns"] > 1.1 * healthy
    assert abs(row["step_ns"] - step_ns(run, plant, step)) < 0.03 * row["step_ns"]
    assert abs(row["new_step_ns"] - healthy) < 0.05 * healthy


def test_some_of_the_ranks_meet_as_all_do(tmp_path):
    """The straggler and one other rank of four, in the jobs with and without it."""
    for name in ("straggler", "healthy"):
        write_job(tmp_path / name, ranks=4, steps=3, layers=3, gzip=False, **PLANTS[name])
    hta_sql.ingest([tmp_path / "straggler", tmp_path / "healthy"], tmp_path / "archive")
    with hta_sql.open(tmp_path / "archive") as run:
        run.compute_critical_path(step=1, only_jobs=["straggler"], only_ranks=[0, 2])
        [row] = [r for r in run.what_if().to_pylist() if r["scenario"] == "rank_as_median"]
        path = run.critical_path_ranks().to_pylist()
        healthy = step_ns(run, "healthy", 1)
    assert row["subject"] == "rank 2" and row["step_ns"] > 1.1 * healthy
    assert abs(row["new_step_ns"] - healthy) < 0.05 * healthy
    assert sum(one["time_frac"] for one in path if one["rank"] == 2) > 0.6


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_promises(made, seed):
    run = made(seed)
    for name in PATH_QUERIES:
        assert run.check(name) == []


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_what_was_recorded_comes_out_again(made, seed):
    """Whatever is asked of a step, what it takes as recorded is what the host took."""
    run = made(seed)
    for row in run.what_if(only_jobs=["healthy"]).to_pylist():
        recorded = step_ns(run, "healthy", int(row["path_window"].removeprefix("step ")))
        assert abs(row["step_ns"] - recorded) < 0.01 * recorded
        assert row["new_step_ns"] <= row["step_ns"]
    exact = run.sql("""
        SELECT count(*) AS wrong FROM (
            SELECT job, rank, path_window, target_node, any_value(end_ns) AS came,
                max(start_ns + delay_ns) AS replayed
            FROM path_edges GROUP BY ALL
        ) WHERE came <> replayed""").to_pylist()
    assert exact == [{"wrong": 0}]
