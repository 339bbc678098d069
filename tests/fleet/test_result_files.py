"""Files of stored results: which are merged and deleted, and what readers are told of it."""

import os
import time
import uuid

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from upath import UPath

from hta_sql.critical_path.store import draft
from hta_sql.errors import FilesMoved
from hta_sql.fleet import result_files as stored
from hta_sql.places.storage import age_seconds, is_remote
from hta_sql.store import moves
from hta_sql.store.layout import result_path
from hta_sql.store.manifest import Manifest


@pytest.fixture(params=["disk", "memory"])
def root(request, tmp_path):
    """An archive of jobs a, b and c, each with a file of results of its own."""
    root = (
        UPath(f"memory://{uuid.uuid4().hex}/archive")
        if request.param == "memory"
        else tmp_path / "archive"
    )
    manifest = Manifest(root)
    manifest.make()
    manifest.add(
        [{"job": job, "rank": 0, "trace_id": f"t{job}", "path": f"{job}.json"} for job in "abc"]
    )
    for job in "abc":
        write_result(root, f"of_{job}", job)
    Manifest(root, "stored_results").add(
        [{"job": job, "query": "job_summary_v2", "file_id": f"of_{job}"} for job in "abc"]
    )
    return root


def write_result(root, file_id: str, job: str) -> None:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"job": [job]}), sink)
    file = root / result_path("job_summary", file_id)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(sink.getvalue().to_pybytes())


def state(root) -> tuple[set[str], set[str]]:
    """The files that there are, and those that rows name."""
    return (
        {file.stem for file in stored.result_files(root)},
        {row["file_id"] for row in Manifest(root, "stored_results").rows()},
    )


@pytest.fixture
def told(monkeypatch):
    """The state of the archive each time that readers were told."""
    told = []
    say = moves.say_moved

    def say_moved(root) -> None:
        told.append(state(root))
        say(root)

    monkeypatch.setattr(moves, "say_moved", say_moved)
    monkeypatch.setattr(stored, "say_moved", say_moved)
    return told


def test_readers_are_told_of_merged_files(root, told, monkeypatch):
    monkeypatch.setattr(stored, "MOST_FILES", 1)
    stored.merge_small_files(root)
    files, [merged] = state(root)
    alone = {"of_a", "of_b", "of_c"}
    assert files == alone | {merged}
    assert told == [(files, alone), (files, {merged})]
    told.clear()
    monkeypatch.setattr(stored, "UNNAMED_SECONDS", -60)
    stored.remove_unnamed(root)
    assert told == [(files, {merged})]  # before the files go
    assert state(root) == ({merged}, {merged})
    table = stored.rows_of_jobs(root / result_path("job_summary", merged), list("abc"))
    assert sorted(table["job"].to_pylist()) == ["a", "b", "c"]


def test_nothing_is_told_where_nothing_goes(root, told):
    stored.remove_unnamed(root)
    stored.merge_small_files(root)
    assert told == []


def test_a_file_of_which_the_age_is_not_known_stays(root, monkeypatch):
    write_result(root, "fresh", "a")
    if is_remote(root):
        monkeypatch.setattr(
            type(root.fs), "modified", lambda *_: (_ for _ in ()).throw(NotImplementedError)
        )
    stored.remove_unnamed(root)
    assert "fresh" in state(root)[0]


def test_a_file_that_another_run_deleted_first_is_ignored(root, monkeypatch):
    listed = stored.result_files(root)
    gone = root / result_path("job_summary", "gone")
    monkeypatch.setattr(stored, "result_files", lambda root: [gone, *listed])
    monkeypatch.setattr(stored, "MOST_FILES", 1)
    stored.remove_unnamed(root)
    assert age_seconds(gone) == 0
    (root / result_path("job_summary", "of_b")).unlink()
    stored.merge_small_files(root)
    assert state(root)[1] == {"of_a", "of_b", "of_c"}


def test_an_old_file_goes(tmp_path):
    file = tmp_path / "file"
    file.touch()
    os.utime(file, (time.time() - 100, time.time() - 100))
    assert 100 <= age_seconds(file) < 200


def test_readers_are_told_where_a_path_is_sought_again(root, monkeypatch):
    row = {"path_window": "step 1", "ranks": [0], "trace_ids": ["ta"]}
    told = []
    say = moves.say_moved

    def say_moved(root) -> None:
        named = {row["path_id"] for row in Manifest(root, "critical_paths").rows()}
        told.append((named, file.exists()))
        say(root)

    def publish() -> str:
        with draft(root, "a") as new:
            pq.write_table(pa.table({"edge_id": [1]}), new.file("path_edges", 0))
            new.publish(row)
            return new.path_id

    monkeypatch.setattr(moves, "say_moved", say_moved)
    first = publish()
    file = root / f"path_edges/job=a/rank=0/{first}.parquet"
    assert file.exists() and told == []
    second = publish()
    assert told == [({first}, True), ({second}, True)] and not file.exists()


def test_a_path_of_traces_that_are_gone_is_told(root):
    with draft(root, "a") as new, pytest.raises(FilesMoved, match="'a' was ingested again"):
        new.publish({"path_window": "step 1", "ranks": [0], "trace_ids": ["replaced"]})
    assert Manifest(root, "critical_paths").rows() == []
