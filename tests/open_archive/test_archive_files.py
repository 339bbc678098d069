"""An open archive and its files: several archives, schemas, errors."""

import os
import shutil
import tempfile
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from written_archives import activity, table_schemas

import hta_sql
from hta_sql import SCHEMA_VERSION, HtaSqlError
from hta_sql.archive import Archive
from hta_sql.catalogue.catalog import Catalog
from hta_sql.cli import cli
from hta_sql.errors import ArchiveError
from hta_sql.store.layout import KEYS
from hta_sql.store.schemas import schema

pytestmark = pytest.mark.usefixtures("use_library")


def test_several_archives(make_archive):
    a = make_archive("a", gpu_activities=[activity(rank=0), activity(rank=1)])
    b = make_archive("b", gpu_activities=[activity(job="other", dur_ns=7)])
    with hta_sql.open(a, str(b)) as run:
        assert run.total_time(min_dur_ns=1).to_pylist() == [
            {"job": "job", "rank": 0, "sum_ns": 10},
            {"job": "job", "rank": 1, "sum_ns": 10},
            {"job": "other", "rank": 0, "sum_ns": 7},
        ]
        assert repr(run) == f"hta_sql.open('{a}', '{b}')"


def test_a_rank_in_two_archives(make_archive):
    a = make_archive("a", gpu_activities=[activity(rank=0), activity(rank=1)])
    b = make_archive("b", gpu_activities=[activity(rank=1)])
    with pytest.raises(ArchiveError) as error:
        hta_sql.open(a, b)
    assert str(error.value) == (
        f"job 'job' rank 1 is in {a} and in {b}; open only one of them, or ingest one again "
        "under another name with --job"
    )


def test_the_working_directory_does_not_matter(make_archive, monkeypatch):
    a = make_archive("a", gpu_activities=[activity()])
    make_archive("b", gpu_activities=[activity(rank=5)])
    monkeypatch.chdir(a.parent / "b")
    with hta_sql.open("../a") as run:
        monkeypatch.chdir("/")
        assert run.total_time()["rank"].to_pylist() == [0]
        assert run.sql("FROM traces")["rank"].to_pylist() == [0]


@pytest.mark.parametrize("name", ["with space", "it's", "ünï", "semi;colon", "per%20cent", "{0}"])
def test_names_of_archives_and_jobs(make_archive, name):
    archive = make_archive(name, gpu_activities=[activity(rank=3)])
    with hta_sql.open(archive) as run:
        assert run.total_time()["rank"].to_pylist() == [3]


def test_archive_of_an_older_schema(make_archive):
    """Columns it lacks are NULL, columns it has too many are ignored: where ranks differ too.

    Whoever opens it is told.
    """
    archive = make_archive(gpu_activities=[activity(rank=0), activity(rank=1, bytes=5)])
    old = archive / "gpu_activities/job=job/rank=0/job-0.parquet"
    table = pq.read_table(old, partitioning=None).drop_columns(["bytes"])
    pq.write_table(table.append_column("gone", [[1]]), old)
    traces = pq.read_table(archive / "traces.parquet")
    at = traces.column_names.index("schema_version")
    of_both = pa.array([SCHEMA_VERSION - 1, SCHEMA_VERSION], pa.int32())
    pq.write_table(traces.set_column(at, "schema_version", of_both), archive / "traces.parquet")
    with pytest.warns(UserWarning, match="^1 trace was ingested by an earlier hta_sql: ") as told:
        run = hta_sql.open(archive)
    assert [Path(warning.filename).name for warning in told] == [Path(__file__).name]
    with run:
        assert run.sql("SELECT rank, bytes FROM gpu_activities ORDER BY rank").to_pylist() == [
            {"rank": 0, "bytes": None},
            {"rank": 1, "bytes": 5},
        ]


def test_a_column_that_a_file_lacks_is_null(make_archive):
    """Also if the version of its schema does not show that."""
    archive = make_archive(gpu_activities=[activity()])
    [file] = archive.glob("gpu_activities/*/*/*.parquet")
    table = pq.read_table(file, partitioning=None)
    pq.write_table(table.drop_columns(["bytes"]), file)
    with hta_sql.open(archive) as run:
        found = run.sql("SELECT bytes, dur_ns FROM gpu_activities")
        assert found.to_pylist() == [{"bytes": None, "dur_ns": 10}]


def test_the_command_line_tells_of_an_older_schema(make_archive):
    archive = make_archive(gpu_activities=[activity()])
    traces = pq.read_table(archive / "traces.parquet")
    at = traces.column_names.index("schema_version")
    older = traces.set_column(at, "schema_version", pa.array([SCHEMA_VERSION - 1], pa.int32()))
    for table, told in ((traces, ""), (older, "Warning: 1 trace was ingested by an earlier")):
        pq.write_table(table, archive / "traces.parquet")
        result = CliRunner().invoke(cli, ["run", "total_time", str(archive)])
        assert result.exit_code == 0
        assert result.stderr[: len(told) or None] == told
    nothing = CliRunner().invoke(cli, ["run", "total_time", str(archive), "--min-dur-ns", "99"])
    assert nothing.exit_code == 0
    assert nothing.stderr.endswith("\nno rows\n")


@pytest.mark.parametrize("table", ["events", "gpu_activities", "traces"])
def test_sources_have_the_published_columns(run, tiny_archive, table):
    published = table_schemas()[table]
    found = run.sql(f"FROM {table}").schema
    assert found.names[: len(published)] == published.names
    assert [found.field(name).type for name in published.names] == published.types


@pytest.mark.parametrize("table", KEYS)
def test_manifests_have_the_published_columns(table):
    assert schema(table).equals(table_schemas()[table])


def test_no_archive(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd/traces.parquet").write_text("x")
    (tmp_path / "a[1]").mkdir()
    (tmp_path / "a[1]/traces.parquet").write_text("x")
    make = "; `hta-sql ingest TRACES ARCHIVE` makes one"
    for given, says in {
        (): "no archive given" + make,
        ("missing",): "missing: no such folder" + make,
        ("empty",): "empty: not an archive, since it holds no traces.parquet" + make,
        ("file",): "file: not an archive, since it is a file" + make,
        ("odd",): "odd: traces.parquet cannot be read: ",
        ("a[1]",): "a[1]: DuckDB cannot search a path that contains [ ]; move the archive",
        ("odd", "odd"): "odd is given twice",
    }.items():
        with pytest.raises(ArchiveError) as error:
            hta_sql.open(*(tmp_path / name for name in given))
        assert str(error.value).removeprefix(f"{tmp_path}{os.sep}").startswith(says)


def test_a_broken_data_file(make_archive):
    archive = make_archive(gpu_activities=[activity(rank=0)])
    (archive / "gpu_activities/job=job/rank=0/job-0.parquet").write_bytes(b"no parquet")
    with pytest.raises(ArchiveError, match="job-0.parquet") as error:
        hta_sql.open(archive).total_time()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "check: total_ns >= 0",
            "check: total_ns > 10",
            "total_time_v1: 1 of 2 rows fail 'total_ns > 10', first at job job, rank 1",
        ),
        (
            "GROUP BY job, rank ORDER",
            "GROUP BY job, rank, device ORDER",
            "total_time_v1: 1 of 3 rows repeat the grain of another row (job, rank)",
        ),
        (
            "::BIGINT AS total_ns",
            "::DOUBLE AS total_ns",
            "total_time_v1: the columns are [('job', 'VARCHAR'), ('rank', 'INTEGER'), "
            "('total_ns', 'DOUBLE')], but the header declares ",
        ),
    ],
)
def test_check_names_the_broken_promise(make_archive, library, old, new, says):
    file = library / "queries/gpu/total_time.v1.sql"
    file.write_text(file.read_text().replace(old, new))
    catalog = Catalog.read(library)
    archive = make_archive(gpu_activities=[activity(), activity(device=1), activity(rank=1)])
    with Archive(archive, catalog=catalog) as run:
        (line,) = run.check("total_time", 1)
    assert line.startswith(says)


def test_files_are_seen_when_something_is_asked(run):
    """Until then no view reads them, and of those without files none ever does."""
    reading = "SELECT view_name FROM duckdb_views() WHERE sql LIKE '%read_parquet%' ORDER BY ALL"
    assert run.session.con.execute(reading).fetchall() == []
    run.total_time()
    assert run.session.con.execute(reading).fetchall() == [
        ("events_by_rank",),
        ("gpu_activities_by_rank",),
        ("traces",),
    ]


def test_a_table_that_loses_its_files_is_empty_again(make_archive):
    archive = make_archive(gpu_activities=[activity()], events=[{"event_id": 1, "ph": "X"}])
    with hta_sql.open(archive) as run:
        assert run.sql("FROM gpu_activities").num_rows == 1
        shutil.rmtree(archive / "gpu_activities")
        run.reload()
        assert run.sql("FROM gpu_activities").num_rows == 0
        assert run.sql("FROM events").num_rows == 1


def test_what_a_user_makes_stays_and_takes_precedence(run, tiny_archive):
    """Views of one's own, and of those that are meant to be replaced; also after a reload."""
    peaks = run.con.sql("DESCRIBE device_peaks").fetchall()
    run.con.execute("CREATE VIEW mine AS SELECT count(*) AS n FROM gpu_activities")
    run.con.execute("CREATE TABLE kept AS SELECT 42 AS answer")
    run.con.execute(
        "CREATE OR REPLACE VIEW device_peaks AS SELECT "
        + ", ".join(f"NULL::{kind} AS {name}" for name, kind, *_ in peaks)
    )
    run.reload()
    assert run.sql("FROM mine").to_pylist() == [{"n": 8}]
    assert run.sql("FROM kept").to_pylist() == [{"answer": 42}]
    assert run.sql("FROM device_peaks").num_rows == 1
    shown = {name for (name,) in run.con.sql("SHOW TABLES").fetchall()}
    assert {"mine", "kept", "events", "jobs", "hta_queries"} <= shown


def test_library_errors_keep_their_cause(run):
    with pytest.raises(HtaSqlError) as error:
        run.sql("SELEC")
    assert isinstance(error.value.__cause__, duckdb.Error)


@pytest.mark.parametrize("safe", [False, True])
def test_a_closed_archive_leaves_no_temporary_files(tiny_archive, tmp_path, monkeypatch, safe):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    run = hta_sql.open(tiny_archive, safe=safe)
    run.sql("FROM traces")
    assert list(folder.iterdir())
    run.close()
    assert list(folder.iterdir()) == []
