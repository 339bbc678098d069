"""Rows of manifests: what counts, and what stays away."""

import time

from storage.manifest.rows import held, trace

from hta_sql.store import manifest as module
from hta_sql.store.changes import GONE_KEPT_NS
from hta_sql.store.manifest import Manifest


def test_an_archive_is_there_from_the_first_moment(archive):
    Manifest(archive).make()
    assert Manifest(archive).rows() == []
    assert len(Manifest(archive).parts()) == 1
    Manifest(archive).make()
    assert len(Manifest(archive).parts()) == 1


def test_a_row_takes_the_place_of_its_rank_and_of_its_file(archive):
    rows = Manifest(archive)
    assert rows.add([trace(0, "a"), trace(1, "b")]) == []
    [gone] = rows.add([trace(0, "c")])
    assert gone["trace_id"] == "a"
    moved = trace(5, "d") | {"path": "j/1.json"}  # the same file, of another rank now
    [gone] = rows.add([moved])
    assert (gone["rank"], gone["trace_id"]) == (1, "b")
    assert held(archive) == {("j", 0): ("c", "c"), ("j", 5): ("d", "d")}


def test_what_a_clock_behind_says_is_later_than_what_it_has_seen(archive, monkeypatch):
    Manifest(archive).add([trace(0, "a")])
    now = time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: now - 3600 * 10**9)
    Manifest(archive).add([trace(0, "b")])
    assert held(archive) == {("j", 0): ("b", "b")}
    Manifest(archive).merge()
    Manifest(archive).add([trace(0, "c")])
    assert held(archive) == {("j", 0): ("c", "c")}


def test_a_row_that_went_stays_away(archive, monkeypatch):
    rows = Manifest(archive)
    rows.add([trace(0, "a"), trace(1, "b")])
    rows.change(lambda row: row["rank"] != 0)
    assert held(archive) == {("j", 1): ("b", "b")}
    rows.merge()
    assert held(archive) == {("j", 1): ("b", "b")}
    # The tombstone goes when no older change can come to light.
    later = time.time_ns() + 2 * GONE_KEPT_NS
    monkeypatch.setattr(time, "time_ns", lambda: later)
    rows.add([trace(2, "c")])
    rows.merge()
    assert held(archive) == {("j", 1): ("b", "b"), ("j", 2): ("c", "c")}
    [part] = rows.parts()
    assert len(module._read(part.read_bytes(), part)) == 2


def test_rows_of_an_uploaded_archive_that_went_stay_away(archive, tmp_path, monkeypatch):
    on_disk = Manifest(tmp_path / "archive")
    on_disk.make()
    on_disk.add([trace(0, "a"), trace(1, "b")])
    archive.fs.put_file(str(on_disk.path), (archive / "traces.parquet").path)
    rows = Manifest(archive)
    rows.change(lambda row: row["rank"] != 0)
    later = time.time_ns() + 2 * GONE_KEPT_NS
    monkeypatch.setattr(time, "time_ns", lambda: later)
    rows.add([trace(2, "c")])
    rows.merge()
    rows.add([trace(3, "d")])
    rows.merge()
    assert {rank for _, rank in held(archive)} == {1, 2, 3}


def test_a_copy_on_disk_of_many_changes(archive, tmp_path):
    rows = Manifest(archive)
    for rank in range(4):
        rows.add([trace(rank, f"a{rank}")])
    rows.change(lambda row: row["rank"] != 2)
    copy = tmp_path / "copy"
    copy.mkdir()
    archive.fs.get(archive.path, str(copy), recursive=True)
    on_disk = Manifest(copy if (copy / "traces").is_dir() else copy / "archive")
    assert [row["rank"] for row in on_disk.rows()] == [0, 1, 3]
    on_disk.add([trace(7, "new")])
    assert [row["rank"] for row in on_disk.rows()] == [0, 1, 3, 7]
    assert on_disk.parts() == []  # now in the file


def test_files_with_another_place_stand_for_their_trace_alone(archive):
    rows = Manifest(archive)
    rows.add([trace(0, "a"), trace(1, "b"), trace(2, "c")])
    read = rows.rows()
    # Meanwhile: one is ingested anew, one goes.
    rows.add([trace(0, "new")])
    rows.change(lambda row: row["rank"] != 1)
    rows.move((row, {"file_id": "packed"}) for row in read)
    assert held(archive) == {("j", 0): ("new", "new"), ("j", 2): ("c", "packed")}


def test_a_new_trace_wins_over_a_move_that_had_not_seen_it(archive):
    rows = Manifest(archive)
    rows.add([trace(0, "a")])
    seen = rows._current()
    late = Manifest(archive)
    late._current = lambda: seen
    rows.add([trace(0, "new")])
    late.move([(trace(0, "a"), {"file_id": "packed"})])
    assert held(archive) == {("j", 0): ("new", "new")}
    rows.merge()
    assert held(archive) == {("j", 0): ("new", "new")}
