"""Storing results: failures, kills, two at once; what a question says."""

import re
import subprocess
import sys
from datetime import date, datetime

import pytest
from fleet.stored.results import differing, invoke, rows_of, stored_jobs
from hand_written import span, trace_text
from written_archives import activity

import hta_sql
from hta_sql.fleet import materialize
from hta_sql.store.manifest import Manifest

pytestmark = pytest.mark.queries


def test_a_job_that_fails_stops_no_other(archive):
    for file in archive.glob("gpu_activities/job=b/rank=1/*.parquet"):
        file.write_bytes(b"no Parquet")
    done = invoke("materialize", archive)
    assert done.exit_code == 1
    assert re.search(r"^b: failed: .*Parquet", done.stderr, re.MULTILINE | re.IGNORECASE)
    assert re.search(r"^2 jobs computed, 1 failed; ", done.stderr, re.MULTILINE)
    assert stored_jobs(archive) == ["a", "c"]


def test_an_archive_that_cannot_be_written(archive):
    (archive / ".staging").write_text("in the way")
    done = invoke("materialize", archive)
    assert done.exit_code == 1
    assert done.stderr.startswith(f"Error: {archive}: results are stored in the archive, which ")
    assert done.stderr.count("\n") == 1


KILLED = """
import os, sys
from hta_sql.fleet import materialize
materialize.MOST_JOBS = 1
publish, seen = materialize.publish, []
def publish_once(root, rows):
    if seen:
        os._exit(9)
    seen.append(rows)
    publish(root, rows)
materialize.publish = publish_once
materialize.materialize(sys.argv[1])
"""


@pytest.mark.processes
def test_killed_between_files_and_rows(archive):
    """What was published stays, what was not is as if it had never been; the next run goes on."""
    killed = subprocess.run([sys.executable, "-c", KILLED, str(archive)])
    assert killed.returncode == 9
    # One that counts; of the others, as many as the workers had written by then.
    assert len(list(archive.glob("results/kept_job_summary/*.parquet"))) >= 2
    [published] = stored_jobs(archive)
    others = sorted({"a", "b", "c"} - {published})
    assert materialize.materialize(archive).jobs == others
    assert differing(archive) == []


@pytest.mark.processes
def test_two_at_once(archive):
    words = [sys.executable, "-m", "hta_sql.cli", "materialize", str(archive)]
    both = [subprocess.Popen(words, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate()[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert stored_jobs(archive) == ["a", "b", "c"]
    assert differing(archive) == []


@pytest.mark.s3
def test_in_object_storage(archive):
    upath = pytest.importorskip("upath")
    remote = upath.UPath("memory://stored-results/archive")
    for file in [*archive.glob("traces.parquet"), *archive.glob("*/*/*/*.parquet")]:
        target = remote / file.relative_to(archive).as_posix()
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.read_bytes())
    with hta_sql.open(str(remote)) as run:
        assert run.materialize().jobs == ["a", "b", "c"]
        assert run.materialize().jobs == []
        stored = run.sql("FROM stored_job_summary ORDER BY job").to_pylist()
        assert stored == run.job_summary().to_pylist()
        assert run.fleet_summary()["job_count"].to_pylist() == [3]


def test_a_question_to_the_fleet_says_what_is_missing(archive):
    with hta_sql.open(archive) as run:
        with pytest.warns(UserWarning, match="^3 of 3 jobs have no stored results; `hta-sql mat"):
            assert run.fleet_summary().num_rows == 0
        run.materialize(only_jobs=["a", "b"])
        with pytest.warns(UserWarning, match="^1 of 3 jobs has no stored results; "):
            assert run.fleet_summary()["job_count"].to_pylist() == [2]
        assert run.low_utilisation_jobs(only_jobs=["a"], below=2.0).num_rows == 1  # no warning
        with pytest.warns(UserWarning, match="^1 of 3 jobs has no stored results; "):
            run.sql("SELECT count(*) FROM Fleet_Summary()")
    said = invoke("sql", archive, "FROM fleet_summary_v1()").stderr
    assert said == "1 of 3 jobs has no stored results; `hta-sql materialize ARCHIVE` stores them\n"
    assert invoke("sql", archive, "FROM jobs").stderr == ""
    refused = invoke("materialize", archive, "--only-jobs", "nope")
    assert refused.exit_code == 1 and "no job 'nope'; there are 'a', 'b', 'c'" in refused.stderr
    done = invoke("run", "fleet_summary", archive, "--format", "csv")
    assert done.exit_code == 0
    assert (
        done.stderr
        == "1 of 3 jobs has no stored results; `hta-sql materialize ARCHIVE` stores them\n"
    )
    assert invoke("materialize", archive).exit_code == 0
    assert invoke("run", "fleet_summary", archive).stderr == ""
    assert invoke("check", archive).exit_code == 0


def test_a_date_may_be_told_later(tmp_path):
    """After results were stored: they count, since no number in them depends on it."""
    trace = tmp_path / "t/rank_0.json"
    trace.parent.mkdir()
    trace.write_text(trace_text([span("op", ts=1)]))
    archive = tmp_path / "a"
    hta_sql.ingest(trace.parent, archive)
    materialize.materialize(archive)
    assert rows_of(archive, "SELECT week FROM fleet_summary_v1()") == [(None,)]
    hta_sql.ingest(trace.parent, archive, tags={"time": "2026-01-07"})
    assert materialize.materialize(archive).jobs == []
    assert rows_of(archive, "SELECT week FROM fleet_summary_v1()") == [(date(2026, 1, 5),)]
    assert rows_of(archive, "SELECT started_at FROM job_trend_v1()") == [(datetime(2026, 1, 7),)]


def test_an_archive_of_no_jobs(make_archive):
    empty = make_archive()
    with hta_sql.open(empty) as run:
        assert run.materialize().jobs == []
        for query in ("job_summary", "fleet_summary", "low_utilisation_jobs"):
            assert run.query(query).num_rows == 0


def test_batches_hold_so_many_events_and_jobs(make_archive, monkeypatch):
    monkeypatch.setattr(materialize, "MOST_EVENTS", 10)
    monkeypatch.setattr(materialize, "MOST_JOBS", 3)
    archive = make_archive(gpu_activities=[activity(job=job) for job in "abcdefg"])
    counts = dict(a=4, b=6, c=1, d=50, e=0, f=1, g=1)
    manifest = Manifest(archive)
    with manifest.locked():
        rows = [row | {"event_count": counts[row["job"]]} for row in manifest.rows()]
        manifest.change(lambda row: False, rows)
    batches = ["".join(batch.jobs) for batch in materialize.batches_of(archive)]
    assert batches == ["ab", "c", "d", "efg"]
