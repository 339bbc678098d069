"""An archive with files of every kind, made by ingest, and copies of it to damage."""

import shutil
from pathlib import Path

import pytest
from hand_written import span, trace_text
from shared import made_once

import hta_sql

JOBS = {"llama": 3, "bert": 2}


def write_traces(folder: Path) -> Path:
    """Traces of the JOBS: operators that launch kernels in two steps, and one broken event."""
    for job, ranks in JOBS.items():
        (folder / job).mkdir(parents=True)
        for rank in range(ranks):
            events: list[dict | str] = ['{"ph":"X","name":nul}']
            for step in range(2):
                at = 10_000 * step
                events.append(span(f"ProfilerStep#{step}", at, 9_000, "user_annotation"))
                for i in range(20 + rank):
                    start, launch = at + 100 * i, {"correlation": 1_000 * step + i}
                    events += [
                        span(f"aten::op{i % 3}", start, 50),
                        span("cudaLaunchKernel", start + 10, 5, "cuda_runtime", **launch),
                        span("gemm", start + 30, 40, "kernel", 0, 7, stream=7, device=0, **launch),
                    ]
            (folder / job / f"rank_{rank}.json").write_text(trace_text(events))
    return folder


@pytest.fixture(scope="session")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(tmp_path_factory, "integrity-traces", write_traces)


@pytest.fixture(scope="session")
def _archive(traces: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    def make(folder: Path) -> None:
        hta_sql.ingest(traces, folder, workers=1)
        with hta_sql.open(folder) as run:
            run.compute_critical_path(only_jobs=["llama"], step=0)
        hta_sql.materialize(folder, only_jobs=["bert"])

    return made_once(tmp_path_factory, "integrity-archive", make)


@pytest.fixture
def archive(_archive: Path, tmp_path: Path) -> Path:
    """Two jobs with a critical path and stored results; the test's own copy."""
    return Path(shutil.copytree(_archive, tmp_path / "archive"))
