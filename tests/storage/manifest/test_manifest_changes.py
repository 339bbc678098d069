"""Manifests that several change at once."""

import contextlib
import random
import time
import uuid
from itertools import combinations, count, permutations

import pytest
from seeds import seeds
from storage.manifest.rows import held, trace

from hta_sql.store import manifest as module
from hta_sql.store import moves
from hta_sql.store.changes import GONE_KEPT_NS, time_of
from hta_sql.store.manifest import Manifest


def amend(archive, files: set[str]) -> None:
    told = {"job": "j", "rank": 0, "fingerprint": "f", "tags": [("model", "llama")]}
    Manifest(archive).amend([told], ["tags"])


def compact(archive, files: set[str]) -> None:
    read = Manifest(archive).rows()
    files.add(packed := uuid.uuid4().hex)
    Manifest(archive).move((row, {"file_id": packed}) for row in read)
    named = {row["file_id"] for row in Manifest(archive).rows()}
    files -= {row["file_id"] for row in read} - named


def replace(archive, files: set[str]) -> None:
    files.add("new")
    gone = Manifest(archive).add([trace(0, "new") | {"fingerprint": "other"}])
    named = {row["file_id"] for row in Manifest(archive).rows()}
    files -= {row["file_id"] for row in gone} - named


def merge(archive, files: set[str]) -> None:
    Manifest(archive).merge()


PAIRS = [*permutations([amend, compact, replace, merge], 2), (compact, compact), (merge, merge)]


@pytest.mark.parametrize("at", range(6))
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: "-".join(f.__name__ for f in pair))
def test_what_two_do_at_once_is_all_there(archive, pair, at, monkeypatch):
    """The second is done whole in the middle of the first, at each of its requests."""
    first, second = pair
    files = {"a", "b"}
    Manifest(archive).add([trace(0, "a") | {"fingerprint": "f"}])
    Manifest(archive).add([trace(1, "b")])
    left = at

    def before(request):
        def call(*given):
            nonlocal left
            left -= 1
            if left == -1:
                second(archive, files)
            return request(*given)

        return call

    for name in ("contents", "put_bytes", "remove"):
        monkeypatch.setattr(module, name, before(getattr(module, name)))
    first(archive, files)
    monkeypatch.undo()
    if left >= 0:
        second(archive, files)  # the first had fewer requests
    for _ in range(2):
        rows = {row["rank"]: row for row in Manifest(archive).rows()}
        assert {row["file_id"] for row in rows.values()} <= files
        assert rows[0]["trace_id"] == ("new" if replace in pair else "a")
        assert rows[1]["trace_id"] == "b"
        if amend in pair and replace not in pair:
            assert rows[0]["tags"] == [("model", "llama")]
        if compact in pair and replace not in pair:
            assert rows[0]["file_id"] == rows[1]["file_id"]
        merge(archive, files)


@pytest.mark.parametrize("table", ["stored_results", "attachments"])
def test_what_is_of_files_that_were_replaced_is_void(archive, table):
    """Their rows have no trace_id that would tell the one from the other."""
    row = {"job": "j", "query": "q", "rank": 0, "kind": "k", "path": "p", "fingerprint": "f"}
    rows = Manifest(archive, table)
    rows.add([row | {"file_id": "old", "row_count": 1}])
    late, read, seen = Manifest(archive, table), rows.rows(), rows._changes()
    rows.add([row | {"file_id": "new", "row_count": 2}])
    rows.move((old, {"file_id": "packed"}) for old in read)
    late._changes = lambda: seen
    late.move((old, {"file_id": "packed"}) for old in read)
    if table == "attachments":
        late.amend([row | {"modified_ns": 7}], ["modified_ns"])
    for _ in range(2):
        [now] = rows.rows()
        assert now["file_id"] == "new" and now.get("modified_ns") is None
        rows.merge()


def test_two_that_have_seen_the_same_have_other_times(archive, monkeypatch):
    """Also where the clocks of both are behind: else parts of two rows would be one."""
    Manifest(archive).add([trace(0, "a")])
    monkeypatch.setattr(time, "time_ns", lambda: 0)
    seen = Manifest(archive)._changes()
    for name in "bc":
        late = Manifest(archive)
        late._changes = lambda: seen
        late.add([trace(0, name)])
    assert len({module.time_of(part) for part in Manifest(archive).parts()}) == 3


@pytest.mark.parametrize("is_uploaded", [False, True])
def test_a_merge_that_is_killed_brings_nothing_back(archive, is_uploaded, tmp_path, monkeypatch):
    """Whichever of the objects it had deleted by then."""
    rows = Manifest(archive)
    first = Manifest(tmp_path / "archive") if is_uploaded else rows
    first.make()
    first.add([trace(0, "a"), trace(1, "b")])
    if is_uploaded:
        archive.fs.put_file(str(first.path), rows.path.path)
    rows.add([trace(2, "c")])
    rows.change(lambda row: row["rank"] != 0)
    later = time.time_ns() + 2 * GONE_KEPT_NS
    monkeypatch.setattr(time, "time_ns", lambda: later)
    deleted = []
    monkeypatch.setattr(module, "remove", deleted.extend)
    rows.merge()
    there = {file: file.read_bytes() for file in deleted if file.exists()}
    assert len(there) >= 3
    for count_ in range(len(there) + 1):
        for some in combinations(there, count_):
            for file in some:
                file.unlink()
            assert [row["rank"] for row in rows.rows()] == [1, 2]
            for file in some:
                file.write_bytes(there[file])


def test_readers_are_told_before_rows_go_or_move_and_afterwards(tmp_path, monkeypatch):
    """Not of new rows, nor of other tags."""
    archive = tmp_path / "archive"
    rows = Manifest(archive)
    rows.make()
    told = []
    say = moves.say_moved

    def say_moved(where) -> None:
        told.append(list(held(where).values()))
        say(where)

    monkeypatch.setattr(moves, "say_moved", say_moved)
    a, b = trace(0, "a") | {"fingerprint": "f"}, trace(0, "b")
    rows.add([a])
    rows.amend([a | {"modified_ns": 1}], ["modified_ns"])
    assert (told, moves.last_move(archive)) == ([], b"")
    rows.move([(a, {"file_id": "packed"})])
    rows.add([b])
    rows.change(lambda row: False)
    packed, new = [("a", "packed")], [("b", "b")]
    assert told == [[("a", "a")], packed, packed, new, new, []]


def test_a_change_that_holds_all_survives_a_merge(archive, monkeypatch):
    """The merged change has the same rows and, by a slow clock, the same time: the same name."""
    rows = Manifest(archive)
    rows.add([trace(0, "a")])
    now = time_of(rows.parts()[-1])
    monkeypatch.setattr(time, "time_ns", lambda: 0)
    rows.add([trace(0, "b")])
    assert time_of(rows.parts()[-1]) > now
    assert rows.merge() == 2
    assert held(archive) == {("j", 0): ("b", "b")}


@pytest.mark.parametrize("seed", seeds(6))
def test_any_order_of_changes_merges_and_clocks(archive, seed, monkeypatch):
    """Against a dict: each change builds on the last one, by writers with clocks apart."""
    chance, ids = random.Random(seed), count()
    base = time.time_ns()
    model: dict[tuple, tuple] = {}
    for _ in range(40):
        skew = chance.randrange(-(10**12), 10**12)
        monkeypatch.setattr(time, "time_ns", lambda skew=skew: base + skew)
        rows = Manifest(archive)
        ranks = chance.sample(range(5), chance.randint(1, 3))
        doing = chance.choice(["add", "add", "drop", "move", "merge"])
        if doing == "add":
            new = [trace(rank, f"t{next(ids)}") for rank in ranks]
            rows.add(new)
            model |= {("j", row["rank"]): (row["trace_id"], row["file_id"]) for row in new}
        elif doing == "drop":
            gone = rows.change(lambda row, ranks=ranks: row["rank"] not in ranks)
            there = {("j", rank) for rank in ranks} & model.keys()
            assert {("j", row["rank"]) for row in gone} == there
            for key in there:
                del model[key]
        elif doing == "move":
            moves = [
                (trace(rank, model["j", rank][0], file_id=model["j", rank][1]), f"p{next(ids)}")
                for rank in ranks
                if ("j", rank) in model
            ]
            rows.move((row, {"file_id": file_id}) for row, file_id in moves)
            model |= {("j", row["rank"]): (row["trace_id"], file_id) for row, file_id in moves}
        else:
            rows.merge()
            assert len(rows.parts()) <= 1
        assert held(archive) == model


class Stop(Exception):
    pass


@pytest.mark.parametrize("seed", seeds(8))
def test_a_merge_beside_writers_loses_and_revives_nothing(archive, seed, monkeypatch):
    """Writers change rows between any two requests of a merge, which may die there."""
    chance, ids = random.Random(seed), count()
    model: dict[tuple, tuple] = {}

    def write() -> None:
        rank = chance.randrange(4)
        if ("j", rank) in model and chance.random() < 0.3:
            Manifest(archive).change(lambda row: row["rank"] != rank)
            del model["j", rank]
        else:
            name = f"t{next(ids)}"
            Manifest(archive).add([trace(rank, name)])
            model["j", rank] = (name, name)

    for _ in range(6):
        for _ in range(chance.randint(1, 4)):
            write()
        with monkeypatch.context() as patch:
            for name in ("contents", "put_bytes", "remove"):
                patch.setattr(module, name, disturbed(getattr(module, name), write, chance))
            with contextlib.suppress(Stop):
                Manifest(archive).merge()
        assert held(archive) == model


def disturbed(request, write, chance):
    """The request of a merge, before which others write, or it dies; their own are as ever."""

    def call(*args):
        if not disturbed.by_others:
            disturbed.by_others = True
            try:
                if chance.random() < 0.5:
                    write()
                if chance.random() < 0.1:
                    raise Stop
            finally:
                disturbed.by_others = False
        return request(*args)

    return call


disturbed.by_others = False
