"""Paths that are exported."""

import gzip
import json
import os
import subprocess
from pathlib import Path

import pytest
from paths.kept.stored_paths import invoke

import hta_sql

pytestmark = pytest.mark.queries


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
    marked = {i for i, e in enumerate(events) if e.get("args", {}).get("critical") == 1}
    assert {i for i in marked if events[i]["name"] != "critical_path"} == on_path
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
    arrows = [e for e in events if e["name"] == "critical_path"]
    assert [e["ph"] for e in arrows] == ["s", "f"] * (len(arrows) // 2)
    drawn = [
        (f"critical_path_{row['edge']}", {"weight": row["time_ns"] / 1000, "critical": 1})
        for row in path
        if row["edge"] in ("dependency", "kernel_launch_delay", "sync_dependency")
    ]
    assert [(e["cat"], e["args"]) for e in arrows[::2]] == drawn
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
        (["--only-windows", "trace"], "the archive has no such critical path"),
    ],
)
def test_export_of_one_path_only(of_two_steps, tmp_path, words, says):
    result = invoke("export", "critical-path", of_two_steps, tmp_path / "out.json", *words)
    assert (result.exit_code, says in result.stderr) == (1, True), result.stderr
    assert not (tmp_path / "out.json").exists()


def test_a_rank_that_is_not_there(of_two_steps, tmp_path):
    out = tmp_path / "out.json"
    result = invoke("export", "critical-path", of_two_steps, out, "--only-ranks", "7")
    said = "Error: the archive has no rank 7; its ranks are 0, 1\n"
    assert (result.exit_code, result.stderr) == (2, said)


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
