"""Made-up jobs have nothing wrong, unless something is taken away."""

import gzip
import json

import pytest
from seeds import seeds

import hta_sql
from hta_sql.demo import write_job


def rows_of(archive):
    with hta_sql.open(archive) as run:
        return run.trace_quality().to_pylist()


@pytest.mark.parametrize("seed", seeds(8))
def test_healthy_jobs_have_no_warnings(tmp_path, seed):
    for ranks in (1, 4):
        write_job(tmp_path / f"t/{ranks}", ranks=ranks, steps=2, layers=1, seed=seed)
    hta_sql.ingest(tmp_path / "t", tmp_path / "archive", workers=1)
    rows = rows_of(tmp_path / "archive")
    assert [row for row in rows if row["severity"] == "warning"] == []


def test_a_file_that_ends_early(tmp_path):
    [file] = write_job(tmp_path / "t", ranks=1, steps=2, layers=2)
    text = gzip.decompress(file.read_bytes())
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut/rank_0.json").write_bytes(text[: int(len(text) * 0.6)])
    hta_sql.ingest(tmp_path / "cut", tmp_path / "archive", workers=1)
    rows = {row["check"]: row for row in rows_of(tmp_path / "archive")}
    assert rows["incomplete_trace"]["severity"] == "warning"
    assert rows["incomplete_trace"]["text"].startswith("The trace's file is damaged (truncated:")


def test_kernels_that_were_dropped(tmp_path):
    """Every tenth launch in the middle loses its kernel."""
    [file] = write_job(tmp_path / "t", ranks=1, steps=3, layers=3)
    trace = json.loads(gzip.decompress(file.read_bytes()))
    kernels = [e for e in trace["traceEvents"] if e.get("cat") == "kernel"]
    middle = sorted(kernels, key=lambda e: e["ts"])[10:-10:10]
    gone = [id(event) for event in middle]
    trace["traceEvents"] = [e for e in trace["traceEvents"] if id(e) not in gone]
    (tmp_path / "less").mkdir()
    (tmp_path / "less/rank_0.json").write_text(json.dumps(trace))
    hta_sql.ingest(tmp_path / "less", tmp_path / "archive", workers=1)
    [row] = [row for row in rows_of(tmp_path / "archive") if row["severity"] == "warning"]
    assert (row["check"], row["count"]) == ("dropped_buffers", len(gone))
