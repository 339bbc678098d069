"""Tables derived again from the events that the archive has."""

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hand_written import rows, span, trace_text

import hta_sql
from hta_sql.cli.program import cli
from hta_sql.errors import ArchiveError, BadParameter
from hta_sql.store.manifest import Manifest

TABLES = ("events", "host_ops", "gpu_activities", "quarantine")
OWN = ("trace_id", "file_id", "files", "ingested_at", "hta_sql_version")


def events(rank: int) -> list[dict]:
    return [
        span("epoch 4", 0, 90, "user_annotation"),
        span("train_step 7", 5 + rank, 30, "user_annotation"),
        span("aten::mm", 10, 10),
        span("cudaLaunchKernel", 12, 2, "cuda_runtime", correlation=3),
        span("gemm", 30, 20, "kernel", 0, 7, correlation=3, stream=7, device=0),
    ]


@pytest.fixture
def archive(tmp_path):
    for job, ranks in (("one", 3), ("two", 1)):
        folder = tmp_path / "traces" / job
        folder.mkdir(parents=True)
        for rank in range(ranks):
            bad = '{"ph": "X", "name": "broken", "ts": }'
            text = trace_text([*events(rank), bad])
            (folder / f"rank_{rank}.json").write_text(text)
    hta_sql.ingest(tmp_path / "traces", tmp_path / "archive", workers=1)
    return tmp_path / "archive"


def contents(archive) -> dict[str, list[tuple]]:
    """All rows of the tables, and of `traces` without what each ingest sets."""
    with hta_sql.open(archive) as run:
        found = {table: rows(run, f"FROM {table} ORDER BY ALL") for table in TABLES}
        columns = f"* EXCLUDE ({', '.join(OWN)})"
        return found | {"traces": rows(run, f"SELECT {columns} FROM traces ORDER BY ALL")}


def test_the_same_rows_again(archive):
    before = contents(archive)
    ids = {row["trace_id"] for row in Manifest(archive).rows()}
    summary = hta_sql.refresh(archive, workers=1)
    assert [outcome.status for outcome in summary.outcomes] == ["refreshed"] * 4
    assert contents(archive) == before
    assert ids.isdisjoint(row["trace_id"] for row in Manifest(archive).rows())
    left = {file.stem for file in archive.glob("*/job=*/*/*.parquet")}
    assert left == {row["trace_id"] for row in Manifest(archive).rows()}


def test_ranks_that_share_files(archive):
    before = contents(archive)
    hta_sql.compact(archive)
    hta_sql.refresh(archive, only_jobs=["one"], workers=1)
    assert contents(archive) == before
    hta_sql.compact(archive)
    assert contents(archive) == before


def test_other_steps_without_the_traces(archive, tmp_path):
    for file in (tmp_path / "traces").glob("*/*"):
        file.unlink()
    hta_sql.refresh(archive, only_jobs=["one"], steps=r"^train_step (\d+)", workers=1)
    with hta_sql.open(archive) as run:
        assert rows(run, "SELECT job, rank, step, start_ns // 1000 FROM steps ORDER BY ALL") == [
            ("one", 0, 7, 5),
            ("one", 1, 7, 6),
            ("one", 2, 7, 7),
        ]
        steps = "SELECT job, step FROM gpu_activities WHERE rank = 0 ORDER BY ALL"
        assert rows(run, steps) == [("one", 7), ("two", None)]
    # The pattern stays, until another one is given, or none.
    hta_sql.refresh(archive, workers=1)
    with hta_sql.open(archive) as run:
        assert run.profiler_steps().num_rows == 3
    hta_sql.refresh(archive, steps="", workers=1)
    with hta_sql.open(archive) as run:
        assert run.profiler_steps().num_rows == 0
        assert rows(run, "SELECT DISTINCT steps_pattern FROM traces") == [(None,)]


def test_columns_that_an_old_archive_lacks(archive):
    """As an earlier version wrote it: with an older schema, and without some columns."""
    before = contents(archive)["host_ops"]
    manifest = Manifest(archive)
    with manifest.locked():
        old = [row | {"schema_version": 7, "steps_pattern": None} for row in manifest.rows()]
        old = [row | {"files": None} for row in old]  # the test writes files itself
        manifest.change(lambda row: False, old)
    for file in archive.glob("host_ops/*/*/*.parquet"):
        pq.write_table(pq.read_table(file, partitioning=None).drop_columns(["depth"]), file)
    with pytest.warns(UserWarning, match="derive them with `hta-sql refresh ARCHIVE`"):
        assert contents(archive)["host_ops"] != before
    hta_sql.refresh(archive, workers=1)
    assert contents(archive)["host_ops"] == before
    with hta_sql.open(archive) as run:
        assert rows(run, "SELECT DISTINCT schema_version FROM traces") == [
            (hta_sql.SCHEMA_VERSION,)
        ]


def test_a_job_with_a_rank_that_fails_stays_as_it_was(archive):
    before = contents(archive)
    [file] = archive.glob("events/job=one/rank=1/*.parquet")
    kept = file.read_bytes()
    file.write_bytes(b"not Parquet")
    summary = hta_sql.refresh(archive, workers=1)
    file.write_bytes(kept)
    assert [(o.job, o.status) for o in summary.outcomes] == [
        *[("one", "failed")] * 3,
        ("two", "refreshed"),
    ]
    assert "rank 1 failed: " in summary.outcomes[0].error
    assert contents(archive) == before


def test_events_that_are_not_there(archive):
    [file] = archive.glob("events/job=two/rank=0/*.parquet")
    file.unlink()
    [outcome] = hta_sql.refresh(archive, only_jobs=["two"], workers=1).outcomes
    assert outcome.error == "the archive has no events of this rank; ingest its trace again"


def test_what_cannot_be_refreshed(archive):
    with pytest.raises(ArchiveError, match="no job 'three'"):
        hta_sql.refresh(archive, only_jobs=["three"])
    with pytest.raises(BadParameter, match="steps is"):
        hta_sql.refresh(archive, steps="(")


def test_the_command(archive):
    chosen = ["--only-jobs", "two", "--steps", "train_step", "--workers", "1"]
    result = CliRunner().invoke(cli, ["refresh", str(archive), *chosen])
    assert result.exit_code == 0
    lines = result.stderr.splitlines()
    assert lines[0].startswith("two rank 0: refreshed, 5 events, 1 quarantined, ")
    assert lines[1].startswith("1 rank: 1 refreshed; ")
