"""What files read of each other: found by parsing, shown, and the order in which they run."""

import random
from contextlib import closing

import duckdb
import pytest

from hta_sql.catalogue.catalog import Catalog
from hta_sql.catalogue.reads import in_order, readers, reads_of, with_reads
from hta_sql.catalogue.root import sql_root
from hta_sql.database.layers import load_base
from hta_sql.errors import CatalogError

FILES = readers(sql_root())


@pytest.fixture(scope="module")
def con():
    with closing(duckdb.connect()) as con:
        yield con


@pytest.fixture(scope="module")
def reads(con):
    return reads_of(con, FILES)


WRITTEN = [path for path in FILES if path.exists()]  # one is made, see catalogue/findings.py


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.relative_to(sql_root()).as_posix())
def test_what_a_file_reads_is_shown(reads, path):
    assert FILES[path] == with_reads(FILES[path], reads[path]), "make docs writes it"


def test_some_that_are_known(reads):
    by_name = {path.stem: set(read) for path, read in reads.items()}
    assert by_name["steps"] == {"host_ops", "step_marks", "step_number"}
    assert by_name["covered_times"] == set()
    assert {"job_of_file", "rank_of_file", "traces"} <= by_name["host_ops"]
    assert by_name["profiler_steps.v1"] == {
        "busy_times",
        "activities_in_steps",
        "host_ops",
        "is_operator",
        "step_spans",
    }


def drawn(tmp_path, **bodies):
    """Files, each a view of its name."""
    return {
        tmp_path / f"{name}.sql": f"CREATE OR REPLACE VIEW {name} AS\n{body};\n"
        for name, body in bodies.items()
    }


@pytest.mark.parametrize(
    ("body", "read"),
    [
        ("FROM a", {"a"}),
        ("SELECT * FROM a JOIN (FROM b) AS c ON true", {"a", "b"}),
        ("WITH a AS (FROM b) FROM a", {"b"}),
        ("WITH a AS (FROM a) FROM a", {"a"}),  # the inner one is the view
        ("WITH RECURSIVE a AS (SELECT 1 UNION ALL FROM a) FROM a", set()),
        ("WITH b AS (FROM a), a AS (SELECT 1) FROM b", {"a"}),
        ("FROM (WITH a AS (SELECT 1) FROM a), a", {"a"}),
        ("SELECT (SELECT count(*) FROM b) FROM (VALUES (1)) AS a", {"b"}),
        ("FROM query_table('b')", {"b"}),
        ("WITH b AS (SELECT 1) FROM query_table('b')", set()),
        ("SELECT 'b' AS a, b.a FROM (SELECT 1 AS a) AS b", set()),
    ],
)
def test_names_are_seen_where_they_count(con, tmp_path, body, read):
    files = drawn(tmp_path, a="SELECT 1", b="SELECT 2", x=body)
    assert set(reads_of(con, files)[tmp_path / "x.sql"]) == read


def test_macros_are_read_by_their_names(con, tmp_path):
    files = {
        tmp_path / "m.sql": "CREATE OR REPLACE MACRO twice(n) AS 2 * n;\n\n"
        "CREATE OR REPLACE MACRO rows_of(t) AS TABLE\nFROM query_table(t);\n",
        tmp_path / "x.sql": "CREATE OR REPLACE MACRO x() AS TABLE\n"
        "SELECT twice(1) FROM rows_of('y');\n",
        tmp_path / "y.sql": "CREATE OR REPLACE VIEW y AS\nSELECT 1;\n",
    }
    assert set(reads_of(con, files)[tmp_path / "x.sql"]) == {"twice", "rows_of", "y"}
    assert in_order(con, files)[-1].stem == "x"


def test_a_file_runs_behind_what_it_reads(con, reads):
    place = {path: at for at, path in enumerate(in_order(con, FILES))}
    assert place.keys() == FILES.keys()
    late = [(path, read) for path in FILES for read in reads[path].values()]
    assert len(late) > 200
    assert [(path, read) for path, read in late if place[read] >= place[path]] == []


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_order_of_files_on_disk_does_not_matter(monkeypatch, seed):
    catalog = Catalog.read(sql_root())
    for files in (catalog.tables, catalog.relations):
        random.Random(seed).shuffle(files)
    with closing(duckdb.connect()) as con:
        load_base(con, catalog)
        assert con.execute("FROM steps").fetchall() == []


def test_a_circle_is_told(con, tmp_path):
    files = drawn(tmp_path, a="FROM b", b="FROM c", c="FROM a")
    with pytest.raises(CatalogError, match=r"files must not read each other in a circle") as error:
        in_order(con, files)
    assert all(f"{name}.sql" in str(error.value) for name in "abc")


def test_a_name_in_two_files(con, tmp_path):
    files = drawn(tmp_path, a="SELECT 1")
    files[tmp_path / "b.sql"] = files[tmp_path / "a.sql"]
    with pytest.raises(CatalogError, match=r"b\.sql: a\.sql already defines a; rename one"):
        in_order(con, files)


def test_sql_that_does_not_parse_names_its_file(con, tmp_path):
    with pytest.raises(CatalogError, match=r"^a\.sql: .*syntax error"):
        in_order(con, drawn(tmp_path, a="SELECT FROM WHERE"))


@pytest.mark.parametrize(
    "sql",
    [
        "",
        "-- Nothing.\n",
        "create or replace view a as select 1;\n",
        "CREATE OR REPLACE TABLE a AS SELECT 1;\n",
        "CREATE OR REPLACE VIEW a AS SELECT 1; CREATE OR REPLACE VIEW b AS SELECT 1;\n",
        "CREATE OR REPLACE VIEW a AS SELECT 1\n",
        "CREATE OR REPLACE VIEW a AS\nSELECT 1;\nDROP VIEW a;\n",
        "CREATE OR REPLACE VIEW a AS\n-- Cut here;\nSELECT 1;\n",
    ],
)
def test_no_statement_is_passed_over(con, tmp_path, sql):
    with pytest.raises(CatalogError, match=r"^a\.sql: "):
        in_order(con, {tmp_path / "a.sql": sql})


def test_lines_are_written_once_and_taken_away():
    sql = "-- What it is.\nCREATE OR REPLACE VIEW a AS\nFROM b;\n"
    shown = with_reads(sql, ["b"])
    assert shown == "-- What it is.\n--\n-- reads: b\nCREATE OR REPLACE VIEW a AS\nFROM b;\n"
    assert with_reads(shown, ["b"]) == shown
    assert with_reads(shown, []) == sql
    many = with_reads(sql, [f"name_{n}" for n in range(30)])
    assert max(map(len, many.splitlines())) <= 100
    assert with_reads(many, ["b"]) == shown
