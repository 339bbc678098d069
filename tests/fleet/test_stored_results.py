"""Results that archives store: what is computed, until when it counts, what may go wrong."""

import os
import re
import shutil
import subprocess
import sys
from contextlib import closing
from datetime import date, datetime
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner
from conftest import activity
from hand_written import span, trace_text

import hta_sql
from hta_sql.catalogue.catalog import Catalog
from hta_sql.cli import cli
from hta_sql.database.layers import load_base
from hta_sql.errors import HtaSqlError
from hta_sql.fleet import materialize
from hta_sql.store.manifest import Manifest

CATALOG = Catalog.load()
STORED = CATALOG.stored
QUERIES = [query for query in CATALOG.queries if STORED.get(query.name) == query.macro]
stored_queries = pytest.mark.parametrize("query", QUERIES, ids=str)
RELATIONS = sorted(STORED.keys() - {query.name for query in QUERIES})


@stored_queries
def test_a_table_of_stored_results_has_its_querys_columns(query):
    source = CATALOG.sources[f"stored_{query.name}"]
    with closing(duckdb.connect()) as con:
        load_base(con, CATALOG)
        seen = con.execute(f"DESCRIBE stored_{query.name}").fetchall()
    assert [(name, kind) for name, kind, *_ in seen] == [(c.name, c.type) for c in query.columns]
    assert re.findall(r"'(\w+_v\d+)'", source.sql) == [str(query)]
    assert "only_jobs" in {p.name for p in query.parameters} and not query.required
    assert query.grain[0] == "job"


@pytest.mark.parametrize("name", RELATIONS)
def test_a_table_of_a_stored_relation_has_its_columns(name):
    with closing(duckdb.connect()) as con:
        load_base(con, CATALOG)
        seen = con.execute(f"DESCRIBE stored_{name}").fetchall()
        assert seen == con.execute(f"DESCRIBE FROM {STORED[name]}()").fetchall()


@pytest.fixture
def archive(make_archive) -> Path:
    """Jobs a, b and c of two ranks, which differ in how long they take."""
    return make_archive(
        gpu_activities=[
            activity(
                job=job, rank=rank, event_id=i, start_ns=100 * i, dur_ns=10 * number + rank + i
            )
            for number, job in enumerate("abc", start=1)
            for rank in (0, 1)
            for i in range(3)
        ]
    )


def invoke(*words):
    return CliRunner().invoke(cli, [str(word) for word in words])


def rows_of(archive: Path, sql: str) -> list[tuple]:
    with hta_sql.open(archive) as run:
        return [tuple(row.values()) for row in run.sql(sql).to_pylist()]


def stored_jobs(archive: Path, query: str = "job_summary_v1") -> list[str]:
    return [
        job
        for (job,) in rows_of(
            archive, f"SELECT job FROM stored_results WHERE query = '{query}' ORDER BY job"
        )
    ]


def differing(archive: Path) -> list[tuple]:
    """Rows of stored results that are not what their queries return, and the other way round."""
    found = []
    for name, macro in STORED.items():
        pair = f"FROM {macro}()", f"FROM stored_{name}"
        found += rows_of(
            archive,
            " UNION ALL ".join(
                f"(FROM (SELECT x::VARCHAR FROM ({a}) AS x) EXCEPT ALL "
                f"(SELECT x::VARCHAR FROM ({b}) AS x))"
                for a, b in (pair, pair[::-1])
            ),
        )
    return found


def test_stored_is_what_was_computed(archive):
    assert stored_jobs(archive) == []
    with hta_sql.open(archive) as run:
        done = run.materialize()
        assert (done.jobs, done.failed) == (["a", "b", "c"], [])
        assert run.sql("SELECT count(*) AS n FROM stored_job_summary")["n"].to_pylist() == [3]
        assert run.materialize().jobs == []
    assert differing(archive) == []
    stored = rows_of(
        archive,
        "SELECT query, count(*), count(DISTINCT file_id) FROM stored_results "
        "GROUP BY query ORDER BY query",
    )
    assert stored == [(macro, 3, 1) for macro in sorted(STORED.values())]


def test_a_job_ingested_anew_has_no_results(archive, tmp_path):
    """Its rows are computed again, those of the others stay."""
    for rank in (0, 1):
        file = tmp_path / "d" / f"rank_{rank}.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(trace_text([span("gemm", ts=10, dur=5, cat="kernel", stream=7)]))
    hta_sql.ingest([tmp_path / "d"], archive, workers=1)
    with hta_sql.open(archive) as run:
        assert run.materialize().jobs == ["a", "b", "c", "d"]
        before = run.sql("FROM stored_job_summary ORDER BY job").to_pylist()
        file.write_text(trace_text([span("gemm", ts=10, dur=9, cat="kernel", stream=7)]))
        hta_sql.ingest([file], archive, workers=1)
        run.reload()
        assert run.sql("FROM stored_job_summary ORDER BY job").to_pylist() == before[:3]
        assert run.materialize().jobs == ["d"]
        after = run.sql("FROM stored_job_summary ORDER BY job").to_pylist()
        assert after[:3] == before[:3]
        assert (before[3]["gpu_span_ns"], after[3]["gpu_span_ns"]) == (10_000, 14_000)
    assert differing(archive) == []


def test_chosen_jobs_and_again(archive):
    with hta_sql.open(archive) as run:
        with pytest.raises(HtaSqlError, match="no job 'none'; there are 'a', 'b', 'c'"):
            run.materialize(only_jobs=["b", "none"])
        assert run.materialize(only_jobs="b").jobs == ["b"]
        computed = "SELECT job, computed_at FROM stored_results ORDER BY ALL"
        before = run.sql(computed).to_pylist()
        assert {row["job"] for row in before} == {"b"}
        assert run.materialize(only_jobs=["b"], force=True).jobs == ["b"]
        after = run.sql(computed).to_pylist()
        assert len(after) == len(before) and after != before
    with hta_sql.open(archive, only_jobs=["a"]) as run:
        assert run.materialize().jobs == ["a"]
    assert stored_jobs(archive) == ["a", "b"]


def test_many_batches_make_few_files(archive, monkeypatch):
    monkeypatch.setattr(materialize, "MOST_JOBS", 1)
    monkeypatch.setattr(materialize, "MOST_FILES", 2)
    done = []
    materialize.materialize(archive, progress=lambda *counts: done.append(counts))
    assert done == [(0, 3), (1, 3), (2, 3), (3, 3)]
    files = "SELECT DISTINCT file_id FROM stored_results WHERE query = 'job_summary_v1'"
    [(merged,)] = rows_of(archive, files)
    assert differing(archive) == []
    left = archive.glob("results/kept_job_summary/*.parquet")
    for file in left:
        os.utime(file, (0, 0))  # of long ago
    materialize.materialize(archive)
    assert [f.stem for f in archive.glob("results/kept_job_summary/*.parquet")] == [merged]
    assert differing(archive) == []


def test_files_without_a_row_count_for_nothing(archive):
    """Those of a killed run, which another may still be about to name, stay for a while."""
    materialize.materialize(archive)
    [file] = archive.glob("results/kept_job_summary/*.parquet")
    orphan = file.with_name("0123456789abcdef.parquet")
    shutil.copy(file, orphan)
    materialize.materialize(archive)
    assert orphan.exists() and differing(archive) == []


def test_rows_of_a_job_that_is_gone_go(archive):
    materialize.materialize(archive)
    manifest = Manifest(archive)
    with manifest.locked():
        manifest.change(lambda row: row["job"] != "b")
    assert stored_jobs(archive) == ["a", "c"]
    materialize.materialize(archive)
    assert {row["job"] for row in Manifest(archive, "stored_results").rows()} == {"a", "c"}


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


def test_two_at_once(archive):
    words = [sys.executable, "-m", "hta_sql.cli", "materialize", str(archive)]
    both = [subprocess.Popen(words, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate()[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert stored_jobs(archive) == ["a", "b", "c"]
    assert differing(archive) == []


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
        with pytest.warns(UserWarning, match="^3 of 3 jobs have no stored results: hta-sql mat"):
            assert run.fleet_summary().num_rows == 0
        run.materialize(only_jobs=["a", "b"])
        with pytest.warns(UserWarning, match="^1 of 3 jobs has no stored results: "):
            assert run.fleet_summary()["job_count"].to_pylist() == [2]
        assert run.low_utilisation_jobs(only_jobs=["a"], below=2.0).num_rows == 1  # no warning
        with pytest.warns(UserWarning, match="^1 of 3 jobs has no stored results: "):
            run.sql("SELECT count(*) FROM Fleet_Summary()")
    said = invoke("sql", archive, "FROM fleet_summary_v1()").stderr
    assert said == "1 of 3 jobs has no stored results: hta-sql materialize ARCHIVE\n"
    assert invoke("sql", archive, "FROM jobs").stderr == ""
    refused = invoke("materialize", archive, "--only-jobs", "nope")
    assert refused.exit_code == 1 and "no job 'nope'; there are 'a', 'b', 'c'" in refused.stderr
    done = invoke("run", "fleet_summary", archive, "--format", "csv")
    assert done.exit_code == 0
    assert done.stderr == "1 of 3 jobs has no stored results: hta-sql materialize ARCHIVE\n"
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
