"""Archives of bad traces, of other schemas, and of ingests that die or meet."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hand_written import rows, without_checksums
from ingest.small_traces import ranks, write
from seeds import seeds

import hta_sql
from hta_sql.demo import write_job
from hta_sql.errors import ArchiveError, HtaSqlError, IngestError


def test_one_bad_trace_stops_no_other(tmp_path):
    good, bad = write(tmp_path / "t/rank_0.json"), tmp_path / "t/rank_1.json"
    bad.write_text("nonsense")
    finished = []
    summary = hta_sql.ingest([good, bad], tmp_path / "a", finished=finished.append)
    assert [o.status for o in summary.traces] == ["ingested", "failed"] and summary.failed == 1
    assert {o.path for o in finished} == {good, bad}
    assert [row[1] for row in ranks(tmp_path / "a")] == [0]


def test_bad_places(tmp_path):
    path = write(tmp_path / "t/rank_0.json")
    (tmp_path / "empty").mkdir()
    for traces, archive, error, said in [
        (tmp_path / "none", tmp_path / "a", IngestError, "no such file or folder"),
        (tmp_path / "empty", tmp_path / "a", IngestError, "looked for *.json and *.json.gz"),
        (str(tmp_path / "*.gz"), tmp_path / "a", IngestError, "no file matches"),
        (path, path, ArchiveError, "this is a file, but an archive is a folder"),
        (path, tmp_path / "t", ArchiveError, "and is not an archive; name a new or empty folder"),
        *((path, tmp_path / f"a{sign}", ArchiveError, "cannot search") for sign in "*?[],\\"),
        (path, Path(os.fsdecode(b"/tmp/a\xff")), ArchiveError, "has to be UTF-8"),
    ]:
        with pytest.raises(error, match=".*") as raised:
            hta_sql.ingest(traces, archive)
        assert said in str(raised.value) and "\n" not in str(raised.value)


def test_older_and_newer_schema(tmp_path):
    """Missing columns are NULL, unknown ones are no harm, whichever file comes first."""
    archive = tmp_path / "a"
    for rank in (0, 1, 2):
        write(tmp_path / f"t/rank_{rank}.json")
    hta_sql.ingest(tmp_path / "t", archive)
    manifest = pq.read_table(archive / "traces.parquet", partitioning=None).to_pylist()
    for row, change in zip(manifest, ("old", "same", "new"), strict=True):
        [file] = archive.glob(f"host_ops/job=t/rank={row['rank']}/*.parquet")
        table = pq.read_table(file, partitioning=None)
        if change == "old":
            pq.write_table(table.drop_columns(["depth"]), file)
            row["schema_version"] = 0
        elif change == "new":
            pq.write_table(table.append_column("novelty", table["name"]), file)
            row["schema_version"] = 99
    schema = pq.read_schema(archive / "traces.parquet")
    import pyarrow as pa

    manifest = without_checksums(archive, manifest)
    pq.write_table(pa.Table.from_pylist(manifest, schema), archive / "traces.parquet")
    told = [
        pytest.warns(UserWarning, match=f"^1 trace was ingested by {age} hta_sql")
        for age in ("an earlier", "a newer")
    ]
    with told[0], told[1]:
        run = hta_sql.open(archive)
    with run:
        found = rows(run, "SELECT rank, count(depth), count(*) FROM host_ops GROUP BY 1 ORDER BY 1")
        assert found == [(0, 0, 3), (1, 3, 3), (2, 3, 3)]


def test_a_rank_is_there_as_a_whole_or_not_at_all(tmp_path):
    """Files that no row of traces.parquet names do not count, whatever was left behind."""
    archive = tmp_path / "a"
    hta_sql.ingest(write(tmp_path / "t/rank_0.json"), archive)
    for table in ("events", "host_ops"):
        [file] = archive.glob(f"{table}/job=t/rank=0/*.parquet")
        shutil.copy(file, file.with_name("feedfeedfeedfeed.parquet"))
        other = archive / table / "job=t" / "rank=1"
        other.mkdir()
        shutil.copy(file, other / "beefbeefbeefbeef.parquet")
    with hta_sql.open(archive) as run:
        assert rows(run, "SELECT rank, count(*) FROM events GROUP BY ALL") == [(0, 3)]
        assert rows(run, "SELECT rank, count(*) FROM host_ops GROUP BY ALL") == [(0, 3)]


@pytest.mark.processes
@pytest.mark.parametrize("seed", seeds(8))
def test_killed_at_any_moment(tmp_path, seed):
    """The archive opens with the ranks it names, whole; running again completes it."""
    traces, archive = tmp_path / "t", tmp_path / "a"
    write_job(traces, ranks=3, steps=2, layers=6, straggler=None)
    truth = json.loads((traces / "truth.json").read_text())["ranks"]
    counts = {r["rank"]: (r["event_count"], r["gpu_activity_count"]) for r in truth}
    code = "import sys, hta_sql; hta_sql.ingest(sys.argv[1], sys.argv[2], workers=1)"
    ingest = subprocess.Popen([sys.executable, "-c", code, traces, archive])
    # From before the first file to about the end.
    time.sleep(random.Random(seed).uniform(0.3, 2.0))
    ingest.send_signal(signal.SIGKILL)
    ingest.wait()

    def found() -> dict:
        with hta_sql.open(archive) as run:
            events = rows(run, "SELECT rank, count(*) FROM events GROUP BY rank")
            gpu = dict(rows(run, "SELECT rank, count(*) FROM gpu_activities GROUP BY rank"))
            return {rank: (count, gpu[rank]) for rank, count in events}

    if (archive / "traces.parquet").exists():  # or no rank was whole yet
        partly = found()
        assert partly == {rank: counts[rank] for rank in partly}
    summary = hta_sql.ingest(traces, archive, workers=1)
    assert not summary.failed and found() == counts
    assert not list((archive / ".staging").glob("*"))
    assert len(list(archive.glob("events/*/*/*.parquet"))) == 3


@pytest.mark.processes
def test_two_ingests_of_one_rank_at_once(tmp_path):
    """One of them is the last; the archive has its trace, whole."""
    archive = tmp_path / "a"
    for folder, count in (("one", 3), ("two", 4)):
        write(tmp_path / folder / "t/rank_0.json", count=count)
    hta_sql.ingest(tmp_path / "one/t", archive)
    code = "import sys, hta_sql\nfor _ in range(8): hta_sql.ingest(*sys.argv[1:], force=True)"
    running = [
        subprocess.Popen([sys.executable, "-c", code, tmp_path / folder / "t", archive])
        for folder in ("one", "two")
    ]
    assert [process.wait() for process in running] == [0, 0]
    with hta_sql.open(archive) as run:
        [(count,)] = rows(run, "SELECT event_count FROM traces")
        assert rows(run, "SELECT count(*) FROM events") == [(count,)]
        assert rows(run, "SELECT count(*) FROM host_ops") == [(count,)]


@pytest.mark.processes
def test_two_ingests_at_once(tmp_path):
    archive = tmp_path / "a"
    code = "import sys, hta_sql; hta_sql.ingest(sys.argv[1], sys.argv[2], workers=1)"
    running = []
    for job in ("one", "two"):
        for rank in range(4):
            write(tmp_path / f"{job}/rank_{rank}.json")
        running.append(subprocess.Popen([sys.executable, "-c", code, tmp_path / job, archive]))
    assert [process.wait() for process in running] == [0, 0]
    assert len(ranks(archive)) == 8


@pytest.mark.processes
def test_killed_worker_is_one_failed_trace(tmp_path, monkeypatch):
    """Its neighbours are read again; the batch goes on and says which one is missing."""
    for rank in range(3):
        write(tmp_path / f"t/rank_{rank}.json", count=2 + rank)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    # A worker that meets rank 1 dies as if the kernel had killed it.
    (tmp_path / "sitecustomize.py").write_text(
        "import os, pathlib\n"
        "kept = pathlib.Path.stat\n"
        "def stat(self, **more):\n"
        "    if self.name == 'rank_1.json' and os.environ.get('VICTIM') != str(os.getpid()):\n"
        "        os.kill(os.getpid(), 9)\n"
        "    return kept(self, **more)\n"
        "pathlib.Path.stat = stat\n"
    )
    summary = hta_sql.ingest(tmp_path / "t", tmp_path / "a", workers=2)
    assert [outcome.status for outcome in summary.traces] == ["ingested", "failed", "ingested"]
    assert "worker process died" in summary.traces[1].error
    assert [row[1] for row in ranks(tmp_path / "a")] == [0, 2]


@pytest.mark.processes
def test_workers_end_with_a_killed_parent(tmp_path):
    # So many that two are read at once again, should both workers not start together.
    write_job(tmp_path / "t", ranks=8, steps=30, layers=8)
    code = "import sys, hta_sql; hta_sql.ingest(sys.argv[1], sys.argv[2], workers=2)"
    words = [sys.executable, "-c", code, tmp_path / "t", tmp_path / "a"]
    ingest = subprocess.Popen(words, start_new_session=True)
    staging = tmp_path / "a/.staging"
    wait_until(lambda: len(list(staging.glob("*/*/events.*"))) == 2)
    assert alive(ingest.pid) >= 3
    ingest.kill()
    ingest.wait()
    wait_until(lambda: alive(ingest.pid) == 0)


def alive(session: int) -> int:
    """How many processes of a session run."""
    found = subprocess.run(["ps", "-o", "pid=", "-s", str(session)], capture_output=True)
    return len(found.stdout.split())


def wait_until(condition) -> None:
    until = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_archive_outlives_its_traces_and_its_place(tmp_path):
    hta_sql.ingest(write(tmp_path / "t/rank_0.json"), tmp_path / "a")
    shutil.rmtree(tmp_path / "t")
    (tmp_path / "a").rename(tmp_path / "moved")
    assert len(ranks(tmp_path / "moved")) == 1


def test_errors_are_one_line(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "hta_sql.cli", "ingest", "nowhere", str(tmp_path / "a")],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr == "Error: nowhere: no such file or folder\n"
    with pytest.raises(HtaSqlError):
        hta_sql.open(tmp_path / "a")
