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
