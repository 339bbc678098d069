"""What a session keeps never outlives what it was made from.

On a small archive, a session keeps tables that queries share, findings, and which results are
stored. Whatever changes the archive while it is open: the session answers like one that is opened
afterwards and keeps nothing.
"""

import gzip
import json
import shutil

import pytest

import hta_sql
from hta_sql.catalogue.catalog import Catalog
from hta_sql.database import session
from hta_sql.demo import write_job

pytestmark = [pytest.mark.queries, pytest.mark.filterwarnings("ignore::UserWarning")]

QUERIES = [query for query in Catalog.load().newest.values() if not query.required]
# These differ from one ingest to the next, and say nothing of the traces.
VOLATILE = {"computed_at", "ingested_at"}


def questions(archive):
    """Queries that together read all that is shared, and those whose results are stored."""
    with hta_sql.open(archive) as run:
        run.sql("FROM jobs")
        made, needed = run.session.shared._known
    chosen = [query for query in QUERIES if query.name in Catalog.load().stored]
    lacking = made.keys() - {name for query in chosen for name in needed.get(query.macro, ())}
    for query in sorted(QUERIES, key=lambda q: -len(needed.get(q.macro, ()))):
        if lacking & set(needed.get(query.macro, ())):
            chosen.append(query)
            lacking -= set(needed[query.macro])
    assert len(lacking) < 4, lacking  # what only queries with required parameters read
    return chosen


def answers(run, queries, **given):
    """All rows, in the order of each query's key."""
    found = {}
    for query in queries:
        known = {parameter.name for parameter in query.parameters}
        rows = run.query(query.name, **{k: v for k, v in given.items() if k in known})
        keep = [name for name in rows.column_names if name not in VOLATILE]
        key = [(name, "ascending") for name in query.grain]
        found[query.name] = rows.sort_by(key).select(keep).to_pylist()
    found["traces"] = run.sql("SELECT job, rank, event_count FROM traces ORDER BY ALL").to_pylist()
    return found


def answers_in_both_ways(run, queries, **given):
    """SQL says the same as the query."""
    found = answers(run, queries, **given)
    rows = run.sql("SELECT job, evidence FROM findings()").to_pylist()
    if not given:
        assert rows == [{name: row[name] for name in rows[0]} for row in run.findings().to_pylist()]
    return found


def answers_without_keeping(archives, queries, monkeypatch, seen=None, **given):
    with monkeypatch.context() as patch:
        patch.setattr(session, "events_of_small", lambda *_: None)
        patch.setattr(session, "made_with", lambda *_: None)
        with hta_sql.open(*archives, only_jobs=seen) as run:
            return answers(run, queries, **given)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The traces of two jobs, and an archive with another job."""
    folder = tmp_path_factory.mktemp("made")
    for seed, job in enumerate(("a", "b", "c")):
        write_job(folder / "traces" / job, ranks=2, steps=2, layers=1, seed=seed)
    hta_sql.ingest(folder / "traces" / "c", folder / "other")
    shutil.move(folder / "traces" / "c", folder / "c")
    return folder


@pytest.fixture(scope="module")
def asked(made):
    return questions(made / "other")


@pytest.fixture
def world(made, tmp_path, monkeypatch):
    """With an archive of the two jobs, too."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    world = shutil.copytree(made, tmp_path / "world")
    hta_sql.ingest(world / "traces", world / "archive", workers=1)
    return world


def slower(job):
    """Every kernel of a rank takes twice as long."""
    trace = min(job.iterdir())
    content = json.loads(gzip.decompress(trace.read_bytes()))
    for event in content["traceEvents"]:
        if event.get("cat") == "kernel":
            event["dur"] *= 2
    trace.write_bytes(gzip.compress(json.dumps(content).encode()))


def ingest_more(world):
    shutil.move(world / "c", world / "traces" / "c")
    hta_sql.ingest(world / "traces", world / "archive")


def ingest_changed(world):
    slower(world / "traces" / "a")
    hta_sql.ingest(world / "traces", world / "archive")


def ingest_again(world):
    slower(world / "traces" / "a")
    hta_sql.ingest(world / "traces" / "a", world / "archive", job="a", force=True)


def drop_a_job(world):
    hta_sql.drop(world / "archive", jobs=["a"])


def compact(world):
    hta_sql.compact(world / "archive")


def import_a_job(world):
    hta_sql.import_job(world / "other", world / "archive", job="d")


def refresh(world):
    hta_sql.refresh(world / "archive")


def materialize(world):
    with hta_sql.open(world / "archive") as run:
        run.materialize()


def materialize_and_change(world):
    materialize(world)
    ingest_changed(world)


def find_critical_paths(world):
    with hta_sql.open(world / "archive") as run:
        run.compute_critical_path(step=1)


def replace_the_archive(world):
    shutil.rmtree(world / "archive")
    shutil.copytree(world / "other", world / "archive")


CHANGES = [
    compact,
    refresh,
    materialize,
    ingest_more,
    ingest_changed,
    ingest_again,
    drop_a_job,
    import_a_job,
    find_critical_paths,
    materialize,
    replace_the_archive,
]


def test_changes_by_others(world, asked, monkeypatch):
    archive = world / "archive"
    with hta_sql.open(archive) as run:
        before = answers_in_both_ways(run, asked)
        for change in CHANGES:
            change(world)
            found = answers_in_both_ways(run, asked)
            assert run.session.is_small
            assert found == answers_without_keeping([archive], asked, monkeypatch), change.__name__
            assert (found == before) == (change in (compact, refresh)), change.__name__
            before = found


RULES = "pattern,applies_to,category\naten::,operator,ours\ngemm,kernel,ours\n"
PEAKS = "device_name,dtype,dense_tflops,memory_gbps\nNVIDIA H100 80GB HBM3,bfloat16,7,70\n"


def test_changes_by_the_session(world, asked, monkeypatch):
    """Its own critical paths, results, rules and choices, one after the other."""
    archive = world / "archive"

    def same(**given):
        found = answers_in_both_ways(run, asked, **given)
        assert found == answers_without_keeping([archive], asked, monkeypatch, **given)
        return found

    with hta_sql.open(archive) as run:
        plain = same()
        run.compute_critical_path(step=1)
        with_paths = same()
        assert with_paths != plain
        run.materialize()
        whole = same()
        assert whole["fleet_summary"]  # which reads stored rows alone
        with monkeypatch.context() as patch:
            patch.setattr("hta_sql.database.findings.compute_findings", None)  # rows are read
            assert answers(run, asked) == whole
        for folder, name, text in (
            (archive, "category_rules.csv", RULES),
            (world.parent / "config" / "hta_sql", "device_peaks.csv", PEAKS),
        ):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
            run.reload()
            assert same() != whole, name
            (folder / name).unlink()
            run.reload()
            assert answers(run, asked) == whole, name
        assert same(only_jobs=["b"]) != whole
        with run.narrowed(["a"]):
            narrowed = answers(run, asked)
        assert {row["job"] for row in narrowed["traces"]} == {"a"}
        assert answers_in_both_ways(run, asked) == whole
        with run.session.beside():
            run.compute_critical_path(step=0)
            assert answers(run, asked) != whole
        assert answers_in_both_ways(run, asked) == whole
        run.con.execute("CREATE OR REPLACE VIEW gpu_activities AS FROM gpu_activities_schema()")
        assert run.kernel_stats().num_rows == 0


@pytest.mark.parametrize("stored", [False, True])
def test_however_it_is_opened(world, asked, monkeypatch, stored):
    """For some jobs, with limits, in safe mode, beside another archive."""
    archive, other = world / "archive", world / "other"
    if stored:
        materialize(world)
    whole = answers_without_keeping([archive], asked, monkeypatch)
    for given in ({"timeout": 300, "memory_limit": "2GB"}, {"safe": True, "timeout": 300}):
        with hta_sql.open(archive, **given) as run:
            assert answers(run, asked) == whole, given
    of_one = answers_without_keeping([archive], asked, monkeypatch, seen=["b"])
    with hta_sql.open(archive, only_jobs=["b"]) as run:
        assert answers(run, asked) == of_one
    with hta_sql.open(archive, other) as run:
        both = answers_without_keeping([archive, other], asked, monkeypatch)
        assert answers(run, asked) == both
