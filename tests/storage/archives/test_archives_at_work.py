"""Archives in object storage beside ingests, kills and watches."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hand_written import span, trace_text
from storage.archives.copies import TABLES, statuses, tables_of

import hta_sql
from hta_sql.demo import write_job
from hta_sql.places.storage import place
from hta_sql.store.manifest import Manifest

INGEST = """\
import sys, time
import hta_sql
from hta_sql.store import manifest
if "slowly" in sys.argv:
    put = manifest.put_bytes
    def slow(*args):
        print("uploaded", flush=True)
        time.sleep(60)
    # Only the row of a rank, not the empty archive before it.
    plain = manifest.Manifest.add
    def add(self, rows):
        manifest.put_bytes = slow
        return plain(self, rows)
    manifest.Manifest.add = add
if __name__ == "__main__":
    summary = hta_sql.ingest(sys.argv[1], sys.argv[2], workers=1, force="force" in sys.argv)
    assert not summary.failed
"""


@pytest.fixture
def start_ingest(s3, tmp_path):
    started = []

    def start(*args: str) -> subprocess.Popen:
        (tmp_path / "scratch").mkdir(exist_ok=True)
        environ = os.environ | {
            "PYTHONPATH": str(Path(hta_sql.__file__).parents[1]),
            "TMPDIR": str(tmp_path / "scratch"),
        }
        started.append(
            subprocess.Popen(
                [sys.executable, "-c", INGEST, *map(str, args)],
                env=environ,
                stdout=subprocess.PIPE,
                text=True,
            )
        )
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_killed_before_the_row_nothing_shows_and_it_can_go_on(
    traces, bucket, fs, start_ingest, tmp_path, monkeypatch
):
    archive = f"{bucket}/archive"
    process = start_ingest(traces, archive, "slowly")
    assert process.stdout.readline() == "uploaded\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert fs.find(f"{archive}/events")
    with hta_sql.open(archive) as run:
        assert run.sql("FROM traces").num_rows == 0
        assert run.sql("FROM events").num_rows == 0 and run.temporal_breakdown().num_rows == 0
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    assert statuses(hta_sql.ingest(traces, archive, workers=1)) == ["ingested"] * 2
    assert {row["rank"] for row in tables_of(archive)["events"]} == {0, 1}
    [staging] = (tmp_path / "scratch").iterdir()
    assert list(staging.iterdir()) == []  # also what the killed one has left


def test_a_reader_sees_whole_ranks_while_two_ingest(
    traces, on_disk, bucket, start_ingest, tmp_path
):
    """Different traces at once are all there; of the same ones, each rank once."""
    archive = f"{bucket}/archive"
    write_job(tmp_path / "other", ranks=2, steps=1, layers=1, seed=5)
    Manifest(place(archive)).make()
    processes = [
        start_ingest(traces, archive),
        start_ingest(traces, archive, "force"),
        start_ingest(tmp_path / "other", archive),
    ]
    both = """SELECT event_count, n FROM traces AS t FULL JOIN (
        SELECT job, rank, count(*) AS n FROM events GROUP BY ALL
    ) AS e ON e.job = t.job AND e.rank = t.rank"""
    while any(process.poll() is None for process in processes):
        with hta_sql.open(archive) as run:
            found = run.sql(both).to_pylist()
            assert all(row["n"] == row["event_count"] for row in found)
        time.sleep(0.05)
    assert [process.returncode for process in processes] == [0, 0, 0]
    found = tables_of(archive)
    expected = tables_of(on_disk)
    assert {(row["job"], row["rank"]) for row in found["traces"]} == {
        ("job", 0),
        ("job", 1),
        ("other", 0),
        ("other", 1),
    }
    for table in TABLES:
        assert [row for row in found[table] if row["job"] == "job"] == expected[table]


def test_staging_goes_also_after_a_failure(bucket, fs, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    fs.pipe_file(f"{bucket}/t/rank_0.json", b'{"traceEvents":[{"ph":"X","ts":')
    fs.pipe_file(f"{bucket}/t/rank_1.json", b'{"traceEvents":[]}')
    monkeypatch.setattr(sys.modules["hta_sql.ingestion.trace"], "enrich", lambda *_: 1 / 0)
    summary = hta_sql.ingest(f"{bucket}/t", f"{bucket}/archive", workers=1)
    assert set(statuses(summary)) == {"failed"}
    [staging] = (tmp_path / "scratch").iterdir()
    assert list(staging.iterdir()) == []


def test_what_tasks_spill_lies_in_one_folder_of_the_process(traces, bucket, tmp_path, monkeypatch):
    """Which goes with it; the database is kept from task to task."""
    import duckdb

    from hta_sql.engines.engine import Share
    from hta_sql.ingestion.pool import own_folder, run_anywhere
    from hta_sql.ingestion.tasks import Task
    from hta_sql.ingestion.trace import database

    spills, connect = [], duckdb.connect

    def note(*given, **more):
        spills.append(Path(more["config"]["temp_directory"]))
        return connect(*given, **more)

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(duckdb, "connect", note)
    own_folder.cache_clear()
    database.cache_clear()
    for rank, trace in enumerate(sorted(traces.rglob("*.json*"))[:2]):
        task = Task(trace, "job", rank, "order", place(f"{bucket}/a"), tmp_path / "elsewhere")
        result, _ = run_anywhere(task, Share(1, 1))
        assert not isinstance(result, str), result
    [spill] = spills
    spill.mkdir(exist_ok=True)  # as when something is spilled
    [folder] = tmp_path.iterdir()
    assert folder.name.startswith("hta-sql-") and list(folder.iterdir()) == [spill]
    own_folder().cleanup()  # as at the end of the process
    assert not any(tmp_path.iterdir())
    own_folder.cache_clear()
    database.cache_clear()


def test_a_watch_waits_for_the_first_object(bucket, fs, monkeypatch):
    """Where none is, there is no folder either."""
    from hta_sql.ingestion.watch import keep_up

    looks, statuses = [], []

    def sleep(seconds: float) -> None:
        looks.append(seconds)
        if len(looks) == 2:
            text = trace_text([span("op", ts=1)])
            fs.pipe_file(f"{bucket}/t/job/rank_0.json", text.encode())
        if statuses or len(looks) > 9:
            raise KeyboardInterrupt

    def passed(summary) -> None:
        statuses.extend(outcome.status for outcome in summary.outcomes)

    monkeypatch.setattr(time, "sleep", sleep)
    with pytest.raises(KeyboardInterrupt):
        keep_up(
            [f"{bucket}/t"],
            f"{bucket}/a",
            seconds=1,
            passed=passed,
            workers=1,
            planned=lambda files: None,
            finished=lambda outcome: None,
            progress=lambda done, total: None,
        )
    assert statuses == ["ingested"] and len(looks) == 4


def test_a_watch_asks_for_no_file_that_is_listed(bucket, fs, s3, tmp_path):
    """And sees by the listing that one has changed."""
    from hta_sql.ingestion.watch import find, stamp_of

    def look() -> list[tuple]:
        return [(c, stamp_of(c)) for c in find([f"{bucket}/t"], None, [], {})]

    fs.pipe({f"{bucket}/t/job/rank_{rank}.json": b"{}" for rank in range(20)})
    look()
    with s3.requests() as counted:
        before = look()
    assert len(before) == 20 and counted["HEAD"] <= 2, counted
    assert look() == before
    fs.pipe(f"{bucket}/t/job/rank_7.json", b"[]")
    changed = [a[0].path.name for a, b in zip(before, look(), strict=True) if a != b]
    assert changed == ["rank_7.json"]
