"""The view of jobs, and what ingest says of many."""

import csv
import json
from datetime import datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hand_written import rows
from ingest.job_lists import run_cli, write, write_csv

import hta_sql


def test_jobs(tmp_path):
    """A row each: what their traces tell, and their tags; of ranks that differ, the least."""
    epoch = '"baseTimeNanoseconds": 1700000000000000000,'
    old = '"baseTimeNanoseconds": 1000,'
    for name, before in {
        "one/rank_0": epoch + '"host_name": "h2",',
        "one/rank_1": epoch + '"host_name": "h1",',
        "two/rank_0": old,
        "three/rank_0": "",
        "four/rank_0": "",
    }.items():
        write(tmp_path / f"{name}.json", before=before)
    listed = write_csv(
        tmp_path / "list.csv",
        "path,model,team,time,host",
        "one/rank_0.json,m,b,2001-01-01,",
        "one/rank_1.json,,a,,",
        "two/rank_0.json,,,2025-06-07 08:09:10,node7",
        "three/rank_0.json,,,tuesday,",
        "four/rank_0.json,,,,",
    )
    hta_sql.ingest(listed, tmp_path / "a")
    with hta_sql.open(tmp_path / "a") as run:
        assert rows(
            run,
            "SELECT job, started_at, model, team, host, rank_count, host_count, event_count, "
            "tags FROM jobs ORDER BY job",
        ) == [
            ("four", None, None, None, None, 1, 0, 3, []),
            (
                "one",
                datetime(2023, 11, 14, 22, 13, 20),
                "m",
                "a",
                "h1",
                2,
                2,
                6,
                [("model", "m"), ("team", "a"), ("time", "2001-01-01")],
            ),
            ("three", None, None, None, None, 1, 0, 3, [("time", "tuesday")]),
            (
                "two",
                datetime(2025, 6, 7, 8, 9, 10),
                None,
                None,
                "node7",
                1,
                0,
                3,
                [("host", "node7"), ("time", "2025-06-07 08:09:10")],
            ),
        ]


def test_blanks_around_the_names_of_columns(tmp_path):
    write(tmp_path / "t/rank_0.json")
    listed = write_csv(tmp_path / "l.csv", "path, job, rank, team,", "t/rank_0.json, j, 3, vis,x")
    hta_sql.ingest(listed, tmp_path / "a")
    with hta_sql.open(tmp_path / "a") as run:
        assert rows(run, "SELECT job, rank, tags FROM traces") == [("j", 3, [("team", "vis")])]


def test_a_name_too_long_costs_its_row(tmp_path):
    write(tmp_path / "t/rank_0.json")
    write(tmp_path / "t/rank_1.json")
    listed = write_csv(
        tmp_path / "l.csv", "path,job", "t/rank_0.json,j", f"t/rank_1.json,{'x' * 300}"
    )
    summary = hta_sql.ingest(listed, tmp_path / "a")
    assert sorted((o.status, o.path.name) for o in summary.traces) == [
        ("failed", "rank_1.json"),
        ("ingested", "rank_0.json"),
    ]
    [why] = [o.error for o in summary.traces if o.error]
    assert "the name is too long for a folder" in why


@pytest.mark.parametrize(
    ("told", "utc"),
    [
        ("2026-01-05", datetime(2026, 1, 5)),
        ("2026-01-05T00:30:00Z", datetime(2026, 1, 5, 0, 30)),
        ("2026-01-05 00:30:00+02:00", datetime(2026, 1, 4, 22, 30)),
        ("2026-01-05T23:30:00.5-08", datetime(2026, 1, 6, 7, 30, 0, 500000)),
    ],
)
def test_times_are_told_with_what_they_are_off_utc(tmp_path, told, utc):
    write(tmp_path / "t/rank_0.json")
    hta_sql.ingest(tmp_path / "t", tmp_path / "a", tags={"time": told})
    with hta_sql.open(tmp_path / "a") as run:
        assert rows(run, "SELECT started_at FROM jobs") == [(utc,)]


def test_few_lines_about_many_files(tmp_path, monkeypatch):
    """A line a job that has something new, a line a failure."""
    monkeypatch.setattr("hta_sql.cli.ingest.MOST_LINES", 4)
    for name in ("a/rank_0", "a/rank_1", "b/rank_0", "b/rank_1", "c/rank_0"):
        write(tmp_path / f"t/{name}.json")
    (tmp_path / "t/b/rank_1.json").write_text("nonsense")
    archive = tmp_path / "archive"
    hta_sql.ingest(tmp_path / "t/c", archive, job="c")
    status, lines = run_cli(tmp_path / "t", archive, "--workers", 1)
    assert status == 1
    assert sorted(lines[:-1]) == sorted(
        [
            f"{tmp_path}/t/b/rank_1.json: failed: not JSON: it begins with b'nonsense'",
            "a: 2 ingested; 6 events",
            "b: 1 failed, 1 ingested; 3 events",
        ]
    )
    assert lines[-1] == "5 traces: 3 ingested, 1 failed, 1 unchanged; N s"
    write(tmp_path / "t/b/rank_1.json")  # what failed is tried again
    assert run_cli(tmp_path / "t", archive, "--workers", 1) == (
        0,
        ["b: 1 unchanged, 1 ingested; 6 events", "5 traces: 4 unchanged, 1 ingested; N s"],
    )


@pytest.mark.parametrize("ending", ["csv", "parquet", "json"])
def test_outcomes(tmp_path, ending):
    write(tmp_path / "t/rank_0.json")
    (tmp_path / "t/rank_1.json").write_text("nonsense")
    (tmp_path / "t/notes.json").write_text("{}")
    file = tmp_path / f"outcomes.{ending}"
    status, _ = run_cli(tmp_path / "t", tmp_path / "a", "--workers", 1, "--outcomes", file)
    assert status == 1
    if ending == "csv":
        with file.open() as text:
            found = [
                row | {"rank": row["rank"] and int(row["rank"])} for row in csv.DictReader(text)
            ]
    elif ending == "json":
        found = json.loads(file.read_text())
    else:
        found = pq.read_table(file).to_pylist()
    assert list(found[0]) == [
        "path",
        "job",
        "rank",
        "kind",
        "status",
        "event_count",
        "quarantined_count",
        "seconds",
        "error",
    ]
    seen = {Path(row["path"]).name: (row["status"], row["error"] or None) for row in found}
    assert seen == {
        "rank_0.json": ("ingested", None),
        "rank_1.json": ("failed", "not JSON: it begins with b'nonsense'"),
        "notes.json": ("skipped", 'not a Kineto trace: no "traceEvents" (found no key)'),
    }
    [good] = [row for row in found if row["status"] == "ingested"]
    assert (good["rank"], int(good["event_count"]), int(good["quarantined_count"])) == (0, 3, 0)


def test_options_that_are_no_good(tmp_path):
    write(tmp_path / "t/rank_0.json")
    for words, said in [
        (["--tag", "team"], "'team' is not NAME=VALUE"),
        (["--tag", "=x"], "'=x' is not NAME=VALUE"),
        (["--watch", "0"], "0"),
        (["--force", "--watch"], "give either --force or --watch"),
        (["--outcomes", "x.txt.zip"], "x.txt.zip: unknown format; give --format"),
    ]:
        status, lines = run_cli(tmp_path / "t", tmp_path / "a", *words)
        assert status in (1, 2) and said in lines[-1], words
    assert not (tmp_path / "a").exists()
