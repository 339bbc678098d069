"""Traces of many jobs at once: lists and tags."""

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hand_written import rows
from ingest.job_lists import statuses, tags, write, write_csv

import hta_sql
from hta_sql.errors import IngestError


def test_a_list_of_traces(tmp_path):
    """Jobs, ranks and tags are those of its rows; paths are relative to it."""
    write(tmp_path / "t/one/a.json")
    write(tmp_path / "t/one/rank_7.json")
    absolute = write(tmp_path / "elsewhere/b.json")
    listed = write_csv(
        tmp_path / "t/list.csv",
        "path,job,rank,model,cost",
        "one/a.json,big,3,llama,007",
        "one/rank_7.json,,,,",
        f"{absolute},big,4,,12",
        f"file://{absolute},big,4,,12",
    )
    summary = hta_sql.ingest(listed, tmp_path / "a", tags={"cost": "none", "team": "x"})
    assert not summary.failed
    with hta_sql.open(tmp_path / "a") as run:
        assert rows(run, "SELECT job, rank, rank_source FROM traces ORDER BY ALL") == [
            ("big", 3, "given"),
            ("big", 4, "given"),
            ("one", 7, "file name"),
        ]
        assert rows(run, "FROM job_tags ORDER BY job, tag") == [
            ("big", "cost", "007"),
            ("big", "model", "llama"),
            ("big", "team", "x"),
            ("one", "cost", "none"),
            ("one", "team", "x"),
        ]
    assert tags(tmp_path / "a")["big", 4] == {"cost": "12", "team": "x"}


def test_a_list_in_parquet_beside_a_folder(tmp_path):
    write(tmp_path / "t/x/rank_0.json")
    write(tmp_path / "t/y/rank_0.json")
    pq.write_table(
        pa.table({"path": ["x/rank_0.json"], "rank": [5], "week": [21], "none": pa.nulls(1)}),
        tmp_path / "t/list.parquet",
    )
    hta_sql.ingest([tmp_path / "t", tmp_path / "t/list.parquet"], tmp_path / "a", job="j")
    assert tags(tmp_path / "a") == {("j", 0): {}, ("j", 5): {"week": "21"}}


def test_bad_rows_of_a_list_stop_no_other(tmp_path):
    for name in ("good", "other", "same", "too"):
        write(tmp_path / f"{name}.json")
    (tmp_path / "folder").mkdir()
    listed = write_csv(
        tmp_path / "list.csv",
        "path,rank",
        "good.json,0",
        "gone.json,1",
        "other.json,one",
        "folder,2",
        ",3",
        ",4",
        "same.json,6",
        "too.json,6",
        "good.json,9",
        f"other.json,{2**31}",
    )
    summary = hta_sql.ingest(listed, tmp_path / "a")
    assert summary.failed == 9
    errors = [outcome.error for outcome in summary.traces if outcome.error]
    for said in (
        "no such file (row 2 of list.csv)",
        "'one' is not a rank",
        "not a file (row 4",
        "no path (row 5",
        "no path (row 6",
        "listed before",
        f"'{2**31}' is not a rank",
        "have rank 6 (by given and given)",
    ):
        assert any(said in error for error in errors), said
    with hta_sql.open(tmp_path / "a") as run:
        assert rows(run, "SELECT rank FROM traces") == [(0,)]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", b"file,rank\nx.json,0\n", "needs a column path; this one has only file, rank"),
        (
            "a.csv",
            b"path,rank,rank\nx.json,0,1\n",
            "this one has column 'rank' twice: rename one or",
        ),
        ("a.csv", b"", "cannot be read as a list of traces"),
        ("a.csv", b"path,rank\nx.json\n", "cannot be read as a list of traces"),
        ("a.parquet", b"no parquet", "cannot be read as a list of traces"),
    ],
)
def test_what_is_no_list_is_one_line(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(IngestError) as error:
        hta_sql.ingest(tmp_path / name, tmp_path / "a")
    assert said in str(error.value) and name in str(error.value) and "\n" not in str(error.value)
    assert not (tmp_path / "a").exists()


def test_tags_told_anew(tmp_path):
    """They change the row alone; those of a file that is read again stay, unless told."""
    one, two = write(tmp_path / "t/rank_0.json"), write(tmp_path / "t/rank_1.json")
    archive = tmp_path / "a"

    def ingest(*files: Path, **told) -> list[str]:
        return [o.status for o in hta_sql.ingest(files or [tmp_path / "t"], archive, **told).traces]

    assert ingest(tags={"team": "x", "model": "m"}) == ["ingested"] * 2
    files = {file: file.stat().st_mtime_ns for file in archive.glob("*/*/*/*.parquet")}
    assert ingest() == ["unchanged"] * 2
    assert ingest(tags={"model": "m", "team": "x"}) == ["unchanged"] * 2
    assert ingest(one, tags={"team": "y"}) == ["retagged"]
    assert tags(archive) == {("t", 0): {"team": "y"}, ("t", 1): {"team": "x", "model": "m"}}
    assert {file: file.stat().st_mtime_ns for file in archive.glob("*/*/*/*.parquet")} == files
    write(one, count=5)
    assert ingest() == ["replaced", "unchanged"]
    assert tags(archive)["t", 0] == {"team": "y"}
    assert ingest(two, force=True, tags={"team": "z"}) == ["replaced"]
    assert tags(archive)["t", 1] == {"team": "z"}


def test_an_unchanged_file_is_not_opened(tmp_path):
    """Of its size and time, what it holds now is not looked at; told of another rank, it is."""
    path, archive = write(tmp_path / "t/rank_0.json"), tmp_path / "a"
    write(tmp_path / "t/deep/rank_0.json")
    hta_sql.ingest(tmp_path / "t", archive)
    stat = path.stat()
    path.write_bytes(b"x" * stat.st_size)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert set(statuses(hta_sql.ingest(tmp_path / "t", archive)).values()) == {"unchanged"}
    summary = hta_sql.ingest(tmp_path / "t", archive, ranks={3: path})
    assert statuses(summary) == {"t/rank_0.json": "failed", "deep/rank_0.json": "unchanged"}


def test_a_touched_file_is_compared_once(tmp_path):
    path, archive = write(tmp_path / "t/rank_0.json"), tmp_path / "a"
    hta_sql.ingest(path, archive)
    os.utime(path, ns=(10**18, 10**18))
    assert list(statuses(hta_sql.ingest(path, archive)).values()) == ["unchanged"]
    with hta_sql.open(archive) as run:
        assert rows(run, "SELECT modified_ns FROM traces") == [(10**18,)]


def test_a_quarrel_about_ranks_is_that_job_s_alone(tmp_path):
    info = '"distributedInfo":{"rank":1},'
    for name in ("bad/a", "bad/b", "good/a"):
        write(tmp_path / f"t/{name}.json", before=info)
    write(tmp_path / "t/bad/rank_0.json")
    summary = hta_sql.ingest(tmp_path / "t", tmp_path / "a")
    assert statuses(summary) == {
        "bad/a.json": "failed",
        "bad/b.json": "failed",
        "bad/rank_0.json": "ingested",
        "good/a.json": "ingested",
    }
    write(tmp_path / "u/good/a.json", count=4, before=info)
    write(tmp_path / "u/new/a.json", before=info)
    summary = hta_sql.ingest(tmp_path / "u", tmp_path / "a")
    assert statuses(summary) == {"good/a.json": "failed", "new/a.json": "ingested"}
    assert "--force" in summary.traces[0].error


def test_many_files_without_a_rank(tmp_path):
    """Each gets the next free one of its job, whatever the others have."""
    for job in ("one", "two"):
        for at in range(4):
            write(tmp_path / f"t/{job}/x{at}.json")
    write(tmp_path / "t/two/rank_2.json")
    hta_sql.ingest(tmp_path / "t", tmp_path / "a")
    with hta_sql.open(tmp_path / "a") as run:
        assert rows(
            run, "SELECT job, list(rank ORDER BY rank) FROM traces GROUP BY 1 ORDER BY 1"
        ) == [("one", [0, 1, 2, 3]), ("two", [0, 1, 2, 3, 4])]
