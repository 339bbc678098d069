"""Jobs go from archive to archive with all that is known of them."""

import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from fleets import contents, data_files, write_fleet
from hand_written import span, trace_text
from seeds import seeds

import hta_sql
from hta_sql.cli import cli
from hta_sql.demo import write_job
from hta_sql.errors import ArchiveError, BadParameter
from hta_sql.store.manifest import Manifest


def of_job(found: dict, job: str, name: str | None = None) -> dict:
    return {
        table: [row | {"job": name or job} for row in rows if row["job"] == job]
        for table, rows in found.items()
    }


def both(one: dict, other: dict) -> dict:
    def place(row: dict) -> tuple:
        return row["job"], row["rank"], row["event_id"]

    return {table: sorted(one[table] + other[table], key=place) for table in one}


@pytest.mark.parametrize("compacted", [False, True])
def test_an_exported_job_opens_alone(fleet, tmp_path, compacted):
    if compacted:
        hta_sql.compact(fleet)
    before = contents(fleet)
    copied = hta_sql.export_job(fleet, tmp_path / "out", job="llama 7b")
    assert (copied.job, copied.rank_count) == ("llama 7b", 3)
    assert copied.file_count == len(data_files(tmp_path / "out")) == (3 if compacted else 9)
    assert contents(tmp_path / "out") == of_job(before, "llama 7b")
    assert contents(fleet) == before
    with hta_sql.open(tmp_path / "out") as run:
        assert run.check_tables() == []


def test_there_and_back(fleet, tmp_path):
    before = contents(fleet)
    hta_sql.export_job(fleet, tmp_path / "out", job="bert")
    hta_sql.drop(fleet, jobs=["bert"])
    [copied] = hta_sql.import_job(tmp_path / "out", fleet)
    assert (copied.job, copied.rank_count, copied.file_count) == ("bert", 2, 6)
    assert contents(fleet) == before


def test_rows_say_what_they_said(fleet, tmp_path):
    """But where the files are."""
    hta_sql.export_job(fleet, tmp_path / "out", job="bert")
    before = [row for row in Manifest(fleet).rows() if row["job"] == "bert"]
    after = Manifest(tmp_path / "out").rows()
    ids = {"trace_id", "file_id"}
    assert [{k: v for k, v in row.items() if k not in ids} for row in after] == [
        {k: v for k, v in row.items() if k not in ids} for row in before
    ]


def test_a_job_that_is_there_is_refused(fleet, tmp_path):
    other = write_fleet(tmp_path / "other", {"bert": 4, "x": 1}, seed=3)
    before = contents(fleet), contents(other)
    result = CliRunner().invoke(cli, ["import", str(fleet), str(other)])
    assert result.exit_code == 1 and result.stderr == (
        f"Error: {other}: already has a job 'bert'; `hta-sql import` adds it under another name "
        "with --job, or replaces it with --force\n"
    )
    with pytest.raises(ArchiveError, match="already has a job 'bert'"):
        hta_sql.export_job(fleet, other, job="bert")
    assert (contents(fleet), contents(other)) == before
    assert len(hta_sql.import_job(fleet, other, force=True)) == 3
    assert contents(other) == both(before[0], of_job(before[1], "x"))
    assert len(data_files(other)) == len(data_files(fleet)) + 3


def test_another_name(fleet, tmp_path):
    before = contents(fleet)
    hta_sql.export_job(fleet, tmp_path / "out", job="bert")
    name = "team/bert = 100%, ü"
    hta_sql.import_job(tmp_path / "out", fleet, job=name)
    assert contents(fleet) == both(before, of_job(before, "bert", name))
    hta_sql.drop(fleet, jobs=["bert"])
    after = {table: [row for row in rows if row["job"] != "bert"] for table, rows in before.items()}
    assert contents(fleet) == both(after, of_job(before, "bert", name))
    with pytest.raises(BadParameter, match="has 3 jobs; only a single job can be renamed"):
        hta_sql.import_job(fleet, tmp_path / "new", job="x")
    with pytest.raises(BadParameter, match="the name is too long for a folder"):
        hta_sql.import_job(tmp_path / "out", fleet, job="x" * 300)
    with pytest.raises(ArchiveError, match="no job 'nope'"):
        hta_sql.export_job(fleet, tmp_path / "new", job="nope")
    assert not (tmp_path / "new").exists()


def test_a_copy_beside_the_original_lives_on_its_own(tmp_path):
    """What becomes of one of them leaves the other as it is."""
    job, archive = tmp_path / "j", tmp_path / "a"
    job.mkdir()
    (job / "rank_0.json").write_text(trace_text([span("old", ts=1)]))
    hta_sql.ingest(job, archive, workers=1)
    hta_sql.import_job(archive, archive, job="copy")
    (job / "rank_0.json").write_text(trace_text([span("new", ts=1), span("new", ts=5)]))
    hta_sql.ingest(job, archive, workers=1)
    found = [(row["job"], row["name"]) for row in contents(archive)["events"]]
    assert found == [("copy", "old"), ("j", "new"), ("j", "new")]


def test_critical_paths_and_attachments_go_along(tmp_path):
    write_job(tmp_path / "t", ranks=2, steps=1, layers=1)
    (tmp_path / "t/et_rank_1.json").write_text(
        '{"schema": "1.1.0-chakra.0.0.4", "pid": 1, "time": "x", "start_ts": 1, "nodes": ['
        '{"id": 1, "name": "[pytorch|profiler|execution_trace|process]", "ctrl_deps": 1, '
        '"inputs": {"values": [], "shapes": [], "types": []}, '
        '"outputs": {"values": [], "shapes": [], "types": []}, "attrs": []}]}'
    )
    summary = hta_sql.ingest(tmp_path / "t", tmp_path / "a", workers=1)
    assert not summary.failed and len(summary.attachments) == 1
    with hta_sql.open(tmp_path / "a") as run:
        run.compute_critical_path(step=0)
    hta_sql.export_job(tmp_path / "a", tmp_path / "out", job="t")
    tables = ("path_edges", "job_path_edges", "what_if_times", "execution_nodes")
    with hta_sql.open(tmp_path / "a") as old, hta_sql.open(tmp_path / "out") as new:
        for table in tables:
            rows = old.sql(f"FROM {table} ORDER BY ALL")
            assert rows.num_rows and new.sql(f"FROM {table} ORDER BY ALL").equals(rows), table
        assert new.critical_path_summary().equals(old.critical_path_summary())
        kind = "SELECT job, rank, kind, path, fingerprint, row_count FROM attachments"
        assert new.sql(kind).equals(old.sql(kind))
    old_ids = {path.stem for path in (tmp_path / "a").glob("*/*/*/*.parquet")}
    new_ids = {path.stem for path in (tmp_path / "out").glob("*/*/*/*.parquet")}
    assert len(old_ids) == len(new_ids) and not old_ids & new_ids


def test_a_job_that_is_not_whole_stays(fleet, tmp_path):
    [lost] = fleet.glob("events/job=bert/rank=1/*.parquet")
    lost.unlink()
    with pytest.raises(ArchiveError, match=f"{lost.name} is gone; it is of job 'bert'"):
        hta_sql.export_job(fleet, tmp_path / "out", job="bert")
    assert not data_files(tmp_path / "out")


def test_no_place_for_it(fleet, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/mine.txt").write_text("x")
    with pytest.raises(ArchiveError, match="has other files .* and is not an archive"):
        hta_sql.export_job(fleet, tmp_path / "notes", job="bert")
    with pytest.raises(ArchiveError, match="no such folder"):
        hta_sql.import_job(tmp_path / "nowhere", fleet)


def test_command(fleet, tmp_path):
    def run(*given: object):
        return CliRunner().invoke(cli, [str(word) for word in given])

    done = run("export", "job", fleet, "--job", "one", "-o", tmp_path / "out")
    assert done.exit_code == 0 and done.stderr.startswith("one: 1 rank, 3 files, ")
    done = run("import", tmp_path / "out", fleet, "--job", "two")
    assert done.exit_code == 0 and done.stderr.startswith("two: 1 rank, 3 files, ")
    assert run("export", "job", fleet, "--job", "one").exit_code == 2


@pytest.mark.processes
@pytest.mark.parametrize("seed", seeds(3))
def test_killed_at_any_moment(tmp_path, seed):
    fleet = write_fleet(tmp_path / "a", {f"job {i}": 6 for i in range(3)})
    target = write_fleet(tmp_path / "b", {"x": 1}, seed=1)
    before = contents(fleet), contents(target)
    code = (
        "import sys, hta_sql\nhta_sql.import_job\nprint(flush=True)\n"
        "hta_sql.import_job(sys.argv[1], sys.argv[2])"
    )
    running = subprocess.Popen([sys.executable, "-c", code, fleet, target], stdout=subprocess.PIPE)
    running.stdout.readline()
    time.sleep(random.Random(seed).uniform(0.0, 0.6))
    running.send_signal(signal.SIGKILL)
    running.wait()
    running.stdout.close()
    whole = both(*before)
    assert contents(target) in (before[1], whole)
    hta_sql.import_job(fleet, target, force=True)
    assert contents(target) == whole
    assert not list((target / ".staging").glob("*"))


def test_object_storage(fleet, uploaded, bucket, tmp_path):
    before = contents(fleet)
    url = uploaded(fleet, "archive")
    hta_sql.export_job(url, tmp_path / "here", job="bert")
    assert contents(tmp_path / "here") == of_job(before, "bert")
    hta_sql.export_job(fleet, f"{bucket}/there", job="llama 7b")
    assert contents(f"{bucket}/there") == of_job(before, "llama 7b")
    hta_sql.compact(f"{bucket}/there")
    hta_sql.import_job(f"{bucket}/there", url, job="again")
    assert contents(url) == both(before, of_job(before, "llama 7b", "again"))
    with pytest.raises(ArchiveError, match="already has a job 'again'"):
        hta_sql.import_job(f"{bucket}/there", url, job="again")
    hta_sql.import_job(tmp_path / "here", url, job="again", force=True)
    assert contents(url) == both(before, of_job(before, "bert", "again"))
    assert Path(shutil.copytree(tmp_path / "here", tmp_path / "moved")).exists()
    assert contents(tmp_path / "moved") == of_job(before, "bert")
