"""Archives and their reports, made once."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from hand_written import span, trace_text

import hta_sql
from hta_sql.cli import cli
from hta_sql.demo import write_job
from hta_sql.report import write_report

# A name as no program should have one; no `/`, so that it may be a folder's.
ODD = """<img src=x onerror="hacked=1"> & 'é漢'"""
ODD_KERNEL = "</script><script>hacked=2</script>'\"&é漢<!--"
ODD_HOST = "<script>hacked=3</script>-host"


def host_ops() -> list[dict]:
    return [
        span("ProfilerStep#1", 0, 100, "user_annotation"),
        span("aten::mm", 10, 50),
        span("aten::add", 70, 20),
    ]


def kernel(name: str, ts: int, dur: int, correlation: int) -> list[dict]:
    """A kernel and its launch, 5 us before."""
    return [
        span("cudaLaunchKernel", ts - 5, 2, "cuda_runtime", correlation=correlation),
        span(name, ts, dur, "kernel", pid=0, tid=7, device=0, stream=7, correlation=correlation),
    ]


def few_kernels() -> list[dict]:
    return [*host_ops(), *kernel("gemm", 20, 30, 1), *kernel("relu", 60, 10, 2)]


HAND_WRITTEN = {
    "cpu_only": trace_text(host_ops()),
    "eventless": trace_text([]),
    # Two elements that are no events, and the file breaks off in a third.
    "quarantined": trace_text(
        [*few_kernels(), '{"ph": "X", "name": "a", "ts": , "dur": 1}', "null"]
    )[:-8]
    + ',\n{"ph": "X", "name": "cut',
    ODD: trace_text(
        [
            span("ProfilerStep#1", 0, 100, "user_annotation"),
            span(ODD_KERNEL + "op", 10, 60),
            *kernel(ODD_KERNEL, 20, 30, 1),
            *kernel("relu", 60, 10, 2),
        ],
        before=f'"host_name": "{ODD_HOST}",\n',
    ),
}


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Traces and archives: `four` ranks with their critical path, and `two` jobs of them."""
    folder = tmp_path_factory.mktemp("reports")
    write_job(folder / "before", ranks=4, steps=2, layers=2)
    write_job(folder / "now", ranks=4, steps=2, layers=2, change="slow_kernel")
    hta_sql.ingest([folder / "before", folder / "now"], folder / "two", workers=1)
    hta_sql.ingest([folder / "before"], folder / "four", workers=1)
    assert CliRunner().invoke(cli, ["critical-path", str(folder / "four")]).exit_code == 0
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def reports(folder) -> dict[str, Path]:
    """Reports on these, and on each of the jobs written by hand."""
    archives = {"four": folder / "four", "two": folder / "two"}
    for place, (job, text) in enumerate(HAND_WRITTEN.items()):
        (folder / f"traces{place}").mkdir()
        (folder / f"traces{place}" / "rank_0.json").write_text(text, encoding="utf-8")
        archives[job] = folder / f"archive{place}"
        hta_sql.ingest(folder / f"traces{place}", archives[job], job=job, workers=1)
    files = {}
    for name, archive in archives.items():
        files[name] = archive.with_suffix(".html")
        with hta_sql.open(archive) as run:
            assert write_report(run, files[name]) == []
    return files
