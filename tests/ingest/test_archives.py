"""What ingest does with files, ranks, jobs and an archive that is already there."""

import gzip
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
from hand_written import rows, span, trace_text
from seeds import seeds

import hta_sql
from hta_sql.demo import write_job
from hta_sql.errors import ArchiveError, HtaSqlError, IngestError


def write(path: Path, count: int = 3, before: str = "", after: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    events = [span(f"op{at}", ts=at * 10, dur=2) for at in range(count)]
    path.write_text(trace_text(events, before, after))
    return path


def ranks(archive: Path) -> list[tuple]:
    with hta_sql.open(archive) as run:
        return rows(run, "SELECT job, rank, rank_source FROM traces ORDER BY job, rank")


def distributed(rank: object) -> str:
    return f'"distributedInfo":{{"backend":"nccl",\n\n "rank"   :{json.dumps(rank)}}},'


def test_rank_from_the_file_beats_its_name(tmp_path):
    write(tmp_path / "t/rank_7.json", before=distributed(2))
    write(tmp_path / "t/b.json", after=f", {distributed(5).rstrip(',')}")
    write(tmp_path / "t/x-rank-12.pt.trace.json")
    write(tmp_path / "t/frankly-9.json")
    said = []
    hta_sql.ingest(tmp_path / "t", tmp_path / "a", report=said.append)
    assert ranks(tmp_path / "a") == [
        ("t", 0, "order"),
        ("t", 2, "distributedInfo"),
        ("t", 5, "distributedInfo"),
        ("t", 12, "file name"),
    ]
    [warning] = said
    assert "frankly-9.json" in warning and "rank 0" in warning and "--rank" in warning


def test_rank_in_arguments_is_not_the_trace_s(tmp_path):
    path = tmp_path / "t/rank_1.json"
    path.parent.mkdir()
    path.write_text(trace_text([span("op", distributedInfo={"rank": 9}, rank=8)]))
    hta_sql.ingest(path, tmp_path / "a")
    assert ranks(tmp_path / "a") == [("t", 1, "file name")]


def test_given_ranks(tmp_path):
    one, two = write(tmp_path / "t/rank_0.json"), write(tmp_path / "t/other.json")
    hta_sql.ingest([one], tmp_path / "a", ranks={0: two, 4: one})
    assert ranks(tmp_path / "a") == [("t", 0, "given"), ("t", 4, "given")]


def test_two_files_of_one_rank(tmp_path):
    write(tmp_path / "t/a.json", before=distributed(3))
    write(tmp_path / "t/rank3.json")
    with pytest.raises(IngestError) as error:
        hta_sql.ingest(tmp_path / "t", tmp_path / "a")
    text = str(error.value)
    assert "a.json" in text and "rank3.json" in text and "rank 3" in text and "\n" not in text
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize(
    "job", ["plain", "with space", "a/b", "x=y", "50%", "käse", "it's", 'say "hi"', "a+b&c", "null"]
)
def test_any_name_of_a_job(tmp_path, job):
    hta_sql.ingest(write(tmp_path / "rank_0.json"), tmp_path / "a", job=job)
    with hta_sql.open(tmp_path / "a") as run:
        assert rows(run, "SELECT DISTINCT job FROM host_ops") == [(job,)]
        assert run.profiler_steps(only_jobs=[job]).num_rows == 0
        assert rows(run, "SELECT count(*) FROM events") == [(3,)]


def test_folder_of_folders(tmp_path, monkeypatch):
    write(tmp_path / "fleet/one/rank_0.json")
    write(tmp_path / "fleet/one/rank_1.json")
    write(tmp_path / "fleet/two/deep/rank_0.json")
    write(tmp_path / "fleet/.hidden/rank_0.json")
    (tmp_path / "fleet/notes.json").write_text("{}")
    (tmp_path / "fleet/notes.txt").write_text("")
    monkeypatch.chdir(tmp_path / "fleet")
    said = []
    summary = hta_sql.ingest(".", "archive", report=said.append)
    assert said == ['skipped notes.json: not a Kineto trace: no "traceEvents" (found no key)']
    assert [path.name for path, _ in summary.skipped] == ["notes.json"]
    assert [row[:2] for row in ranks(Path("archive"))] == [("one", 0), ("one", 1), ("two/deep", 0)]
    again = hta_sql.ingest(".", "archive")  # the archive inside the folder is no source
    assert {outcome.status for outcome in again.traces} == {"unchanged"}


def test_patterns(tmp_path):
    write(tmp_path / "t/rank_0.json")
    write(tmp_path / "t/rank_1.json")
    hta_sql.ingest(str(tmp_path / "t/*_1.json"), tmp_path / "a")
    assert [row[1] for row in ranks(tmp_path / "a")] == [1]


def test_again(tmp_path):
    """Unchanged files are skipped, also when only touched; changed ones take the other's place."""
    path, other = write(tmp_path / "t/rank_0.json"), write(tmp_path / "t/rank_1.json")
    archive = tmp_path / "a"

    def statuses(**options) -> list[str]:
        return [o.status for o in hta_sql.ingest(tmp_path / "t", archive, **options).traces]

    assert statuses() == ["ingested", "ingested"]
    assert statuses() == ["unchanged", "unchanged"]
    os.utime(path, ns=(1, 1))
    assert statuses() == ["unchanged", "unchanged"]
    write(path, count=5)
    assert statuses() == ["replaced", "unchanged"]
    assert statuses(force=True) == ["replaced", "replaced"]
    with hta_sql.open(archive) as run:
        assert rows(run, "SELECT rank, count(*) FROM events GROUP BY rank ORDER BY rank") == [
            (0, 5),
            (1, 3),
        ]
    assert len(list(archive.glob("events/*/*/*.parquet"))) == 2
    other.unlink()
    assert statuses() == ["unchanged"]


def test_same_rank_from_elsewhere(tmp_path):
    hta_sql.ingest(write(tmp_path / "one/t/rank_0.json"), tmp_path / "a")
    elsewhere = write(tmp_path / "two/t/rank_0.json", count=4)
    with pytest.raises(IngestError, match="--job"):
        hta_sql.ingest(elsewhere, tmp_path / "a")
    hta_sql.ingest(elsewhere, tmp_path / "a", job="other")
    assert [row[:2] for row in ranks(tmp_path / "a")] == [("other", 0), ("t", 0)]


def test_a_different_file_of_equal_size_and_time(tmp_path):
    """Not unchanged: it is another file."""
    one, two = write(tmp_path / "a/t/rank_0.json"), write(tmp_path / "b/t/rank_0.json")
    two.write_text(two.read_text().replace("op1", "xx1"))
    for path in (one, two):
        os.utime(path, ns=(10**18, 10**18))
    hta_sql.ingest(one, tmp_path / "archive")
    with pytest.raises(IngestError, match="--force"):
        hta_sql.ingest(two, tmp_path / "archive")
    hta_sql.ingest(two, tmp_path / "archive", force=True)
    with hta_sql.open(tmp_path / "archive") as run:
        assert rows(run, "SELECT name FROM events ORDER BY event_id") == [
            ("op0",),
            ("xx1",),
            ("op2",),
        ]


def test_force_replaces_every_table(tmp_path):
    """Also where the trace has nothing in quarantine any more; each time under a new name."""
    path, archive = write(tmp_path / "t/rank_0.json"), tmp_path / "a"
    good = path.read_text()
    path.write_text(good.replace('"ts": 10', '"ts": "?"'))
    hta_sql.ingest(path, archive)
    assert len(list(archive.glob("quarantine/*/*/*.parquet"))) == 1
    before = set(archive.glob("*/*/*/*.parquet"))
    path.write_text(good)
    hta_sql.ingest(path, archive, force=True)
    hta_sql.ingest(path, archive, force=True)
    assert not before & set(archive.glob("*/*/*/*.parquet"))
    assert not list(archive.glob("quarantine/*/*/*.parquet"))
    with hta_sql.open(archive) as run:
        assert rows(run, "SELECT count(*) FROM quarantine") == [(0,)]


@pytest.mark.parametrize("place", ["job=evil/rank=9/a", "kind=x/date=2024-01-01/a", "rank=x/a"])
def test_archive_below_folders_that_look_like_partitions(tmp_path, place):
    write_job(tmp_path / "t", ranks=2, steps=1, layers=1)
    hta_sql.ingest(tmp_path / "t", tmp_path / place)
    with hta_sql.open(tmp_path / place) as run:
        expected = [("t", 0), ("t", 1)]
        for table in ("events", "host_ops", "gpu_activities", "traces"):
            assert rows(run, f"SELECT DISTINCT job, rank FROM {table} ORDER BY 2") == expected
        kinds = rows(run, "SELECT DISTINCT kind FROM gpu_activities ORDER BY 1")
        assert kinds == [("communication",), ("computation",), ("memory",)]


def test_numbers_that_are_no_ranks(tmp_path):
    huge = write(tmp_path / "t/rank_20240101123456.json")
    hta_sql.ingest(huge, tmp_path / "a")
    assert ranks(tmp_path / "a") == [("t", 0, "order")]
    for given, said in [
        ({2**31: huge}, "is no rank"),
        ({5: huge, 6: huge}, "rank 5 and of rank 6"),
    ]:
        with pytest.raises(IngestError, match=said):
            hta_sql.ingest(huge, tmp_path / "b", ranks=given)
    assert not (tmp_path / "b").exists()


def test_names_that_are_no_text(tmp_path):
    odd = Path(os.fsdecode(os.fsencode(tmp_path / "t") + b"/rank_1_\xff.json"))
    write(tmp_path / "t/rank_0.json")
    odd.write_bytes((tmp_path / "t/rank_0.json").read_bytes().replace(b'"ts": 0', b'"ts": null'))
    for status in ("ingested", "unchanged"):
        summary = hta_sql.ingest(tmp_path / "t", tmp_path / "a")
        assert [outcome.status for outcome in summary.traces] == [status] * 2
    with hta_sql.open(tmp_path / "a") as run:
        [(path,)] = rows(run, "SELECT path FROM traces WHERE rank = 1")
        assert path.endswith("rank_1_\\xff.json")
        assert rows(run, "SELECT DISTINCT path FROM quarantine") == [(path,)]


def test_a_file_is_one_trace_of_its_job(tmp_path):
    """Told to be of another rank, or saying so itself now, it leaves the rank it had."""
    path, archive = write(tmp_path / "t/trace.json"), tmp_path / "a"
    hta_sql.ingest(path, archive)
    hta_sql.ingest(path, archive, ranks={4: path})
    assert ranks(archive) == [("t", 4, "given")]
    write(path, before=distributed(7))
    hta_sql.ingest(path, archive)
    assert ranks(archive) == [("t", 7, "distributedInfo")]
    assert len(list(archive.glob("events/*/*/*.parquet"))) == 1
    hta_sql.ingest(path, archive, job="other")
    assert [row[:2] for row in ranks(archive)] == [("other", 7), ("t", 7)]


def test_endings_of_names(tmp_path):
    write(tmp_path / "t/RANK_3.JSON")
    (tmp_path / "t/rank_4.Json.Gz").write_bytes(gzip.compress(write(tmp_path / "x").read_bytes()))
    (tmp_path / "t/rank_5.json.zst").write_bytes(b"(\xb5/\xfd packed")
    summary = hta_sql.ingest(tmp_path / "t", tmp_path / "a")
    assert [row[1] for row in ranks(tmp_path / "a")] == [3, 4]
    [failed] = [outcome for outcome in summary.traces if outcome.status == "failed"]
    assert failed.path.name == "rank_5.json.zst" and failed.error.startswith("not JSON")


def test_a_name_too_long_for_a_folder(tmp_path):
    path = write(tmp_path / "rank_0.json")
    with pytest.raises(IngestError, match="--job"):
        hta_sql.ingest(path, tmp_path / "a", job="ü" * 100)
    assert not (tmp_path / "a").exists()


def test_what_is_no_file_is_not_read(tmp_path):
    """A pipe would wait for a writer for ever."""
    write(tmp_path / "t/rank_0.json")
    os.mkfifo(tmp_path / "t/rank_1.json")
    hta_sql.ingest(tmp_path / "t", tmp_path / "a")
    assert [row[1] for row in ranks(tmp_path / "a")] == [0]
    with pytest.raises(IngestError, match="neither a file nor a folder"):
        hta_sql.ingest(tmp_path / "t/rank_1.json", tmp_path / "a")


@pytest.mark.parametrize(
    "content",
    [b"", gzip.compress(b'{"traceEvents": []}' * 9, mtime=0)[:12], b"\0" * 100, b"no JSON"],
)
def test_what_may_have_been_a_trace_is_not_passed_over(tmp_path, content):
    write(tmp_path / "t/rank_0.json")
    (tmp_path / "t/rank_1.json").write_bytes(content)
    (tmp_path / "t/other.json").write_text('{"nodes": []}')
    summary = hta_sql.ingest(tmp_path / "t", tmp_path / "a")
    assert summary.failed == 1 and [path.name for path, _ in summary.skipped] == ["other.json"]
    [failed] = [outcome for outcome in summary.traces if outcome.error]
    assert failed.path.name == "rank_1.json"


@pytest.mark.parametrize("size", [1_000, 3_000_000])
@pytest.mark.parametrize("packed", [False, True])
def test_rank_behind_the_events_however_far_from_the_end(tmp_path, size, packed):
    groups = [{"pg_name": str(at), "ranks": list(range(8))} for at in range(size // 60)]
    info = json.dumps({"rank": 5, "world_size": 8, "pg_config": groups})
    path = write(tmp_path / "t/trace.json", after=f', "distributedInfo": {info}')
    if packed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    hta_sql.ingest(path, tmp_path / "a")
    assert ranks(tmp_path / "a") == [("t", 5, "distributedInfo")]


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
        (path, path, ArchiveError, "is a file; an archive is a folder"),
        (path, tmp_path / "t", ArchiveError, "holds files but is no archive"),
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

    pq.write_table(pa.Table.from_pylist(manifest, schema), archive / "traces.parquet")
    with pytest.warns(UserWarning, match="^1 trace was ingested by an earlier hta_sql"):
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
    assert "worker died" in summary.traces[1].error
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
