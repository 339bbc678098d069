"""Real traces, written and read again: nothing is lost, and the numbers are the same."""

import shutil

import orjson
import pytest
from export.conftest import exported, own
from real_files import TraceFile

import hta_sql

pytestmark = pytest.mark.real

QUERIES = (
    "temporal_breakdown",
    "kernel_stats",
    "op_stats",
    "launch_stats",
    "idle_time_breakdown",
    "queue_length_series",
    "memory_bandwidth_series",
    "annotation_stats",
    "thread_stats",
)


@pytest.fixture(scope="session")
def file(trace_file: TraceFile) -> TraceFile:
    return trace_file


def rows(run, query, file, **given):
    found = run.query(query, only_ranks=[file.rank], **given).to_pylist()
    return [{k: v for k, v in row.items() if k not in ("job", "host")} for row in found]


def again(tmp_path, trace: dict, file):
    """The rank's own events, read again."""
    folder = tmp_path / "again"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / f"rank_{file.rank}.json").write_bytes(
        orjson.dumps(trace | {"traceEvents": own(trace)})
    )
    summary = hta_sql.ingest([folder / f"rank_{file.rank}.json"], folder / "archive", job="again")
    assert not summary.failed
    return hta_sql.open(folder / "archive")


def test_whole_rank(real_archive, real_run, tmp_path, file):
    trace = exported(
        "perfetto",
        real_archive,
        tmp_path / "out.json.gz",
        "--job",
        file.job,
        "--only-ranks",
        file.rank,
    )
    [told] = real_run.sql(
        "SELECT event_count, status FROM traces WHERE job = $job AND rank = $rank",
        {"job": file.job, "rank": file.rank},
    ).to_pylist()
    assert len(own(trace)) == told["event_count"]
    with again(tmp_path, trace, file) as run:
        for query in QUERIES:
            wanted = rows(real_run, query, file, only_jobs=[file.job])
            assert rows(run, query, file) == wanted, query
        # Every event with all of its columns; ids are counted anew where some were left out.
        columns = "* EXCLUDE (job, rank, event_id, end_ns)"
        sql = f"SELECT {columns} FROM events WHERE rank = $rank"
        one = real_run.sql(
            f"{sql} AND job = $job ORDER BY event_id", {"rank": file.rank, "job": file.job}
        )
        assert run.sql(f"{sql} ORDER BY event_id", {"rank": file.rank}).equals(one)


def test_step_of_a_rank(real_archive, real_run, tmp_path, file):
    given = {"only_jobs": [file.job]}
    steps = [
        row["step"]
        for row in rows(real_run, "profiler_steps", file, **given)
        if row["kernel_count"]
    ]
    if not steps:
        pytest.skip("no step with kernels")
    step = steps[len(steps) // 2]
    trace = exported(
        "perfetto",
        real_archive,
        tmp_path / "out.json",
        "--job",
        file.job,
        "--only-ranks",
        file.rank,
        "--step",
        step,
    )
    with again(tmp_path, trace, file) as run:
        for query in ("temporal_breakdown", "idle_time_breakdown", "launch_stats", "kernel_stats"):
            ids = ("event_id", "launch_id", "op_id", "annotation_id")
            found, wanted = (
                [{k: v for k, v in row.items() if k not in ids} for row in table]
                for table in (
                    rows(run, query, file),
                    rows(real_run, query, file, only_steps=[step], **given),
                )
            )
            assert found == wanted, query
            assert wanted or query == "idle_time_breakdown"  # of one kernel, there is none
        names = "SELECT name, count(*) AS n, sum(dur_ns) AS ns FROM host_ops "
        assert run.sql(names + "GROUP BY ALL ORDER BY ALL").equals(
            real_run.sql(
                names
                + "WHERE job = $job AND rank = $rank AND step = $step GROUP BY ALL ORDER BY ALL",
                {"job": file.job, "rank": file.rank, "step": step},
            )
        )


def test_two_ranks(real_archive, real_run, tmp_path):
    """Without collectives nothing ties their clocks: both stay where they are."""
    trace = exported("perfetto", real_archive, tmp_path / "out.json.gz", "--job", "two_ranks")
    assert [rank["shift_ns"] for rank in trace["hta_sql"]["ranks"]] == [0, 0]
    devices = {
        int(new): (rank["rank"], old)
        for rank in trace["hta_sql"]["ranks"]
        for new, old in rank["devices"].items()
    }
    folder = tmp_path / "again"
    folder.mkdir()
    (folder / "rank_0.json").write_bytes(orjson.dumps(trace | {"traceEvents": own(trace)}))
    hta_sql.ingest([folder / "rank_0.json"], folder / "archive")
    with hta_sql.open(folder / "archive") as run:
        for query in ("temporal_breakdown", "idle_time_breakdown", "comm_comp_overlap"):
            found = [
                dict(zip(("rank", "device"), devices[row["device"]], strict=True))
                | {k: v for k, v in row.items() if k not in ("job", "rank", "device")}
                for row in run.query(query).to_pylist()
            ]
            wanted = [
                {k: v for k, v in row.items() if k != "job"}
                for row in real_run.query(query, only_jobs=["two_ranks"]).to_pylist()
            ]
            assert found == wanted and wanted, query
