"""Every file under sql/ keeps the rules."""

import time
from contextlib import closing

import duckdb
import pytest
from catalogue.sql_files import CATALOG

from hta_sql.archive import Archive
from hta_sql.catalogue.catalog import Catalog
from hta_sql.catalogue.query import Query
from hta_sql.catalogue.root import sql_root
from hta_sql.cli import cli
from hta_sql.database.docs import tables_read
from hta_sql.database.layers import load_base

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
def base():
    """All but the queries."""
    with closing(duckdb.connect()) as con:
        load_base(con, CATALOG)
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
BARE = {("rank_collectives", "bytes_total"): "bytes"} | {
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
def test_promises_hold_on_made_up_job(demo_run, query):
    if query.required:
        pytest.skip(f"{query} needs {', '.join(p.name for p in query.required)}")
    assert demo_run.check(query.name, query.version) == []


@pytest.mark.parametrize("path", SQL_FILES, ids=lambda p: p.relative_to(sql_root()).as_posix())
def test_sql_is_tidy(path):
    text = path.read_text(encoding="utf-8")
    assert "\t" not in text
    assert text.endswith("\n") and not text.endswith("\n\n")
    assert [line for line in text.splitlines() if len(line) > 100 or line != line.rstrip()] == []


@queries
def test_query_reads_no_other_query(base, query):
    base.execute("BEGIN")
    try:
        base.execute(query.sql)
    finally:
        base.execute("ROLLBACK")


def test_catalogue_is_read_fast():
    """60 files in 20 ms on a quiet machine; here with room for a busy one."""
    best = min(_seconds(lambda: Catalog.read(sql_root())) for _ in range(5))
    assert best < 0.002 * max(len(CATALOG.queries), 10)


def _seconds(run) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start
