"""hta.duckdb in plain DuckDB, without hta_sql: a file that is gone is an error there too."""

import subprocess
from pathlib import Path

import duckdb
import pytest
from integrity.damage import listed

from hta_sql.database import shell


def table_of(name: str) -> str:
    """The table of a data file, by its path."""
    first, second = name.split("/")[:2]
    return second.replace("kept_", "stored_") if first == "results" else first


def opened(archive: Path) -> duckdb.DuckDBPyConnection:
    con = duckdb.connect(archive / "hta.duckdb", read_only=True)
    con.execute(f"SET file_search_path = '{archive}'")
    return con


def counts(archive: Path) -> dict[str, list | str]:
    """The rows of each job in each table, or why the table cannot be read."""
    found: dict[str, list | str] = {}
    with opened(archive) as con:
        for table in sorted({table_of(name) for name in listed(archive)}):
            question = f"SELECT job, count(*) FROM {table} GROUP BY ALL ORDER BY ALL"
            try:
                found[table] = con.execute(question).fetchall()
            except duckdb.Error as error:
                found[table] = str(error)
    return found


@pytest.mark.queries
def test_a_file_that_is_gone(archive):
    whole = counts(archive)
    assert all(isinstance(rows, list) for rows in whole.values())
    assert len([table for table, rows in whole.items() if rows]) > 8
    for name in listed(archive):
        content = (archive / name).read_bytes()
        (archive / name).unlink()
        now = counts(archive)
        said = now.pop(table_of(name))
        others = [n for n in listed(archive) if table_of(n) == table_of(name)]
        if len(others) > 1:  # otherwise DuckDB itself finds no file
            assert f"damaged archive: {name} is gone" in said
        assert isinstance(said, str)
        assert {table: whole[table] for table in now} == now
        (archive / name).write_bytes(content)
    assert counts(archive) == whole


def test_a_stray_file_is_nothing(archive):
    whole = counts(archive)
    for name in listed(archive):
        stray = archive / name
        stray.with_name("stray.parquet").write_bytes(stray.read_bytes())
    assert counts(archive) == whole


def test_in_the_shell_from_inside_the_archive(archive):
    [name] = (archive / "events/job=bert/rank=0").iterdir()
    name.unlink()
    done = subprocess.run(
        [shell.shell_program(), "hta.duckdb", "-c", "SELECT count(*) FROM events"],
        cwd=archive,
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert f"events/job=bert/rank=0/{name.name} is gone" in done.stderr


def test_other_ranks_are_not_searched(archive):
    """Comparing the files costs no pruning: of one rank, one file is read."""
    with opened(archive) as con:
        plan = con.execute(
            "EXPLAIN SELECT name FROM host_ops WHERE job = 'llama' AND rank = 1"
        ).fetchall()[0][1]
    files = len([name for name in listed(archive) if table_of(name) == "host_ops"])
    assert f"Scanning Files: 1/{files}" in plan
