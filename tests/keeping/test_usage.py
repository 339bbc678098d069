"""What `hta-sql usage` says is what the files take."""

import csv
import io

from click.testing import CliRunner
from fleets import TABLES

import hta_sql
from hta_sql.cli import cli


def by_hand(archive, pattern: str) -> tuple[int, int]:
    files = [path for path in archive.glob(pattern) if path.is_file()]
    return len(files), sum(path.stat().st_size for path in files)


def test_jobs_and_the_rest(fleet):
    hta_sql.compact(fleet, only_jobs=["bert"])
    stray = fleet / "events/job=bert/rank=5/feed.parquet"
    stray.parent.mkdir()
    stray.write_bytes(b"x" * 10)
    results = fleet / "results/kept_job_summary/a.parquet"
    results.parent.mkdir(parents=True)
    results.write_bytes(b"x" * 20)
    rows = hta_sql.usage(fleet).to_pylist()
    assert [row["job"] for row in rows[3:]] == [None] * 3
    sizes = [row["total_bytes"] for row in rows[:3]]
    assert sizes == sorted(sizes, reverse=True)
    found = {row["job"] or row["part"]: row for row in rows}
    for job, ranks in (("llama 7b", 3), ("bert", 2), ("one", 1)):
        row = found[job]
        files, size = by_hand(fleet, f"*/job={job}/**/*.parquet")
        is_bert = job == "bert"
        assert row["file_count"] == files - is_bert and row["rank_count"] == ranks
        assert row["total_bytes"] == size - 10 * is_bert
        for table in TABLES:
            _, size = by_hand(fleet, f"{table}/job={job}/**/*.parquet")
            assert row[f"{table}_bytes"] == size - 10 * (is_bert and table == "events")
        source = sum(10_000 + rank for rank in range(ranks))
        assert row["source_bytes"] == source and row["other_bytes"] == 0
        assert row["of_source_frac"] == row["total_bytes"] / source
        assert str(row["last_ingested_at"]) == "2026-03-03 00:00:00"
    assert (found["unnamed"]["file_count"], found["unnamed"]["total_bytes"]) == (1, 10)
    assert (found["results"]["file_count"], found["results"]["total_bytes"]) == (1, 20)
    assert found["rest"]["job"] is None and found["rest"]["source_bytes"] is None
    files, size = by_hand(fleet, "**/*")
    assert sum(row["total_bytes"] for row in rows) == size
    assert sum(row["file_count"] for row in rows) == files


def test_command(fleet):
    result = CliRunner().invoke(cli, ["usage", str(fleet), "--format", "csv"])
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert {row["job"] for row in rows} == {"llama 7b", "bert", "one", ""}
    shown = CliRunner(env={"COLUMNS": "300"}).invoke(cli, ["usage", str(fleet)])
    lines = shown.stdout.splitlines()
    assert lines[0].split()[:2] == ["part", "job"] and " kB " in lines[1]


def test_object_storage(fleet, uploaded):
    here = hta_sql.usage(fleet)
    there = hta_sql.usage(uploaded(fleet, "archive"))
    assert there.equals(here)
