"""The same work on a real Ray cluster of two nodes: same rows, whatever dies on the way."""

import contextlib
import gzip
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import engine_work
import pyarrow as pa
import pytest

import hta_sql
from hta_sql.catalogue.catalog import Catalog
from hta_sql.demo import write_job
from hta_sql.engines.engine import Share, WorkerDied, start
from hta_sql.errors import BadParameter, IngestError
from hta_sql.fleet.by_jobs import batches_of, is_by_job
from hta_sql.ingestion.pool import run_anywhere
from hta_sql.ingestion.tasks import Task

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'hta-sql[fleet]'")
from hta_sql.engines.engine import on_ray  # noqa: E402

TESTS = Path(engine_work.__file__).parent
# Of ingest itself, not of the trace.
OWN_COLUMNS = ["trace_id", "file_id", "ingested_at"]


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The address of a cluster of two nodes with three cores, which this process has joined."""
    from ray.cluster_utils import Cluster

    patch = pytest.MonkeyPatch()
    patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    patch.setenv("PYTHONPATH", os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")]))
    # Ray's workers give way to all else, which in a busy run of tests is for long.
    patch.setenv("RAY_worker_niceness", "0")
    sizes = {"object_store_memory": 100 << 20, "memory": 4 << 30}
    made = Cluster(
        initialize_head=True, head_node_args=sizes | {"num_cpus": 2, "include_dashboard": False}
    )
    made.add_node(**sizes, num_cpus=1)
    on_ray.ray._private.worker._worker_logs_enabled = False
    ray.init(made.address, log_to_driver=False, logging_level="ERROR")
    yield made.address
    ray.shutdown()
    made.shutdown()
    patch.undo()


@pytest.fixture(scope="module")
def engine(cluster):
    with start("ray") as engine:
        yield engine


@pytest.fixture(scope="module")
def traces(tmp_path_factory) -> Path:
    """Three jobs of different size and ranks."""
    folder = tmp_path_factory.mktemp("fleet") / "jobs"
    for number, ranks in enumerate((2, 1, 3)):
        write_job(folder / f"job{number}", ranks=ranks, steps=2, layers=1 + number, seed=number)
    changes = [[-1, 1, 100, 0], [5, 2, 8, 4]]
    (folder / "job1/memory_rank_0.raw.json.gz").write_bytes(
        gzip.compress(json.dumps(changes).encode())
    )
    return folder


@pytest.fixture(scope="module")
def archive(traces) -> Path:
    """These jobs, ingested here; one with critical paths."""
    hta_sql.ingest(traces, traces.parent / "archive")
    with hta_sql.open(traces.parent / "archive") as run:
        run.compute_critical_path(step=1, only_jobs=["job0"])
    return traces.parent / "archive"


# Engines


@pytest.fixture(params=["here", "processes", "ray"])
def any_engine(request):
    """(engine, how many workers it shall have)"""
    if request.param == "ray":
        return request.getfixturevalue("engine"), 3
    return start("local"), 1 if request.param == "here" else 2


# Here, the one worker is this process, and would take the tests with it.
with_processes = pytest.mark.parametrize("any_engine", ["processes", "ray"], indirect=True)


def test_one_that_fails_stops_no_other(any_engine):
    engine, workers = any_engine
    found = list(engine.map(engine_work.squared, range(6), workers=workers))
    assert len(found) == 6
    found = dict(found)
    assert repr(found.pop(3)) == "ValueError('not three')"
    assert found == {0: 0, 1: 1, 2: 4, 4: 16, 5: 25}
    assert list(engine.map(engine_work.squared, [])) == []


@with_processes
def test_one_that_kills_its_worker_stops_no_other(any_engine):
    engine, workers = any_engine
    found = dict(engine.map(engine_work.mortal, range(6), workers=workers))
    died = found.pop(3)
    assert isinstance(died, WorkerDied) and "perhaps for want of memory" in str(died)
    assert found == {at: at for at in (0, 1, 2, 4, 5)}


def test_what_dies_with_its_worker_is_done_again(engine, tmp_path):
    markers = [tmp_path / name for name in "ab"]
    found = dict(engine.map(engine_work.dies_once, markers))
    assert found == {marker: 2 for marker in markers}


def test_workers_bound_what_runs_at_a_time(engine):
    """They begin in the order given; more workers than items leave threads over."""
    found = dict(engine.map(engine_work.timed, range(4), workers=1, memory_bytes=1 << 20))
    spans = [found[at][:2] for at in range(4)]
    assert all(one[1] <= next[0] for one, next in pairwise(spans))
    assert found[0][2] == Share(1, 1 << 20)
    [(_, (_, _, share))] = engine.map(engine_work.timed, [0])
    # Three cores for one item, but no node has more than two; 4 GiB are for two cores on one of
    # the nodes, so two cores may take as much as that.
    assert share == Share(2, 4 << 30)


def test_few_are_in_flight(engine, tmp_path, monkeypatch):
    """Those that nobody asks for wait."""
    monkeypatch.setattr(on_ray, "MOST_IN_FLIGHT", 4)
    markers = [tmp_path / str(at) for at in range(50)]
    found = engine.map(engine_work.marked, markers)
    assert next(found)[1] is None
    time.sleep(1)
    begun = list(tmp_path.iterdir())
    assert 1 <= len(begun) <= 5
    assert len(list(found)) == 49 and len(list(tmp_path.iterdir())) == 50


def test_closing_ends_what_runs(engine, tmp_path):
    found = engine.map(engine_work.endless_but_for_one, [tmp_path / "endless", tmp_path / "one"])
    assert next(found) == (tmp_path / "one", None)
    pid = int((tmp_path / "endless").read_text())
    assert Path(f"/proc/{pid}").exists()
    found.close()
    until = time.monotonic() + 20
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_machines_without_hta_sql_or_with_another(engine, tmp_path, monkeypatch):
    (tmp_path / "only_here.py").write_text("def work(item, share): return item")
    monkeypatch.syspath_prepend(tmp_path)
    import only_here

    [(_, error)] = engine.map(only_here.work, [1])
    assert str(error) == (
        "No module named 'only_here' on a machine of the cluster: install hta-sql there as here"
    )
    there = on_ray.own_make()
    monkeypatch.setattr(on_ray, "own_make", lambda: "hta_sql 9.9, sql beef")
    [(_, error)] = engine.map(engine_work.squared, [1])
    assert f"has {there}, not hta_sql 9.9, sql beef as here: install the same" in str(error)


# Ingest


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


@pytest.fixture(scope="module")
def large(tmp_path_factory) -> Path:
    """Four ranks, of which the last is read for so long that its worker can be killed."""
    folder = tmp_path_factory.mktemp("large") / "large"
    write_job(folder, ranks=3, steps=2, layers=2)
    [path] = write_job(folder / "new", ranks=1, steps=2, layers=2, scale=60, gzip=False)
    trace = path.read_text().replace('"rank": 0', '"rank": 3', 1)
    (folder / "rank_3.json").write_text(trace)
    shutil.rmtree(folder / "new")
    return folder


def all_tables(archive: Path) -> dict[str, list[str]]:
    """Every row of every table as text, sorted."""
    with hta_sql.open(archive) as run:
        tables = [path.stem for path in Catalog.load().tables]
        found = {table: run.sql(f"FROM {table}") for table in tables}
        return {
            table: sorted(
                map(
                    repr,
                    rows.drop_columns(
                        [name for name in OWN_COLUMNS if name in rows.column_names]
                    ).to_pylist(),
                )
            )
            for table, rows in found.items()
        }


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
    assert f"{traces}/rank_3.json: failed: its worker died 3 times, perhaps for want of" in (
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


# Queries


def test_same_rows_in_the_same_order(engine, archive):
    """Of every query that can be asked job by job, byte for byte."""
    jobs = ["job0", "job2"]
    parts = dict(engine.map(engine_work.all_results, [(archive, job) for job in jobs]))
    with hta_sql.open(archive, only_jobs=jobs) as run:
        whole = engine_work.by_query(run)
    for query, table in whole.items():
        together = pa.concat_tables([parts[archive, job][query] for job in jobs])
        assert together.equals(table), query
    assert sum(len(set(table["job"].to_pylist())) == 2 for table in whole.values()) > 30


@pytest.mark.parametrize("query", ["module_stats", "queue_length_series", "op_stats"])
def test_an_archive_that_is_asked_by_way_of_ray(engine, archive, query):
    with hta_sql.open(archive) as here, hta_sql.open(archive, engine="ray") as there:
        one = here.query(query)
        assert there.query(query).equals(one) and len(set(one["job"].to_pylist())) == 3


def test_only_some_jobs(engine, archive):
    with hta_sql.open(archive) as here:
        with hta_sql.open(archive, only_jobs=["job1", "job2"], engine="ray") as there:
            found = there.launch_summary(only_jobs=["job0", "job1"])
            assert found.equals(here.launch_summary(only_jobs=["job1"])) and found.num_rows == 1
            none = there.launch_summary(only_jobs=["job9"])
            assert none.num_rows == 0 and none.schema == found.schema
            # All that is no query of the catalogue is done here.
            assert there.sql("SELECT DISTINCT job FROM traces").num_rows == 2


def test_queries_that_compare_jobs_are_refused(archive):
    eligible = [query for query in Catalog.load().queries if is_by_job(query)]
    assert not {"compare"} & {query.theme for query in eligible}
    with hta_sql.open(archive, engine="ray") as run:
        with pytest.raises(BadParameter, match="kernel_diff does not answer for each job apart"):
            run.kernel_diff(base_job="job0", test_job="job1")
        with pytest.raises(BadParameter, match="launch_summary has no parameter 'top'"):
            run.launch_summary(top=1)


def test_a_job_that_cannot_be_read_is_named(cluster, archive, tmp_path):
    """Its neighbours' rows are not taken for all."""
    shutil.copytree(archive, tmp_path / "archive")
    [path] = (tmp_path / "archive").glob("gpu_activities/job=job1/*/*.parquet")
    path.write_bytes(path.read_bytes()[:-100])
    words = ["launch_summary", tmp_path / "archive", "--engine", "ray", "--address", cluster]
    result = hta("run", *words)
    assert (result.returncode, result.stdout) == (1, "")
    [line] = result.stderr.splitlines()
    assert line.startswith("Error: launch_summary: job 'job1': ") and path.name in line
    result = hta("run", *words, "--only-jobs", "job0", "--format", "json")
    assert [row["rank"] for row in json.loads(result.stdout)] == [0, 1] and result.stderr == ""


def test_batches():
    """Neighbours share one until it is full; as many as asked for, about."""
    assert batches_of({}, 8) == [()]
    assert batches_of({"a": 5}, 8) == [("a",)]
    assert batches_of({"a": 1, "b": 1, "c": 9, "d": 1, "e": 0}, 3) == [
        ("a", "b"),
        ("c",),
        ("d", "e"),
    ]
    many = {f"{at:03}": 10 for at in range(250)}
    sizes = [len(batch) for batch in batches_of(many, 2)]
    assert sizes == [100, 100, 50] and sum(batches_of(many, 9), ()) == tuple(many)


# The command line

HTA = [sys.executable, "-c", "from hta_sql.cli import main; main()"]


def hta(*words) -> subprocess.CompletedProcess:
    return subprocess.run([*HTA, *map(str, words)], capture_output=True, text=True, timeout=300)


def test_on_a_cluster_of_its_own(archive, monkeypatch):
    """Started for one command, and gone after it."""
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    words = ["run", "temporal_breakdown", archive, "--format", "csv"]
    there, here = hta(*words, "--engine", "ray"), hta(*words)
    assert (there.stdout, there.stderr, there.returncode) == (here.stdout, "", 0)


def test_ctrl_c(cluster, large, tmp_path):
    """Ends what runs on the cluster, and leaves nothing half done."""
    trace, archive = large / "rank_3.json", tmp_path / "archive"
    process = subprocess.Popen(
        [*HTA, "ingest", trace, archive, "--engine", "ray", "--address", cluster],
        stderr=subprocess.PIPE,
        text=True,
    )
    while not list(archive.glob(".staging/*/*/*/events.parquet")):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[1].endswith("Interrupted\n")
    assert process.returncode == 130
    assert not list((archive / ".staging").iterdir()) and not list(archive.glob("events/*"))


def test_what_is_no_cluster(archive):
    words = ["run", "launch_summary", archive, "--address", "127.0.0.1:1"]
    result = hta(*words, "--engine", "ray")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == (
        "Error: the Ray cluster at 127.0.0.1:1 cannot be used: [Errno 111] Connection refused\n"
    )
    result = hta(*words)
    assert result.returncode == 2 and result.stderr == (
        "Error: address '127.0.0.1:1' is of a Ray cluster: it needs engine 'ray'\n"
    )


def test_without_ray(archive, tmp_path, monkeypatch):
    """All else works and does not ask for it; what needs it says so."""
    (tmp_path / "ray.py").write_text("raise ImportError(\"No module named 'ray'\")")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    words = ["run", "launch_summary", archive]
    result = hta(*words, "--engine", "ray")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == (
        "Error: the engine 'ray' needs more: pip install 'hta-sql[fleet]' (No module named 'ray')\n"
    )
    result = hta(*words)
    assert result.returncode == 0 and len(result.stdout.splitlines()) == 7
