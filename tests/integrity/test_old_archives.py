"""Archives of every schema version, each made by the hta_sql that introduced it.

Each holds the traces /traces/job/rank_0.json and rank_1.json: two steps with three operators, which
launch kernels of 40, 41 and 42 µs.
"""

import zipfile
from pathlib import Path

import pytest
from seeds import seeds

import hta_sql
from hta_sql import SCHEMA_VERSION
from hta_sql.store import lists, sources
from hta_sql.store.verify import verify

OLD = Path(__file__).parent / "old"


def test_every_version_has_an_archive():
    names = {file.stem for file in OLD.glob("*.zip")}
    assert names == {f"schema_{version}" for version in range(1, SCHEMA_VERSION + 1)}


@pytest.fixture
def archive(version: int, tmp_path: Path) -> Path:
    with zipfile.ZipFile(OLD / f"schema_{version}.zip") as packed:
        packed.extractall(tmp_path / "archive")
    return tmp_path / "archive"


def busy(archive: Path) -> list[tuple]:
    with hta_sql.open(archive) as run:
        assert run.check_tables() == []
        found = run.temporal_breakdown().to_pylist()
        assert run.sql("SELECT count(*) AS n FROM events").to_pylist() == [{"n": 40}]
        assert run.kernel_stats()["count"].to_pylist() == [6, 6]
    return [(row["job"], row["rank"], row["busy_ns"]) for row in found]


@pytest.mark.filterwarnings("ignore:.*ingested by an earlier hta_sql")
@pytest.mark.parametrize("version", [7])
@pytest.mark.parametrize("most_jobs", [0, 256])
def test_old_and_new_jobs_in_one_archive(
    archive, version, traces, tmp_path, most_jobs, monkeypatch
):
    """Old rows list no files, new ones do; no file is read twice. Nor beside another archive."""
    monkeypatch.setattr(sources, "MOST_JOBS", most_jobs)
    monkeypatch.setattr(lists, "MOST_JOBS", most_jobs)
    hta_sql.ingest(traces / "llama", archive, workers=1)
    hta_sql.materialize(archive)
    behind = {8: traces / "bert/rank_0.json", 9: traces / "bert/rank_1.json"}
    hta_sql.ingest([], tmp_path / "other", job="job", workers=1, ranks=behind)
    expected = {("job", 0): 20, ("job", 1): 20} | {("llama", n): 122 + 6 * n for n in range(3)}
    with hta_sql.open(archive) as run:
        assert events(run) == expected
    for order in ((archive, tmp_path / "other"), (tmp_path / "other", archive)):
        with hta_sql.open(*order) as run:
            assert events(run) == expected | {("job", 8): 122, ("job", 9): 128}
            # Of `job`, results are stored for two of its four ranks: they do not count.
            assert run.sql("SELECT DISTINCT job FROM stored_job_summary").num_rows == 1


def events(run) -> dict[tuple[str, int], int]:
    found = run.sql("SELECT job, rank, count(*) AS n FROM events GROUP BY ALL").to_pylist()
    return {(row["job"], row["rank"]): row["n"] for row in found}


# Before, events lacked the sequence numbers of autograd.
FIRST_REFRESHED = 4
EXPECTED = [("job", 0, 246_000), ("job", 1, 246_000)]


@pytest.mark.filterwarnings("ignore:.*ingested by an earlier hta_sql")
@pytest.mark.parametrize("version", seeds(range(SCHEMA_VERSION, 0, -1)))
def test_it_opens_and_can_be_kept(archive, version, tmp_path):
    assert busy(archive) == EXPECTED
    hta_sql.compact(archive)
    assert busy(archive) == EXPECTED
    assert verify(archive).unknown_count == 2
    done = hta_sql.refresh(archive)
    if version < FIRST_REFRESHED:
        assert {outcome.error for outcome in done.traces} == {
            f"its events are of schema {version}, and have less than what the other tables need; "
            "ingest its trace again"
        }
    else:
        assert done.failed == 0
        assert verify(archive).unknown_count == 0
    assert busy(archive) == EXPECTED
    assert verify(archive).damages == []
    hta_sql.export_job(archive, tmp_path / "out", job="job")
    assert busy(tmp_path / "out") == EXPECTED
    hta_sql.drop(archive, jobs=["job"])
    assert not list(archive.glob("*/job=*/*/*.parquet"))
