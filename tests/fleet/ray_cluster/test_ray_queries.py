"""Queries and commands on a Ray cluster."""

import json
import os
import shutil
import signal
import subprocess
import time

import engine_work
import pyarrow as pa
import pytest
from fleet.ray_cluster.clusters import HTA, hta

import hta_sql
from hta_sql.catalogue.catalog import Catalog
from hta_sql.database.excerpt import Excerpt
from hta_sql.errors import BadParameter
from hta_sql.fleet.by_jobs import batches_of, is_by_job

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'hta-sql[fleet]'")
pytestmark = pytest.mark.ray


def test_same_rows_in_the_same_order(engine, archive):
    """Of every query that can be asked job by job, byte for byte."""
    jobs = ["job0", "job2"]
    parts = dict(engine.map(engine_work.all_results, [(archive, job) for job in jobs]))
    with hta_sql.open(archive, only_jobs=jobs) as run:
        whole = engine_work.by_query(run)
    for query, table in whole.items():
        together = pa.concat_tables([parts[archive, job][query] for job in jobs])
        assert together.equals(table), query
    assert sum(len(set(table["job"].to_pylist())) == 2 for table in whole.values()) > 30


@pytest.mark.parametrize("query", ["module_stats", "queue_length_series", "op_stats"])
def test_an_archive_that_is_asked_by_way_of_ray(engine, archive, query):
    with hta_sql.open(archive) as here, hta_sql.open(archive, engine="ray") as there:
        one = here.query(query)
        assert there.query(query).equals(one) and len(set(one["job"].to_pylist())) == 3
        found, two_ranks = Catalog.load().find(query), "rank IN (SELECT DISTINCT rank FROM traces)"
        for excerpt in (Excerpt(["job", "rank"], ["-job"], two_ranks, 5), Excerpt(limit=2)):
            rows = [run.relation_of(found, {}, excerpt).fetchall() for run in (here, there)]
            assert rows[0] == rows[1] and len(rows[0]) == excerpt.limit


def test_only_some_jobs(engine, archive):
    with hta_sql.open(archive) as here:
        with hta_sql.open(archive, only_jobs=["job1", "job2"], engine="ray") as there:
            found = there.launch_summary(only_jobs=["job1"])
            assert found.equals(here.launch_summary(only_jobs=["job1"])) and found.num_rows == 1
            for job in ("job0", "job9"):
                with pytest.raises(BadParameter, match=f"the archive has no job '{job}'"):
                    there.launch_summary(only_jobs=[job, "job1"])
            # All that is no query of the catalogue is done here.
            assert there.sql("SELECT DISTINCT job FROM traces").num_rows == 2


def test_queries_that_compare_jobs_are_refused(archive):
    eligible = [query for query in Catalog.load().queries if is_by_job(query)]
    assert not {"compare"} & {query.theme for query in eligible}
    with hta_sql.open(archive, engine="ray") as run:
        with pytest.raises(BadParameter, match="kernel_diff cannot be computed job by job"):
            run.kernel_diff(base_job="job0", test_job="job1")
        with pytest.raises(BadParameter, match="launch_summary has no parameter 'top'"):
            run.launch_summary(top=1)


def test_a_job_that_cannot_be_read_is_named(cluster, archive, tmp_path):
    """Its neighbours' rows are not taken for all."""
    shutil.copytree(archive, tmp_path / "archive")
    [path] = (tmp_path / "archive").glob("gpu_activities/job=job1/*/*.parquet")
    path.write_bytes(path.read_bytes()[:-100])
    words = ["launch_summary", tmp_path / "archive", "--engine", "ray", "--address", cluster]
    result = hta("run", *words)
    assert (result.returncode, result.stdout) == (1, "")
    [line] = result.stderr.splitlines()
    assert line.startswith("Error: launch_summary: job 'job1': ") and path.name in line
    result = hta("run", *words, "--only-jobs", "job0", "--format", "json")
    assert [row["rank"] for row in json.loads(result.stdout)] == [0, 1] and result.stderr == ""


def test_batches():
    """Neighbours share one until it is full; as many as asked for, about."""
    assert batches_of({}, 8) == [()]
    assert batches_of({"a": 5}, 8) == [("a",)]
    assert batches_of({"a": 1, "b": 1, "c": 9, "d": 1, "e": 0}, 3) == [
        ("a", "b"),
        ("c",),
        ("d", "e"),
    ]
    many = {f"{at:03}": 10 for at in range(250)}
    sizes = [len(batch) for batch in batches_of(many, 2)]
    assert sizes == [100, 100, 50] and sum(batches_of(many, 9), ()) == tuple(many)


def test_on_a_cluster_of_its_own(archive, monkeypatch):
    """Started for one command, and gone after it."""
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    words = ["run", "temporal_breakdown", archive, "--format", "csv"]
    there, here = hta(*words, "--engine", "ray"), hta(*words)
    assert (there.stdout, there.stderr, there.returncode) == (here.stdout, "", 0)


def test_ctrl_c(cluster, large, tmp_path):
    """Ends what runs on the cluster, and leaves nothing half done."""
    trace, archive = large / "rank_3.json", tmp_path / "archive"
    process = subprocess.Popen(
        [*HTA, "ingest", trace, archive, "--engine", "ray", "--address", cluster],
        stderr=subprocess.PIPE,
        text=True,
    )
    while not list(archive.glob(".staging/*/*/*/events.parquet")):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[1].endswith("Interrupted\n")
    assert process.returncode == 130
    assert not list((archive / ".staging").iterdir()) and not list(archive.glob("events/*"))


def test_what_is_no_cluster(archive):
    words = ["run", "launch_summary", archive, "--address", "127.0.0.1:1"]
    result = hta(*words, "--engine", "ray")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == (
        "Error: cannot use the Ray cluster at 127.0.0.1:1: [Errno 111] Connection refused\n"
    )
    result = hta(*words)
    assert result.returncode == 2 and result.stderr == (
        "Error: address '127.0.0.1:1' is for a Ray cluster; give engine 'ray' too\n"
    )


def test_without_ray(archive, tmp_path, monkeypatch):
    """All else works and does not ask for it; what needs it says so."""
    (tmp_path / "ray.py").write_text("raise ImportError(\"No module named 'ray'\")")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    words = ["run", "launch_summary", archive]
    result = hta(*words, "--engine", "ray")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == (
        "Error: the engine 'ray' is not installed: pip install 'hta-sql[fleet]' "
        "(No module named 'ray')\n"
    )
    result = hta(*words, "--format", "csv")
    assert result.returncode == 0 and len(result.stdout.splitlines()) == 7
