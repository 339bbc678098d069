"""SQL of strangers: it reads the archive, and nothing else in the world sees it."""

import os
import re
import shutil
import socket
import time
from contextlib import closing
from pathlib import Path
from random import Random

import duckdb
import pyarrow as pa
import pytest
from open_archive.attacks import ALLOWED, ATTACKS, ENDLESS

import hta_sql
from hta_sql.database.sandbox import Sandbox
from hta_sql.errors import HtaSqlError

SENTINEL = "SENTINEL"


class World:
    """What a stranger could reach: files with a secret, folders, a port, Python's variables."""

    def __init__(self, root: Path, archive: Path) -> None:
        self.root = root
        self.folders = {name: root / name for name in ("secret", "out", "archive")}
        for name in ("secret", "out"):
            self.folders[name].mkdir()
        shutil.copytree(archive, self.folders["archive"])
        secret = self.folders["secret"]
        (secret / "s.csv").write_text(f"secret\n{SENTINEL}\n")
        (secret / "s.txt").write_text(SENTINEL)
        (secret / "s.json").write_text(f'{{"secret": "{SENTINEL}"}}\n')
        (secret / "schema.sql").write_text("CREATE TABLE imported (a INTEGER);")
        (secret / "load.sql").write_text("")
        with closing(duckdb.connect()) as con:
            con.execute(f"COPY (SELECT '{SENTINEL}' AS secret) TO '{secret}/s.parquet'")
        with closing(duckdb.connect(str(secret / "s.db"))) as con:
            con.execute(f"CREATE TABLE s AS SELECT '{SENTINEL}' AS secret")
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(0)
        self.run = hta_sql.open(self.folders["archive"], safe=True, timeout=1, memory_limit="300MB")

    def fill(self, sql: str) -> str:
        names = self.folders | {"port": self.listener.getsockname()[1], "raw": id(self)}
        for name, value in names.items():
            sql = sql.replace(f"{{{name}}}", str(value))
        return sql

    def state(self) -> dict[str, object]:
        """All files with their contents, what the connection has, and whether anyone called.

        What hta_sql itself keeps there, for several queries, comes and goes.
        """
        files = {
            str(path.relative_to(self.root)): (path.stat().st_mtime_ns, path.stat().st_size)
            for path in self.root.rglob("*")
        }
        asked = [
            "SELECT count(*), hash(list(sql ORDER BY sql)) FROM duckdb_views()",
            "SELECT count(*), sum(length(macro_definition)) FROM duckdb_functions() "
            "WHERE schema_name <> 'shared'",
            "SELECT list(database_name ORDER BY database_name) FROM duckdb_databases()",
            "SELECT list(table_name ORDER BY table_name) FROM duckdb_tables() "
            "WHERE schema_name <> 'shared' AND NOT prefix(table_name, 'answer_')",
            "SELECT list(name || '=' || value ORDER BY name) FROM duckdb_settings() "
            "WHERE name NOT IN ('disabled_optimizers', 'schema', 'search_path')",
        ]
        in_database = [self.run.session.con.execute(sql).fetchall() for sql in asked]
        try:
            self.listener.accept()
            called = "yes"
        except BlockingIOError:
            called = "no"
        return files | {"database": in_database, "called": called}


@pytest.fixture(scope="module")
def world(tmp_path_factory, demo_archive):
    os.environ["SENTINEL_VARIABLE"] = SENTINEL
    before = os.getcwd()
    world = World(tmp_path_factory.mktemp("world"), demo_archive)
    os.chdir(world.root)
    yield world
    os.chdir(before)
    del os.environ["SENTINEL_VARIABLE"]
    world.run.close()
    world.listener.close()


@pytest.fixture(scope="module")
def untouched(world):
    return world.state()


@pytest.mark.parametrize("attack", ATTACKS)
def test_attack(world, untouched, attack):
    sentinel_table = pa.table({"secret": [SENTINEL]})
    sentinel_list = [SENTINEL]
    with pytest.raises(HtaSqlError) as error:
        world.run.sql(world.fill(attack))
    assert "\n" not in str(error.value)
    # The message may quote the SQL, which names the sentinel in few attacks.
    assert SENTINEL not in str(error.value).replace(world.fill(attack), "")
    assert world.state() == untouched
    assert sentinel_table and sentinel_list


TOKEN = re.compile(r"'[^']*'|\"[^\"]*\"|\w+|\s+|[^\w\s]")
ODD_TEXTS = ["\0", "\u200b", "\ufeff", "/*", "--\n", ";", "\x85", "\u2028", '"', "$$", "("]


def spliced(random: Random, texts: list[str]) -> str:
    """A text of parts of two others: what nobody writes, and some of it parses."""
    one, other = (TOKEN.findall(random.choice(texts)) for _ in range(2))
    at, other_at = random.randrange(len(one)), random.randrange(len(other))
    return "".join(
        random.choice(
            [
                one[:at] + other,
                one[:at] + other[other_at:],
                [*one[:at], "(", *other, ")", *one[at + 1 :]],
                [*one[:at], other[other_at], *one[at + 1 :]],
                [*one[:at], random.choice(ODD_TEXTS), *one[at:]],
            ]
        )
    )


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.seeds)])
def test_spliced_attacks(world, untouched, seed):
    random = Random(seed)
    texts = [*ALLOWED * 6, *map(world.fill, ATTACKS)]
    for _ in range(500):
        sql = spliced(random, texts)
        try:
            found = world.run.sql(sql)
        except HtaSqlError as error:
            assert "Permission" not in str(error), sql  # the first wall was not enough
        else:
            assert SENTINEL in sql or SENTINEL not in found.to_string(preview_cols=1000), sql
    assert world.state() == untouched


@pytest.mark.parametrize("sql", ENDLESS, ids=lambda sql: sql[:60])
def test_limits(world, untouched, sql):
    began = time.monotonic()
    try:
        world.run.sql(sql)
    except HtaSqlError as error:
        assert "\n" not in str(error) and len(str(error)) < 500
    assert time.monotonic() - began < 60
    assert world.state() == untouched


@pytest.mark.parametrize("sql", ALLOWED)
def test_what_users_ask(world, untouched, sql):
    assert world.run.sql(sql).num_columns
    assert world.state() == untouched


@pytest.fixture(scope="module")
def patient(world):
    """The archive with time for every query."""
    with hta_sql.open(world.folders["archive"], safe=True) as run:
        yield run


@pytest.mark.queries
def test_every_query_answers_as_outside(patient, demo_run):
    """The same columns and as many rows: also with Python functions and stages of their own."""
    for name, query in patient._catalog.newest.items():
        if not query.required:
            inside, outside = (run.rows_of(query, {}) for run in (patient, demo_run))
            assert inside.schema == outside.schema and inside.num_rows == outside.num_rows, name


@pytest.mark.queries
@pytest.mark.filterwarnings("ignore")
def test_queries_read_no_file_that_a_parameter_names(world, untouched, patient):
    """Relations take names of tables as text; no query passes its text on to them."""
    file = str(world.folders["secret"] / "s.parquet")
    for query in patient._catalog.newest.values():
        for parameter in query.parameters:
            if parameter.type.startswith("VARCHAR") and not query.required:
                value = [file] if parameter.is_list else file
                call = f"FROM {query.macro}({parameter.name} := $value)"
                try:
                    found = patient.sql(call, {"value": value})
                except HtaSqlError as error:
                    assert "Permission" not in str(error) and "No files" not in str(error)
                    continue
                assert SENTINEL not in str(found.to_pylist()), call
    assert world.state() == untouched


def test_settings_hold_where_the_check_would_fail(world, untouched, monkeypatch):
    """Two walls: without the check of the text, files outside stay out of reach."""
    con = world.run.session.con
    for sql in ATTACKS[:90]:
        with pytest.raises(duckdb.Error):
            found = con.execute(world.fill(sql)).fetchall()
            if SENTINEL not in str(found):  # about the archive, or about the process
                raise duckdb.Error("no secret")
    for sql in ("SET lock_configuration = false", "SET memory_limit = '1TB'", "LOAD httpfs"):
        with pytest.raises(duckdb.Error):
            con.execute(sql)


# Parts of names of functions that could do more than compute.
ODD = re.compile(
    r"read|write|file|env|setting|secret|^load|exec|query|sleep|log_|attach|copy|glob|scan|path"
)


def test_functions_with_odd_names_were_looked_at(world):
    """A new version of DuckDB may add functions that do more than compute."""
    builtin = world.run.session.con.execute(
        "SELECT DISTINCT lower(function_name) FROM duckdb_functions() WHERE internal"
    ).fetchall()
    admitted = world.run.session._sandbox._functions & {name for (name,) in builtin}
    assert set(filter(ODD.search, admitted)) == {
        "formatreadabledecimalsize",
        "formatreadablesize",
        "json_copy_strftime_if_date",
        "json_copy_strftime_if_timestamp",
        "json_extract_path",
        "json_extract_path_text",
        "parse_dirpath",
        "parse_filename",
        "parse_path",
        "path_join",
    }


def test_one_call_is_one_statement(demo_run):
    with pytest.raises(HtaSqlError, match="several statements"):
        demo_run.sql("SELECT 1; SELECT 2")


def test_no_sql_sees_variables_of_python_or_downloads(demo_run):
    sentinel_table = pa.table({"secret": [SENTINEL]})
    with pytest.raises(HtaSqlError, match="sentinel_table"):
        demo_run.sql("FROM sentinel_table")
    with pytest.raises(HtaSqlError, match="does not install extensions"):
        demo_run.sql("/* LOAD */ INSTALL httpfs")
    assert sentinel_table


def test_safe_sql_needs_this_process(tiny_archive):
    with pytest.raises(HtaSqlError, match="engine local"):
        hta_sql.open(tiny_archive, safe=True, engine="ray")


def test_files_that_come_later_are_read(tmp_path, tiny_archive, demo_archive):
    """The configuration is locked, but not the list of files."""
    shutil.copytree(demo_archive, tmp_path / "archive")
    with hta_sql.open(tmp_path / "archive", safe=True) as run:
        before = run.sql("FROM traces").num_rows
        hta_sql.import_job(tiny_archive, tmp_path / "archive")
        run.reload()
        assert run.sql("FROM traces").num_rows == before + 2
        assert run.kernel_stats().num_rows
        assert isinstance(run.session._sandbox, Sandbox)


@pytest.mark.s3
def test_in_object_storage(bucket, fs, tiny_archive):
    fs.put(f"{tiny_archive}/", f"{bucket}/archive/", recursive=True)
    fs.pipe(f"{bucket}/s.csv", f"secret\n{SENTINEL}\n".encode())
    with hta_sql.open(f"{bucket}/archive", safe=True) as run:
        assert run.kernel_stats().num_rows
        assert run.sql("FROM gpu_activities").num_rows == 8
        for sql in (f"FROM '{bucket}/s.csv'", f"COPY traces TO '{bucket}/a.csv'"):
            with pytest.raises(HtaSqlError):
                run.sql(sql)
            with pytest.raises(duckdb.Error):
                run.session.con.execute(sql)
        assert not fs.exists(f"{bucket}/a.csv")
