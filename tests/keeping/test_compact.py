"""Ranks of a job share files: fewer of them, and the same rows whoever asks, and when."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from conftest import activity
from fleets import TABLES, contents, data_files, write_fleet
from hand_written import span, trace_text

import hta_sql
from hta_sql.catalogue.catalog import Catalog
from hta_sql.cli import cli
from hta_sql.database.attach import _shell_program, run_shell
from hta_sql.demo import write_job
from hta_sql.errors import ArchiveError, FilesMoved
from hta_sql.fleet.materialize import materialize
from hta_sql.keeping import compact as compacting
from hta_sql.keeping import files as keeping_files
from hta_sql.store.manifest import Manifest
from hta_sql.store.moves import moving

DAY = 86_400


def traces(archive: Path) -> dict[tuple, dict]:
    return {(row["job"], row["rank"]): row for row in Manifest(archive).rows()}


def test_ranks_of_a_job_share_files(fleet):
    before = contents(fleet)
    done = hta_sql.compact(fleet)
    assert (done.job_count, done.rank_count, done.written_count, done.left) == (2, 5, 6, [])
    folders = [name.rpartition("/")[0] for name in data_files(fleet)]
    assert folders == sorted(
        f"{table}/{folder}"
        for table in TABLES
        for folder in ("job=bert/ranks", "job=llama 7b/ranks", "job=one/rank=0")
    )
    assert contents(fleet) == before
    with hta_sql.open(fleet) as run:
        assert run.check_tables() == []


def test_only_the_place_of_the_files_changes(fleet):
    before = traces(fleet)
    hta_sql.compact(fleet)
    after = traces(fleet)
    assert before.keys() == after.keys()
    for key, row in before.items():
        assert after[key] == row | {"file_id": after[key]["file_id"]}
    ids = {job: {after[key]["file_id"] for key in after if key[0] == job} for job, _ in after}
    assert [len(found) for found in ids.values()] == [1, 1, 1]
    assert ids["one"] == {before["one", 0]["trace_id"]}


def test_what_is_compact_stays(fleet):
    hta_sql.compact(fleet)
    before = data_files(fleet)
    assert hta_sql.compact(fleet).rank_count == 0
    assert data_files(fleet) == before


def test_only_these_jobs(fleet):
    before = contents(fleet)
    assert hta_sql.compact(fleet, only_jobs=["bert"]).rank_count == 2
    assert {name.split("/")[1] for name in data_files(fleet) if "/ranks/" in name} == {"job=bert"}
    assert contents(fleet) == before
    with pytest.raises(ArchiveError, match=r"no job 'nope'; there are 'bert', 'llama 7b', 'one'"):
        hta_sql.compact(fleet, only_jobs=["bert", "nope"])


def test_large_ranks_stay_alone(fleet, monkeypatch):
    """Ranks follow each other into a file until it would hold too many events."""
    before = contents(fleet)
    counts = [traces(fleet)["llama 7b", rank]["event_count"] for rank in range(3)]
    monkeypatch.setattr(compacting, "MOST_EVENTS", counts[0] + counts[1])
    hta_sql.compact(fleet, only_jobs=["llama 7b"])
    ids = [traces(fleet)["llama 7b", rank]["file_id"] for rank in range(3)]
    assert ids[0] == ids[1] != ids[2]
    assert ids[2] == traces(fleet)["llama 7b", 2]["trace_id"]
    assert contents(fleet) == before


def test_row_groups_are_full_and_in_the_order_of_ranks(tmp_path, monkeypatch):
    fleet = write_fleet(tmp_path / "a", {"j": 12})
    before = contents(fleet)
    monkeypatch.setattr(compacting, "ROW_GROUP_ROWS", 100)
    hta_sql.compact(fleet)
    for table in TABLES:
        [file] = fleet.glob(f"{table}/*/ranks/*.parquet")
        about = pq.ParquetFile(file).metadata
        sizes = [about.row_group(i).num_rows for i in range(about.num_row_groups)]
        assert len(sizes) > 1 and set(sizes[:-1]) == {100} and 0 < sizes[-1] <= 100
        ranks = pq.read_table(file, columns=["rank"], partitioning=None)["rank"].to_pylist()
        assert ranks == sorted(ranks) and set(ranks) == set(range(12))
    assert contents(fleet) == before


def test_columns_are_written_as_ingest_writes_them(tmp_path):
    for rank in range(2):
        trace = tmp_path / f"j/rank_{rank}.json"
        trace.parent.mkdir(exist_ok=True)
        trace.write_text(trace_text([span(f"op{i % 3}", ts=10 * i, dur=9) for i in range(50)]))
    hta_sql.ingest(tmp_path / "j", tmp_path / "a", workers=1)
    [one, _] = (tmp_path / "a").glob("events/*/rank=*/*.parquet")

    def encodings(file: Path) -> dict:
        group = pq.ParquetFile(file).metadata.row_group(0)
        columns = [group.column(i) for i in range(group.num_columns)]
        return {
            c.path_in_schema: (c.physical_type, set(c.encodings), c.compression, c.is_stats_set)
            for c in columns
        }

    before = encodings(one)
    hta_sql.compact(tmp_path / "a")
    [both] = (tmp_path / "a").glob("events/*/ranks/*.parquet")
    after = encodings(both)
    assert after.pop("rank")[3] is True
    assert after == before


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> Path:
    """Two made-up jobs with stored results, one with a critical path."""
    folder = tmp_path_factory.mktemp("demo-jobs")
    write_job(folder / "traces/a", ranks=2, steps=2, layers=1)
    write_job(folder / "traces/b", ranks=2, steps=1, layers=1, seed=1)
    hta_sql.ingest(folder / "traces", folder / "archive", workers=1)
    with hta_sql.open(folder / "archive") as run:
        run.compute_critical_path(step=1, only_jobs=["a"])
    materialize(folder / "archive")
    return folder


def answers(*archives) -> dict[str, list[dict]]:
    """What every query says; those that ask for something get it."""
    asked = {"kernel_sequences": {"operator": "aten::"}, "call_stack": {"of_event": 40}}
    with hta_sql.open(*archives) as run:
        found = {
            str(query): run.query(query.name, query.version, **asked.get(query.name, {}))
            for query in Catalog.load().queries
        }
    return {name: table.to_pylist() for name, table in found.items()}


def test_every_query_gives_the_same_rows(demo, tmp_path):
    archive = Path(shutil.copytree(demo / "archive", tmp_path / "a"))
    expected = answers(archive)
    assert sum(map(bool, expected.values())) > 0.7 * len(expected)  # most have something to say
    assert hta_sql.compact(archive).rank_count == 4
    found = answers(archive)
    for name, rows in expected.items():
        assert found[name] == rows, name


def test_a_compacted_and_a_plain_archive_as_one(demo, tmp_path):
    plain = write_fleet(tmp_path / "plain", {"x": 2})
    compacted = write_fleet(tmp_path / "compacted", {"y": 2}, seed=1)
    before = contents(plain, compacted)
    hta_sql.compact(compacted)
    assert contents(plain, compacted) == before
    with hta_sql.open(plain, compacted) as run:
        stats = run.kernel_stats(only_jobs=["y"], only_ranks=[1])
        assert set(stats["job"].to_pylist()) == {"y"}


@pytest.mark.skipif(not _shell_program(), reason="no duckdb command line")
def test_the_shell_reads_compacted_files(fleet, capfd):
    def ask() -> list[str]:
        commands = [
            "SELECT job, rank, count(*), sum(dur_ns) FROM events GROUP BY ALL ORDER BY ALL",
            "FROM kernel_stats()",
        ]
        assert run_shell(fleet, [".mode csv", *commands]) == 0
        return capfd.readouterr().out.splitlines()

    before = ask()
    hta_sql.compact(fleet, only_jobs=["bert"])
    assert ask() == before
    hta_sql.compact(fleet)
    hta_sql.drop(fleet, jobs=["one"])  # now there is no file of a rank alone
    assert ask() == [line for line in before if not line.startswith("one,")]


def test_a_rank_ingested_anew_and_compacted_again(tmp_path):
    job = tmp_path / "j"
    job.mkdir()

    def write(rank: int, count: int) -> None:
        events = [span(f"op{i}", ts=10 * i, dur=9) for i in range(count)]
        (job / f"rank_{rank}.json").write_text(trace_text(events))

    def counts(archive: Path) -> list[tuple]:
        with hta_sql.open(archive) as run:
            assert run.check_tables() == []
            found = run.sql("SELECT rank, count(*) AS n FROM events GROUP BY ALL ORDER BY rank")
            return [(row["rank"], row["n"]) for row in found.to_pylist()]

    for rank in range(3):
        write(rank, 5 + rank)
    archive = tmp_path / "a"
    hta_sql.ingest(job, archive, workers=1)
    hta_sql.compact(archive)
    write(1, 20)
    summary = hta_sql.ingest(job, archive, workers=1)
    assert [o.status for o in summary.traces] == ["unchanged", "replaced", "unchanged"]
    assert counts(archive) == [(0, 5), (1, 20), (2, 7)]
    assert len(list(archive.glob("events/*/*/*.parquet"))) == 2
    assert hta_sql.compact(archive).rank_count == 3
    assert counts(archive) == [(0, 5), (1, 20), (2, 7)]
    [file] = archive.glob("events/*/*/*.parquet")
    assert pq.ParquetFile(file).metadata.num_rows == 32  # nothing of the old rank 1 is kept
    for rank in range(3):
        write(rank, 30 + rank)
    hta_sql.ingest(job, archive, workers=1)
    assert counts(archive) == [(0, 30), (1, 31), (2, 32)]
    assert not list(archive.glob("*/*/ranks/*.parquet"))  # no row names it any more


def test_damaged_jobs_are_left_as_they_are(fleet):
    before = contents(fleet)["events"]
    [lost] = fleet.glob("events/job=bert/rank=1/*.parquet")
    [cut] = fleet.glob("host_ops/job=llama*/rank=2/*.parquet")
    lost.unlink()
    pq.write_table(pq.read_table(cut, partitioning=None).slice(1), cut)
    files = [name for name in data_files(fleet)]
    result = CliRunner().invoke(cli, ["compact", str(fleet)])
    assert result.exit_code == 1
    bert, llama, summary = sorted(result.stderr.splitlines(), key=lambda line: "job" not in line)
    if "llama" in bert:
        bert, llama = llama, bert
    assert bert.startswith("left as it is: job 'bert' ranks 0 to 1: ") and lost.name in bert
    count = traces(fleet)["llama 7b", 2]["host_op_count"]
    assert f"rank 2: host_ops holds {count - 1} of {count} rows; ingest it again" in llama
    assert "0 ranks" in summary
    assert data_files(fleet) == files
    assert contents(fleet)["events"] == [
        row for row in before if (row["job"], row["rank"]) != ("bert", 1)
    ]


def test_ranks_of_another_schema_do_not_share_their_file(fleet):
    """Theirs have other columns; those that are missing stay NULL."""
    manifest = Manifest(fleet)
    old = traces(fleet)["llama 7b", 0]
    [file] = fleet.glob("events/job=llama*/rank=0/*.parquet")
    table = pq.read_table(file, partitioning=None)
    pq.write_table(table.drop_columns(["more"]), file)
    manifest.change(
        lambda row: manifest.key(row) != manifest.key(old), [old | {"schema_version": 5}]
    )
    with pytest.warns(UserWarning, match="earlier"):
        before = contents(fleet)
    assert hta_sql.compact(fleet).rank_count == 4
    with pytest.warns(UserWarning, match="earlier"):
        assert contents(fleet) == before
    assert traces(fleet)["llama 7b", 0]["file_id"] == old["trace_id"]


def test_what_killed_ingests_left_goes_after_a_day(fleet):
    old, young, foreign = (
        fleet / "events/job=bert/rank=0/feedfeedfeedfeed.parquet",
        fleet / "events/job=bert/rank=7/beefbeefbeefbeef.parquet",
        fleet / "mine/job=bert/rank=0/notes.parquet",
    )
    [named] = fleet.glob("events/job=bert/rank=0/*.parquet")
    size = named.stat().st_size
    for file in (old, young, foreign):
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(named, file)
    now = time.time()
    for file in (old, foreign, *fleet.glob("events/job=one/*/*.parquet")):
        os.utime(file, (now - DAY - 60, now - DAY - 60))
    os.utime(young, (now - DAY + 60, now - DAY + 60))
    done = hta_sql.compact(fleet, only_jobs=["one"])
    assert old.exists() and not done.unnamed_count
    half = [
        fleet / f".{name}"
        for name in (
            f"hta.duckdb.{'0a' * 16}",
            f"hta.duckdb.{'0a' * 16}.wal",
            "traces.parquet.17",
            "notes.17",
        )
    ]
    for file in half:
        file.write_bytes(b"12345")
        os.utime(file, (now - DAY - 60, now - DAY - 60))
    done = hta_sql.compact(fleet)
    assert (done.unnamed_count, done.unnamed_bytes) == (4, size + 15)
    assert not old.exists() and young.exists() and foreign.exists()
    assert [file.exists() for file in half] == [False, False, False, True]
    with hta_sql.open(fleet) as run:
        assert run.check_tables() == []


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


def test_a_question_during_which_files_always_move_fails(fleet):
    def move() -> None:
        with moving(fleet):
            pass

    with hta_sql.open(fleet) as run:
        Midway(run, move, times=10**6)
        with pytest.raises(FilesMoved, match="was compacted.* ask again"):
            run.sql(QUESTION)


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
        finally:
            stop = True
        assert all(reader.result() > 3 for reader in readers)
    assert not list(fleet.glob("*/*/rank=*"))


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


@pytest.mark.parametrize("seed", range(4))
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


def test_command(fleet):
    result = CliRunner().invoke(cli, ["compact", str(fleet), "--only-jobs", "bert"])
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.startswith("2 ranks of 1 job put together: 3 files, ")
    result = CliRunner().invoke(cli, ["compact", str(fleet / "nowhere")])
    assert result.exit_code == 1 and "no such folder" in result.stderr


def test_archives_that_tell_no_counts(make_archive):
    spans = [{"rank": rank, "event_id": 1, "start_ns": 1, "dur_ns": 2} for rank in (0, 1)]
    archive = make_archive(
        events=[row | {"ph": "X"} for row in spans],
        host_ops=spans,
        gpu_activities=[activity(rank=0), activity(rank=1)],
    )
    before = contents(archive)
    assert hta_sql.compact(archive).rank_count == 2
    assert contents(archive) == before


def test_object_storage(fleet, uploaded, monkeypatch):
    before = contents(fleet)
    url = uploaded(fleet, "archive")
    with hta_sql.open(url) as early:
        assert early.sql("SELECT count(*) AS n FROM events WHERE job = 'one'").num_rows
        done = hta_sql.compact(url)
        assert (done.rank_count, done.left) == (5, [])
        # What was found when it was opened is no longer there.
        assert early.kernel_stats(only_jobs=["bert"]).num_rows > 0
        total = "SELECT job, count(*) AS n FROM events GROUP BY ALL ORDER BY ALL"
        with hta_sql.open(fleet) as run:
            assert early.sql(total).to_pylist() == run.sql(total).to_pylist()
    assert contents(url) == before
    names = [
        file.name
        for file in keeping_files.files_of(hta_sql.places.storage.place(url))
        if file.file_id
    ]
    assert len(names) == 9 and sum("/ranks/" in name for name in names) == 6
    stray = hta_sql.places.storage.place(url) / "events/job=bert/rank=9/feedfeedfeedfeed.parquet"
    stray.write_bytes(b"x")
    assert hta_sql.compact(url).unnamed_count == 0 and stray.exists()
    monkeypatch.setattr(keeping_files, "ABANDONED_SECONDS", -60)
    assert hta_sql.compact(url).unnamed_count == 1 and not stray.exists()
    assert contents(url) == before


def test_object_storage_changes_of_manifests_become_one(tmp_path, bucket):
    job = tmp_path / "j"
    job.mkdir()
    url = f"{bucket}/archive"
    for rank in range(3):
        (job / f"rank_{rank}.json").write_text(trace_text([span("op", ts=1)]))
        hta_sql.ingest(job / f"rank_{rank}.json", url, workers=1)
    manifest = Manifest(hta_sql.places.storage.place(url))
    assert len(manifest.parts()) >= 3
    before = contents(url)
    done = hta_sql.compact(url)
    assert done.change_count >= 4 and len(manifest.parts()) == 1
    assert contents(url) == before
    (job / "rank_1.json").write_text(trace_text([span("op", ts=1), span("op", ts=5)]))
    hta_sql.ingest(job, url, workers=1)
    assert [row["rank"] for row in contents(url)["events"]] == [0, 1, 1, 2]
    hta_sql.compact(url)
    assert [row["rank"] for row in contents(url)["events"]] == [0, 1, 1, 2]


def test_object_storage_a_trace_ingested_while_its_job_is_moved(tmp_path, bucket, monkeypatch):
    """The row that tells where the old trace is now does not bring it back."""
    job = tmp_path / "j"
    job.mkdir()
    for rank in range(2):
        (job / f"rank_{rank}.json").write_text(trace_text([span("old", ts=1)]))
    url = f"{bucket}/archive"
    hta_sql.ingest(job, url, workers=1)
    move = Manifest.move

    def ingest_first(self, moves):
        (job / "rank_1.json").write_text(trace_text([span("new", ts=1), span("new", ts=5)]))
        hta_sql.ingest(job, url, workers=1)
        return move(self, moves)

    monkeypatch.setattr(Manifest, "move", ingest_first)
    hta_sql.compact(url)
    assert [row["name"] for row in contents(url)["events"]] == ["old", "new", "new"]


@pytest.mark.parametrize("inner", ["compact", "retag"])
def test_object_storage_tags_told_while_a_job_is_moved(tmp_path, bucket, monkeypatch, inner):
    """Both count: the new tags, and the new place of the files."""
    job = tmp_path / "j"
    job.mkdir()
    for rank in range(2):
        (job / f"rank_{rank}.json").write_text(trace_text([span("op", ts=1)]))
    url = f"{bucket}/archive"
    hta_sql.ingest(job, url, workers=1, tags={"model": "old"})
    actions = {
        "compact": lambda: hta_sql.compact(url),
        "retag": lambda: hta_sql.ingest(job, url, workers=1, tags={"model": "new"}),
    }
    renew = Manifest._renew

    def other_first(self, *given):
        monkeypatch.setattr(Manifest, "_renew", renew)
        actions.pop(inner)()
        renew(self, *given)

    monkeypatch.setattr(Manifest, "_renew", other_first)
    actions[next(name for name in actions if name != inner)]()
    rows = Manifest(hta_sql.places.storage.place(url)).rows()
    assert [dict(row["tags"]) for row in rows] == [{"model": "new"}] * 2
    assert len({row["file_id"] for row in rows}) == 1
    assert [row["name"] for row in contents(url)["events"]] == ["op", "op"]
