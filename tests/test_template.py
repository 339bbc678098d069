"""The template database: made once, whoever asks, of the catalogue that is asked for."""

import os
import re
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
from own_queries import write_query
from written_archives import activity

import hta_sql
from hta_sql.archive import Archive
from hta_sql.catalogue.catalog import Catalog
from hta_sql.database import template
from hta_sql.database.shell_database import write_database
from hta_sql.errors import CatalogError


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    """A cache of this test alone; the folder is not there yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/hta_sql"


@pytest.fixture
def archive(make_archive) -> Path:
    return make_archive(gpu_activities=[activity()])


def files(folder: Path) -> list[str]:
    return sorted(f.name for f in folder.iterdir() if f.is_file() and f.name != ".lock")


def test_it_is_made_once(cache, archive, use_library):
    hta_sql.open(archive).close()
    [name] = files(cache)
    first = (cache / name).stat().st_ino
    hta_sql.open(archive).close()
    write_database(archive)
    assert files(cache) == [name] and (cache / name).stat().st_ino == first


@pytest.mark.processes
def test_processes_at_once_make_one(cache, archive):
    """All wait for the first; each then has the whole of it."""
    count = """
import sys, hta_sql
from hta_sql.database import template
make = template.make_template
def counted(*given):
    print("made", flush=True)
    make(*given)
template.make_template = counted
with hta_sql.open(sys.argv[1]) as run:
    assert run.temporal_breakdown().num_rows == 1
"""
    started = [
        subprocess.Popen([sys.executable, "-c", count, str(archive)], stdout=subprocess.PIPE)
        for _ in range(3)
    ]
    said = [process.communicate(timeout=120)[0] for process in started]
    assert [process.returncode for process in started] == [0, 0, 0]
    assert sorted(said) == [b"", b"", b"made\n"]
    assert len(files(cache)) == 1


def test_each_catalogue_has_its_own(cache, archive, library):
    """By what the files say, wherever they are."""
    with Archive(archive, catalog=Catalog.read(library)) as run:
        assert run.total_time()["sum_ns"].to_pylist() == [10]
    write_query(
        library,
        "gpu/total_time.v2.sql",
        (library / "queries/gpu/total_time.v2.sql")
        .read_text()
        .replace("sum(dur_ns)", "sum(dur_ns + 1)"),
    )
    with Archive(archive, catalog=Catalog.read(library)) as run:
        assert run.total_time()["sum_ns"].to_pylist() == [11]
    assert len(files(cache)) == 2
    moved = library.rename(library.with_name("moved"))
    Archive(archive, catalog=Catalog.read(moved)).close()
    assert len(files(cache)) == 2


def test_another_duckdb_or_version_has_its_own(monkeypatch, library):
    catalog = Catalog.read(library)
    names = {template.name_of(catalog)}
    monkeypatch.setattr(duckdb, "__version__", "2.0.99")
    names.add(template.name_of(catalog))
    monkeypatch.setattr(template, "__version__", "9.9")
    names.add(template.name_of(catalog))
    assert len(names) == 3


def test_old_ones_go(cache, library, monkeypatch):
    monkeypatch.setattr(template, "KEPT", 2)
    cache.mkdir(parents=True)
    for at, name in enumerate(["used", "older", "oldest"]):
        (cache / f"{name}.duckdb").touch()
        os.utime(cache / f"{name}.duckdb", (10**9 - at, 10**9 - at))
    (cache / "something else").touch()
    (cache / ".killed.duckdb.0123456789abcdef").touch()
    made = template.template(Catalog.read(library))
    assert files(cache) == sorted([made.name, "something else", "used.duckdb"])


def test_use_keeps_it(cache, library):
    made = template.template(Catalog.read(library))
    os.utime(made, (10**9, 10**9))
    assert template.template(Catalog.read(library)) == made
    assert made.stat().st_mtime > 10**9


@pytest.fixture
def temporary(tmp_path, monkeypatch) -> Path:
    """The folder for temporary files."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def test_without_a_cache_in_a_temporary_folder(cache, archive, temporary, use_library):
    cache.parent.write_text("a file")
    with hta_sql.open(archive) as run:
        assert run.total_time().num_rows == 1
    [folder] = temporary.glob("hta-sql-*")
    assert len(files(folder)) == 1
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_what_another_user_made_is_not_taken(cache, temporary, library, monkeypatch):
    """They could have put anything there."""
    catalog = Catalog.read(library)
    cache.mkdir(parents=True)
    (cache / template.name_of(catalog)).write_text("theirs")
    plain_stat = Path.stat

    def of_another(self, **how):
        found = plain_stat(self, **how)
        if self != cache:
            return found
        return os.stat_result([*found[:4], found.st_uid + 1, *found[5:10]])

    monkeypatch.setattr(Path, "stat", of_another)
    assert template.template(catalog).is_relative_to(temporary)


def test_nowhere_to_write(cache, archive, temporary, use_library):
    cache.parent.write_text("a file")
    temporary.rmdir()
    temporary.write_text("another")
    with hta_sql.open(archive) as run:
        assert run.total_time().num_rows == 1


def test_a_damaged_one_only_costs_time(cache, archive, use_library):
    hta_sql.open(archive).close()
    [name] = files(cache)
    (cache / name).write_bytes(b"no database")
    with hta_sql.open(archive) as run:
        assert run.total_time().num_rows == 1


def test_a_mistake_in_a_query_is_told_by_its_line(cache, archive, library):
    file = library / "queries/gpu/total_time.v1.sql"
    file.write_text(file.read_text().replace("sum(dur_ns)", "sum(,dur_ns)"))
    with pytest.raises(CatalogError, match=r"total_time\.v1\.sql:19: Parser Error: .*,"):
        Archive(archive, catalog=Catalog.read(library))
    assert files(cache) == []


def plain(sql: str | None) -> str | None:
    """SQL with what DuckDB spells in several ways spelled in one."""
    if sql is None:
        return None
    number = r"(?<![\w'])\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?(?![\w'])"
    sql = re.sub(rf"CAST\(({number}) AS DOUBLE\)", r"\1", sql.replace("TIMESTAMP_US", "TIMESTAMP"))
    sql = re.sub(number, lambda found: repr(float(found[0].replace("_", ""))), sql)
    return re.sub(r"EXCLUDE \(([^)]*)\)", lambda found: str(sorted(found[1].split(", "))), sql)


def test_it_is_what_the_sql_files_make():
    """Each macro and view is there, of the same text, as if each file had been run: also which CTEs
    are materialized, which DuckDB's storage of before 1.5 forgets."""
    made = []
    for fill in (template.copy_template, template.load_all):
        with closing(duckdb.connect()) as con:
            fill(con, Catalog.load())
            con.create_function("plain", plain, ["VARCHAR"], "VARCHAR", null_handling="special")
            made.append(
                [
                    con.execute(
                        "SELECT function_name, function_type, parameters, parameter_types, "
                        "plain(macro_definition), comment FROM duckdb_functions() "
                        "WHERE NOT internal AND function_name <> 'plain' ORDER BY ALL"
                    ).fetchall(),
                    con.execute(
                        "SELECT view_name, plain(sql), comment FROM duckdb_views() "
                        "WHERE NOT internal ORDER BY ALL"
                    ).fetchall(),
                    con.execute(
                        "SELECT table_name, column_index, column_name, data_type, comment "
                        "FROM duckdb_columns() WHERE NOT internal ORDER BY ALL"
                    ).fetchall(),
                ]
            )
    for copied, run in zip(*made, strict=True):
        assert [(a, b) for a, b in zip(copied, run, strict=True) if a != b] == []
    macros, views, columns = made[0]
    assert len(macros) > 200 and len(views) > 20
    assert sum("AS MATERIALIZED (" in sql for *_, sql, _ in macros) > 10
    comments = {(table, column): comment for table, _, column, _, comment in columns}
    assert comments["events", "event_id"].startswith("0-based position")
