"""Compaction of what was ingested anew, damaged, or left by the killed."""

import os
import shutil
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from fleets import contents, data_files
from hand_written import span, trace_text
from keeping.compaction import DAY, traces

import hta_sql
from hta_sql.cli import cli
from hta_sql.store.manifest import Manifest

pytestmark = pytest.mark.queries


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
    assert bert.startswith("not compacted: job 'bert' ranks 0 to 1: ") and lost.name in bert
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
