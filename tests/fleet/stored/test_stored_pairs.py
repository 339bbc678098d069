"""Stored pairs of collectives: an archive answers as if there were none, whatever came since."""

import shutil

import duckdb
import pytest

import hta_sql
from hta_sql.database.shell_database import write_database
from hta_sql.demo import write_job

QUERIES = ("collectives", "collective_members", "process_groups", "clock_offsets", "stragglers")


def make_job(folder, name, seed=0):
    write_job(folder / name, ranks=2, steps=1, layers=1, seed=seed)
    return folder / name


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The traces of jobs a, b and c, and an archive of a and b with stored results."""
    folder = tmp_path_factory.mktemp("pairs")
    for seed, name in enumerate("abc"):
        make_job(folder, name, seed)
    hta_sql.ingest([folder / "a", folder / "b"], folder / "archive", workers=1)
    with hta_sql.open(folder / "archive") as run:
        run.materialize()
    return folder


@pytest.fixture
def archive(made, tmp_path):
    return shutil.copytree(made / "archive", tmp_path / "archive")


def answers(run):
    return {name: run.query(name).to_pylist() for name in QUERIES}


def answers_without(tmp_path, *archives, **only):
    """What the archives answer without stored results."""
    bare = []
    for number, archive in enumerate(archives):
        bare.append(shutil.copytree(archive, tmp_path / f"bare{number}"))
        shutil.rmtree(bare[-1] / "results", ignore_errors=True)
        (bare[-1] / "kept_results.parquet").unlink(missing_ok=True)
    with hta_sql.open(*bare, **only) as run:
        assert run.sql("FROM stored_pairs").num_rows == 0
        found = answers(run)
    for copy in bare:
        shutil.rmtree(copy)
    return found


def stored(run):
    return run.sql("SELECT DISTINCT job FROM stored_pairs ORDER BY job")["job"].to_pylist()


def test_stored_or_not_they_are_the_same(archive, tmp_path):
    expected = answers_without(tmp_path, archive)
    with hta_sql.open(archive) as run:
        assert stored(run) == ["a", "b"]
        assert answers(run) == expected
        rows = run.con.sql("FROM collectives()").to_arrow_table().to_pylist()
    assert rows == expected["collectives"] and rows


@pytest.mark.queries
def test_an_open_archive_sees_what_is_ingested(made, archive, tmp_path):
    with hta_sql.open(archive) as run:
        answers(run)
        hta_sql.ingest([made / "c"], archive, workers=1)
        assert stored(run) == ["a", "b"]
        assert answers(run) == answers_without(tmp_path, archive)
        jobs = run.sql("SELECT DISTINCT job FROM paired_members(NULL) ORDER BY job")
        assert jobs["job"].to_pylist() == ["a", "b", "c"]


@pytest.mark.queries
def test_a_rank_ingested_anew_is_paired_anew(archive, tmp_path):
    other = make_job(tmp_path, "a", seed=7)
    with hta_sql.open(archive) as run, hta_sql.open(archive) as shared:
        before = answers(run)
        con = shared.con
        hta_sql.ingest([other], archive, workers=1, force=True)
        assert stored(run) == ["b"]
        after = answers(run)
        assert after == answers_without(tmp_path, archive) != before
        rows = con.sql("FROM collectives()").to_arrow_table().to_pylist()
        assert rows == after["collectives"]


@pytest.mark.queries
def test_some_jobs_alone(made, archive, tmp_path):
    hta_sql.ingest([made / "c"], archive, workers=1)
    for jobs in (["a"], ["c"], ["b", "c"]):
        with hta_sql.open(archive, only_jobs=jobs) as run:
            assert answers(run) == answers_without(tmp_path, archive, only_jobs=jobs)


@pytest.mark.queries
def test_archives_opened_as_one(made, archive, tmp_path):
    hta_sql.ingest([made / "c"], tmp_path / "other", workers=1)
    expected = answers_without(tmp_path, archive, tmp_path / "other")
    with hta_sql.open(archive, tmp_path / "other") as run:
        assert answers(run) == expected
        run.materialize()
        assert stored(run) == ["a", "b", "c"]
        assert answers(run) == expected


@pytest.mark.queries
def test_dropped_and_compacted(archive, tmp_path):
    hta_sql.compact(archive)
    with hta_sql.open(archive) as run:
        assert stored(run) == ["a", "b"]
        hta_sql.drop(archive, jobs=["a"])
        assert stored(run) == ["b"]
        assert answers(run) == answers_without(tmp_path, archive)


@pytest.mark.queries
def test_a_shell_sees_what_is_ingested(made, archive):
    write_database(archive)
    hta_sql.ingest([made / "c"], archive, workers=1)
    with duckdb.connect(str(archive / "hta.duckdb"), read_only=True) as con:
        con.execute(f"SET file_search_path = '{archive}'")
        rows = con.sql("FROM collectives()").to_arrow_table().to_pylist()
    with hta_sql.open(archive) as run:
        assert rows == run.query("collectives").to_pylist()


def test_former_names_of_tables_are_there(archive):
    with hta_sql.open(archive) as run:
        for name in ("results", "job_summary", "job_ranks", "job_kernels"):
            assert run.sql(f"FROM kept_{name}").equals(run.sql(f"FROM stored_{name}"))
