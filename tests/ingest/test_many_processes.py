"""Traces of many jobs: processes that die, and a watch."""

import gzip
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest
from hand_written import rows, span, trace_text
from ingest.job_lists import write, write_csv

import hta_sql
from hta_sql.errors import HtaSqlError
from hta_sql.ingestion.watch import keep_up


@pytest.mark.processes
def test_killed_among_many_jobs(tmp_path):
    """The archive that is completed afterwards is the one that an undisturbed ingest makes."""
    for job in range(12):
        write(tmp_path / f"t/j{job:02}/rank_0.json", count=20 + job)
    words = [
        sys.executable,
        "-m",
        "hta_sql.cli",
        "ingest",
        tmp_path / "t",
        tmp_path / "a",
        "--workers",
        "2",
    ]
    ingest = subprocess.Popen(list(map(str, words)), stderr=subprocess.PIPE, text=True)
    for _ in range(3):
        ingest.stderr.readline()
    ingest.send_signal(signal.SIGKILL)
    ingest.communicate()
    with hta_sql.open(tmp_path / "a") as run:
        [(there,)] = rows(run, "SELECT count(*) FROM traces")
        assert rows(run, "SELECT count(*) FROM table_counts WHERE row_count <> written_count") == [
            (0,)
        ]
    assert there >= 3
    summary = hta_sql.ingest(tmp_path / "t", tmp_path / "a", workers=1)
    found = sorted(outcome.status for outcome in summary.traces)
    assert found == ["ingested"] * (12 - there) + ["unchanged"] * there
    hta_sql.ingest(tmp_path / "t", tmp_path / "b", workers=1)
    answer = "SELECT job, rank, event_count, fingerprint FROM traces ORDER BY job"
    events = "SELECT job, name, start_ns FROM events ORDER BY ALL"
    with hta_sql.open(tmp_path / "a") as one, hta_sql.open(tmp_path / "b") as two:
        assert rows(one, answer) == rows(two, answer)
        assert rows(one, events) == rows(two, events)
    assert len(list((tmp_path / "a").glob("events/*/*/*.parquet"))) == 12
    assert not list((tmp_path / "a/.staging").glob("*"))


@pytest.mark.processes
def test_a_dead_worker_is_followed_by_others(tmp_path, monkeypatch):
    """Those that shared its pool are read alone, and the rest by several again."""
    for rank in range(9):
        write(tmp_path / f"t/rank_{rank}.json", count=2 + rank)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    (tmp_path / "sitecustomize.py").write_text(
        "import os, pathlib\n"
        "kept = pathlib.Path.stat\n"
        "def stat(self, **more):\n"
        "    if self.name == 'rank_7.json':\n"
        "        os.kill(os.getpid(), 9)\n"
        "    return kept(self, **more)\n"
        "pathlib.Path.stat = stat\n"
    )
    summary = hta_sql.ingest(tmp_path / "t", tmp_path / "a", workers=2)
    assert [o.rank for o in summary.traces if o.status == "failed"] == [7]
    assert [o.status for o in summary.traces].count("ingested") == 8


def started(words: list, **more) -> subprocess.Popen:
    words = [sys.executable, "-m", "hta_sql.cli", "ingest", *map(str, words)]
    return subprocess.Popen(words, stderr=subprocess.PIPE, text=True, **more)


@pytest.mark.processes
def test_watch(tmp_path):
    """A file is taken when it is whole; nothing is said of a look that finds nothing new."""
    folder, archive = tmp_path / "t", tmp_path / "a"
    write(folder / "early/rank_0.json")
    text = gzip.compress(trace_text([span(f"op{at}", ts=at) for at in range(50)]).encode())
    watch = started([folder, archive, "--watch", "1", "--outcomes", tmp_path / "o.csv"])
    try:
        assert "early rank 0: ingested, 3 events" in watch.stderr.readline()
        assert "1 trace: 1 ingested" in watch.stderr.readline()
        late = folder / "late/rank_0.json.gz"
        late.parent.mkdir()
        with late.open("wb") as file:
            # A byte now and then: no two looks see the same.
            for at in range(0, 100, 4):
                file.write(text[at : at + 4])
                file.flush()
                time.sleep(0.1)
            file.write(text[100:])
        (folder / "late/rank_1.json").write_text("nonsense")
        lines = []  # of one look or of two
        while sum(int(line.split()[0]) for line in lines if re.match(r"\d+ traces?:", line)) < 2:
            lines.append(watch.stderr.readline())
        assert any("late rank 0: ingested, 50 events" in line for line in lines), lines
        assert any("rank_1.json: failed: not JSON" in line for line in lines), lines
        time.sleep(2.5)  # several looks
        write(folder / "early/rank_0.json", count=7)
        assert "early rank 0: replaced, 7 events" in watch.stderr.readline()
        assert "1 trace: 1 replaced" in watch.stderr.readline()
    finally:
        watch.send_signal(signal.SIGTERM)
        _, rest = watch.communicate(timeout=60)
    assert (rest, watch.returncode) == ("stopped\n", 0)
    outcomes = pa.csv.read_csv(tmp_path / "o.csv").to_pylist()
    assert sorted((row["job"], row["status"]) for row in outcomes) == [
        ("early", "replaced"),
        ("late", "failed"),
        ("late", "ingested"),
    ]
    with hta_sql.open(archive) as run:
        assert rows(run, "SELECT job, event_count FROM traces ORDER BY job") == [
            ("early", 7),
            ("late", 50),
        ]


@pytest.mark.processes
def test_watch_a_list_that_grows(tmp_path):
    """From an empty one on; a row that is of no use is told once."""
    listed = write_csv(tmp_path / "list.csv", "path,team")
    write(tmp_path / "t/rank_0.json")
    watch = started([listed, tmp_path / "a", "--watch", "0.3"])
    try:
        time.sleep(2)
        write_csv(listed, "path,team", "t/rank_0.json,x", "gone.json,x")
        lines = [watch.stderr.readline() for _ in range(3)]
        assert any("gone.json: failed: no such file" in line for line in lines), lines
        assert any("t rank 0: ingested" in line for line in lines), lines
        write_csv(listed, "path,team", "t/rank_0.json,y", "gone.json,x")
        assert "t rank 0: retagged" in watch.stderr.readline()
    finally:
        watch.send_signal(signal.SIGINT)
        _, rest = watch.communicate(timeout=60)
    assert rest.splitlines()[-1] == "stopped" and watch.returncode == 0
    assert "gone" not in rest


@pytest.mark.processes
def test_watch_a_file_that_is_listed_twice(tmp_path):
    """It is taken as it is told first."""
    write(tmp_path / "t/rank_0.json")
    listed = write_csv(tmp_path / "l.csv", "path,job", "t/rank_0.json,j", "t/rank_0.json,k")
    watch = started([listed, tmp_path / "a", "--watch", "0.3", "--outcomes", tmp_path / "o.csv"])
    try:
        lines = [watch.stderr.readline() for _ in range(3)]
    finally:
        watch.send_signal(signal.SIGTERM)
        watch.communicate(timeout=60)
    assert any("j rank 0: ingested" in line for line in lines), lines
    assert any("failed: listed before" in line for line in lines), lines
    outcomes = pa.csv.read_csv(tmp_path / "o.csv").to_pylist()
    assert [row["status"] for row in outcomes] == ["failed", "ingested"]


@pytest.mark.processes
def test_ctrl_c_keeps_what_is_finished(tmp_path):
    """It ends at once, workers and all, and what was finished counts."""
    for job in range(300):  # for so long that a busy machine is not done before it is told
        write(tmp_path / f"t/j{job}/rank_0.json", count=300)
    ingest = started([tmp_path / "t", tmp_path / "a", "--workers", "2"], start_new_session=True)
    for _ in range(2):
        ingest.stderr.readline()
    os.killpg(ingest.pid, signal.SIGINT)  # as a terminal does
    _, said = ingest.communicate(timeout=60)
    assert ingest.returncode == 130 and said.splitlines()[-1] == "Interrupted"
    assert "Traceback" not in said
    with hta_sql.open(tmp_path / "a") as run:
        [(there,)] = rows(run, "SELECT count(*) FROM traces")
        assert 2 <= there < 300
        assert rows(run, "SELECT count(*) FROM events") == [(300 * there,)]
    states = subprocess.run(["ps", "-o", "stat=", "-s", str(ingest.pid)], capture_output=True)
    # What has ended may still be listed, as Z, until somebody asks how.
    assert not [state for state in states.stdout.split() if not state.startswith(b"Z")]


def watched(inputs: Path, archive: Path, report=lambda line: None, looks: int = 20) -> list[str]:
    """The statuses of what the first look takes that takes something; of so many looks."""
    found = []

    def passed(summary) -> None:
        found.extend(outcome.status for outcome in summary.outcomes)
        raise KeyboardInterrupt

    def sleep(seconds: float) -> None:
        nonlocal looks
        looks -= 1
        if not looks:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(time, "sleep", sleep)
        keep_up(
            [inputs],
            archive,
            seconds=1,
            report=report,
            passed=passed,
            workers=1,
            planned=lambda files: None,
            finished=lambda outcome: None,
            progress=lambda done, total: None,
        )
    return found


def test_what_a_watch_could_not_take_it_takes_later(tmp_path, monkeypatch):
    """A full disk, say, is not the files' fault; it is told once."""
    from hta_sql.store.manifest import Manifest

    write(tmp_path / "t/rank_0.json")
    make, left, said = Manifest.make, [OSError(28, "No space left on device")] * 3, []

    def full_for_a_while(manifest: Manifest) -> None:
        if left:
            raise left.pop()
        make(manifest)

    monkeypatch.setattr(Manifest, "make", full_for_a_while)
    assert watched(tmp_path / "t", tmp_path / "a", said.append) == ["ingested"]
    assert said == ["[Errno 28] No space left on device"]


def test_a_watch_looks_into_other_json_once(tmp_path):
    (tmp_path / "t").mkdir()
    (tmp_path / "t/notes.json").write_text("{}")
    said = []
    assert watched(tmp_path / "t", tmp_path / "a", said.append) == []
    assert len(said) == 2 and said[0].startswith("skipped notes.json: not a Kineto trace")


def test_a_watch_of_nothing(tmp_path):
    with pytest.raises(HtaSqlError, match="no such file or folder"):
        keep_up([tmp_path / "none"], tmp_path / "a", seconds=1)
