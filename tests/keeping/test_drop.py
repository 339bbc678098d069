"""Jobs that are dropped."""

import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from fleets import contents, data_files, write_fleet
from seeds import seeds

import hta_sql
from hta_sql.cli import cli
from hta_sql.errors import ArchiveError, BadParameter
from hta_sql.places.storage import place
from hta_sql.store.manifest import Manifest


def without(found: dict, *jobs: str) -> dict:
    return {table: [row for row in rows if row["job"] not in jobs] for table, rows in found.items()}


@pytest.mark.parametrize("compacted", [False, True])
def test_a_job_goes_with_its_files_alone(fleet, compacted):
    if compacted:
        hta_sql.compact(fleet)
    before, files = contents(fleet), data_files(fleet)
    bytes_of = {name: (fleet / name).stat().st_size for name in files}
    of_job = [name for name in files if "/job=bert/" in name]
    [gone] = hta_sql.drop(fleet, jobs=["bert"]).to_pylist()
    assert (gone["job"], gone["rank_count"], gone["file_count"], gone["total_bytes"]) == (
        "bert",
        2,
        len(of_job),
        sum(bytes_of[name] for name in of_job),
    )
    assert len(of_job) == (3 if compacted else 6)
    assert data_files(fleet) == [name for name in files if name not in of_job]
    assert not list(fleet.glob("*/job=bert"))
    assert contents(fleet) == without(before, "bert")


def test_a_dry_run_only_tells(fleet):
    before, files = contents(fleet), data_files(fleet)
    told = hta_sql.drop(fleet, jobs=["bert", "one"], dry_run=True)
    assert data_files(fleet) == files and contents(fleet) == before
    assert hta_sql.drop(fleet, jobs=["bert", "one"]).equals(told)


def test_an_unknown_job_drops_nothing(fleet):
    before = contents(fleet)
    result = CliRunner().invoke(cli, ["drop", str(fleet), "--job", "bert", "--job", "nope"])
    assert result.exit_code == 1 and result.stdout == ""
    assert result.stderr == (
        f"Error: {fleet}: no job 'nope'; there are 'bert', 'llama 7b', 'one'\n"
    )
    assert contents(fleet) == before


def test_the_last_job(fleet):
    hta_sql.drop(fleet, jobs=["bert", "one", "llama 7b"])
    assert data_files(fleet) == [] and not any(contents(fleet).values())
    with pytest.raises(ArchiveError, match="no job 'bert'; it has no jobs"):
        hta_sql.drop(fleet, jobs=["bert"])


def test_what_was_attached_and_computed_goes_too(fleet):
    manifest = Manifest(fleet, "attachments")
    row = {"job": "bert", "rank": 1, "kind": "execution_trace", "file_id": "abc", "path": "/x"}
    other = row | {"job": "one", "rank": 0, "file_id": "def"}
    for found in (row, other):
        file = fleet / f"execution_nodes/job={found['job']}/rank={found['rank']}"
        file.mkdir(parents=True)
        pq.write_table(pa.table({"node_id": [1]}), file / f"{found['file_id']}.parquet")
    with manifest.locked():
        manifest.change(lambda row: True, [row, other])
    [trace] = [r for r in Manifest(fleet).rows() if (r["job"], r["rank"]) == ("bert", 0)]
    paths = Manifest(fleet, "critical_paths")
    with paths.locked():
        paths.change(
            lambda row: True,
            [
                {
                    "job": "bert",
                    "path_window": "step 1",
                    "path_id": "p",
                    "ranks": [0],
                    "trace_ids": [trace["trace_id"]],
                }
            ],
        )
    edges = fleet / "path_edges/job=bert/rank=0/p.parquet"
    edges.parent.mkdir(parents=True)
    pq.write_table(pa.table({"position": [1]}), edges)
    kept = Manifest(fleet, "stored_results")
    with kept.locked():
        kept.change(
            lambda row: True,
            [{"job": job, "query": "job_summary_v2", "file_id": "r"} for job in ("bert", "one")],
        )
    assert hta_sql.drop(fleet, jobs=["bert"])["file_count"].to_pylist() == [8]
    assert [row["job"] for row in kept.rows()] == ["one"]
    assert [row["file_id"] for row in manifest.rows()] == ["def"] and paths.rows() == []
    assert not edges.exists()
    assert [p.parts[-3] for p in fleet.glob("execution_nodes/*/*/*.parquet")] == ["job=one"]


def test_a_dry_run_writes_nothing(fleet):
    """Not even a lock: who may only read an archive can ask what would go."""
    (fleet / ".lock").unlink(missing_ok=True)
    before = {path: path.stat().st_mtime_ns for path in fleet.rglob("*")}
    assert hta_sql.drop(fleet, older_than="0h", dry_run=True).num_rows
    assert {path: path.stat().st_mtime_ns for path in fleet.rglob("*")} == before


def test_where_it_cannot_tell_what_went_nothing_goes(fleet, tmp_path):
    before = Manifest(fleet).rows()
    done = CliRunner().invoke(
        cli, ["drop", str(fleet), "--job", "bert", "-o", str(tmp_path / "none/gone.csv")]
    )
    assert done.exit_code == 2 and "no such folder" in done.stderr
    assert Manifest(fleet).rows() == before


def test_command(fleet):
    def run(*given: str):
        return CliRunner().invoke(cli, ["drop", str(fleet), *given])

    for wrong in ((), ("--job", "one", "--older-than", "3d"), ("--older-than", "3m")):
        assert run(*wrong).exit_code == 2
    told = run("--job", "one", "--dry-run")
    assert told.exit_code == 0 and told.stderr.startswith("1 job would be dropped: 3 files, ")
    done = run("--job", "one", "--format", "csv")
    assert done.stderr == told.stderr.replace("would be dropped", "dropped")
    head, row = done.stdout.splitlines()
    assert head.startswith('"job","job_start_ns","rank_count"') and row.startswith('"one",')
    none = run("--older-than", "5000w", "--format", "json")
    assert (none.exit_code, none.stdout) == (0, "[]\n")


def test_readers_see_it_go_as_a_whole(tmp_path):
    fleet = write_fleet(tmp_path / "a", {f"job {i}": 2 for i in range(8)})
    sql = (
        "SELECT t.job, t.rank, t.event_count AS told, count(e.event_id) AS n FROM traces AS t "
        "LEFT JOIN events AS e ON e.job = t.job AND e.rank = t.rank GROUP BY ALL ORDER BY ALL"
    )
    stop = False

    def read() -> list[int]:
        seen = []
        while not stop:
            with hta_sql.open(fleet) as run:
                for _ in range(3):
                    rows = run.sql(sql).to_pylist()
                    assert all(row["told"] == row["n"] for row in rows)
                    seen.append(len(rows))
        return seen

    with ThreadPoolExecutor(1) as pool:
        reader = pool.submit(read)
        try:
            for at in range(8):
                hta_sql.drop(fleet, jobs=[f"job {at}"])
        finally:
            stop = True
        seen = reader.result()
    assert seen == sorted(seen, reverse=True) and all(count % 2 == 0 for count in seen)


@pytest.mark.processes
@pytest.mark.parametrize("seed", seeds(3))
def test_killed_at_any_moment(tmp_path, seed):
    """Each job is there as a whole or not at all; what is left of files goes by compaction."""
    fleet = write_fleet(tmp_path / "a", {f"job {i}": 3 for i in range(30)})
    before = contents(fleet)
    code = (
        "import sys, hta_sql\nhta_sql.drop\nprint(flush=True)\n"
        "for i in range(20): hta_sql.drop(sys.argv[1], jobs=[f'job {i}'])"
    )
    running = subprocess.Popen([sys.executable, "-c", code, fleet], stdout=subprocess.PIPE)
    running.stdout.readline()
    time.sleep(random.Random(seed).uniform(0.05, 2.5))
    running.send_signal(signal.SIGKILL)
    running.wait()
    running.stdout.close()
    there = {row["job"] for row in Manifest(fleet).rows()}
    gone = {f"job {i}" for i in range(30)} - there
    assert contents(fleet) == without(before, *gone)
    assert gone == {f"job {i}" for i in range(len(gone))} and len(gone) <= 20


def test_object_storage(fleet, uploaded):
    before = contents(fleet)
    url = uploaded(fleet, "archive")
    with hta_sql.open(url) as early:
        assert early.kernel_stats(only_jobs=["bert"]).num_rows > 0
        [gone] = hta_sql.drop(url, jobs=["bert"]).to_pylist()
        assert (gone["rank_count"], gone["file_count"]) == (2, 6)
        assert early.kernel_stats().num_rows > 0
        with pytest.raises(BadParameter, match="the archive has no job 'bert'"):
            early.kernel_stats(only_jobs=["bert"])
    assert contents(url) == without(before, "bert")
    assert not place(f"{url}/events/job=bert").exists()
