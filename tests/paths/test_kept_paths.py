"""Paths in archives: until when they count, what may go wrong, commands and exports."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import hta_sql
from hta_sql.cli import cli
from hta_sql.demo import write_job
from hta_sql.errors import ArchiveError, BadParameter, HtaSqlError


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Two ranks of a made-up job, and their traces in `llama`."""
    write_job(tmp_path / "llama", ranks=2, steps=2, layers=1, gzip=False)
    hta_sql.ingest([tmp_path / "llama"], tmp_path / "archive")
    return tmp_path / "archive"


def windows(archive: Path) -> list[tuple]:
    with hta_sql.open(archive) as run:
        return [
            tuple(row.values())
            for row in run.sql(
                "SELECT job, path_window, ranks FROM critical_paths ORDER BY ALL"
            ).to_pylist()
        ]


def path_files(archive: Path) -> set[str]:
    return {
        path.stem
        for table in ("path_edges", "job_path_edges", "what_if_times")
        for path in archive.glob(f"{table}/*/*/*.parquet")
    }


def invoke(*words):
    return CliRunner().invoke(cli, [str(word) for word in words])


def test_a_window_computed_again_replaces_itself(archive):
    with hta_sql.open(archive) as run:
        run.compute_critical_path(step=1)
        before = path_files(archive)
        first = run.critical_path().to_pylist()
        [computed] = run.compute_critical_path(step=1)
        assert computed.ranks == [0, 1] and computed.left_out_count == 0
        assert run.critical_path().to_pylist() == first != []
        after = path_files(archive)
        assert len(before) == len(after) == 1 and before != after
        run.compute_critical_path(step=0, only_ranks=[1])
        run.compute_critical_path()
    assert windows(archive) == [
        ("llama", "step 0", [1]),
        ("llama", "step 1", [0, 1]),
        ("llama", "trace", [0, 1]),
    ]
    assert len(path_files(archive)) == 3


def test_windows_of_several_jobs_computed_again(archive, tmp_path):
    """That the paths of the first have gone does not stop the next."""
    hta_sql.ingest([tmp_path / "llama"], archive, job="other")
    with hta_sql.open(archive) as run:
        run.compute_critical_path(step=1)
        before = run.critical_path().to_pylist()
        assert len(run.compute_critical_path(step=1)) == 2
        assert run.critical_path().to_pylist() == before != []
    assert windows(archive) == [("llama", "step 1", [0, 1]), ("other", "step 1", [0, 1])]


def test_paths_go_with_their_traces(archive, tmp_path):
    """One rank ingested anew: what was computed of it no longer counts, and goes."""
    with hta_sql.open(archive) as run:
        run.compute_critical_path(step=1)
        run.compute_critical_path(step=1, only_ranks=[0])
        run.compute_critical_path(step=0)
    hta_sql.ingest([tmp_path / "llama" / "rank_1.json"], archive, force=True)
    assert windows(archive) == [("llama", "step 1", [0])]
    with hta_sql.open(archive) as run:
        assert {row["path_window"] for row in run.critical_path().to_pylist()} == {"step 1"}
        assert set(run.critical_path()["rank"].to_pylist()) == {0}
        run.compute_critical_path()
    assert windows(archive) == [("llama", "step 1", [0]), ("llama", "trace", [0, 1])]
    assert len(path_files(archive)) == 2


def test_other_files_leave_paths_alone(archive, tmp_path):
    with hta_sql.open(archive) as run:
        run.compute_critical_path(step=1)
    before = path_files(archive)
    timeline = tmp_path / "llama" / "rank_1.raw.json"
    timeline.write_text("[[1000, 1, 512, 0], [2000, 3, -512, 0]]")
    summary = hta_sql.ingest([tmp_path / "llama"], archive)
    assert [outcome.status for outcome in summary.attachments] == ["ingested"]
    assert path_files(archive) == before
    assert windows(archive) == [("llama", "step 1", [0, 1])]
    with hta_sql.open(archive) as run:
        assert set(run.critical_path()["rank"].to_pylist()) == {0, 1}


def test_several_archives(archive, tmp_path):
    write_job(tmp_path / "other", ranks=1, steps=2, layers=1, gzip=False)
    hta_sql.ingest([tmp_path / "other"], tmp_path / "second")
    with hta_sql.open(archive, tmp_path / "second") as run:
        run.compute_critical_path(step=1)
        assert set(run.critical_path()["job"].to_pylist()) == {"llama", "other"}
    assert windows(archive) == [("llama", "step 1", [0, 1])]
    assert windows(tmp_path / "second") == [("other", "step 1", [0])]


def test_a_shell_sees_them(archive):
    with hta_sql.open(archive) as run:
        run.compute_critical_path(step=1)
        wanted = run.critical_path_summary().num_rows
    shell = subprocess.run(
        [
            sys.executable,
            "-m",
            "hta_sql.cli",
            "shell",
            str(archive),
            "-c",
            "SELECT count(*) AS n FROM critical_path_summary()",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert f" {wanted} " in shell.stdout


def test_an_archive_that_cannot_be_written(archive):
    with hta_sql.open(archive) as run:
        (archive / ".staging").rmdir()
        (archive / ".staging").write_text("in the way")
        with pytest.raises(ArchiveError, match="kept in the archive, which cannot be written"):
            run.compute_critical_path(step=1)
    assert windows(archive) == []


def test_nothing_stays_of_what_fails(archive):
    with hta_sql.open(archive) as run:
        with pytest.raises(RuntimeError, match="stop"):
            run.compute_critical_path(step=1, progress=stop)
        assert list((archive / ".staging").iterdir()) == []
        assert run.critical_path().num_rows == 0
        assert not (archive / "path_edges").exists()


def stop(job, done, total):
    if done:
        raise RuntimeError("stop")


@pytest.mark.parametrize(
    ("given", "kind", "says"),
    [
        ({"step": 7}, HtaSqlError, "^these traces have no step 7; there are steps 0, 1$"),
        (
            {"step": 7, "only_ranks": [1]},
            HtaSqlError,
            "^the traces of these jobs and ranks have no step 7; there are steps 0, 1$",
        ),
        (
            {"step": 1, "only_ranks": [5]},
            HtaSqlError,
            "^there is no trace of these jobs and ranks$",
        ),
        ({"only_jobs": "nobody"}, HtaSqlError, "^there is no trace of these jobs and ranks$"),
        (
            {"annotation": "nobody"},
            HtaSqlError,
            "no annotation with 'nobody' in its name; annotation_",
        ),
        (
            {"annotation": "ProfilerStep", "instance": 2},
            HtaSqlError,
            "no instance 2 of 'ProfilerStep'; a rank has 2 at most, 0 to 1",
        ),
        (
            {"step": 1, "annotation": "x"},
            BadParameter,
            "of a step or of an annotation, not of both",
        ),
        ({"step": "1"}, BadParameter, "step is '1'; it is a number from 0 on"),
        ({"step": -1}, BadParameter, "step is -1; it is a number"),
        ({"instance": 1}, BadParameter, "instance needs an annotation"),
        (
            {"annotation": "x", "instance": -1},
            BadParameter,
            "instance is -1; it is a number from 0",
        ),
        ({"annotation": ""}, BadParameter, "annotation is ''; it is part of a name"),
        ({"only_ranks": "x"}, BadParameter, "only_ranks is INTEGER"),
        (
            {"data_loading": [""]},
            BadParameter,
            "data_loading is .*; it is a list of parts of names",
        ),
        (
            {"faster": {"gemm": 1}},
            BadParameter,
            "faster is .*; it maps names to how many times faster",
        ),
        ({"faster": {"gemm": "2"}}, BadParameter, "faster is .*, more than 1"),
        ({"faster": {"gemm": float("inf")}}, BadParameter, "faster is .*, more than 1"),
        ({"faster": {1: 2}}, BadParameter, "faster is"),
        ({"faster": ["gemm"]}, BadParameter, "faster is"),
    ],
)
def test_what_cannot_be(archive, given, kind, says):
    with hta_sql.open(archive) as run, pytest.raises(kind, match=says):
        run.compute_critical_path(**given)
    assert windows(archive) == []


def test_a_name_is_a_list_of_one(archive):
    with hta_sql.open(archive) as run:
        [computed] = run.compute_critical_path(
            step=1, only_jobs="llama", only_ranks=1, data_loading="fetch"
        )
        assert computed.ranks == [1]
        [row] = run.sql("SELECT data_loading FROM critical_paths").to_pylist()
        assert row["data_loading"] == ["enumerate(DataLoader)", "fetch"]


def test_command(archive):
    result = invoke(
        "critical-path", archive, "--step", 1, "--faster", "nothing=2.5", "--format", "json"
    )
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)
    assert {row["rank"] for row in rows} == {0, 1} and {row["path_window"] for row in rows} == {
        "step 1"
    }
    assert "llama, step 1: 2 ranks, " in result.stderr
    [row] = [
        row
        for row in json.loads(invoke("run", "what_if", archive, "--format", "json").stdout)
        if row["subject"] == "nothing"
    ]
    assert (row["factor"], row["gain_ns"]) == (2.5, 0)
    assert "Warning: --faster: nothing there is named 'nothing'" in result.stderr
    one = invoke("critical-path", archive, "--only-ranks", "1", "--only-jobs", "llama,none")
    assert one.exit_code == 0 and "llama, trace: 1 rank, " in one.stderr


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--step", "9"], 1, "have no step 9; there are steps 0, 1"),
        (["--step", "1", "--annotation", "x"], 2, "of a step or of an annotation, not of both"),
        (["--faster", "gemm"], 2, "'gemm' is not NAME=TIMES"),
        (["--faster", "gemm=-1"], 2, "'gemm=-1' is not NAME=TIMES"),
        (["--faster", "gemm=inf"], 2, "'gemm=inf' is not NAME=TIMES"),
        (["--faster", "gemm=0.5"], 2, "'gemm=0.5' is not NAME=TIMES, more than 1 times"),
        (["--faster", "gemm=2", "--faster", "gemm=3"], 2, "a name is given twice"),
        (["--annotation", ""], 2, "annotation is ''; it is part of a name"),
        (["--data-loading", ""], 2, "it is a list of parts of names"),
        (["--step", "1", "-o", "out.foo"], 1, "its name does not tell the format"),
        (["--only-ranks", "x"], 2, "'x' is not a valid integer"),
    ],
)
def test_command_refuses(archive, words, code, says):
    result = invoke("critical-path", archive, *words)
    assert (result.exit_code, says in result.stderr) == (code, True), result.stderr
    assert len([line for line in result.stderr.splitlines() if line.startswith("Error")]) == 1
    assert windows(archive) == []


# Exports


def exported(archive: Path, out: Path, *words) -> dict:
    result = invoke("export", "critical-path", archive, out, *words)
    assert result.exit_code == 0, result.output
    assert not list(out.parent.glob(f".{out.name}*"))
    with gzip.open(out) if out.suffix == ".gz" else out.open("rb") as file:
        trace = json.load(file)
    assert f"{len(trace['traceEvents']):,} events in {out}" in result.stderr
    return trace


@pytest.mark.parametrize("name", ["path.json.gz", "path.json"])
def test_export(archive, tmp_path, name):
    with hta_sql.open(archive) as run:
        run.compute_critical_path(step=1)
        path = run.critical_path(only_ranks=[1]).to_pylist()
    trace = exported(archive, tmp_path / name, "--only-ranks", "1")
    events = trace["traceEvents"]
    on_path = {row[end] for row in path for end in ("source_event_id", "target_event_id")}
    with open(tmp_path / "llama" / "rank_1.json") as file:
        source = json.load(file)
    was = source["traceEvents"]
    assert {i for i, e in enumerate(events) if e.get("args", {}).get("critical") == 1} == on_path
    # What was in the trace is as it was, in its place.
    assert len(events) > len(was)
    for then, now in zip(was, events, strict=False):
        if then["ph"] == "M":  # names are of no time
            then = {key: value for key, value in then.items() if key != "ts"}
        now = now | {"args": {k: v for k, v in now.get("args", {}).items() if k != "critical"}}
        assert now == then | {"args": then.get("args", {})}
    assert {key: value for key, value in source.items() if key != "traceEvents"}.items() <= (
        trace | {"displayTimeUnit": "ms"}
    ).items()
    # The path's own track takes what the path takes; arrows come in pairs that lead forward.
    track = [e for e in events if e.get("pid") == "Critical path"]
    taken = [row for row in path if row["time_ns"]]
    assert [(e["name"], e["cat"], e["args"]["position"]) for e in track] == [
        (row["name"], row["bound_by"], row["position"]) for row in taken
    ]
    arrows = [e for e in events if e.get("cat") == "critical_path"]
    assert [e["ph"] for e in arrows] == ["s", "f"] * (len(arrows) // 2)
    assert len(arrows) == 2 * sum(
        row["edge"] in ("dependency", "kernel_launch_delay", "sync_dependency") for row in path
    )
    for start, end in zip(arrows[::2], arrows[1::2], strict=True):
        assert start["id"] == end["id"] and start["ts"] <= end["ts"] + 0.002


def test_export_of_the_path_alone(archive, tmp_path):
    with hta_sql.open(archive) as run:
        run.compute_critical_path(step=1)
    whole = exported(archive, tmp_path / "whole.json", "--only-ranks", "0")["traceEvents"]
    short = exported(archive, tmp_path / "short.json", "--only-ranks", "0", "--only-critical")[
        "traceEvents"
    ]

    def kept(event):
        return (
            event["ph"] != "X"
            or event["cat"] in ("user_annotation", "python_function")
            or "critical" in event.get("args", {})
            or event.get("pid") == "Critical path"
        )

    assert short == [event for event in whole if kept(event)] != whole


def test_an_export_is_a_trace(archive, tmp_path):
    """Read again it gives the same numbers."""
    with hta_sql.open(archive) as run:
        run.compute_critical_path(step=1)
    out = tmp_path / "again" / "rank_0.json.gz"
    out.parent.mkdir()
    exported(archive, out, "--only-ranks", "0")
    hta_sql.ingest([out.parent], tmp_path / "second", job="llama")
    with hta_sql.open(archive) as run, hta_sql.open(tmp_path / "second") as again:
        for name in ("temporal_breakdown", "kernel_stats", "op_stats"):
            given = {"only_ranks": [0]}
            assert run.query(name, **given).equals(again.query(name, **given)), name
        again.compute_critical_path(step=1)
        run.compute_critical_path(step=1, only_ranks=[0])
        assert run.critical_path().equals(again.critical_path())
        counts = again.sql("SELECT quarantined_count FROM traces").to_pylist()
        assert counts == [{"quarantined_count": 0}]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "2 ranks have a critical path (0, 1); choose one with --only-ranks"),
        (
            ["--only-ranks", "0"],
            "2 windows have a critical path (step 0, step 1); choose one with --only-windows",
        ),
        (["--only-ranks", "7"], "no such critical path is in the archive; hta-sql critical-path"),
        (["--only-windows", "trace"], "no such critical path is in the archive"),
    ],
)
def test_export_of_one_path_only(archive, tmp_path, words, says):
    with hta_sql.open(archive) as run:
        run.compute_critical_path(step=0)
        run.compute_critical_path(step=1)
    result = invoke("export", "critical-path", archive, tmp_path / "out.json", *words)
    assert (result.exit_code, says in result.stderr) == (1, True), result.stderr
    assert not (tmp_path / "out.json").exists()


def test_a_file_that_cannot_be_written(archive, tmp_path):
    with hta_sql.open(archive) as run:
        run.compute_critical_path(step=1, only_ranks=[0])
    result = invoke("export", "critical-path", archive, tmp_path / "no" / "out.json")
    assert result.exit_code == 1
    assert result.stderr == f"Error: {tmp_path / 'no' / 'out.json'}: No such file or directory\n"


def test_links_and_pipes_stay_what_they_are(archive, tmp_path):
    with hta_sql.open(archive) as run:
        run.compute_critical_path(step=1, only_ranks=[0])
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    link.symlink_to(real)
    exported(archive, link)
    assert link.is_symlink() and json.loads(real.read_text())["traceEvents"]
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    with (tmp_path / "read.json").open("wb") as read, subprocess.Popen(["cat", pipe], stdout=read):
        assert invoke("export", "critical-path", archive, pipe).exit_code == 0
    assert (tmp_path / "read.json").read_text() == real.read_text()
    assert pipe.is_fifo()


def test_odd_values_survive(tmp_path):
    """Names, ids and arguments that are not the usual ones, as they were."""
    events = [
        {
            "ph": "X",
            "cat": "cpu_op",
            "name": 'a "b" \\ ü',
            "pid": "main",
            "tid": "t-1",
            "ts": 5.25,
            "dur": 3.001,
            "args": {"critical path": 1, "nested": {"a": [1, None]}},
        },
        {
            "ph": "X",
            "cat": "cpu_op",
            "name": "empty",
            "pid": 7,
            "tid": -549452224,
            "ts": 9,
            "dur": 1,
            "args": {},
        },
        {
            "ph": "X",
            "cat": "cpu_op",
            "name": "none",
            "pid": 7,
            "tid": 8,
            "ts": 12,
            "dur": 1,
            "cname": "good",
        },
        {"ph": "i", "s": "g", "name": "instant", "pid": "", "tid": "", "ts": 13},
        {"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "args": {"name": "python"}},
    ]
    folder = tmp_path / "odd"
    folder.mkdir()
    (folder / "rank_0.json").write_text(
        json.dumps(
            {
                "schemaVersion": 1,
                "baseTimeNanoseconds": 1_700_000_000_000_000_000,
                "traceEvents": events,
            }
        )
    )
    hta_sql.ingest([folder], tmp_path / "archive")
    with hta_sql.open(tmp_path / "archive") as run:
        run.compute_critical_path()
    trace = exported(tmp_path / "archive", tmp_path / "out.json")
    found = trace["traceEvents"][:5]
    for then, now in zip(events, found, strict=True):
        args = {k: v for k, v in now.get("args", {}).items() if k != "critical"}
        assert now | {"args": args} == then | {"args": then.get("args", {})}


def test_stamps_before_the_base(tmp_path):
    """An export reads again at the same instants, also of a trace that begins before 0."""
    folder, again = tmp_path / "odd", tmp_path / "again"
    folder.mkdir()
    again.mkdir()
    events = [
        {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": 2000}
        for name, ts in (("a", -5000), ("b", 10))
    ]
    (folder / "rank_0.json").write_text(json.dumps({"traceEvents": events}))
    hta_sql.ingest([folder], tmp_path / "archive")
    with hta_sql.open(tmp_path / "archive") as run:
        run.compute_critical_path()
    exported(tmp_path / "archive", again / "rank_0.json")
    hta_sql.ingest([again], tmp_path / "second")
    with hta_sql.open(tmp_path / "second") as run:
        rows = run.sql("SELECT name, start_ns FROM events WHERE cat = 'cpu_op' ORDER BY event_id")
    assert rows.to_pylist() == [
        {"name": "a", "start_ns": -5_000_000},
        {"name": "b", "start_ns": 10_000},
    ]
