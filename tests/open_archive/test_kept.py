"""What a session keeps is in nobody's way: SQL that changes something, limits, damage."""

import threading
import time
from functools import partialmethod

import pytest

import hta_sql
from hta_sql.demo import write_job

pytestmark = pytest.mark.queries


@pytest.fixture
def archive(tmp_path):
    """Two jobs."""
    for seed, job in enumerate(("a", "b")):
        write_job(tmp_path / "traces" / job, ranks=2, steps=2, layers=1, seed=seed)
    hta_sql.ingest(tmp_path / "traces", tmp_path / "archive", workers=1)
    return tmp_path / "archive"


def test_what_sql_changes(archive):
    """As in a connection that shares nothing."""
    with hta_sql.open(archive) as run:
        kernels = run.kernel_stats()
        run.sql("CREATE TABLE mine AS SELECT 1 AS x")
        run.sql("CREATE MACRO ours() AS TABLE SELECT 2 AS y")
        tables = run.sql("SELECT name FROM (SHOW TABLES)")["name"].to_pylist()
        assert "mine" in tables and not [name for name in tables if name.startswith("answer_")]
        run.reload()
        assert run.sql("FROM mine, ours()").to_pylist() == [{"x": 1, "y": 2}]
        assert run.con.sql("FROM mine").fetchall() == [(1,)]
    with hta_sql.open(archive) as run:
        run.kernel_stats()
        for sql in ("DELETE FROM gpu_activities", "UPDATE steps SET step = 9", "DROP TABLE traces"):
            with pytest.raises(hta_sql.HtaSqlError, match="base table|is of type View"):
                run.sql(sql)
        assert run.kernel_stats().equals(kernels)


def test_a_transaction_that_is_rolled_back(archive):
    with hta_sql.open(archive) as run:
        found = run.findings()
        assert found.num_rows
    with hta_sql.open(archive) as run:
        run.sql("BEGIN")
        run.kernel_stats()
        with pytest.raises(hta_sql.HtaSqlError):  # its stages are in connections of their own
            run.findings()
        run.sql("ROLLBACK")
        assert run.findings().equals(found)
        run.reload()
        assert run.findings().equals(found)


def test_lists_of_tables_have_no_answers(archive):
    with hta_sql.open(archive) as run:
        run.kernel_stats()
        assert "answer_" not in str(run.sql("SHOW ALL TABLES").to_pylist())
        assert "answer_" not in str(run.sql("FROM duckdb_tables()").to_pylist())


def test_time_limits_while_tables_are_made(archive):
    """The first question makes them, and the second meets what the first has left."""
    with hta_sql.open(archive) as run:
        whole = {name: getattr(run, name)() for name in ("lost_gpu_time", "kernel_stats")}
    for seconds in (0.001, 0.004, 0.01, 0.02):
        with hta_sql.open(archive, timeout=seconds) as run:
            for name in [*whole, *whole]:
                try:
                    found = getattr(run, name)()
                except hta_sql.HtaSqlError as error:
                    assert "time limit" in str(error)
                else:
                    assert found.equals(whole[name])


def test_ctrl_c_while_a_thread_starts(archive, monkeypatch):
    """The thread runs then, although nobody waits for it."""
    start = threading.Thread.start

    def start_and_stop(thread, seconds):
        start(thread)
        if threading.current_thread() is threading.main_thread():  # signals go there
            time.sleep(seconds)
            raise KeyboardInterrupt

    with hta_sql.open(archive) as run:
        for seconds in (0.0, 0.001, 0.002, 0.003, 0.005, 0.007, 0.01, 0.02):
            with monkeypatch.context() as patch:
                patch.setattr(threading.Thread, "start", partialmethod(start_and_stop, seconds))
                with pytest.raises(KeyboardInterrupt):
                    run.findings()
        tables = run.sql("SELECT table_name FROM duckdb_tables()")["table_name"].to_pylist()
        assert not [name for name in tables if name.startswith("findings_")]
        assert run.findings().num_rows


def test_a_job_that_gets_damaged(archive):
    with hta_sql.open(archive) as run:
        whole = run.kernel_stats(only_jobs=["b"])
        run.kernel_stats()
        for file in (archive / "host_ops/job=a").glob("*/*.parquet"):
            file.write_bytes(b"")
        with pytest.raises(hta_sql.HtaSqlError, match="damaged archive: .*job=a"):
            run.idle_reasons()
        assert run.idle_reasons(only_jobs=["b"]).num_rows
        assert run.kernel_stats(only_jobs=["b"]).equals(whole)
        with pytest.raises(hta_sql.HtaSqlError, match="damaged archive: .*job=a"):
            run.idle_reasons()
