"""Every file under sql/ keeps the rules; and what is said of files that do not."""

import re
import shutil
import time
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
from conftest import GOOD_QUERY, write_query

from hta_sql.archive import Archive
from hta_sql.catalogue.catalog import Catalog
from hta_sql.catalogue.query import Query
from hta_sql.catalogue.root import sql_root
from hta_sql.cli import cli
from hta_sql.database.docs import tables_read
from hta_sql.database.layers import load_base, load_queries
from hta_sql.errors import BadParameter, CatalogError, UnknownQuery

CATALOG = Catalog.load()
SQL_FILES = sorted(sql_root().rglob("*.sql"))
UNIT_OF_LAST_WORD = {
    "ns": "ns",
    "frac": "0-1",
    "count": "count",
    "bytes": "bytes",
    "gbps": "GB/s",
    "ppm": "ppm",
}
TYPE_OF_UNIT = {
    "ns": "BIGINT",
    "0-1": "DOUBLE",
    "count": "BIGINT",
    "bytes": "BIGINT",
    "GB/s": "DOUBLE",
}
queries = pytest.mark.parametrize("query", CATALOG.queries, ids=str)


@pytest.fixture(scope="module")
def con():
    """The whole catalogue over the empty stubs."""
    with closing(duckdb.connect()) as con:
        load_base(con, CATALOG)
        load_queries(con, CATALOG)
        yield con


def call_with_nulls(query: Query) -> str:
    """A call that binds whatever the query requires."""
    required = ", ".join(f"{p.name} := NULL::{p.type}" for p in query.required)
    return f"FROM {query.macro}({required})"


@queries
def test_parameters_are_duckdbs(con, query):
    names, types = con.execute(
        "SELECT parameters, parameter_types FROM duckdb_functions() WHERE function_name = $1",
        [query.macro],
    ).fetchone()
    declared = [(p.name, p.type) for p in query.parameters]
    assert declared == list(zip(names, types, strict=True))


@queries
def test_columns_are_as_declared(con, query):
    seen = con.execute(f"DESCRIBE {call_with_nulls(query)}").fetchall()
    assert [(name, kind) for name, kind, *_ in seen] == [(c.name, c.type) for c in query.columns]


@queries
def test_no_rows_and_no_error_without_data(con, query):
    assert con.execute(call_with_nulls(query)).fetchall() == []


# The catalogue's statistics of speeds have bare names.
BARE = {
    ("memory_bandwidth_summary", name): "GB/s"
    for name in ("mean", "stddev", "min", "p25", "p50", "p75", "max")
}


@queries
def test_units_are_in_names(query):
    for column in query.columns:
        assert column.unit == BARE.get((query.name, column.name), column.unit)
        if (query.name, column.name) in BARE:
            continue
        last_word = column.name.rsplit("_", 1)[-1]
        assert UNIT_OF_LAST_WORD.get(last_word, "-") == column.unit, column
        assert column.unit not in TYPE_OF_UNIT or TYPE_OF_UNIT[column.unit] == column.type, column


@queries
def test_grain_comes_first(query):
    assert tuple(c.name for c in query.columns[: len(query.grain)]) == query.grain


@queries
def test_result_is_ordered(con, query):
    modifiers = con.execute(
        "SELECT json_extract(json_serialize_sql(macro_definition), "
        "'$.statements[0].node.modifiers[*].type') "
        "FROM duckdb_functions() WHERE function_name = $1",
        [query.macro],
    ).fetchone()[0]
    assert '"ORDER_MODIFIER"' in modifiers


@queries
def test_parameters_shadow_no_column(con, query):
    """A macro's parameter silently wins over a column of its name: `rank = rank` is true.

    The one that does not is only ever an alias in its query.
    """
    if query.name == "kernel_sequences":
        of_query = {column.name for column in query.columns}
        assert {p.name for p in query.parameters} & of_query == {"operator"}
        return
    of_tables = {
        name
        for (name,) in con.execute(
            "SELECT column_name FROM duckdb_columns() WHERE NOT internal"
        ).fetchall()
    }
    of_queries = {column.name for q in CATALOG.queries for column in q.columns}
    assert not {p.name for p in query.parameters} & (of_tables | of_queries)


@queries
def test_names_are_free_in_python_and_on_the_command_line(query):
    assert not hasattr(Archive, query.name)
    flags = [
        flag
        for param in cli.commands["run"].get_command(None, query.name).params
        for flag in (*param.opts, *param.secondary_opts)
    ]
    assert len(flags) == len(set(flags))


@queries
def test_reads_something(con, query):
    assert tables_read(con, query.macro)


@queries
def test_promises_hold_on_made_up_job(demo_archive, query):
    if query.required:
        pytest.skip(f"{query} needs {', '.join(p.name for p in query.required)}")
    with Archive(demo_archive) as archive:
        assert archive.check(query.name, query.version) == []


@pytest.mark.parametrize("path", SQL_FILES, ids=lambda p: p.relative_to(sql_root()).as_posix())
def test_sql_is_tidy(path):
    text = path.read_text(encoding="utf-8")
    assert "\t" not in text
    assert text.endswith("\n") and not text.endswith("\n\n")
    assert [line for line in text.splitlines() if len(line) > 100 or line != line.rstrip()] == []


@queries
def test_query_reads_no_other_query(query):
    with closing(duckdb.connect()) as con:
        load_base(con, CATALOG)
        con.execute(query.sql)


def test_catalogue_is_read_fast():
    """60 files in 20 ms on a quiet machine; here with room for a busy one."""
    best = min(_seconds(lambda: Catalog.read(sql_root())) for _ in range(5))
    assert best < 0.002 * max(len(CATALOG.queries), 10)


def _seconds(run) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


# Rules, each broken once.


def with_replaced(old: str, new: str) -> str:
    assert old in GOOD_QUERY
    return GOOD_QUERY.replace(old, new)


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        (
            with_replaced("-- How long each rank's kernels ran.", "-- How long"),
            ":1: the first line is a one-sentence summary",
        ),
        (with_replaced("-- since: 0.1\n", ""), ":1: the header has 0 lines '-- since:', not one"),
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
            ":14: neither a header key nor an indented continuation: '-- chek: total_ns >= 0'",
        ),
        (
            with_replaced("MACRO total_time_v1(", "MACRO total_v1("),
            ":15: the macro is 'total_v1', but by its file name 'total_time_v1'",
        ),
        (
            with_replaced("CREATE OR REPLACE MACRO", "CREATE MACRO"),
            ":15: expected 'CREATE OR REPLACE MACRO total_time_v1(' right below the header",
        ),
        (with_replaced("  -- ns; shorter", "  -"), ":17: not a parameter"),
        (GOOD_QUERY + "CREATE TABLE t (a INTEGER);\n", ":23: a query file is one statement"),
        (GOOD_QUERY.rstrip(";\n") + "\n", ":22: a query file is one statement, ended by ';'"),
        ("", ":1: the first line is a one-sentence summary"),
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
    with pytest.raises(CatalogError, match=r":1: a query file is named queries/<theme>/<name>"):
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
    assert query.parameters[0].text == "ranks to report; NULL means all"
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
        .replace("NULL means all", "NULL\n    -- means all"),
    )
    query = Catalog.read(tmp_path).find("total_time")
    assert query.columns[-1].text == "sum of durations"
    assert query.checks == ("total_ns >= 0",)
    assert query.parameters[0].text == "ranks to report; NULL means all"


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
        ("total_time", 3, "no version 3 of total_time; there is 1, 2"),
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
