"""Which file is which rank of which job."""

import gzip
import json
import os
from pathlib import Path

import pytest
from hand_written import rows, span, trace_text
from ingest.small_traces import distributed, ranks, write

import hta_sql
from hta_sql.demo import write_job
from hta_sql.errors import BadParameter, IngestError


def test_rank_from_the_file_beats_its_name(tmp_path):
    write(tmp_path / "t/rank_7.json", before=distributed(2))
    write(tmp_path / "t/b.json", after=f", {distributed(5).rstrip(',')}")
    write(tmp_path / "t/x-rank-12.pt.trace.json")
    write(tmp_path / "t/frankly-9.json")
    said = []
    hta_sql.ingest(tmp_path / "t", tmp_path / "a", report=said.append)
    assert ranks(tmp_path / "a") == [
        ("t", 0, "order"),
        ("t", 2, "distributedInfo"),
        ("t", 5, "distributedInfo"),
        ("t", 12, "file name"),
    ]
    [warning] = said
    assert "frankly-9.json" in warning and "rank 0" in warning and "--rank" in warning


def test_rank_in_arguments_is_not_the_trace_s(tmp_path):
    path = tmp_path / "t/rank_1.json"
    path.parent.mkdir()
    path.write_text(trace_text([span("op", distributedInfo={"rank": 9}, rank=8)]))
    hta_sql.ingest(path, tmp_path / "a")
    assert ranks(tmp_path / "a") == [("t", 1, "file name")]


def test_given_ranks(tmp_path):
    one, two = write(tmp_path / "t/rank_0.json"), write(tmp_path / "t/other.json")
    hta_sql.ingest([one], tmp_path / "a", ranks={0: two, 4: one})
    assert ranks(tmp_path / "a") == [("t", 0, "given"), ("t", 4, "given")]


def test_two_files_of_one_rank(tmp_path):
    write(tmp_path / "t/a.json", before=distributed(3))
    write(tmp_path / "t/rank3.json")
    with pytest.raises(IngestError) as error:
        hta_sql.ingest(tmp_path / "t", tmp_path / "a")
    text = str(error.value)
    assert "a.json" in text and "rank3.json" in text and "rank 3" in text and "\n" not in text
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize(
    "job", ["plain", "with space", "a/b", "x=y", "50%", "käse", "it's", 'say "hi"', "a+b&c", "null"]
)
def test_any_name_of_a_job(tmp_path, job):
    hta_sql.ingest(write(tmp_path / "rank_0.json"), tmp_path / "a", job=job)
    with hta_sql.open(tmp_path / "a") as run:
        assert rows(run, "SELECT DISTINCT job FROM host_ops") == [(job,)]
        assert run.profiler_steps(only_jobs=[job]).num_rows == 0
        assert rows(run, "SELECT count(*) FROM events") == [(3,)]


def test_folder_of_folders(tmp_path, monkeypatch):
    write(tmp_path / "fleet/one/rank_0.json")
    write(tmp_path / "fleet/one/rank_1.json")
    write(tmp_path / "fleet/two/deep/rank_0.json")
    write(tmp_path / "fleet/.hidden/rank_0.json")
    (tmp_path / "fleet/notes.json").write_text("{}")
    (tmp_path / "fleet/notes.txt").write_text("")
    monkeypatch.chdir(tmp_path / "fleet")
    said = []
    summary = hta_sql.ingest(".", "archive", report=said.append)
    assert said == ['skipped notes.json: not a Kineto trace: no "traceEvents" (found no key)']
    assert [path.name for path, _ in summary.skipped] == ["notes.json"]
    assert [row[:2] for row in ranks(Path("archive"))] == [("one", 0), ("one", 1), ("two/deep", 0)]
    again = hta_sql.ingest(".", "archive")  # the archive inside the folder is no source
    assert {outcome.status for outcome in again.traces} == {"unchanged"}


def test_patterns(tmp_path):
    write(tmp_path / "t/rank_0.json")
    write(tmp_path / "t/rank_1.json")
    hta_sql.ingest(str(tmp_path / "t/*_1.json"), tmp_path / "a")
    assert [row[1] for row in ranks(tmp_path / "a")] == [1]


def test_again(tmp_path):
    """Unchanged files are skipped, also when only touched; changed ones take the other's place."""
    path, other = write(tmp_path / "t/rank_0.json"), write(tmp_path / "t/rank_1.json")
    archive = tmp_path / "a"

    def statuses(**options) -> list[str]:
        return [o.status for o in hta_sql.ingest(tmp_path / "t", archive, **options).traces]

    assert statuses() == ["ingested", "ingested"]
    assert statuses() == ["unchanged", "unchanged"]
    os.utime(path, ns=(1, 1))
    assert statuses() == ["unchanged", "unchanged"]
    write(path, count=5)
    assert statuses() == ["replaced", "unchanged"]
    assert statuses(force=True) == ["replaced", "replaced"]
    with hta_sql.open(archive) as run:
        assert rows(run, "SELECT rank, count(*) FROM events GROUP BY rank ORDER BY rank") == [
            (0, 5),
            (1, 3),
        ]
    assert len(list(archive.glob("events/*/*/*.parquet"))) == 2
    other.unlink()
    assert statuses() == ["unchanged"]


def test_same_rank_from_elsewhere(tmp_path):
    hta_sql.ingest(write(tmp_path / "one/t/rank_0.json"), tmp_path / "a")
    elsewhere = write(tmp_path / "two/t/rank_0.json", count=4)
    with pytest.raises(IngestError, match="--job"):
        hta_sql.ingest(elsewhere, tmp_path / "a")
    hta_sql.ingest(elsewhere, tmp_path / "a", job="other")
    assert [row[:2] for row in ranks(tmp_path / "a")] == [("other", 0), ("t", 0)]


def test_a_different_file_of_equal_size_and_time(tmp_path):
    """Not unchanged: it is another file."""
    one, two = write(tmp_path / "a/t/rank_0.json"), write(tmp_path / "b/t/rank_0.json")
    two.write_text(two.read_text().replace("op1", "xx1"))
    for path in (one, two):
        os.utime(path, ns=(10**18, 10**18))
    hta_sql.ingest(one, tmp_path / "archive")
    with pytest.raises(IngestError, match="--force"):
        hta_sql.ingest(two, tmp_path / "archive")
    hta_sql.ingest(two, tmp_path / "archive", force=True)
    with hta_sql.open(tmp_path / "archive") as run:
        assert rows(run, "SELECT name FROM events ORDER BY event_id") == [
            ("op0",),
            ("xx1",),
            ("op2",),
        ]


def test_force_replaces_every_table(tmp_path):
    """Also where the trace has nothing in quarantine any more; each time under a new name."""
    path, archive = write(tmp_path / "t/rank_0.json"), tmp_path / "a"
    good = path.read_text()
    path.write_text(good.replace('"ts": 10', '"ts": "?"'))
    hta_sql.ingest(path, archive)
    assert len(list(archive.glob("quarantine/*/*/*.parquet"))) == 1
    before = set(archive.glob("*/*/*/*.parquet"))
    path.write_text(good)
    hta_sql.ingest(path, archive, force=True)
    hta_sql.ingest(path, archive, force=True)
    assert not before & set(archive.glob("*/*/*/*.parquet"))
    assert not list(archive.glob("quarantine/*/*/*.parquet"))
    with hta_sql.open(archive) as run:
        assert rows(run, "SELECT count(*) FROM quarantine") == [(0,)]


@pytest.mark.parametrize("place", ["job=evil/rank=9/a", "kind=x/date=2024-01-01/a", "rank=x/a"])
def test_archive_below_folders_that_look_like_partitions(tmp_path, place):
    write_job(tmp_path / "t", ranks=2, steps=1, layers=1)
    hta_sql.ingest(tmp_path / "t", tmp_path / place)
    with hta_sql.open(tmp_path / place) as run:
        expected = [("t", 0), ("t", 1)]
        for table in ("events", "host_ops", "gpu_activities", "traces"):
            assert rows(run, f"SELECT DISTINCT job, rank FROM {table} ORDER BY 2") == expected
        kinds = rows(run, "SELECT DISTINCT kind FROM gpu_activities ORDER BY 1")
        assert kinds == [("communication",), ("computation",), ("memory",)]


def test_numbers_that_are_no_ranks(tmp_path):
    huge = write(tmp_path / "t/rank_20240101123456.json")
    hta_sql.ingest(huge, tmp_path / "a")
    assert ranks(tmp_path / "a") == [("t", 0, "order")]
    for given, said in [
        ({2**31: huge}, "is not a rank"),
        ({5: huge, 6: huge}, "rank 5 and rank 6"),
    ]:
        with pytest.raises(IngestError, match=said):
            hta_sql.ingest(huge, tmp_path / "b", ranks=given)
    assert not (tmp_path / "b").exists()


def test_names_that_are_no_text(tmp_path):
    odd = Path(os.fsdecode(os.fsencode(tmp_path / "t") + b"/rank_1_\xff.json"))
    write(tmp_path / "t/rank_0.json")
    odd.write_bytes((tmp_path / "t/rank_0.json").read_bytes().replace(b'"ts": 0', b'"ts": null'))
    for status in ("ingested", "unchanged"):
        summary = hta_sql.ingest(tmp_path / "t", tmp_path / "a")
        assert [outcome.status for outcome in summary.traces] == [status] * 2
    with hta_sql.open(tmp_path / "a") as run:
        [(path,)] = rows(run, "SELECT path FROM traces WHERE rank = 1")
        assert path.endswith("rank_1_\\xff.json")
        assert rows(run, "SELECT DISTINCT path FROM quarantine") == [(path,)]


def test_a_file_is_one_trace_of_its_job(tmp_path):
    """Told to be of another rank, or saying so itself now, it leaves the rank it had."""
    path, archive = write(tmp_path / "t/trace.json"), tmp_path / "a"
    hta_sql.ingest(path, archive)
    hta_sql.ingest(path, archive, ranks={4: path})
    assert ranks(archive) == [("t", 4, "given")]
    write(path, before=distributed(7))
    hta_sql.ingest(path, archive)
    assert ranks(archive) == [("t", 7, "distributedInfo")]
    assert len(list(archive.glob("events/*/*/*.parquet"))) == 1
    hta_sql.ingest(path, archive, job="other")
    assert [row[:2] for row in ranks(archive)] == [("other", 7), ("t", 7)]


def test_endings_of_names(tmp_path):
    write(tmp_path / "t/RANK_3.JSON")
    (tmp_path / "t/rank_4.Json.Gz").write_bytes(gzip.compress(write(tmp_path / "x").read_bytes()))
    (tmp_path / "t/rank_5.json.zst").write_bytes(b"(\xb5/\xfd packed")
    summary = hta_sql.ingest(tmp_path / "t", tmp_path / "a")
    assert [row[1] for row in ranks(tmp_path / "a")] == [3, 4]
    [failed] = [outcome for outcome in summary.traces if outcome.status == "failed"]
    assert failed.path.name == "rank_5.json.zst" and failed.error.startswith("not JSON")


def test_a_name_too_long_for_a_folder(tmp_path):
    path = write(tmp_path / "rank_0.json")
    for name in ("ü" * 100, ""):
        with pytest.raises(BadParameter, match="too long|empty"):
            hta_sql.ingest(path, tmp_path / "a", job=name)
    assert not (tmp_path / "a").exists()


def test_what_is_no_file_is_not_read(tmp_path):
    """A pipe would wait for a writer for ever."""
    write(tmp_path / "t/rank_0.json")
    os.mkfifo(tmp_path / "t/rank_1.json")
    hta_sql.ingest(tmp_path / "t", tmp_path / "a")
    assert [row[1] for row in ranks(tmp_path / "a")] == [0]
    with pytest.raises(IngestError, match="neither a file nor a folder"):
        hta_sql.ingest(tmp_path / "t/rank_1.json", tmp_path / "a")


@pytest.mark.parametrize(
    "content",
    [b"", gzip.compress(b'{"traceEvents": []}' * 9, mtime=0)[:12], b"\0" * 100, b"no JSON"],
)
def test_what_may_have_been_a_trace_is_not_passed_over(tmp_path, content):
    write(tmp_path / "t/rank_0.json")
    (tmp_path / "t/rank_1.json").write_bytes(content)
    (tmp_path / "t/other.json").write_text('{"nodes": []}')
    summary = hta_sql.ingest(tmp_path / "t", tmp_path / "a")
    assert summary.failed == 1 and [path.name for path, _ in summary.skipped] == ["other.json"]
    [failed] = [outcome for outcome in summary.traces if outcome.error]
    assert failed.path.name == "rank_1.json"


@pytest.mark.parametrize("size", [1_000, 3_000_000])
@pytest.mark.parametrize("packed", [False, True])
def test_rank_behind_the_events_however_far_from_the_end(tmp_path, size, packed):
    groups = [{"pg_name": str(at), "ranks": list(range(8))} for at in range(size // 60)]
    info = json.dumps({"rank": 5, "world_size": 8, "pg_config": groups})
    path = write(tmp_path / "t/trace.json", after=f', "distributedInfo": {info}')
    if packed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    hta_sql.ingest(path, tmp_path / "a")
    assert ranks(tmp_path / "a") == [("t", 5, "distributedInfo")]


def test_progress_is_in_bytes_of_the_files(tmp_path):
    """The bar, and how many processes read, are by what the files weigh."""
    write_job(tmp_path / "t", ranks=2, steps=1, layers=1)
    done = []
    hta_sql.ingest(tmp_path / "t", tmp_path / "a", progress=lambda *both: done.append(both))
    total = sum(path.stat().st_size for path in (tmp_path / "t").iterdir() if "rank" in path.name)
    assert done[-1] == (total, total)
