"""Made-up traces, ingested: what is found across ranks is what was planned."""

import json

import pytest

import hta_sql
from hta_sql.demo import write_job

pytestmark = pytest.mark.queries


@pytest.fixture(scope="module", params=["comms_id", "seq", "none"])
def job(request, tmp_path_factory):
    """Six ranks, in groups of all and of two; the fifth is slow."""
    folder = tmp_path_factory.mktemp("ranks")
    write_job(
        folder / "traces", ranks=6, steps=3, layers=3, straggler=4, collective_ids=request.param
    )
    hta_sql.ingest([folder / "traces"], folder / "archive")
    with hta_sql.open(folder / "archive") as run:
        yield run, json.loads((folder / "traces" / "truth.json").read_text())


def test_collectives(job):
    run, truth = job
    found = {}
    for row in run.collective_members().to_pylist():
        found.setdefault(row["collective_id"], {})[str(row["rank"])] = (
            row["start_ns"],
            row["dur_ns"],
            row["wait_ns"],
        )
    rows = {row["collective_id"]: row for row in run.collectives().to_pylist()}
    assert found.keys() == rows.keys() and len(found) == truth["collective_count"]
    wanted = {}
    for planned in truth["collectives"]:
        least = min(member["dur_ns"] for member in planned["ranks"].values())
        members = {
            rank: (m["start_ns"], m["dur_ns"], m["dur_ns"] - least)
            for rank, m in planned["ranks"].items()
        }
        wanted[frozenset(members.items())] = planned
    for collective_id, members in found.items():
        planned = wanted.pop(frozenset(members.items()))
        row = rows[collective_id]
        for key, name in (
            ("name", "name"),
            ("process_group", "process_group"),
            ("comms_id", "comms_id"),
            ("dtype", "dtype"),
        ):
            assert row[key] == planned[name]
        assert row["bytes"] == 2 * max(planned["in_nelems"], planned["out_nelems"])
        assert row["group_size"] == row["member_count"] == len(planned["members"])
    assert not wanted
    assert run.collective_audit().num_rows == 0


def test_clocks(job):
    run, truth = job
    rows = run.clock_offsets().to_pylist()
    assert [row["rank"] for row in rows] == list(range(6))
    for row, rank in zip(rows, truth["ranks"], strict=True):
        assert abs(row["offset_ns"] - rank["clock_offset_ns"]) <= 100
        assert abs(row["drift_ppm"] - rank["drift_ppm"]) < 0.1
        assert row["residual_ns"] <= 10


def test_straggler(job):
    run, truth = job
    assert truth["straggler"] == 4
    found = [row["rank"] for row in run.stragglers().to_pylist() if row["is_straggler"]]
    assert found == [4]
    [most, *_] = run.lost_gpu_time().to_pylist()
    assert (most["rank"], most["cause"], most["host"]) == (4, "computation", "demo-node-0")
    # The short name of a gemm is in words; the full names are the trace's.
    own = run.sql(
        "SELECT DISTINCT name FROM gpu_activities WHERE short_name = ?", [most["kernel_name"]]
    )
    names = {row["name"] for row in own.to_pylist()}
    assert names and names <= {name for rank in truth["ranks"] for name in rank["kernels"]}
    worst = {row["metric"]: row["max_rank"] for row in run.rank_imbalance().to_pylist()}
    assert worst["compute"] == 4 and worst["communication"] != 4


def test_groups(job):
    run, _ = job
    assert [
        (row["process_group"], row["ranks"], row["role"])
        for row in run.process_groups().to_pylist()
    ] == [
        ("0", [0, 1, 2, 3, 4, 5], "world"),
        ("1", [0, 1], "data"),
        ("1", [2, 3], "data"),
        ("1", [4, 5], "data"),
    ]


@pytest.mark.big
def test_rank_lists_are_rebuilt(tmp_path):
    """Of 40 ranks the profiler writes 30; the rest comes from the header, else from the operator
    around the kernel, which says where the group starts and in what stride it goes on."""
    write_job(tmp_path / "traces", ranks=40, steps=1, layers=1, gzip=False)
    hta_sql.ingest([tmp_path / "traces"], tmp_path / "whole")
    for path in (tmp_path / "traces").glob("rank_*"):
        text = path.read_text()
        assert text.count("distributedInfo") == 1 and ", ..., 39]" in text
        path.write_text(
            text.replace("distributedInfo", "somethingElse").replace(", 28, ..., 39]", ", ...]")
        )
    hta_sql.ingest([tmp_path / "traces"], tmp_path / "cut")
    for archive, source in (("whole", "distributedInfo"), ("cut", "start and stride")):
        with hta_sql.open(tmp_path / archive) as run:
            world = run.process_groups().to_pylist()[0]
            assert (world["ranks_source"], world["ranks"]) == (source, list(range(40)))
            assert run.collective_audit().num_rows == 0
