"""Files of ranks become few, and say the same."""

import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from every_query import REQUIRED
from fleets import TABLES, contents, data_files, write_fleet
from hand_written import span, trace_text
from keeping.compaction import traces

import hta_sql
from hta_sql.catalogue.catalog import Catalog
from hta_sql.database.shell import run_shell, shell_program
from hta_sql.demo import write_job
from hta_sql.errors import ArchiveError
from hta_sql.fleet.materialize import materialize
from hta_sql.keeping import compact as compacting


def test_ranks_of_a_job_share_files(fleet):
    before = contents(fleet)
    done = hta_sql.compact(fleet)
    assert (done.job_count, done.rank_count, done.written_count, done.left) == (2, 5, 6, [])
    folders = [name.rpartition("/")[0] for name in data_files(fleet)]
    assert folders == sorted(
        f"{table}/{folder}"
        for table in TABLES
        for folder in ("job=bert/ranks", "job=llama 7b/ranks", "job=one/rank=0")
    )
    assert contents(fleet) == before
    with hta_sql.open(fleet) as run:
        assert run.check_tables() == []


def test_only_the_place_of_the_files_changes(fleet):
    before = traces(fleet)
    hta_sql.compact(fleet)
    after = traces(fleet)
    assert before.keys() == after.keys()
    for key, row in before.items():
        assert after[key] == row | {"file_id": after[key]["file_id"]}
    ids = {job: {after[key]["file_id"] for key in after if key[0] == job} for job, _ in after}
    assert [len(found) for found in ids.values()] == [1, 1, 1]
    assert ids["one"] == {before["one", 0]["trace_id"]}


def test_what_is_compact_stays(fleet):
    hta_sql.compact(fleet)
    before = data_files(fleet)
    assert hta_sql.compact(fleet).rank_count == 0
    assert data_files(fleet) == before


def test_only_these_jobs(fleet):
    before = contents(fleet)
    assert hta_sql.compact(fleet, only_jobs=["bert"]).rank_count == 2
    assert {name.split("/")[1] for name in data_files(fleet) if "/ranks/" in name} == {"job=bert"}
    assert contents(fleet) == before
    with pytest.raises(ArchiveError, match=r"no job 'nope'; there are 'bert', 'llama 7b', 'one'"):
        hta_sql.compact(fleet, only_jobs=["bert", "nope"])


def test_large_ranks_stay_alone(fleet, monkeypatch):
    """Ranks follow each other into a file until it would hold too many events."""
    before = contents(fleet)
    counts = [traces(fleet)["llama 7b", rank]["event_count"] for rank in range(3)]
    monkeypatch.setattr(compacting, "MOST_EVENTS", counts[0] + counts[1])
    hta_sql.compact(fleet, only_jobs=["llama 7b"])
    ids = [traces(fleet)["llama 7b", rank]["file_id"] for rank in range(3)]
    assert ids[0] == ids[1] != ids[2]
    assert ids[2] == traces(fleet)["llama 7b", 2]["trace_id"]
    assert contents(fleet) == before


def test_row_groups_are_full_and_in_the_order_of_ranks(tmp_path, monkeypatch):
    fleet = write_fleet(tmp_path / "a", {"j": 12})
    before = contents(fleet)
    monkeypatch.setattr("hta_sql.keeping.merge.ROW_GROUP_ROWS", 100)
    hta_sql.compact(fleet)
    for table in TABLES:
        [file] = fleet.glob(f"{table}/*/ranks/*.parquet")
        about = pq.ParquetFile(file).metadata
        sizes = [about.row_group(i).num_rows for i in range(about.num_row_groups)]
        assert len(sizes) > 1 and set(sizes[:-1]) == {100} and 0 < sizes[-1] <= 100
        ranks = pq.read_table(file, columns=["rank"], partitioning=None)["rank"].to_pylist()
        assert ranks == sorted(ranks) and set(ranks) == set(range(12))
    assert contents(fleet) == before


def test_columns_are_written_as_ingest_writes_them(tmp_path):
    for rank in range(2):
        trace = tmp_path / f"j/rank_{rank}.json"
        trace.parent.mkdir(exist_ok=True)
        trace.write_text(trace_text([span(f"op{i % 3}", ts=10 * i, dur=9) for i in range(50)]))
    hta_sql.ingest(tmp_path / "j", tmp_path / "a", workers=1)
    [one, _] = (tmp_path / "a").glob("events/*/rank=*/*.parquet")

    def encodings(file: Path) -> dict:
        group = pq.ParquetFile(file).metadata.row_group(0)
        columns = [group.column(i) for i in range(group.num_columns)]
        return {
            c.path_in_schema: (c.physical_type, set(c.encodings), c.compression, c.is_stats_set)
            for c in columns
        }

    before = encodings(one)
    hta_sql.compact(tmp_path / "a")
    [both] = (tmp_path / "a").glob("events/*/ranks/*.parquet")
    after = encodings(both)
    assert after.pop("rank")[3] is True
    assert after == before


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> Path:
    """Two made-up jobs with stored results, one with a critical path."""
    folder = tmp_path_factory.mktemp("demo-jobs")
    write_job(folder / "traces/a", ranks=2, steps=2, layers=1)
    write_job(folder / "traces/b", ranks=2, steps=1, layers=1, seed=1)
    hta_sql.ingest(folder / "traces", folder / "archive", workers=1)
    with hta_sql.open(folder / "archive") as run:
        run.compute_critical_path(step=1, only_jobs=["a"])
    materialize(folder / "archive")
    return folder


def answers(*archives) -> dict[str, list[dict]]:
    """What every query says; those that ask for something get it."""
    asked = REQUIRED | {"call_stack": {"of_event": 40}}
    with hta_sql.open(*archives) as run:
        found = {
            str(query): run.query(query.name, query.version, **asked.get(query.name, {}))
            for query in Catalog.load().queries
        }
    return {name: table.to_pylist() for name, table in found.items()}


@pytest.mark.queries
def test_every_query_gives_the_same_rows(demo, tmp_path):
    archive = Path(shutil.copytree(demo / "archive", tmp_path / "a"))
    expected = answers(archive)
    assert sum(map(bool, expected.values())) > 0.7 * len(expected)  # most have something to say
    assert hta_sql.compact(archive).rank_count == 4
    found = answers(archive)
    for name, rows in expected.items():
        assert found[name] == rows, name


def test_a_compacted_and_a_plain_archive_as_one(demo, tmp_path):
    plain = write_fleet(tmp_path / "plain", {"x": 2})
    compacted = write_fleet(tmp_path / "compacted", {"y": 2}, seed=1)
    before = contents(plain, compacted)
    hta_sql.compact(compacted)
    assert contents(plain, compacted) == before
    with hta_sql.open(plain, compacted) as run:
        stats = run.kernel_stats(only_jobs=["y"], only_ranks=[1])
        assert set(stats["job"].to_pylist()) == {"y"}


@pytest.mark.skipif(not shell_program(), reason="no duckdb command line")
def test_the_shell_reads_compacted_files(fleet, capfd):
    def ask() -> list[str]:
        commands = [
            "SELECT job, rank, count(*), sum(dur_ns) FROM events GROUP BY ALL ORDER BY ALL",
            "FROM kernel_stats()",
        ]
        assert run_shell(fleet, [".mode csv", *commands]) == 0
        return capfd.readouterr().out.splitlines()

    before = ask()
    hta_sql.compact(fleet, only_jobs=["bert"])
    assert ask() == before
    hta_sql.compact(fleet)
    hta_sql.drop(fleet, jobs=["one"])  # now there is no file of a rank alone
    assert ask() == [line for line in before if not line.startswith("one,")]
