"""Archives in object storage: the same rows as on disk, by few requests, and never half a rank."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hand_written import span, trace_text

import hta_sql
from hta_sql.demo import write_job
from hta_sql.errors import HtaSqlError
from hta_sql.places.storage import place
from hta_sql.store.manifest import Manifest
from hta_sql.store.sources import Source

TABLES = ("traces", "events", "host_ops", "gpu_activities")


@pytest.fixture(scope="module")
def traces(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("traces")
    write_job(folder / "job", ranks=2, steps=2, layers=1)
    return folder


@pytest.fixture(scope="module")
def on_disk(traces, tmp_path_factory) -> Path:
    archive = tmp_path_factory.mktemp("disk") / "archive"
    hta_sql.ingest(traces, archive, workers=1)
    return archive


def upload(fs, folder: Path, url: str) -> None:
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            fs.put_file(str(file), f"{url}/{file.relative_to(folder).as_posix()}")


def download(fs, url: str, folder: Path) -> Path:
    for name in fs.find(url):
        file = folder / name.removeprefix(url.removeprefix("s3://")).lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        fs.get_file(name, str(file))
    return folder


def tables_of(*archives) -> dict[str, list]:
    """All rows but of what differs from one ingest to the next."""
    varying = "EXCLUDE (trace_id, file_id, path, modified_ns, ingested_at)"
    with hta_sql.open(*archives) as run:
        return {
            table: run.sql(
                f"SELECT * {varying if table == 'traces' else ''} FROM {table} ORDER BY ALL"
            ).to_pylist()
            for table in TABLES
        }


def statuses(summary) -> list[str]:
    return [outcome.status for outcome in summary.traces]


@pytest.mark.parametrize("way", ["up", "down", "both"])
def test_traces_and_archives_are_on_disk_or_in_object_storage(
    way, traces, on_disk, bucket, fs, tmp_path
):
    source = archive = None
    if way != "up":
        upload(fs, traces, f"{bucket}/traces")
        source = f"{bucket}/traces"
    if way != "down":
        archive = f"{bucket}/archive"
    source, archive = source or traces, archive or tmp_path / "archive"
    assert statuses(hta_sql.ingest(source, archive, workers=1)) == ["ingested"] * 2
    assert tables_of(archive) == tables_of(on_disk)
    with hta_sql.open(archive) as run, hta_sql.open(on_disk) as expected:
        for query in ("temporal_breakdown", "kernel_stats", "op_stats"):
            assert run.query(query) == expected.query(query)
        paths = run.sql("SELECT path FROM traces ORDER BY path")["path"].to_pylist()
    root = f"{bucket}/traces" if source == f"{bucket}/traces" else str(traces)
    assert paths == [f"{root}/job/rank_0.json.gz", f"{root}/job/rank_1.json.gz"]


def test_objects_patterns_folders_and_files_together(traces, bucket, fs, tmp_path):
    upload(fs, traces, f"{bucket}/in")
    fs.pipe_file(f"{bucket}/in/job/.hidden/rank_3.json", b"{}")
    fs.put_file(str(traces / "job/rank_0.json.gz"), f"{bucket}/in/x/odd job/rank_0.json.gz")
    shutil.copytree(traces / "job", tmp_path / "local")
    archive = f"{bucket}/archive"
    hta_sql.ingest(
        [f"{bucket}/in/job/rank_*.json.gz", f"{bucket}/in/x/", tmp_path / "local"],
        archive,
        workers=1,
    )
    with hta_sql.open(archive) as run:
        found = run.sql("SELECT DISTINCT job, rank FROM gpu_activities ORDER BY ALL").to_pylist()
        one = run.temporal_breakdown(only_jobs=["odd job"])
    assert [tuple(row.values()) for row in found] == [
        ("job", 0),
        ("job", 1),
        ("local", 0),
        ("local", 1),
        ("odd job", 0),
    ]
    assert one["job"].to_pylist() == ["odd job"]
    summary = hta_sql.ingest(f"{bucket}/in/job/rank_1.json.gz", f"{bucket}/second", workers=1)
    assert [(outcome.job, outcome.rank) for outcome in summary.traces] == [("job", 1)]


def test_unchanged_objects_are_not_read_and_changed_ones_are(traces, bucket, fs, s3):
    url, archive = f"{bucket}/t/job/rank_0.json", f"{bucket}/archive"
    text = b'{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"%s","ts":1,"dur":2,"pid":1,"tid":1}]}'
    fs.pipe_file(url, text % b"aa")
    assert statuses(hta_sql.ingest(f"{bucket}/t", archive, workers=1)) == ["ingested"]
    before = len(s3.asked())
    assert statuses(hta_sql.ingest(f"{bucket}/t", archive, workers=1)) == ["unchanged"]
    of_trace = [line for line in s3.asked()[before:] if line.endswith("rank_0.json")]
    assert len(of_trace) < 8
    # Of the same size, and most likely in the same second.
    fs.pipe_file(url, text % b"bb")
    assert statuses(hta_sql.ingest(f"{bucket}/t", archive, workers=1)) == ["replaced"]
    with hta_sql.open(archive) as run:
        assert run.sql("SELECT name FROM events")["name"].to_pylist() == ["bb"]
    # What was replaced is gone.
    assert len(fs.find(f"{bucket}/archive/events")) == 1


def many_jobs(on_disk: Path, fs, url: str, count: int) -> None:
    """An archive of so many jobs, each with the files of the one on disk."""
    rows = Manifest(on_disk).rows()
    names = [f"job{number}" for number in range(count)]
    for file in on_disk.rglob("*.parquet"):
        inside = file.relative_to(on_disk).as_posix()
        if "job=job/" in inside:
            content = file.read_bytes()
            for name in names:
                fs.pipe_file(f"{url}/{inside.replace('job=job/', f'job={name}/')}", content)
    new = [row | {"job": name} for name in names for row in rows]
    Manifest(place(url)).add(new)


def test_requests_do_not_grow_with_the_jobs(on_disk, bucket, fs, s3):
    counted = {}
    for count in (2, 30):
        many_jobs(on_disk, fs, f"{bucket}/of{count}", count)
        with s3.requests() as counted[count]:
            with hta_sql.open(f"{bucket}/of{count}") as run:
                assert run.temporal_breakdown(only_jobs=["job1"]).num_rows == 2
    assert counted[2] == counted[30]
    assert counted[30]["HEAD"] == 0 and counted[30]["LIST"] <= 8 and counted[30]["GET"] <= 10


def test_what_was_read_is_not_asked_for_again(on_disk, bucket, fs, s3):
    upload(fs, on_disk, f"{bucket}/archive")
    with hta_sql.open(f"{bucket}/archive") as run:
        first = run.temporal_breakdown()
        run.kernel_stats(only_jobs=["job"])
        run.temporal_breakdown()
        with s3.requests() as counted:
            assert run.temporal_breakdown() == first
            run.kernel_stats(only_jobs=["job"])
        assert counted == {"GET": 2}  # whether files have moved: once a question


def test_a_file_that_no_row_names_may_go_at_any_time(on_disk, bucket, fs, monkeypatch):
    """Listed, it is opened with the others: of what was replaced, and is being deleted."""
    upload(fs, on_disk, f"{bucket}/archive")
    named = next(file for file in fs.find(f"{bucket}/archive/events") if "/rank=0/" in file)
    unnamed = named.rpartition("/")[0] + "/0000.parquet"
    with hta_sql.open(f"{bucket}/archive") as run:
        expected = run.sql("SELECT count(*) FROM events WHERE args <> ''")
    fs.cp_file(named, unnamed)
    listed_by, seen = Source._list, []

    def list_and_delete(self, table, folder):
        listed = listed_by(self, table, folder)
        if any(file.endswith("/0000.parquet") for file in listed) and not seen:
            seen.append(table)
            fs.rm_file(unnamed)
        return listed

    monkeypatch.setattr(Source, "_list", list_and_delete)
    with hta_sql.open(f"{bucket}/archive") as run:
        assert run.sql("SELECT count(*) FROM events WHERE args <> ''") == expected
    assert seen == ["events"]


def test_a_reader_finds_what_was_replaced_and_by_reload_what_was_added(traces, bucket):
    archive = f"{bucket}/archive"
    hta_sql.ingest(traces, archive, workers=1)
    with hta_sql.open(archive) as run:
        assert run.temporal_breakdown(only_ranks=[0])["rank"].to_pylist() == [0]
        hta_sql.ingest(traces, archive, workers=1, force=True)
        hta_sql.ingest(traces / "job/rank_0.json.gz", archive, job="new", workers=1)
        # The files that it knew of are gone; those in their place are found.
        found = run.sql("SELECT DISTINCT job, rank FROM events WHERE args <> '' ORDER BY ALL")
        assert list(zip(*found.to_pydict().values(), strict=True)) == [
            ("job", 0),
            ("job", 1),
            ("new", 0),
        ]
        hta_sql.ingest(traces / "job/rank_1.json.gz", archive, job="new", workers=1)
        run.reload()
        assert run.temporal_breakdown()["job"].to_pylist() == ["job", "job", "new", "new"]


def test_copies_up_and_down_go_on_where_they_are(traces, on_disk, bucket, fs, tmp_path):
    """As by `aws s3 cp --recursive`."""
    write_job(tmp_path / "more", ranks=1, steps=1, layers=1, seed=3)
    expected = tables_of(on_disk)
    upload(fs, on_disk, f"{bucket}/up")
    assert tables_of(f"{bucket}/up") == expected
    hta_sql.ingest(tmp_path / "more", f"{bucket}/up", workers=1)
    more = tables_of(f"{bucket}/up")
    assert {row["job"] for row in more["events"]} == {"job", "more"}
    down = download(fs, f"{bucket}/up", tmp_path / "down")
    assert tables_of(down) == more
    write_job(tmp_path / "yet", ranks=1, steps=1, layers=1, seed=4)
    hta_sql.ingest(tmp_path / "yet", down, workers=1)
    assert {row["job"] for row in tables_of(down)["events"]} == {"job", "more", "yet"}
    assert statuses(hta_sql.ingest(traces, f"{bucket}/up", workers=1)) == ["unchanged"] * 2


def test_two_archives_as_one_and_one_with_one_on_disk(traces, on_disk, bucket, tmp_path):
    write_job(tmp_path / "other", ranks=1, steps=1, layers=1)
    hta_sql.ingest(traces, f"{bucket}/a", workers=1)
    hta_sql.ingest(tmp_path / "other", f"{bucket}/b", workers=1)
    for first in (f"{bucket}/a", on_disk):
        with hta_sql.open(first, f"{bucket}/b") as run:
            found = run.temporal_breakdown().select(["job", "rank"]).to_pylist()
            assert [tuple(row.values()) for row in found] == [("job", 0), ("job", 1), ("other", 0)]
    with pytest.raises(HtaSqlError, match="given twice"):
        hta_sql.open(f"{bucket}/a", f"{bucket}/a/")
    with pytest.raises(HtaSqlError, match=r"job 'job' rank 0 is in .* and in "):
        hta_sql.open(f"{bucket}/a", on_disk)


def test_critical_paths_are_kept_there(traces, on_disk, bucket, tmp_path):
    archive = f"{bucket}/archive"
    hta_sql.ingest(traces, archive, workers=1)
    shutil.copytree(on_disk, tmp_path / "copy")
    found = []
    for where in (archive, tmp_path / "copy"):
        with hta_sql.open(where) as run:
            step = run.profiler_steps()["step"][0].as_py()
            for _ in range(2):  # the second replaces the first
                run.compute_critical_path(step=step)
            found.append([run.critical_path(), run.what_if()])
    assert found[0] == found[1]
    with hta_sql.open(archive) as run:
        assert run.critical_path() == found[0][0]
    folder = place(archive) / "path_edges"
    assert len(folder.fs.find(folder.path)) == 2


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
    from hta_sql.ingestion.watch import watch

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
        watch(
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
