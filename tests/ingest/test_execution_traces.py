"""Execution traces in an archive; the command, and PyTorch's own."""

import gzip
import json
import os
import random
import shutil
import subprocess
import sys

import pyarrow.parquet as pq
import pytest
from hand_written import rows, span, trace_text, without_checksums
from ingest.execution_traces import NEW, attached, execution_trace, node, write, write_trace
from real_files import TRACES
from seeds import seeds

import hta_sql
from hta_sql.errors import ArchiveError


def test_again(tmp_path):
    """Unchanged ones are skipped, also when only touched; changed ones take the other's place."""
    write_trace(tmp_path / "job/rank_0.json")
    path = write(tmp_path / "job/et.json", execution_trace([node(2), "null"]))
    archive = tmp_path / "archive"

    def statuses(**options) -> list[str]:
        summary = hta_sql.ingest(tmp_path / "job", archive, **options)
        return [outcome.status for outcome in [*summary.traces, *summary.attachments]]

    def counts() -> list[tuple]:
        with hta_sql.open(archive) as run:
            assert run.check_tables() == []
            return rows(
                run,
                "SELECT (SELECT count(*) FROM execution_nodes), "
                "(SELECT count(*) FROM quarantine), (SELECT count(*) FROM events)",
            )

    assert statuses() == ["ingested"] * 2 and counts() == [(1, 1, 3)]
    before = set(archive.glob("*/*/*/*.parquet"))
    assert statuses() == ["unchanged"] * 2
    os.utime(path, ns=(1, 1))
    assert statuses() == ["unchanged"] * 2
    assert set(archive.glob("*/*/*/*.parquet")) == before
    write(path, execution_trace([node(2), node(3)]))
    assert statuses() == ["unchanged", "replaced"] and counts() == [(2, 0, 3)]
    assert not list(archive.glob("quarantine/*/*/*.parquet"))
    assert statuses(force=True) == ["replaced"] * 2 and counts() == [(2, 0, 3)]
    assert len(list(archive.glob("execution_nodes/*/*/*.parquet"))) == 1
    assert len(list(archive.glob("events/*/*/*.parquet"))) == 1


def test_two_ingests_of_one_folder_at_once(tmp_path):
    """What the other one has published meanwhile is unchanged."""
    write_trace(tmp_path / "job/rank_0.json")
    write(tmp_path / "job/et.json", execution_trace([node(2)]))

    def other(files) -> None:
        assert not hta_sql.ingest(tmp_path / "job", tmp_path / "archive").failed

    summary = hta_sql.ingest(tmp_path / "job", tmp_path / "archive", planned=other)
    assert [outcome.status for outcome in summary.outcomes] == ["replaced", "unchanged"]
    assert attached(tmp_path / "archive") == [("job", 0, "execution_trace", "only rank")]


def test_trace_and_attachment_do_not_disturb_each_other(tmp_path):
    """They share the folder of their rank in quarantine."""
    bad = trace_text([span(), "5"])
    trace = write(tmp_path / "job/rank_0.json", bad)
    other = write(tmp_path / "job/et.json", execution_trace([node(2), "null", "[]"]))
    archive = tmp_path / "archive"
    hta_sql.ingest([trace, other], archive)

    def held() -> list[tuple]:
        with hta_sql.open(archive) as run:
            assert run.check_tables() == []
            return rows(
                run,
                "SELECT parse_filename(path), count(*) FROM quarantine GROUP BY ALL ORDER BY ALL",
            )

    expected = [("et.json", 2), ("rank_0.json", 1)]
    assert held() == expected
    for path in (trace, other):
        hta_sql.ingest(path, archive, force=True)
        assert held() == expected
    write(trace, trace_text([span()]))
    hta_sql.ingest(trace, archive)
    assert held() == [("et.json", 2)]


def test_a_file_is_there_as_a_whole_or_not_at_all(tmp_path):
    """What a killed ingest has left is not read, and goes with the next one of its rank."""
    archive = tmp_path / "archive"
    path = write(tmp_path / "job/et_rank_0.json", execution_trace([node(2)]))
    hta_sql.ingest(path, archive)
    [file] = archive.glob("execution_nodes/job=job/rank=0/*.parquet")
    left = file.with_name("feedfeedfeedfeed.parquet")
    shutil.copy(file, left)
    other = archive / "execution_nodes/job=job/rank=1/feedfeedfeedfeed.parquet"
    other.parent.mkdir()
    shutil.copy(file, other)
    with hta_sql.open(archive) as run:
        assert rows(run, "SELECT rank, count(*) FROM execution_nodes GROUP BY ALL") == [(0, 1)]
    hta_sql.ingest(path, archive, force=True)
    assert not left.exists() and other.exists()
    (archive / "attachments.parquet").unlink()
    with hta_sql.open(archive) as run:
        assert rows(run, "SELECT count(*) FROM execution_nodes") == [(0,)]


@pytest.mark.processes
@pytest.mark.parametrize("seed", seeds(4))
def test_killed_at_any_moment(tmp_path, seed):
    traces, archive = tmp_path / "job", tmp_path / "archive"
    for rank in range(3):
        write_trace(traces / f"rank_{rank}.json")
        nodes = [node(at, NEW) for at in range(2, 3000)]
        write(traces / f"et_rank_{rank}.json", execution_trace(nodes, NEW))
    code = "import sys, hta_sql; hta_sql.ingest(sys.argv[1], sys.argv[2], workers=1)"
    ingest = subprocess.Popen([sys.executable, "-c", code, traces, archive])
    try:
        ingest.wait(random.Random(seed).uniform(0.5, 2.5))
    except subprocess.TimeoutExpired:
        ingest.kill()
        ingest.wait()
    if (archive / "traces.parquet").exists():
        with hta_sql.open(archive) as run:
            counts = rows(run, "SELECT count(*) FROM execution_nodes GROUP BY rank")
            assert {count for (count,) in counts} <= {2998}
            assert run.check_tables() == []
    assert not hta_sql.ingest(traces, archive, workers=1).failed
    with hta_sql.open(archive) as run:
        assert rows(run, "SELECT rank, count(*) FROM execution_nodes GROUP BY ALL ORDER BY 1") == [
            (0, 2998),
            (1, 2998),
            (2, 2998),
        ]
    assert len(list(archive.glob("execution_nodes/*/*/*.parquet"))) == 3
    assert not list((archive / ".staging").glob("*"))


def test_missing_rows_are_noticed(tmp_path):
    archive = tmp_path / "archive"
    hta_sql.ingest(write(tmp_path / "job/et_rank_0.json", execution_trace([node(2)])), archive)
    [file] = archive.glob("execution_nodes/*/*/*.parquet")
    file.unlink()
    with hta_sql.open(archive) as run:
        with pytest.raises(ArchiveError, match=f"{file.name} is gone; it is of job 'job'"):
            run.check_tables()


def test_several_archives(tmp_path):
    """One may have the traces and another what goes with them; none may have the same."""
    hta_sql.ingest(write_trace(tmp_path / "job/rank_0.json"), tmp_path / "a")
    other = write(tmp_path / "job/et_rank_0.json", execution_trace([node(2, name="op0")]))
    for name in ("b", "c"):
        hta_sql.ingest(other, tmp_path / name)
    with hta_sql.open(tmp_path / "a", tmp_path / "b") as run:
        assert rows(
            run, "SELECT (SELECT count(*) FROM execution_nodes), (SELECT count(*) FROM events)"
        ) == [(1, 3)]
    with pytest.raises(ArchiveError, match="the execution trace of job 'job' rank 0 is in"):
        hta_sql.open(tmp_path / "b", tmp_path / "c")


def test_an_archive_of_another_schema(tmp_path):
    """Columns that it lacks are NULL, and it says so."""
    archive = tmp_path / "archive"
    hta_sql.ingest(write(tmp_path / "job/et_rank_0.json", execution_trace([node(2)])), archive)
    [file] = archive.glob("execution_nodes/*/*/*.parquet")
    pq.write_table(pq.read_table(file, partitioning=None).drop_columns(["op_schema"]), file)
    manifest = pq.read_table(archive / "attachments.parquet", partitioning=None)
    rows_now = [row | {"schema_version": 1} for row in manifest.to_pylist()]
    rows_now = without_checksums(archive, rows_now)
    pq.write_table(
        type(manifest).from_pylist(rows_now, manifest.schema), archive / "attachments.parquet"
    )
    with pytest.warns(UserWarning, match="by an earlier hta_sql"):
        run = hta_sql.open(archive)
    with run:
        assert rows(run, "SELECT node_id, op_schema FROM execution_nodes") == [(2, None)]


def command(*words) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "hta_sql.cli", *map(str, words)], capture_output=True, text=True
    )


@pytest.mark.processes
def test_what_the_command_says(tmp_path):
    write_trace(tmp_path / "job/rank_0.json")
    write(tmp_path / "job/et.json", execution_trace([node(2), "null", node(3)]))
    done = command("ingest", tmp_path / "job", tmp_path / "archive")
    lines = [line.rsplit(", ", 1)[0] for line in done.stderr.splitlines()]
    assert lines[:2] == [
        "job rank 0: ingested, 3 events",
        "job rank 0: ingested, execution trace, 2 nodes, 1 quarantined",
    ]
    assert done.stderr.splitlines()[2].startswith("1 trace, 1 execution trace: 2 ingested; ")
    assert done.returncode == 0
    write(tmp_path / "job/et2.json", execution_trace([node(2)]))
    done = command("ingest", tmp_path / "job", tmp_path / "archive")
    assert done.returncode == 1 and "et2.json: failed: " in done.stderr
    assert "1 trace, 2 execution traces: 2 unchanged, 1 failed; " in done.stderr
    one, two = (tmp_path / f"job/{name}.json" for name in ("rank_0", "et"))
    words = ["--rank", f"3={one}", "--rank", f"3={two}", one, two, tmp_path / "other"]
    assert command("ingest", *words).returncode == 0
    assert attached(tmp_path / "other") == [("job", 3, "execution_trace", "given")]
    assert command("check", tmp_path / "archive").returncode == 0
    named = write(tmp_path / "x.json", '{"nodes": []}')
    assert command("ingest", named, tmp_path / "archive").returncode == 1


# PyTorch's own.


@pytest.mark.skipif(not TRACES.is_dir(), reason=f"no real traces: {TRACES} is no folder")
def test_real_execution_trace(tmp_path):
    """Every node against its JSON, and what HTA's test asserts of the very same file."""
    path = TRACES / "execution_trace/et/simple_add_et.json.gz"
    hta_sql.ingest(TRACES / "execution_trace", tmp_path / "archive", job="simple_add")
    with gzip.open(path) as file:
        nodes = json.load(file)["nodes"]
    with gzip.open(TRACES / "execution_trace/simple_add_trace.json.gz") as file:
        events = json.load(file)["traceEvents"]
    with hta_sql.open(tmp_path / "archive") as run:
        found = run.sql("FROM execution_nodes ORDER BY position").to_pylist()
        joined = run.execution_node_ops().to_pylist()
        assert rows(run, "SELECT rank, rank_source FROM attachments") == [(0, "only rank")]
    assert len(found) == len(nodes) == 38
    for at, (row, raw) in enumerate(zip(found, nodes, strict=True)):
        assert (row["position"], row["node_id"], row["name"]) == (at, raw["id"], raw["name"])
        assert row["parent_id"] == (raw["parent"] if raw["id"] > 1 else None)
        assert row["record_function_id"] == (raw["rf_id"] or None)
        assert row["sequence_number"] == (raw["seq_id"] if raw["seq_id"] >= 0 else None)
        assert (row["scope"], row["thread_id"]) == (raw["scope"], raw["tid"])
        assert row["op_schema"] == (raw["op_schema"] or None)
        for column in (
            "inputs",
            "input_shapes",
            "input_types",
            "outputs",
            "output_shapes",
            "output_types",
        ):
            assert json.loads(row[column]) == raw[column]
        assert row["attributes"] is None
    # By HTA's rule: the ids of the nodes lie within the trace's, so that each names one.
    by_id = {raw["rf_id"]: raw for raw in nodes if "execution_trace|" not in raw["name"]}
    expected = [
        (at, event["name"], by_id[event["args"]["External id"]]["id"])
        for at, event in enumerate(events)
        if event.get("cat") in ("cpu_op", "user_annotation")
        and event["args"]["External id"] in by_id
    ]
    assert [(row["event_id"], row["name"], row["node_id"]) for row in joined] == expected
    assert len(expected) == len({node_id for *_, node_id in expected}) == 36
    assert {row["joined_by"] for row in joined} == {"external_id"}


def test_a_rank_without_a_trace_is_told(tmp_path):
    """A trace that comes later may be of another rank than the one guessed."""
    et = write(tmp_path / "et.json", execution_trace([node(2)]))
    trace = write_trace(tmp_path / "t.json")
    said = []
    hta_sql.ingest(et, tmp_path / "archive", job="j")
    hta_sql.ingest(trace, tmp_path / "archive", job="j", ranks={5: trace}, report=said.append)
    assert said == [
        "et.json: taken as rank 0 of job 'j', which has no trace of that rank; "
        "set another rank with --force --rank N=et.json"
    ]
    said.clear()
    hta_sql.ingest(et, tmp_path / "archive", job="j", ranks={5: et}, force=True, report=said.append)
    assert said == []
    assert attached(tmp_path / "archive") == [("j", 5, "execution_trace", "given")]
