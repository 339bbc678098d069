"""What is said of SQL files that do not keep the rules."""

import re
import shutil
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
from own_queries import GOOD_QUERY, write_query

from hta_sql.catalogue.catalog import Catalog
from hta_sql.catalogue.root import sql_root
from hta_sql.database.layers import load_base, load_queries
from hta_sql.errors import BadParameter, CatalogError, UnknownQuery


def with_replaced(old: str, new: str) -> str:
    assert old in GOOD_QUERY
    return GOOD_QUERY.replace(old, new)


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        (
            with_replaced("-- How long each rank's kernels ran.", "-- How long"),
            ":1: the first line has to be a one-sentence summary",
        ),
        (
            with_replaced("-- since: 0.1\n", ""),
            ":1: the header has 0 lines '-- since:'; write exactly one",
        ),
        (
            with_replaced("-- grain: job, rank", "-- grain: job, stream"),
            ":9: grain column 'stream' is not in returns",
        ),
        (
            with_replaced("--   job        VARCHAR  -   one run", "--   job VARCHAR"),
            ":11: not a column (name TYPE unit text): 'job VARCHAR'",
        ),
        (
            with_replaced("-- check: total_ns >= 0", "-- chek: total_ns >= 0"),
            ":14: neither a header key nor an indented continuation line: '-- chek: total_ns >= 0'",
        ),
        (
            with_replaced("MACRO total_time_v1(", "MACRO total_v1("),
            ":15: the macro is 'total_v1', but the file name says 'total_time_v1'",
        ),
        (
            with_replaced("CREATE OR REPLACE MACRO", "CREATE MACRO"),
            ":15: expected 'CREATE OR REPLACE MACRO total_time_v1(' right below the header",
        ),
        (with_replaced("  -- ns; shorter", "  -"), ":17: not a parameter"),
        (
            with_replaced("    min_dur_ns BIGINT", "    limit BIGINT"),
            ":17: 'limit' is an option of every query; name it otherwise",
        ),
        (GOOD_QUERY + "CREATE TABLE t (a INTEGER);\n", ":23: a query file has to be one statement"),
        (
            GOOD_QUERY.rstrip(";\n") + "\n",
            ":22: a query file has to be one statement, ended by ';'",
        ),
        ("", ":1: the first line has to be a one-sentence summary"),
    ],
)
def test_broken_query_file(tmp_path, sql, says):
    write_query(tmp_path, "gpu/total_time.v1.sql", sql)
    with pytest.raises(
        CatalogError, match="^" + re.escape(f"{tmp_path.name}/queries/gpu/total_time.v1.sql{says}")
    ):
        Catalog.read(tmp_path)


@pytest.mark.parametrize("path", ["total_time.v1.sql", "gpu/total_time.sql", "gpu/Total.v1.sql"])
def test_misnamed_query_file(tmp_path, path):
    write_query(tmp_path, path)
    with pytest.raises(
        CatalogError, match=r":1: the name of a query file has to be queries/<theme>/<name>"
    ):
        Catalog.read(tmp_path)


def test_same_query_in_two_themes(tmp_path):
    write_query(tmp_path, "gpu/total_time.v1.sql")
    write_query(tmp_path, "host/total_time.v1.sql")
    with pytest.raises(CatalogError, match=r"host/.*:1: total_time_v1 is also in .*/gpu/"):
        Catalog.read(tmp_path)


def test_header_is_read(library):
    query = Catalog.read(library).find("total_time", 1)
    assert (query.name, query.version, query.theme) == ("total_time", 1, "gpu")
    assert query.summary == "How long each rank's kernels ran."
    assert query.text == "Overlaps count twice.\n\n    a  [====)\n    b    [====)   both"
    assert query.grain == ("job", "rank")
    assert query.checks == ("total_ns >= 0",)
    assert [str(p) for p in query.parameters] == [
        "only_ranks INTEGER[] := NULL",
        "min_dur_ns BIGINT := 0",
    ]
    assert query.parameters[0].text == "ranks to report"
    assert [(c.name, c.type, c.unit, c.text) for c in query.columns] == [
        ("job", "VARCHAR", "-", "one run"),
        ("rank", "INTEGER", "-", "rank of the process"),
        ("total_ns", "BIGINT", "ns", "sum of durations"),
    ]


def test_continued_lines(tmp_path):
    write_query(
        tmp_path,
        "gpu/total_time.v1.sql",
        GOOD_QUERY.replace("sum of durations", "sum of\n--                           durations")
        .replace("total_ns >= 0", "total_ns\n--   >= 0")
        .replace("[default: all]", "[default:\n    -- all]"),
    )
    query = Catalog.read(tmp_path).find("total_time")
    assert query.columns[-1].text == "sum of durations"
    assert query.checks == ("total_ns >= 0",)
    assert query.parameters[0].text == "ranks to report"
    assert [p.shown_default for p in query.parameters] == ["all", "0"]


def test_newest_version_has_the_bare_name(library):
    catalog = Catalog.read(library)
    assert catalog.find("total_time").version == 2
    with closing(duckdb.connect()) as con:
        load_base(con, catalog)
        load_queries(con, catalog)
        columns = {
            macro: con.sql(f"FROM {macro}()").columns
            for macro in ("total_time", "total_time_v1", "total_time_v2")
        }
    assert columns["total_time"] == columns["total_time_v2"] == ["job", "rank", "sum_ns"]
    assert columns["total_time_v1"] == ["job", "rank", "total_ns"]


@pytest.mark.parametrize(
    ("name", "version", "says"),
    [
        (
            "total_tim",
            None,
            "no query 'total_tim'; did you mean 'total_time'? (hta-sql list shows all 2)",
        ),
        ("zzz", None, "no query 'zzz' (hta-sql list shows all 2)"),
        ("total_time", 3, "no version 3 of total_time; its versions are 1, 2"),
    ],
)
def test_unknown_query(library, name, version, says):
    with pytest.raises(UnknownQuery) as error:
        Catalog.read(library).find(name, version)
    assert str(error.value) == says


@pytest.mark.parametrize(
    ("given", "bound"),
    [
        ({}, {}),
        ({"only_ranks": 3}, {"only_ranks": [3]}),
        ({"only_ranks": (1, 2)}, {"only_ranks": [1, 2]}),
        ({"only_ranks": range(2)}, {"only_ranks": [0, 1]}),
        ({"only_ranks": None, "min_dur_ns": 2**62}, {"min_dur_ns": 2**62}),
        ({"min_dur_ns": None}, {}),  # its default, not NULL
    ],
)
def test_values_are_bound(library, given, bound):
    sql, values = Catalog.read(library).find("total_time", 1).call(given)
    assert values == bound
    assert sql == f"FROM total_time_v1({', '.join(f'{name} := ${name}' for name in bound)})"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            {"ranks": 1},
            "total_time has no parameter 'ranks'; did you mean 'only_ranks'? "
            "it takes only_ranks, min_dur_ns",
        ),
        ({"x": 1}, "total_time has no parameter 'x'; it takes only_ranks, min_dur_ns"),
        ({"only_ranks": "a"}, "total_time: only_ranks is INTEGER[], not 'a'"),
        ({"only_ranks": [1.5]}, "total_time: only_ranks is INTEGER[], not [1.5]"),
        ({"only_ranks": [2**31]}, f"total_time: only_ranks is INTEGER[], not [{2**31}]"),
        ({"min_dur_ns": True}, "total_time: min_dur_ns is BIGINT, not True"),
    ],
)
def test_bad_parameter(library, given, says):
    with pytest.raises(BadParameter) as error:
        Catalog.read(library).find("total_time", 1).call(given)
    assert str(error.value) == says


def test_required_parameter(library):
    with pytest.raises(BadParameter, match="^named needs name_contains: part of the name$"):
        Catalog.read(library).find("named").call({})


def test_sql_error_names_the_line(library):
    file = library / "queries/gpu/total_time.v1.sql"
    file.write_text(file.read_text().replace("sum(dur_ns)", "sum(,dur_ns)"))
    with closing(duckdb.connect()) as con:
        load_base(con, Catalog.read(library))
        with pytest.raises(CatalogError, match=r"total_time\.v1\.sql:19: Parser Error: .*,"):
            load_queries(con, Catalog.read(library))


def test_sql_of_a_wheel_is_inside_the_package(tmp_path, monkeypatch):
    package = tmp_path / "hta_sql"
    shutil.copytree(Path(sql_root()), package / "_sql")
    monkeypatch.setattr("hta_sql.catalogue.root.__file__", str(package / "catalogue/root.py"))
    assert sql_root() == package / "_sql"
