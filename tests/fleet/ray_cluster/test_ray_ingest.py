"""Ingest on a Ray cluster."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from fleet.ray_cluster.clusters import HTA, OWN_COLUMNS, hta

import hta_sql
from hta_sql.catalogue.catalog import Catalog
from hta_sql.engines.engine import Share
from hta_sql.errors import IngestError
from hta_sql.ingestion.pool import run_anywhere
from hta_sql.ingestion.tasks import Task

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'hta-sql[fleet]'")
pytestmark = pytest.mark.ray


@contextlib.contextmanager
def killing(path: Path, times: int) -> Iterator[list[int]]:
    """Kill the Ray workers that have a file open, so often; those that it has killed."""
    killed: list[int] = []
    over = threading.Event()

    def kill() -> None:
        while not over.is_set() and len(killed) < times:
            for process in Path("/proc").glob("[0-9]*"):
                with contextlib.suppress(OSError):
                    is_worker = process.joinpath("cmdline").read_bytes().startswith(b"ray::")
                    if is_worker and any(
                        os.readlink(file) == str(path) for file in process.glob("fd/*")
                    ):
                        os.kill(int(process.name), signal.SIGKILL)
                        killed.append(int(process.name))
            time.sleep(0.01)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


def all_tables(archive: Path) -> dict[str, list[str]]:
    """Every row of every table as text, sorted."""
    with hta_sql.open(archive) as run:
        tables = [path.stem for path in Catalog.load().tables]
        found = {table: run.sql(f"FROM {table}") for table in tables}
        return {
            table: sorted(repr(_without_own(row)) for row in rows.to_pylist())
            for table, rows in found.items()
        }


def _without_own(row: dict) -> dict:
    """A row without what each archive has of its own, such as the names of files."""
    row = {name: value for name, value in row.items() if name not in OWN_COLUMNS}
    if "files" in row:
        row["files"] = [(f["path"].split("/")[0], f["bytes"], f["sha256"]) for f in row["files"]]
    return row


def different(one: dict[str, list[str]], other: dict[str, list[str]]) -> dict[str, tuple]:
    """By table, rows that only one of two archives has, a few of each: short enough to be read."""
    pairs = {table: (Counter(one[table]), Counter(other[table])) for table in one}
    return {table: ([*(a - b)][:2], [*(b - a)][:2]) for table, (a, b) in pairs.items() if a != b}


def test_same_tables(engine, traces, archive, tmp_path):
    done = []
    summary = hta_sql.ingest(
        traces, tmp_path / "archive", engine="ray", progress=lambda *both: done.append(both)
    )
    assert [o.error for o in summary.outcomes if o.error] == []
    assert [(o.job, o.rank, o.status) for o in summary.traces] == [
        (f"job{job}", rank, "ingested")
        for job, ranks in enumerate((2, 1, 3))
        for rank in range(ranks)
    ]
    total = sum(path.stat().st_size for path in traces.glob("*/rank_*.json.gz"))
    assert (total, total) in done and all(one[0] <= next[0] for one, next in pairwise(done[:6]))
    here, there = all_tables(archive), all_tables(tmp_path / "archive")
    assert len(here["events"]) > 5000 and len(here["memory_events"]) == 2
    for table in ("critical_paths", "path_edges", "job_path_edges", "what_if_times"):
        here[table] = []
    assert different(here, there) == {}
    assert not list((tmp_path / "archive/.staging").iterdir())
    again = hta_sql.ingest(traces, tmp_path / "archive", engine="ray")
    assert {outcome.status for outcome in again.traces} == {"unchanged"}


def test_a_worker_killed_midway_costs_nothing(engine, large, tmp_path):
    archive = tmp_path / "archive"
    with killing(large / "rank_3.json", times=1) as killed:
        summary = hta_sql.ingest(large, archive, engine="ray")
    assert len(killed) == 1 and not summary.failed
    counts = {outcome.rank: outcome.row["event_count"] for outcome in summary.traces}
    with hta_sql.open(archive) as run:
        found = run.sql("SELECT rank, count(*), count(DISTINCT event_id) FROM events GROUP BY rank")
        assert {rank: (n, n) for rank, n in counts.items()} == {
            rank: tuple(both) for rank, *both in map(dict.values, found.to_pylist())
        }
        assert run.check_tables() == [] and run.sql("FROM traces").num_rows == 4
    assert len(list(archive.glob("events/*/*/*.parquet"))) == 4
    hta_sql.ingest(large, tmp_path / "local")
    assert different(all_tables(archive), all_tables(tmp_path / "local")) == {}


def test_traces_that_always_fail_stop_no_other(cluster, large, tmp_path):
    """One is broken, of one the worker always dies; all is told and stdout is empty."""
    traces, archive = tmp_path / "large", tmp_path / "archive"
    shutil.copytree(large, traces)
    (traces / "rank_1.json.gz").write_bytes(b"no JSON")
    with killing(traces / "rank_3.json", times=99) as killed:
        result = hta("ingest", traces, archive, "--engine", "ray", "--address", cluster)
    assert len(set(killed)) == 3 and result.returncode == 1 and result.stdout == ""
    assert f"{traces}/rank_3.json: failed: its worker process died 3 times, perhaps because" in (
        result.stderr
    )
    last = result.stderr.splitlines()[-1]
    assert last.startswith("4 traces: ") and "2 failed" in last and "2 ingested" in last
    with hta_sql.open(archive) as run:
        assert run.sql("SELECT rank FROM traces ORDER BY rank")["rank"].to_pylist() == [0, 2]
        assert run.check_tables() == []
    assert not list((archive / ".staging").iterdir())


def test_two_ingests_at_once(cluster, traces, large, tmp_path):
    """By Ray and here, of other jobs and of the same."""
    shutil.copytree(traces / "job0", tmp_path / "one/job0")
    shutil.copytree(large, tmp_path / "one/large")
    shutil.copytree(traces / "job0", tmp_path / "other/job0")
    shutil.copytree(traces / "job2", tmp_path / "other/job2")
    archive = tmp_path / "archive"
    hta_sql.ingest(traces / "job1", archive)
    ray_words = ["--engine", "ray", "--address", cluster]
    running = [
        subprocess.Popen([*HTA, "ingest", "--force", tmp_path / folder, archive, *words])
        for folder, words in (("one", ray_words), ("other", []))
    ]
    assert [process.wait(300) for process in running] == [0, 0]
    with hta_sql.open(archive) as run:
        found = run.sql("SELECT job, count(*) FROM traces GROUP BY job ORDER BY job").to_pylist()
        assert [tuple(row.values()) for row in found] == [
            ("job0", 2),
            ("job1", 1),
            ("job2", 3),
            ("large", 4),
        ]
        assert run.check_tables() == []


def test_a_machine_without_the_shared_disk(tmp_path):
    trace = tmp_path / "trace.json"
    task = Task(trace, "job", 0, "file name", tmp_path / "a", tmp_path / "a/.staging/one/two")
    with pytest.raises(IngestError, match=f"{socket.gethostname()} does not see the file; "):
        run_anywhere(task, Share(1, 1))
    trace.write_text("{}")
    with pytest.raises(IngestError, match=f"does not see the archive {tmp_path}/a; "):
        run_anywhere(task, Share(1, 1))
    assert list(tmp_path.iterdir()) == [trace]
