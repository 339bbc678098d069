"""Stored results of jobs: what is stored, and when it goes."""

import os
import re
import shutil
from contextlib import closing

import duckdb
import pyarrow.parquet as pq
import pytest
from fleet.stored.results import (
    CATALOG,
    QUERIES,
    RELATIONS,
    STORED,
    differing,
    rows_of,
    stored_jobs,
)
from hand_written import span, trace_text

import hta_sql
from hta_sql.database.layers import load_base
from hta_sql.errors import HtaSqlError
from hta_sql.fleet import materialize, result_files
from hta_sql.store.manifest import Manifest

stored_queries = pytest.mark.parametrize("query", QUERIES, ids=str)


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


@pytest.mark.queries
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


@pytest.mark.queries
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


@pytest.mark.queries
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


@pytest.mark.queries
def test_many_batches_make_few_files(archive, monkeypatch):
    monkeypatch.setattr(materialize, "MOST_JOBS", 1)
    monkeypatch.setattr(result_files, "MOST_FILES", 2)
    done = []
    materialize.materialize(archive, progress=lambda *counts: done.append(counts))
    assert done == [(0, 3), (1, 3), (2, 3), (3, 3)]
    files = "SELECT DISTINCT file_id FROM stored_results WHERE query = 'job_summary_v2'"
    [(merged,)] = rows_of(archive, files)
    assert differing(archive) == []
    left = archive.glob("results/kept_job_summary/*.parquet")
    for file in left:
        os.utime(file, (0, 0))  # of long ago
    materialize.materialize(archive)
    assert [f.stem for f in archive.glob("results/kept_job_summary/*.parquet")] == [merged]
    assert differing(archive) == []


@pytest.mark.queries
def test_files_of_an_earlier_hta_sql_lack_a_column(archive, tmp_path, monkeypatch):
    """It is NULL for their jobs, beside the other files and merged with them."""
    materialize.materialize(archive, only_jobs=["b"])
    [file] = archive.glob("results/kept_job_summary/*.parquet")
    earlier = pq.read_table(file).drop_columns("outside_ns")
    named = {"file_id": "earlier"}
    named["files"] = result_files.put_result(tmp_path, archive, "job_summary", "earlier", earlier)
    rows = Manifest(archive, "stored_results").rows()
    result_files.publish(archive, [row | named for row in rows if row["query"] == "job_summary_v2"])
    known = "SELECT job FROM stored_job_summary WHERE outside_ns IS NOT NULL ORDER BY job"
    assert rows_of(archive, known) == []
    materialize.materialize(archive, only_jobs=["a"])
    assert rows_of(archive, known) == [("a",)]
    monkeypatch.setattr(result_files, "MOST_FILES", 2)
    materialize.materialize(archive)
    assert rows_of(archive, known) == [("a",), ("c",)]
    files = "SELECT DISTINCT file_id FROM stored_results WHERE query = 'job_summary_v2'"
    assert len(rows_of(archive, files)) == 1


@pytest.mark.queries
def test_files_without_a_row_count_for_nothing(archive):
    """Those of a killed run, which another may still be about to name, stay for a while."""
    materialize.materialize(archive)
    [file] = archive.glob("results/kept_job_summary/*.parquet")
    orphan = file.with_name("0123456789abcdef.parquet")
    shutil.copy(file, orphan)
    materialize.materialize(archive)
    assert orphan.exists() and differing(archive) == []


@pytest.mark.queries
def test_rows_of_a_job_that_is_gone_go(archive):
    materialize.materialize(archive)
    manifest = Manifest(archive)
    with manifest.locked():
        manifest.change(lambda row: row["job"] != "b")
    assert stored_jobs(archive) == ["a", "c"]
    materialize.materialize(archive)
    assert {row["job"] for row in Manifest(archive, "stored_results").rows()} == {"a", "c"}
