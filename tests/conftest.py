"""Small archives for tests, made by hand or from a made-up job."""

import shutil
import signal
from collections.abc import Callable, Iterable
from functools import cache
from itertools import groupby
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from s3 import bucket, fs, s3, s3_server  # noqa: F401 - fixtures

from hta_sql import SCHEMA_VERSION, __version__
from hta_sql.catalogue.catalog import Catalog
from hta_sql.catalogue.root import sql_root
from hta_sql.database.layers import load_base

Rows = Iterable[dict]

# A shell's background job ignores Ctrl-C, and so would all that the tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

GOOD_QUERY = """\
-- How long each rank's kernels ran.
--
-- Overlaps count twice.
--
--     a  [====)
--     b    [====)   both
--
-- since: 0.1
-- grain: job, rank
-- returns:
--   job        VARCHAR  -   one run
--   rank       INTEGER  -   rank of the process
--   total_ns   BIGINT   ns  sum of durations
-- check: total_ns >= 0
CREATE OR REPLACE MACRO total_time_v1(
    only_ranks INTEGER[] := NULL,  -- ranks to report; NULL means all
    min_dur_ns BIGINT := 0  -- ns; shorter ones are left out
) AS TABLE
SELECT job, rank, sum(dur_ns)::BIGINT AS total_ns
FROM gpu_activities AS a
WHERE (only_ranks IS NULL OR list_contains(only_ranks, a.rank)) AND a.dur_ns >= min_dur_ns
GROUP BY job, rank ORDER BY job, rank;
"""

NAMED_QUERY = """\
-- Activities by name.
-- since: 0.1
-- grain: job, rank, event_id
-- returns:
--   job       VARCHAR  -  one run
--   rank      INTEGER  -  rank of the process
--   event_id  BIGINT   -  the activity
-- deprecated: use another, leaves in 9.9
CREATE OR REPLACE MACRO named_v1(
    name_contains VARCHAR,  -- part of the name
    short_names BOOLEAN := false,  -- match the short name
    over_frac DOUBLE := 0.5  -- unused
) AS TABLE
SELECT job, rank, event_id FROM gpu_activities AS a
WHERE contains(if(short_names, a.short_name, a.name), name_contains) AND over_frac > 0
ORDER BY ALL;
"""


def write_query(root: Path, path: str, sql: str = GOOD_QUERY) -> Path:
    file = root / "queries" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(sql)
    return root


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A sql/ of its own: the real tables, and the queries total_time (v1, v2) and named."""
    root = tmp_path / "sql"
    shutil.copytree(sql_root(), root, ignore=shutil.ignore_patterns("queries"))
    write_query(root, "gpu/total_time.v1.sql")
    v2 = GOOD_QUERY.replace("total_time_v1", "total_time_v2").replace("total_ns", "sum_ns")
    write_query(root, "gpu/total_time.v2.sql", v2)
    return write_query(root, "host/named.v1.sql", NAMED_QUERY)


@cache
def table_schemas() -> dict[str, pa.Schema]:
    """The published tables as Arrow schemas, from their stubs."""
    only_tables = Catalog(sql_root(), ())
    with duckdb.connect() as con:
        load_base(con, only_tables)
        return {
            path.stem: con.sql(f"FROM {path.stem}_schema()").to_arrow_table().schema
            for path in only_tables.tables
        }


def write_archive(root: Path, **tables: Rows) -> Path:
    """An archive with these rows; columns left out are NULL, `job` is 'job' and `rank` 0.

    end_ns follows from start_ns and dur_ns, as in any archive. `traces` gets a row a rank.
    """
    schemas = table_schemas()
    ranks: dict[tuple[str, int], str] = {}
    spans: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for name, rows in tables.items():
        in_file = [f for f in schemas[name] if f.name not in ("job", "rank", "end_ns")]

        def of_rank(row: dict) -> tuple[str, int]:
            return row.get("job", "job"), row.get("rank", 0)

        for (job, rank), group in groupby(sorted(rows, key=of_rank), key=of_rank):
            trace_id = ranks.setdefault((job, rank), f"{job}-{rank}")
            folder = root / name / f"job={job}" / f"rank={rank}"
            folder.mkdir(parents=True)
            of_rank_alone = list(group)
            spans.setdefault((job, rank), []).extend(
                (row["start_ns"], row["start_ns"] + row["dur_ns"])
                for row in of_rank_alone
                if {"start_ns", "dur_ns"} <= row.keys()
            )
            table = pa.Table.from_pylist(of_rank_alone, schema=pa.schema(in_file))
            pq.write_table(table, folder / f"{trace_id}.parquet")
    root.mkdir(parents=True, exist_ok=True)
    traces = [
        {
            "job": job,
            "rank": rank,
            "trace_id": trace_id,
            "status": "complete",
            "hta_sql_version": __version__,
            "schema_version": SCHEMA_VERSION,
            "start_ns": min((start for start, _ in spans[job, rank]), default=None),
            "end_ns": max((end for _, end in spans[job, rank]), default=None),
        }
        for (job, rank), trace_id in ranks.items()
    ]
    pq.write_table(pa.Table.from_pylist(traces, schema=schemas["traces"]), root / "traces.parquet")
    return root


def activity(**given) -> dict:
    """A row of gpu_activities: 10 ns of computation on stream 7, unless told."""
    return {
        "device": 0,
        "stream": 7,
        "event_id": 0,
        "cat": "kernel",
        "kind": "computation",
        "name": "gemm",
        "short_name": "gemm",
        "start_ns": 0,
        "dur_ns": 10,
    } | given


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

    folder = tmp_path_factory.mktemp("demo")
    write_job(folder / "traces", ranks=2, steps=2, layers=2)
    ingest([folder / "traces"], folder / "archive")
    return folder / "archive"


@pytest.fixture
def use_library(library: Path, monkeypatch: pytest.MonkeyPatch) -> Catalog:
    """Make the queries of `library` those of hta_sql."""
    catalog = Catalog.read(library)
    monkeypatch.setattr(Catalog, "load", staticmethod(lambda: catalog))
    return catalog


@pytest.fixture(scope="session")
def real_archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real traces, ingested; skips where there are none."""
    from raw_json import TRACES

    import hta_sql

    if not TRACES.is_dir():
        pytest.skip(f"no real traces: {TRACES} is no folder")
    archive = tmp_path_factory.mktemp("real") / "archive"
    summary = hta_sql.ingest([TRACES], archive)
    assert not summary.failed, [outcome.error for outcome in summary.traces]
    return archive


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

    @cache
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
