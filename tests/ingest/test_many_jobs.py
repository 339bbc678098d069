"""Ingest of many jobs: lists of traces, tags, what is known without reading, outcomes."""

import csv
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hand_written import rows, span, trace_text

import hta_sql
from hta_sql.cli import cli
from hta_sql.errors import HtaSqlError, IngestError
from hta_sql.ingestion.watch import watch


def write(path: Path, count: int = 3, before: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(trace_text([span(f"op{at}", ts=at * 10, dur=2) for at in range(count)], before))
    return path


def write_csv(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n")
    return path


def statuses(summary) -> dict[str, str]:
    return {f"{o.job}/{o.path.name}": o.status for o in summary.traces}


def tags(archive: Path) -> dict[tuple, dict]:
    with hta_sql.open(archive) as run:
        return {
            (job, rank): dict(told)
            for job, rank, told in rows(run, "SELECT job, rank, tags FROM traces")
        }


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
        "'one' is no rank",
        "not a file (row 4",
        "no path (row 5",
        "no path (row 6",
        "listed before",
        f"'{2**31}' is no rank",
        "are of rank 6 (by given and given)",
    ):
        assert any(said in error for error in errors), said
    with hta_sql.open(tmp_path / "a") as run:
        assert rows(run, "SELECT rank FROM traces") == [(0,)]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", b"file,rank\nx.json,0\n", "needs a column path; this one has file, rank"),
        ("a.csv", b"path,rank,rank\nx.json,0,1\n", "this one has 'rank' twice: rename one or"),
        ("a.csv", b"", "not to be read as a list of traces"),
        ("a.csv", b"path,rank\nx.json\n", "not to be read as a list of traces"),
        ("a.parquet", b"no parquet", "not to be read as a list of traces"),
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
    assert "its name is too long for a folder" in why


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


def run_cli(*words: object) -> tuple[int, list[str]]:
    result = CliRunner().invoke(cli, ["ingest", *map(str, words)])
    return result.exit_code, re.sub(r"\d+\.\d s", "N s", result.stderr).splitlines()


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
        (["--force", "--watch"], "--force is for once"),
        (["--outcomes", "x.txt.zip"], "its name does not tell the format"),
    ]:
        status, lines = run_cli(tmp_path / "t", tmp_path / "a", *words)
        assert status in (1, 2) and said in lines[-1], words
    assert not (tmp_path / "a").exists()


def test_killed_among_many_jobs(tmp_path):
    """The archive that is completed afterwards is the one that an undisturbed ingest makes."""
    for job in range(12):
        write(tmp_path / f"t/j{job:02}/rank_0.json", count=20 + job)
    words = [
        sys.executable,
        "-m",
        "hta_sql.cli",
        "ingest",
        tmp_path / "t",
        tmp_path / "a",
        "--workers",
        "2",
    ]
    ingest = subprocess.Popen(list(map(str, words)), stderr=subprocess.PIPE, text=True)
    for _ in range(3):
        ingest.stderr.readline()
    ingest.send_signal(signal.SIGKILL)
    ingest.communicate()
    with hta_sql.open(tmp_path / "a") as run:
        [(there,)] = rows(run, "SELECT count(*) FROM traces")
        assert rows(run, "SELECT count(*) FROM table_counts WHERE row_count <> written_count") == [
            (0,)
        ]
    assert there >= 3
    summary = hta_sql.ingest(tmp_path / "t", tmp_path / "a", workers=1)
    found = sorted(outcome.status for outcome in summary.traces)
    assert found == ["ingested"] * (12 - there) + ["unchanged"] * there
    hta_sql.ingest(tmp_path / "t", tmp_path / "b", workers=1)
    answer = "SELECT job, rank, event_count, fingerprint FROM traces ORDER BY job"
    events = "SELECT job, name, start_ns FROM events ORDER BY ALL"
    with hta_sql.open(tmp_path / "a") as one, hta_sql.open(tmp_path / "b") as two:
        assert rows(one, answer) == rows(two, answer)
        assert rows(one, events) == rows(two, events)
    assert len(list((tmp_path / "a").glob("events/*/*/*.parquet"))) == 12
    assert not list((tmp_path / "a/.staging").glob("*"))


def test_a_dead_worker_is_followed_by_others(tmp_path, monkeypatch):
    """Those that shared its pool are read alone, and the rest by several again."""
    for rank in range(9):
        write(tmp_path / f"t/rank_{rank}.json", count=2 + rank)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    (tmp_path / "sitecustomize.py").write_text(
        "import os, pathlib\n"
        "kept = pathlib.Path.stat\n"
        "def stat(self, **more):\n"
        "    if self.name == 'rank_7.json':\n"
        "        os.kill(os.getpid(), 9)\n"
        "    return kept(self, **more)\n"
        "pathlib.Path.stat = stat\n"
    )
    summary = hta_sql.ingest(tmp_path / "t", tmp_path / "a", workers=2)
    assert [o.rank for o in summary.traces if o.status == "failed"] == [7]
    assert [o.status for o in summary.traces].count("ingested") == 8


def started(words: list, **more) -> subprocess.Popen:
    words = [sys.executable, "-m", "hta_sql.cli", "ingest", *map(str, words)]
    return subprocess.Popen(words, stderr=subprocess.PIPE, text=True, **more)


def test_watch(tmp_path):
    """A file is taken when it is whole; nothing is said of a look that finds nothing new."""
    folder, archive = tmp_path / "t", tmp_path / "a"
    write(folder / "early/rank_0.json")
    text = gzip.compress(trace_text([span(f"op{at}", ts=at) for at in range(50)]).encode())
    watch = started([folder, archive, "--watch", "1", "--outcomes", tmp_path / "o.csv"])
    try:
        assert "early rank 0: ingested, 3 events" in watch.stderr.readline()
        assert "1 trace: 1 ingested" in watch.stderr.readline()
        late = folder / "late/rank_0.json.gz"
        late.parent.mkdir()
        with late.open("wb") as file:
            # A byte now and then: no two looks see the same.
            for at in range(0, 100, 4):
                file.write(text[at : at + 4])
                file.flush()
                time.sleep(0.1)
            file.write(text[100:])
        (folder / "late/rank_1.json").write_text("nonsense")
        lines = []  # of one look or of two
        while sum(int(line.split()[0]) for line in lines if re.match(r"\d+ traces?:", line)) < 2:
            lines.append(watch.stderr.readline())
        assert any("late rank 0: ingested, 50 events" in line for line in lines), lines
        assert any("rank_1.json: failed: not JSON" in line for line in lines), lines
        time.sleep(2.5)  # several looks
        write(folder / "early/rank_0.json", count=7)
        assert "early rank 0: replaced, 7 events" in watch.stderr.readline()
        assert "1 trace: 1 replaced" in watch.stderr.readline()
    finally:
        watch.send_signal(signal.SIGTERM)
        _, rest = watch.communicate(timeout=60)
    assert (rest, watch.returncode) == ("stopped\n", 0)
    outcomes = pa.csv.read_csv(tmp_path / "o.csv").to_pylist()
    assert sorted((row["job"], row["status"]) for row in outcomes) == [
        ("early", "replaced"),
        ("late", "failed"),
        ("late", "ingested"),
    ]
    with hta_sql.open(archive) as run:
        assert rows(run, "SELECT job, event_count FROM traces ORDER BY job") == [
            ("early", 7),
            ("late", 50),
        ]


def test_watch_a_list_that_grows(tmp_path):
    """From an empty one on; a row that is of no use is told once."""
    listed = write_csv(tmp_path / "list.csv", "path,team")
    write(tmp_path / "t/rank_0.json")
    watch = started([listed, tmp_path / "a", "--watch", "0.3"])
    try:
        time.sleep(2)
        write_csv(listed, "path,team", "t/rank_0.json,x", "gone.json,x")
        lines = [watch.stderr.readline() for _ in range(3)]
        assert any("gone.json: failed: no such file" in line for line in lines), lines
        assert any("t rank 0: ingested" in line for line in lines), lines
        write_csv(listed, "path,team", "t/rank_0.json,y", "gone.json,x")
        assert "t rank 0: retagged" in watch.stderr.readline()
    finally:
        watch.send_signal(signal.SIGINT)
        _, rest = watch.communicate(timeout=60)
    assert rest.splitlines()[-1] == "stopped" and watch.returncode == 0
    assert "gone" not in rest


def test_watch_a_file_that_is_listed_twice(tmp_path):
    """It is taken as it is told first."""
    write(tmp_path / "t/rank_0.json")
    listed = write_csv(tmp_path / "l.csv", "path,job", "t/rank_0.json,j", "t/rank_0.json,k")
    watch = started([listed, tmp_path / "a", "--watch", "0.3", "--outcomes", tmp_path / "o.csv"])
    try:
        lines = [watch.stderr.readline() for _ in range(3)]
    finally:
        watch.send_signal(signal.SIGTERM)
        watch.communicate(timeout=60)
    assert any("j rank 0: ingested" in line for line in lines), lines
    assert any("failed: listed before" in line for line in lines), lines
    outcomes = pa.csv.read_csv(tmp_path / "o.csv").to_pylist()
    assert [row["status"] for row in outcomes] == ["failed", "ingested"]


def test_ctrl_c_keeps_what_is_finished(tmp_path):
    """It ends at once, workers and all, and what was finished counts."""
    for job in range(300):  # for so long that a busy machine is not done before it is told
        write(tmp_path / f"t/j{job}/rank_0.json", count=300)
    ingest = started([tmp_path / "t", tmp_path / "a", "--workers", "2"], start_new_session=True)
    for _ in range(2):
        ingest.stderr.readline()
    os.killpg(ingest.pid, signal.SIGINT)  # as a terminal does
    _, said = ingest.communicate(timeout=60)
    assert ingest.returncode == 130 and said.splitlines()[-1] == "Interrupted"
    assert "Traceback" not in said
    with hta_sql.open(tmp_path / "a") as run:
        [(there,)] = rows(run, "SELECT count(*) FROM traces")
        assert 2 <= there < 300
        assert rows(run, "SELECT count(*) FROM events") == [(300 * there,)]
    states = subprocess.run(["ps", "-o", "stat=", "-s", str(ingest.pid)], capture_output=True)
    # What has ended may still be listed, as Z, until somebody asks how.
    assert not [state for state in states.stdout.split() if not state.startswith(b"Z")]


def watched(inputs: Path, archive: Path, report=lambda line: None, looks: int = 20) -> list[str]:
    """The statuses of what the first look takes that takes something; of so many looks."""
    found = []

    def passed(summary) -> None:
        found.extend(outcome.status for outcome in summary.outcomes)
        raise KeyboardInterrupt

    def sleep(seconds: float) -> None:
        nonlocal looks
        looks -= 1
        if not looks:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(time, "sleep", sleep)
        watch(
            [inputs],
            archive,
            seconds=1,
            report=report,
            passed=passed,
            workers=1,
            planned=lambda files: None,
            finished=lambda outcome: None,
            progress=lambda done, total: None,
        )
    return found


def test_what_a_watch_could_not_take_it_takes_later(tmp_path, monkeypatch):
    """A full disk, say, is not the files' fault; it is told once."""
    from hta_sql.store.manifest import Manifest

    write(tmp_path / "t/rank_0.json")
    make, left, said = Manifest.make, [OSError(28, "No space left on device")] * 3, []

    def full_for_a_while(manifest: Manifest) -> None:
        if left:
            raise left.pop()
        make(manifest)

    monkeypatch.setattr(Manifest, "make", full_for_a_while)
    assert watched(tmp_path / "t", tmp_path / "a", said.append) == ["ingested"]
    assert said == ["[Errno 28] No space left on device"]


def test_a_watch_looks_into_other_json_once(tmp_path):
    (tmp_path / "t").mkdir()
    (tmp_path / "t/notes.json").write_text("{}")
    said = []
    assert watched(tmp_path / "t", tmp_path / "a", said.append) == []
    assert len(said) == 2 and said[0].startswith("skipped notes.json: not a Kineto trace")


def test_a_watch_of_nothing(tmp_path):
    with pytest.raises(HtaSqlError, match="no such file or folder"):
        watch([tmp_path / "none"], tmp_path / "a", seconds=1)
