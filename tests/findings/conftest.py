import pytest
from findings.planted import Planted, planted_jobs

ALONE = (
    "host_bound",
    "launch_overhead",
    "slow_launches",
    "stalled_after_launch",
    "data_loading",
    "gpu_sync",
    "memory_thrash",
)
JOBS = {
    **{f"{rule}_alone": {"ranks": 1, "bottleneck": rule} for rule in ALONE},
    **{f"{rule}_on_all": {"ranks": 2, "bottleneck": rule} for rule in ALONE},
    **{f"{rule}_on_one": {"ranks": 4, "layers": 2, "bottleneck": f"{rule}@2"} for rule in ALONE},
    "healthy": {"ranks": 4},
}


@pytest.fixture(scope="session")
def planted(tmp_path_factory) -> dict[str, Planted]:
    """The jobs of JOBS by name."""
    return planted_jobs(tmp_path_factory.mktemp("planted"), JOBS)
