"""What a start of the program loads and writes, by its causes; test_budgets.py has the rest."""

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from test_budgets import MODULES, command, cost_of, output

import hta_sql
from hta_sql.catalogue.catalog import Catalog
from hta_sql.demo import write_job


@pytest.fixture(scope="module")
def trace(tmp_path_factory) -> Path:
    [file] = write_job(tmp_path_factory.mktemp("trace"), ranks=1, steps=1, layers=1)
    return file


def imported_by(*words: object) -> set[str]:
    """All modules that the program imports, as a user starts it."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "hta_sql.cli", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    lines = (line for line in done.stderr.splitlines() if line.startswith("import time:"))
    return {line.split("|")[-1].strip() for line in lines}


def loaded_by(code: str) -> set[str]:
    return set(output(MODULES, code).split())


# Arrow, and charts, would import the first if they could; pq.read_table imports the second.
SLOW = {"pandas.core", "pyarrow.dataset", "plotly", "fsspec", "ray", "multiprocessing"}


def test_the_program_imports_no_more_than_it_needs(trace, tmp_path):
    archive = tmp_path / "archive"
    found = imported_by("ingest", trace, archive)
    assert {"hta_sql.ingestion.trace", "pyarrow.parquet"} <= found
    assert not found & (SLOW | {"hta_sql.archive"})
    assert not imported_by("doctor", trace) & SLOW
    found = imported_by("run", "temporal_breakdown", archive)
    assert "hta_sql.archive" in found and not found & (SLOW | {"numpy", "pyarrow"})


# Prints the files of queries that Python opens.
QUERY_FILES = """
import sys
opened = set()
sys.addaudithook(lambda event, about: event == "open" and opened.add(str(about[0])))
try:
    exec(sys.argv[1])
finally:
    print("\\n" + " ".join(p.split("/")[-1] for p in opened if "sql/queries/" in p))
"""


def test_a_table_reads_one_query(demo_archive):
    """The digest, which names the template, reads all files; it is given here."""
    given = "from hta_sql.catalogue.catalog import Catalog; Catalog.load().__dict__['digest'] = "
    code = f"{given}{Catalog.load().digest!r}; {command('run', 'temporal_breakdown', demo_archive)}"
    assert output(QUERY_FILES, code).split() == ["temporal_breakdown.v1.sql"]


def test_queries_on_small_archives_use_one_thread(demo_archive):
    """Statements of users, large archives and lent connections use all."""
    with hta_sql.open(demo_archive) as run:

        def threads_after_a_query() -> int:
            for _ in range(2):  # with the second question, it is worth while to share
                run.temporal_breakdown()
            return threads()

        def threads() -> int:
            asked = "SELECT current_setting('threads')"
            return run.session.con.execute(asked).fetchall()[0][0]

        most, usual = threads(), run.session.most_events
        assert threads_after_a_query() == 1
        run.sql("FROM traces")
        assert threads() == most
        with run.session.threads.for_our_statements():
            assert threads_after_a_query() == 1
            run.sql("FROM traces")
            assert threads() == 1
        run.session.most_events = 0
        run.reload()
        assert threads_after_a_query() == most
        run.session.most_events = usual
        run.reload()
        assert threads_after_a_query() == 1
        assert run.con and threads() == most == threads_after_a_query()


def test_of_unchanged_traces_nothing_is_read(trace, tmp_path):
    """Nor is what would read it imported."""
    archive = tmp_path / "archive"
    hta_sql.ingest(trace, archive)
    found = imported_by("ingest", trace, archive)
    assert "hta_sql.ingestion.take" in found
    ours = {f"hta_sql.ingestion.{name}" for name in ("plan", "pool", "publish", "trace", "enrich")}
    assert not found & (SLOW | ours | {"hta_sql.engines.processes", "pyarrow.compute"})


def test_workers_import_no_pandas():
    code = "import pyarrow as pa; pa.array([1]).to_pylist()"
    assert "pandas.core" in loaded_by(code)
    begun = "from hta_sql.ingestion.pool import begin_worker; begin_worker([])"
    assert "pandas.core" not in loaded_by(f"{begun}; {code}")


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are counted in /proc")
def test_numpy_starts_no_threads(monkeypatch):
    """They would wait for products of matrices, and none are asked for."""
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    begun = "from hta_sql.engines.lean import be_lean; be_lean()"
    count = "import numpy, os; print(len(os.listdir('/proc/self/task')))"
    assert output("import sys; exec(sys.argv[1])", f"{begun}; {count}") == "1"


def test_users_have_pandas(demo_archive):
    """Only the program hides it."""
    code = f"import hta_sql; hta_sql.open({str(demo_archive)!r}).temporal_breakdown().to_pandas()"
    assert "pandas.core" in loaded_by(code)


def test_other_archives_get_a_copy_of_hta_duckdb(trace, tmp_path, new_cache):
    one, other = tmp_path / "one", tmp_path / "other"
    hta_sql.ingest(trace, one)
    cost = cost_of(command("ingest", trace, other))
    assert (
        not cost.starting("ATTACH", "CREATE OR REPLACE VIEW", "COMMENT") and cost.connections == 1
    )
    assert (one / "hta.duckdb").read_bytes() == (other / "hta.duckdb").read_bytes()


def test_hta_duckdb_is_written_if_it_changes(trace, tmp_path, new_cache):
    file = tmp_path / "archive/hta.duckdb"
    hta_sql.ingest(trace, file.parent)
    written = file.stat()
    hta_sql.ingest(trace, file.parent, force=True)
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (written.st_ino, written.st_mtime_ns)
    content = file.read_bytes()
    file.write_bytes(content[:-1])
    hta_sql.ingest(trace, file.parent)
    assert file.read_bytes() == content
    [kept] = (new_cache / "archives").iterdir()
    kept.write_bytes(content[:-1])  # damaged: another is made
    file.unlink()
    hta_sql.ingest(trace, file.parent)
    with hta_sql.open(file.parent) as run, duckdb.connect(file, read_only=True) as con:
        con.execute(f"SET file_search_path = '{file.parent}'")
        told = con.sql("FROM temporal_breakdown()").to_arrow_table()
        assert told.num_rows and told.equals(run.temporal_breakdown())
