"""A query that is asked for some jobs opens the files of these alone, and says the same."""

import pytest

import hta_sql
from hta_sql.catalogue.catalog import Catalog
from hta_sql.demo import write_job
from hta_sql.errors import BadParameter

pytestmark = pytest.mark.queries

REQUIRED = {
    "kernel_sequences": {"operator": "aten::linear", "min_length": 1},
    "call_stack": {"of_event": 0},
    "under_operator": {"of_name": "aten::%"},
    "after_event": {"of_name": "aten::%"},
    "before_event": {"of_name": "aten::%"},
    "between_events": {"first_name": "aten::%", "second_name": "aten::%"},
}
QUERIES = [
    query
    for query in Catalog.load().newest.values()
    if "only_jobs" in {parameter.name for parameter in query.parameters}
]


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """Three jobs, of which the names of two end alike."""
    folder = tmp_path_factory.mktemp("jobs")
    for seed, job in enumerate(("a", "b/a", "c d")):
        write_job(folder / "traces" / job, ranks=2, steps=2, layers=1, seed=seed)
    hta_sql.ingest(folder / "traces", folder / "archive")
    with hta_sql.open(folder / "archive") as run:
        run.compute_critical_path(step=1)
        run.materialize()
    return folder / "archive"


@pytest.fixture(scope="module")
def run(archive):
    with hta_sql.open(archive) as run:
        yield run


@pytest.fixture(scope="module")
def small(archive):
    with hta_sql.open(archive) as run:
        run.sql("FROM jobs")
        yield run


@pytest.fixture(scope="module")
def con(archive):
    with hta_sql.open(archive) as run:
        yield run.con


@pytest.mark.parametrize("query", QUERIES, ids=str)
def test_rows_are_those_of_all_files(run, small, con, query, monkeypatch):
    """On a large archive, which opens the job's files alone, and on a small one, which shares."""
    given = REQUIRED.get(query.name, {})
    sql, values = query.call({"only_jobs": ["b/a"], **given})
    everywhere = con.sql(sql, params=values).to_arrow_table()
    with monkeypatch.context() as patch:
        patch.setattr("hta_sql.database.session.events_of_small", lambda *_: None)
        alone = run.query(query.name, only_jobs=["b/a"], **given)
    shared = small.query(query.name, only_jobs=["b/a"], **given)
    assert (run.session.seen_jobs, small.session.seen_jobs) == ({"b/a"}, None)
    key = [(name, "ascending") for name in query.grain]
    assert alone.sort_by(key).equals(everywhere.sort_by(key))
    assert shared.sort_by(key).equals(everywhere.sort_by(key))


def test_next_question_sees_all_again(small):
    assert set(small.temporal_breakdown(only_jobs=["a"])["job"].to_pylist()) == {"a"}
    assert set(small.temporal_breakdown()["job"].to_pylist()) == {"a", "b/a", "c d"}
    assert small.temporal_breakdown(only_jobs=[]).num_rows == 0
    with pytest.raises(BadParameter, match="no job 'nowhere'; its jobs are 'a', 'b/a', 'c d'"):
        small.temporal_breakdown(only_jobs=["nowhere"])
    assert small.sql("SELECT DISTINCT job FROM events").num_rows == 3


def test_what_is_made_in_the_connection_stays(archive):
    """Whoever asks for it may put another table in place of one of the archive's."""
    with hta_sql.open(archive) as run:
        run.con.execute("CREATE OR REPLACE VIEW gpu_activities AS FROM gpu_activities_schema()")
        assert run.kernel_stats(only_jobs=["a"]).num_rows == 0
        assert run.kernel_stats().num_rows == 0


def test_opened_for_some_jobs(archive):
    with hta_sql.open(archive, only_jobs=["a", "c d"]) as run:
        assert run.sql("SELECT DISTINCT job FROM traces ORDER BY job")["job"].to_pylist() == [
            "a",
            "c d",
        ]
        assert set(run.temporal_breakdown()["job"].to_pylist()) == {"a", "c d"}
        with pytest.raises(BadParameter, match="no job 'b/a'; its jobs are 'a', 'c d'"):
            run.temporal_breakdown(only_jobs=["b/a"])
        assert run.sql("SELECT DISTINCT job FROM host_ops").num_rows == 2


def test_a_name_alone_is_one_job(archive):
    with hta_sql.open(archive, only_jobs="b/a") as run:
        assert run.sql("SELECT DISTINCT job FROM events")["job"].to_pylist() == ["b/a"]
    with hta_sql.open(archive) as run:
        assert run.materialize(only_jobs="b/a", force=True).jobs == ["b/a"]


def test_attachments_of_other_jobs_are_not_seen(tmp_path):
    """Neither is what was wrong with them."""
    for job in ("a", "b"):
        (tmp_path / "t" / job).mkdir(parents=True)
        (tmp_path / "t" / job / "et_rank_0.json").write_text(
            '{"schema": "1.0.1", "nodes": [null, {"id": 2, "rf_id": 2, "name": "op"}]}'
        )
    hta_sql.ingest(tmp_path / "t", tmp_path / "archive", workers=1)
    with hta_sql.open(tmp_path / "archive", only_jobs=["a"]) as run:
        for table in ("attachments", "execution_nodes", "quarantine"):
            assert run.sql(f"SELECT job FROM {table}")["job"].to_pylist() == ["a"], table
    with hta_sql.open(tmp_path / "archive") as run:
        assert run.sql("SELECT job FROM attachments").num_rows == 2


def test_files_of_other_jobs_are_not_opened(archive, tmp_path):
    """They may be broken."""
    import shutil

    copy = shutil.copytree(archive, tmp_path / "copy")
    for file in copy.glob("*/job=a/*/*.parquet"):
        file.write_bytes(b"broken")
    with hta_sql.open(copy) as run:
        assert run.temporal_breakdown(only_jobs=["c d"]).num_rows == 2
        with pytest.raises(hta_sql.HtaSqlError):
            run.temporal_breakdown(only_jobs=["a"])
