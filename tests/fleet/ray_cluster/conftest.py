"""A Ray cluster on this machine, and jobs for it."""

import gzip
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from fleet.ray_cluster.clusters import TESTS

import hta_sql
from hta_sql.demo import write_job
from hta_sql.engines.start import start


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The address of a cluster of two nodes with three cores, which this process has joined."""
    import ray
    from ray.cluster_utils import Cluster

    from hta_sql.engines import on_ray

    patch = pytest.MonkeyPatch()
    patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    patch.setenv("PYTHONPATH", os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")]))
    # Ray's workers give way to all else, which in a busy run of tests is for long.
    patch.setenv("RAY_worker_niceness", "0")
    sizes = {"object_store_memory": 100 << 20, "memory": 4 << 30}
    made = Cluster(
        initialize_head=True, head_node_args=sizes | {"num_cpus": 2, "include_dashboard": False}
    )
    made.add_node(**sizes, num_cpus=1)
    on_ray.ray._private.worker._worker_logs_enabled = False
    ray.init(made.address, log_to_driver=False, logging_level="ERROR")
    yield made.address
    ray.shutdown()
    made.shutdown()
    patch.undo()


@pytest.fixture(scope="module")
def engine(cluster):
    with start("ray") as engine:
        yield engine


@pytest.fixture(scope="module")
def traces(tmp_path_factory) -> Path:
    """Three jobs of different size and ranks."""
    folder = tmp_path_factory.mktemp("fleet") / "jobs"
    for number, ranks in enumerate((2, 1, 3)):
        write_job(folder / f"job{number}", ranks=ranks, steps=2, layers=1 + number, seed=number)
    changes = [[-1, 1, 100, 0], [5, 2, 8, 4]]
    (folder / "job1/memory_rank_0.raw.json.gz").write_bytes(
        gzip.compress(json.dumps(changes).encode())
    )
    return folder


@pytest.fixture(scope="module")
def archive(traces) -> Path:
    """These jobs, ingested here; one with critical paths."""
    hta_sql.ingest(traces, traces.parent / "archive")
    with hta_sql.open(traces.parent / "archive") as run:
        run.compute_critical_path(step=1, only_jobs=["job0"])
    return traces.parent / "archive"


@pytest.fixture(scope="module")
def large(tmp_path_factory) -> Path:
    """Four ranks, of which the last is read for so long that its worker can be killed."""
    folder = tmp_path_factory.mktemp("large") / "large"
    write_job(folder, ranks=3, steps=2, layers=2)
    [path] = write_job(folder / "new", ranks=1, steps=2, layers=2, scale=60, gzip=False)
    trace = path.read_text().replace('"rank": 0', '"rank": 3', 1)
    (folder / "rank_3.json").write_text(trace)
    shutil.rmtree(folder / "new")
    return folder
