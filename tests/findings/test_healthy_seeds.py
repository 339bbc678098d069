"""A job without faults has no finding above low, whatever its seed and number of ranks."""

import pytest
from findings.planted import planted_jobs

pytestmark = pytest.mark.seeds
SEEDS = range(20)


@pytest.mark.parametrize("ranks", [1, 4, 8])
def test_healthy_jobs_have_nothing_above_low(tmp_path, ranks):
    jobs = {f"seed_{seed}": {"ranks": ranks, "layers": 2, "seed": seed} for seed in SEEDS}
    for name, job in planted_jobs(tmp_path, jobs).items():
        assert job.faults == []
        above = [row for row in job.rows if row["severity"] not in ("info", "low")]
        assert above == [], name
