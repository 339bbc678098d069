"""Compaction beside questions, ingests and kills."""

import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from fleets import contents, data_files, write_fleet
from hand_written import span, trace_text
from seeds import seeds

import hta_sql
from hta_sql.errors import FilesMoved, TimeLimit
from hta_sql.keeping import compact as compacting
from hta_sql.store.manifest import Manifest
from hta_sql.store.moves import moving

pytestmark = pytest.mark.queries


class Midway:
    """Does something once, in the middle of the query that calls it."""

    def __init__(self, run, action, times: int = 1):
        self.left, self._action = times, action
        run.con.create_function("midway", self._call, ["BIGINT"], "BIGINT", side_effects=True)

    def _call(self, value: int) -> int:
        if self.left:
            self.left -= 1
            self._action()
        return value


QUESTION = (
    "WITH first AS MATERIALIZED (SELECT job, count(*) AS n FROM traces GROUP BY job), "
    "asked AS MATERIALIZED (SELECT job, midway(n) AS n FROM first) "
    "SELECT e.job, count(*) AS event_count, any_value(asked.n) AS n "
    "FROM asked JOIN events AS e ON e.job = asked.job GROUP BY ALL ORDER BY ALL"
)


def test_compacted_in_the_middle_of_a_question(fleet):
    """The files that it had found are gone; it is asked again."""
    with hta_sql.open(fleet) as run, hta_sql.open(fleet) as same:
        expected = same.sql(QUESTION.replace("midway(n)", "n")).to_pylist()
        midway = Midway(run, lambda: hta_sql.compact(fleet))
        assert run.sql(QUESTION).to_pylist() == expected
        assert not midway.left
        # The other was opened before any file was shared, and still finds all.
        assert same.sql(QUESTION.replace("midway(n)", "n")).to_pylist() == expected
        assert same.kernel_stats(only_jobs=["bert"]).num_rows > 0


def test_a_question_during_which_files_always_move_fails(fleet, monkeypatch):
    monkeypatch.setattr("hta_sql.archive.PATIENCE_SECONDS", 0)

    def move() -> None:
        with moving(fleet):
            pass

    with hta_sql.open(fleet) as run:
        Midway(run, move, times=10**6)
        with pytest.raises(FilesMoved, match="were compacted.* try again"):
            run.sql(QUESTION)
    # A time limit ends it, and says so.
    endless = (
        "WITH asked AS MATERIALIZED (SELECT midway(7) AS n) SELECT count(*) "
        "FROM asked, range(100_000_000) AS a, range(1000) AS b WHERE (a.range * b.range) % n = 8"
    )
    with hta_sql.open(fleet, timeout=0.5) as run:
        Midway(run, move, times=10**6)
        began = time.monotonic()
        with pytest.raises(TimeLimit):
            run.sql(endless)
        assert time.monotonic() - began < 10


@pytest.mark.processes
def test_readers_while_files_are_shared_and_ranks_replaced(tmp_path, monkeypatch):
    """Whatever is asked while compaction runs, the answer is that of before."""
    fleet = write_fleet(tmp_path / "a", {f"job {i}": 3 for i in range(12)})
    monkeypatch.setattr(compacting, "SECONDS_BETWEEN_MOVES", 0.2)
    sql = (
        "SELECT job, rank, count(*) AS n, sum(e.dur_ns)::BIGINT AS t FROM events AS e "
        "GROUP BY ALL ORDER BY ALL"
    )
    with hta_sql.open(fleet) as run:
        expected = run.sql(sql)
    stop = False

    def read() -> int:
        count = 0
        while not stop:
            with hta_sql.open(fleet) as run:
                for _ in range(3):
                    assert run.sql(sql).equals(expected)
                    count += 1
        return count

    with ThreadPoolExecutor(2) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        try:
            for at in range(12):
                hta_sql.compact(fleet, only_jobs=[f"job {at}"], workers=1)
                time.sleep(0.1)  # for readers that see no move
        finally:
            stop = True
        assert all(reader.result() > 3 for reader in readers)
    assert not list(fleet.glob("*/*/rank=*"))


@pytest.mark.processes
def test_two_compactions_at_once(tmp_path):
    fleet = write_fleet(tmp_path / "a", {f"job {i}": 3 for i in range(8)})
    before = contents(fleet)
    with ThreadPoolExecutor(2) as pool:
        one, other = [pool.submit(hta_sql.compact, fleet, workers=1) for _ in range(2)]
        assert one.result().rank_count + other.result().rank_count == 24
    assert one.result().left == other.result().left == []
    assert len(data_files(fleet)) == 24
    assert contents(fleet) == before


def test_compaction_beside_an_ingest(tmp_path):
    """Each trace counts once, be its rank moved before or after it is replaced."""
    archive, job = tmp_path / "a", tmp_path / "j"
    job.mkdir()
    for rank in range(4):
        (job / f"rank_{rank}.json").write_text(trace_text([span("old", ts=1)]))
    hta_sql.ingest(job, archive, workers=1)
    for rank in range(4):
        (job / f"rank_{rank}.json").write_text(
            trace_text([span("new", ts=i) for i in range(rank + 2)])
        )
    with ThreadPoolExecutor(1) as pool:
        ingest = pool.submit(hta_sql.ingest, job, archive, workers=1)
        while not ingest.done():
            assert hta_sql.compact(archive, workers=1).left == []
        assert not ingest.result().failed
    hta_sql.compact(archive)
    with hta_sql.open(archive) as run:
        found = run.sql("SELECT rank, name, count(*) AS n FROM events GROUP BY ALL ORDER BY ALL")
        assert [tuple(row.values()) for row in found.to_pylist()] == [
            (rank, "new", rank + 2) for rank in range(4)
        ]
        assert run.check_tables() == []
    assert len(data_files(archive)) == 2  # of events and operators; there is no GPU


def test_killed_before_the_files_of_before_go(fleet, monkeypatch):
    """No row names them any more; a day later they go."""
    before, files = contents(fleet), set(data_files(fleet))

    def killed(*_):
        raise SystemExit

    with monkeypatch.context() as patched, pytest.raises(SystemExit):
        patched.setattr("hta_sql.keeping.compact.delete", killed)
        patched.setattr("hta_sql.store.staging.clean_up", lambda _: None)  # kill -9 would end it
        hta_sql.compact(fleet)
    left = set(data_files(fleet))
    assert files < left
    named = {row["file_id"] for row in Manifest(fleet).rows()}
    unnamed = {name for name in left if Path(name).stem not in named}
    usage = {row["part"]: row["file_count"] for row in hta_sql.usage(fleet).to_pylist()}
    assert usage["unnamed"] == len(unnamed) > 0
    for name in unnamed:
        os.utime(fleet / name, (1, 1))
    assert hta_sql.compact(fleet).unnamed_count == len(unnamed)
    assert set(data_files(fleet)) == left - unnamed
    assert contents(fleet) == before


@pytest.mark.processes
@pytest.mark.parametrize("seed", seeds(4))
def test_killed_at_any_moment(tmp_path, seed):
    fleet = write_fleet(tmp_path / "a", {f"job {i}": 3 for i in range(20)})
    before = contents(fleet)
    code = (
        "import sys, hta_sql, hta_sql.keeping.compact as c\n"
        "c.SECONDS_BETWEEN_MOVES = 0\nprint(flush=True)\nc.compact(sys.argv[1], workers=1)"
    )
    drawn = random.Random(seed)
    for _ in range(2):
        running = subprocess.Popen([sys.executable, "-c", code, fleet], stdout=subprocess.PIPE)
        running.stdout.readline()
        time.sleep(drawn.uniform(0.02, 1.5))
        running.send_signal(signal.SIGKILL)
        running.wait()
        running.stdout.close()
        assert contents(fleet) == before
    hta_sql.compact(fleet)
    assert contents(fleet) == before
    assert not list((fleet / ".staging").glob("*"))
    named = {row["file_id"] for row in Manifest(fleet).rows()}
    assert len(named) == 20
    for file in fleet.glob("*/*/*/*.parquet"):  # a day later
        os.utime(file, (1, 1))
    hta_sql.compact(fleet)
    assert {Path(name).stem for name in data_files(fleet)} == named
    assert contents(fleet) == before
