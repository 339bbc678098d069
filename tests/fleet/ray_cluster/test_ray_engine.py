"""Engines: here, in processes, and on Ray."""

import time
from itertools import pairwise
from pathlib import Path

import engine_work
import pytest

from hta_sql.engines.engine import Share, WorkerDied
from hta_sql.engines.start import start

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'hta-sql[fleet]'")
from hta_sql.engines import on_ray  # noqa: E402

pytestmark = pytest.mark.ray


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
    assert isinstance(died, WorkerDied) and "perhaps because memory ran out" in str(died)
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
        "No module named 'only_here' on a machine of the cluster; install hta-sql there as on this "
        "machine"
    )
    there = on_ray.own_make()
    monkeypatch.setattr(on_ray, "own_make", lambda: "hta_sql 9.9, sql beef")
    [(_, error)] = engine.map(engine_work.squared, [1])
    assert f"has {there}, but this machine has hta_sql 9.9, sql beef; install the same" in str(
        error
    )
