"""Open archives, alone and together, and ask them things."""

import inspect
import os
import re
import shutil
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from conftest import activity, table_schemas

import hta_sql
from hta_sql import SCHEMA_VERSION, HtaSqlError
from hta_sql.archive import Archive
from hta_sql.catalogue.catalog import Catalog
from hta_sql.cli import cli
from hta_sql.errors import ArchiveError, BadParameter, UnknownQuery

pytestmark = pytest.mark.usefixtures("use_library")


@pytest.fixture
def run(tiny_archive):
    with hta_sql.open(tiny_archive) as run:
        yield run


def test_query_is_a_method(run):
    result = run.total_time()
    assert isinstance(result, pa.Table)
    assert result.schema == pa.schema(
        [("job", pa.string()), ("rank", pa.int32()), ("sum_ns", pa.int64())]
    )
    assert result.to_pylist() == [
        {"job": "job", "rank": 0, "sum_ns": 65},
        {"job": "job", "rank": 1, "sum_ns": 66},
    ]


@pytest.mark.parametrize("ranks", [1, [1], (1,), range(1, 2), {1}])
def test_parameters_are_bound(run, ranks):
    assert run.total_time(only_ranks=ranks)["rank"].to_pylist() == [1]


def test_version_can_be_pinned(run):
    assert run.query("total_time", 1).column_names == ["job", "rank", "total_ns"]
    assert run.query("total_time", version=1, min_dur_ns=30)["total_ns"].to_pylist() == [30, 30]


def test_method_tells_its_signature_and_header(run):
    method = run.total_time
    assert str(inspect.signature(method)).startswith(
        "(*, only_ranks: INTEGER[] = NULL, min_dur_ns: BIGINT = 0)"
    )
    assert method.__name__ == "total_time"
    assert method.__doc__.startswith("How long each rank's kernels ran.\n\nOverlaps count twice.")
    assert "only_ranks INTEGER[] := NULL: ranks to report" in method.__doc__
    assert "sum_ns  BIGINT, sum of durations" in method.__doc__
    assert {"total_time", "named", "query", "sql"} <= set(dir(run))


def test_signature_with_a_required_parameter(run):
    parameter = inspect.signature(run.named).parameters["name_contains"]
    assert parameter.default is inspect.Parameter.empty


def test_deprecated_query_warns(run):
    with pytest.warns(FutureWarning, match="^named_v1: use another, leaves in 9.9$"):
        result = run.named(name_contains="relu")
    assert result["event_id"].to_pylist() == [4, 4]


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (
            lambda run: run.total_tim(),
            UnknownQuery,
            "no query 'total_tim'; did you mean 'total_time'?",
        ),
        (lambda run: run.query("total_time", 9), UnknownQuery, "no version 9 of total_time"),
        (lambda run: run.total_time(rank=1), BadParameter, "total_time has no parameter 'rank'"),
        (
            lambda run: run.total_time([1]),
            BadParameter,
            "takes its parameters by name: (*, only_ranks",
        ),
        (lambda run: run.total_time(min_dur_ns="x"), BadParameter, "min_dur_ns is BIGINT, not 'x'"),
    ],
)
def test_wrong_calls(run, call, error, says):
    with pytest.raises(error, match=re.escape(says)):
        call(run)


def test_missing_method_is_an_attribute_error(run):
    assert not hasattr(run, "nothing")
    assert not hasattr(run, "_repr_mimebundle_")


def test_sql(run):
    assert run.sql("SELECT count(*) AS n FROM events").to_pylist() == [{"n": 8}]
    assert run.sql("FROM total_time(only_ranks := $r)", {"r": [0]}).num_rows == 1
    assert run.sql("SELECT ? + ?", [1, 2]).to_pydict() == {"($1 + $2)": [3]}
    assert run.sql("FROM hta_queries")["name"].to_pylist() == ["total_time", "total_time", "named"]


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("FROM event", "no table 'event'; did you mean events? the tables are attachments, bus"),
        ("FROM zzz", "no table 'zzz'; the tables are attachments, bus"),
        ("FROM total_tim()", "no table 'total_tim'; did you mean total_time()? the tables are"),
        ("FROM total_time", "total_time is a query: write FROM total_time()"),
        ("FROM events()", "events is a table, not a query: write FROM events"),
        ("SELEC 1", 'Parser Error: syntax error at or near "SELEC"'),
        ("SELECT nam FROM events", 'Binder Error: Referenced column "nam" not found'),
        ("SELECT error('mine') FROM events", "mine"),
        ("", "no SQL statement given"),
    ],
)
def test_wrong_sql(run, sql, says):
    with pytest.raises(HtaSqlError) as error:
        run.sql(sql)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_con_has_everything_even_after_a_query(run):
    run.total_time()
    assert run.con.sql("FROM total_time_v1()").fetchall() == [("job", 0, 65), ("job", 1, 66)]
    assert run.con is run.con


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity on this system")
def test_no_more_threads_than_cores_it_may_use(tiny_archive):
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        with Archive(tiny_archive) as run:
            found = run.sql("SELECT current_setting('threads') AS threads").to_pylist()
    finally:
        os.sched_setaffinity(0, allowed)
    assert found == [{"threads": 1}]


def test_empty_archive(make_archive):
    with Archive(make_archive()) as run:
        assert run.total_time().num_rows == 0
        assert run.sql("FROM traces").num_rows == 0


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
        f"job 'job' rank 1 is in {a} and in {b}; open one of them, or ingest one again under "
        "another name (--job)"
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
    assert [Path(warning.filename).name for warning in told] == ["test_archive.py"]
    with run:
        assert run.sql("SELECT rank, bytes FROM gpu_activities ORDER BY rank").to_pylist() == [
            {"rank": 0, "bytes": None},
            {"rank": 1, "bytes": 5},
        ]


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
    nothing = CliRunner().invoke(cli, ["run", "total_time", str(archive), "--only-ranks", "9"])
    assert nothing.exit_code == 0
    assert nothing.stderr.endswith("\nno rows\n")


@pytest.mark.parametrize("table", ["events", "gpu_activities", "traces"])
def test_sources_have_the_published_columns(run, tiny_archive, table):
    published = table_schemas()[table]
    found = run.sql(f"FROM {table}").schema
    assert found.names[: len(published)] == published.names
    assert [found.field(name).type for name in published.names] == published.types


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
        ("empty",): "empty: not an archive, it holds no traces.parquet" + make,
        ("file",): "file: not an archive, it is a file" + make,
        ("odd",): "odd: traces.parquet cannot be read: ",
        ("a[1]",): "a[1]: DuckDB cannot search a path with [ ] in it; move the archive",
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
            "total_time_v1: 1 of 3 rows repeat their grain (job, rank)",
        ),
        (
            "::BIGINT AS total_ns",
            "::DOUBLE AS total_ns",
            "total_time_v1: the columns are [('job', 'VARCHAR'), ('rank', 'INTEGER'), "
            "('total_ns', 'DOUBLE')], declared are ",
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
    assert run._con.execute(reading).fetchall() == []
    run.total_time()
    assert run._con.execute(reading).fetchall() == [
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
