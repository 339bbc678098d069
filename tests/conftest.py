"""Archives that many tests read, and marks of the slow ones."""

import shutil
import signal
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest
import raw_json
import real_files
from hta_cases import Case
from own_queries import GOOD_QUERY, NAMED_QUERY, write_query
from raw_json import RawTrace
from real_files import TRACE_FILES, TRACES, TraceFile
from s3 import bucket, fs, s3, s3_server  # noqa: F401 - fixtures
from shared import made_once
from written_archives import activity, write_archive

from hta_sql.catalogue.catalog import Catalog
from hta_sql.catalogue.root import sql_root
from hta_sql.database import template

# The modules beside the tests, whose asserts say as much as those of tests.
pytest.register_assert_rewrite(
    "browser",
    "call_stack",
    "comparisons",
    "device_shapes",
    "export",
    "fleet",
    "fleet_page",
    "fuzz",
    "every_query",
    "hand_written",
    "hostile_numbers",
    "hta_docs",
    "ingest",
    "made_jobs",
    "queries",
)

# A shell's background job ignores Ctrl-C, and so would all that the tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A sql/ of its own: the real tables, and the queries total_time (v1, v2) and named."""
    root = tmp_path / "sql"
    shutil.copytree(sql_root(), root, ignore=shutil.ignore_patterns("queries"))
    write_query(root, "gpu/total_time.v1.sql")
    v2 = GOOD_QUERY.replace("total_time_v1", "total_time_v2").replace("total_ns", "sum_ns")
    write_query(root, "gpu/total_time.v2.sql", v2)
    return write_query(root, "host/named.v1.sql", NAMED_QUERY)


@pytest.fixture
def new_cache(tmp_path, monkeypatch) -> Path:
    """A cache folder that has the template alone."""
    cache = tmp_path / "cache/hta_sql"
    cache.mkdir(parents=True, mode=0o700)
    shutil.copy2(template.template(Catalog.load()), cache)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache.parent))
    return cache


@pytest.fixture
def make_archive(tmp_path: Path) -> Callable[..., Path]:
    """Make an archive in the test's folder: make_archive("a", events=[...], ...)."""
    return lambda name="archive", **tables: write_archive(tmp_path / name, **tables)


@pytest.fixture(scope="session")
def tiny_archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two ranks with a few kernels, a collective and a copy each."""
    activities = []
    for rank in (0, 1):
        activities += [
            activity(rank=rank, event_id=1, start_ns=0, dur_ns=10, step=1),
            activity(
                rank=rank,
                event_id=2,
                start_ns=5,
                dur_ns=20 + rank,
                step=1,
                stream=20,
                kind="communication",
                name="ncclDevKernel_AllReduce",
            ),
            activity(
                rank=rank,
                event_id=3,
                start_ns=40,
                dur_ns=5,
                step=2,
                cat="gpu_memcpy",
                kind="memory",
                name="Memcpy HtoD",
                bytes=1000,
            ),
            activity(rank=rank, event_id=4, start_ns=60, dur_ns=30, step=2, name="relu"),
        ]
    events = [
        {"rank": row["rank"], "ph": "X"}
        | {key: row[key] for key in ("event_id", "cat", "name", "start_ns", "dur_ns")}
        for row in activities
    ]
    return write_archive(
        tmp_path_factory.mktemp("tiny") / "archive", events=events, gpu_activities=activities
    )


@pytest.fixture(scope="session")
def demo_archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A made-up job of two ranks and two steps, ingested."""
    from hta_sql.demo import write_job
    from hta_sql.ingestion.ingest import ingest

    def make(folder: Path) -> None:
        write_job(folder / "traces", ranks=2, steps=2, layers=2)
        ingest([folder / "traces"], folder / "archive")

    return made_once(tmp_path_factory, "demo", make) / "archive"


@pytest.fixture(scope="session")
def demo_run(demo_archive: Path):
    """The archive of the made-up job, open."""
    import hta_sql

    with hta_sql.open(demo_archive) as run:
        yield run


@pytest.fixture
def use_library(library: Path, monkeypatch: pytest.MonkeyPatch) -> Catalog:
    """Make the queries of `library` those of hta_sql."""
    catalog = Catalog.read(library)
    monkeypatch.setattr(Catalog, "load", staticmethod(lambda: catalog))
    return catalog


@pytest.fixture(scope="session")
def real_archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real traces, ingested; skips where there are none."""
    import hta_sql

    if not TRACES.is_dir():
        pytest.skip(f"no real traces: {TRACES} is no folder")

    def make(folder: Path) -> None:
        summary = hta_sql.ingest([TRACES], folder / "archive")
        assert not summary.failed, [outcome.error for outcome in summary.traces]

    return made_once(tmp_path_factory, "real", make) / "archive"


@pytest.fixture(scope="session", params=TRACE_FILES, ids=lambda file: f"{file.job}-{file.rank}")
def trace_file(request: pytest.FixtureRequest) -> TraceFile:
    """Each real trace; all tests of one are in a row."""
    return request.param


@pytest.fixture(scope="session")
def raw_trace(trace_file: TraceFile) -> RawTrace:
    """Its JSON."""
    return raw_json.read(trace_file)


@pytest.fixture(scope="session")
def real_run(real_archive: Path):
    """The archive of the real traces, open."""
    import hta_sql

    with hta_sql.open(real_archive) as run:
        yield run


@pytest.fixture(scope="session")
def real_paths_run(real_archive: Path, tmp_path_factory: pytest.TempPathFactory):
    """A copy of that archive, open, to compute paths in: other tests' archives have none."""
    import hta_sql

    copy = tmp_path_factory.mktemp("real-paths") / "archive"
    shutil.copytree(real_archive, copy)
    with hta_sql.open(copy) as run:
        yield run


@pytest.fixture(scope="session")
def real_rows(real_run) -> Callable[..., list[dict]]:
    """Call it with a table, job and rank for these rows; test_real_traces shows they are right."""

    # Few: tests are in the order of traces, and all rows of all of them take 3 GB.
    @lru_cache(maxsize=6)
    def rows_of(table: str, job: str, rank: int) -> list[dict]:
        return real_run.sql(
            f"FROM {table} WHERE job = $job AND rank = $rank ORDER BY event_id",
            {"job": job, "rank": rank},
        ).to_pylist()

    return rows_of


@pytest.fixture(scope="module")
def chromium():
    """A browser; skips where there is none."""
    import browser

    with browser.chromium() as started:
        yield started


# Fixtures that make a test slow, and what it is then marked with.
SLOW_FIXTURES = {"s3_server": "s3", "chromium": "browser"}


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark tests by their fixtures, and those of most real traces."""
    for fixture, mark in SLOW_FIXTURES.items():
        if fixture in item.fixturenames:
            item.add_marker(mark)
    given = item.callspec.params if hasattr(item, "callspec") else {}
    jobs = {value.job for value in given.values() if isinstance(value, TraceFile | Case)}
    if "real_archive" in item.fixturenames and "job" in given:
        jobs.add(given["job"])
    if jobs - real_files.QUICK:
        item.add_marker("real")
