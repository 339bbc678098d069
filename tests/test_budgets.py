"""What small commands may cost, by its causes: modules, statements, files and connections.

Times would tell of the machine; each of these counts is what a command would pay for everywhere.
"""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import hta_sql
from hta_sql.catalogue.catalog import Catalog
from hta_sql.database import template
from hta_sql.demo import write_job

# Runs what it is given, and tells what that took.
PROBE = """
import csv, json, pathlib, sys, tempfile
import duckdb

statements, connections, logs = [], 0, tempfile.mkdtemp()
parser = duckdb.connect()

def counted(name):
    plain = getattr(duckdb.DuckDBPyConnection, name)
    def call(self, sql, *given, **named):
        made = parser.extract_statements(sql) if isinstance(sql, str) else [sql]
        statements.extend(found.query.strip() for found in made)
        return plain(self, sql, *given, **named)
    setattr(duckdb.DuckDBPyConnection, name, call)

plain_connect = duckdb.connect
plain_execute = duckdb.DuckDBPyConnection.execute

def connect(*given, **named):
    global connections
    connections += 1
    con = plain_connect(*given, **named)
    folder = pathlib.Path(logs, str(connections))
    folder.mkdir()
    plain_execute(con, "CALL enable_logging('FileSystem', storage = 'file', "
                  f"storage_path = '{folder}')")
    return con

duckdb.connect = connect
counted("execute")
counted("sql")
try:
    exec(sys.argv[1])
finally:
    files = []
    for log in pathlib.Path(logs).glob("*/duckdb_log_entries.csv"):
        for row in csv.DictReader(log.open()):
            message = json.loads(row["message"])
            if message["op"] == "OPEN":
                files.append(message["path"])
    print("\\n" + json.dumps([statements, files, connections]))
"""
MODULES = """
import sys
try:
    exec(sys.argv[1])
finally:
    print("\\n" + " ".join(sys.modules))
"""
COMMAND = "from hta_sql.cli import cli; cli({words}, standalone_mode=False)"
HEAVY = {"numpy", "pandas", "pyarrow", "zlib_ng", "fsspec", "upath", "ray", "plotly"}


@dataclass
class Cost:
    statements: list[str]
    files: list[str]  # that DuckDB opened, as often as it did
    connections: int

    def starting(self, *words: str) -> list[str]:
        """The statements that begin so, comments of files aside."""
        bare = [
            "\n".join(line for line in sql.splitlines() if not line.startswith("--")).strip()
            for sql in self.statements
        ]
        return [sql for sql in bare if sql.startswith(words)]


def output(probe: str, code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", probe, code],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"COLUMNS": "80"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


def cost_of(code: str) -> Cost:
    return Cost(*json.loads(output(PROBE, code)))


def modules_of(code: str) -> set[str]:
    """What is imported for it, packages of ours with their parts, others by their first name."""
    names = output(MODULES, code).split()
    return {name if name.startswith("hta_sql") else name.split(".")[0] for name in names}


def command(*words: object) -> str:
    return COMMAND.format(words=[str(word) for word in words])


@pytest.fixture(scope="module", autouse=True)
def made_template() -> Path:
    """It is there, as it is for everybody but the first."""
    return template.template(Catalog.load())


@pytest.fixture(scope="module")
def trace(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("trace")
    [file] = write_job(folder, ranks=1, steps=1, layers=1)
    return file


def test_help_imports_no_engine():
    found = modules_of(command("--help"))
    assert not found & (HEAVY | {"duckdb", "hta_sql.archive", "hta_sql.ingestion"})


def test_a_table_needs_no_arrow(demo_archive):
    found = modules_of(command("run", "temporal_breakdown", demo_archive))
    assert "duckdb" in found
    assert not found & (
        HEAVY | {"hta_sql.ingestion", "hta_sql.store.manifest", "hta_sql.database.alignment"}
    )


def test_opening_needs_no_arrow(demo_archive):
    found = modules_of(f"import hta_sql; hta_sql.open({str(demo_archive)!r}).close()")
    assert not found & (HEAVY | {"hta_sql.ingestion", "hta_sql.store.manifest", "click", "orjson"})


def test_small_traces_need_no_other_process(trace, tmp_path):
    started = "multiprocessing.popen_spawn_posix"  # imported when a process is
    archive = tmp_path / "archive"
    assert started not in output(MODULES, command("ingest", trace, archive)).split()
    two = write_job(tmp_path / "two", ranks=2, steps=1, layers=1)
    assert started not in output(MODULES, command("ingest", *two, tmp_path / "other")).split()
    assert started in output(MODULES, command("ingest", *two, archive, "--workers", 2)).split()


def test_opening_binds_nothing(demo_archive, made_template):
    """It reads which traces there are, and copies the template: whatever the catalogue has."""
    cost = cost_of(f"import hta_sql; hta_sql.open({str(demo_archive)!r})")
    # Of the manifest, it reads a copy.
    assert {Path(file).name for file in cost.files} == {made_template.name, "traces.parquet"}
    assert len(cost.files) <= 8
    assert not cost.starting("CREATE")
    assert len(cost.statements) <= 9
    assert cost.connections == 1


def test_the_first_question_binds_tables_that_have_files(demo_archive):
    cost = cost_of(f"import hta_sql; hta_sql.open({str(demo_archive)!r}).temporal_breakdown()")
    views = {sql.split()[4] for sql in cost.starting("CREATE OR REPLACE VIEW")}
    of_tables = {"events", "host_ops", "gpu_activities"}
    assert views == {"traces", *of_tables, *(f"{table}_by_rank" for table in of_tables)}
    assert len(cost.statements) <= 33
    read = {
        Path(file).relative_to(demo_archive).parts[0]
        for file in cost.files
        if file.startswith(str(demo_archive))
    }
    assert read == {"events", "host_ops", "gpu_activities"}


def test_tables_are_planned_as_files_alone(demo_archive):
    """Without the stub of their columns, and without a look at the manifest for each file."""
    with hta_sql.open(demo_archive) as run:
        run.temporal_breakdown()
        for table in ("events", "host_ops", "gpu_activities", "traces"):
            [[_, plan]] = run.session.con.execute(
                f"EXPLAIN (FORMAT json) SELECT count(*), any_value(rank) FROM main.{table}"
            ).fetchall()
            names = re.findall(r'"name": "(\w+)', plan)
            assert "READ_PARQUET" in names
            assert set(names) <= {"READ_PARQUET", "PROJECTION", "UNGROUPED_AGGREGATE"}


def without_folder(statements: list[str]) -> list[str]:
    """The statements without the folder with the copy of the manifest, new for each process."""
    return [re.sub(r"hta-sql-\w+/", "", sql) for sql in statements]


QUESTIONS = (
    "comm_comp_overlap", "kernel_stats", "launch_stats", "profiler_steps", "idle_time_breakdown",
    "op_flops", "collectives", "findings", "job_summary",
)  # fmt: skip


def asked(archive: Path, times: int, setup: str = "") -> Cost:
    calls = "; ".join(f"run.{name}()" for name in QUESTIONS * times)
    return cost_of(f"{setup}import hta_sql; run = hta_sql.open({str(archive)!r}); {calls}")


def test_what_queries_share_is_made_once(demo_archive):
    """Whatever reads it, and however often: a question makes only its answer."""
    once, twice = (asked(demo_archive, times) for times in (1, 2))
    shared = once.starting("CREATE TABLE shared.", "CREATE MACRO shared.")
    assert len(shared) > 20 and len(set(shared)) == len(shared)
    made = {sql.split(" AS ")[0] for sql in shared}
    assert {"CREATE TABLE shared.host_calls", "CREATE TABLE shared.rows_of_costed_shapes"} <= made
    known = set(without_folder(once.statements))
    again = [sql for sql in without_folder(twice.statements) if sql not in known]
    assert all("answer_" in sql for sql in again)
    assert len(again) == 2 * len(QUESTIONS)  # one is dropped, one is made


def test_answers_are_planned_once(demo_archive):
    """A relation of DuckDB is planned when it is made, and again when it is fetched."""
    cost = asked(demo_archive, 1)
    for name in QUESTIONS:
        of_query = [sql for sql in cost.statements if f"FROM {name}_v" in sql]
        assert len(of_query) == (name != "findings")  # its stages are statements of their own
        assert all(sql.startswith("CREATE TEMP TABLE answer_") for sql in of_query)


def test_large_archives_share_idle_times_alone(demo_archive, tmp_path):
    """They keep plans that stream, and read of the files what a query needs. A report that asks for
    two jobs in turns shares once, too."""
    large = "import hta_sql.database.session as s; s.MOST_EVENTS = 0; "
    for job in ("a", "b"):
        traces = write_job(tmp_path / job, ranks=1, steps=2, layers=1)
        hta_sql.ingest(traces, tmp_path / "two", job=job)
    report = cost_of(large + command("report", tmp_path / "two", "-o", tmp_path / "report.html"))
    for cost in (asked(demo_archive, 2, large), report):
        made = [sql.split()[2] for sql in cost.starting("CREATE TABLE shared.")]
        assert made == ["shared.rows_of_job_idle_parts", "shared.rows_of_job_idle_segments"]
        assert not cost.starting("CREATE TEMP TABLE")


def test_a_first_trace(trace, tmp_path, made_template, new_cache):
    archive = tmp_path / "archive"
    cost = cost_of(command("ingest", trace, archive))
    with hta_sql.open(archive) as run:
        events = run.sql("FROM events").num_rows
    assert events  # what failed would cost little
    assert cost.connections <= 2  # of the trace, of hta.duckdb
    assert len(cost.statements) <= 130
    # hta.duckdb is a copy of the template, with the views of the tables that have files.
    assert not [sql for sql in cost.statements if "temporal_breakdown" in sql]
    # No statement looks for long names: this trace has none.
    assert not cost.starting("CREATE OR REPLACE TEMP TABLE long_names AS")
    assert cost.starting("CREATE OR REPLACE TEMP TABLE activity_names AS")
    views = {sql.split()[4] for sql in cost.starting("CREATE OR REPLACE VIEW")}
    assert views == {"traces", "events_by_rank", "host_ops_by_rank", "gpu_activities_by_rank"}
    assert {sql.split()[3].split(".")[1] for sql in cost.starting("COMMENT")} == {"traces"}
    assert len([file for file in cost.files if file.endswith(".parquet")]) <= 75
    assert str(made_template) not in cost.files


def test_doctor_of_an_archive_needs_no_arrow(demo_archive):
    found = modules_of(command("doctor", demo_archive))
    assert not found & (HEAVY | {"hta_sql.ingestion", "hta_sql.store.manifest"})


def test_a_report_makes_no_objects_of_plotly(demo_archive, tmp_path):
    out = tmp_path / "report.html"
    made = f"import hta_sql; hta_sql.report({str(demo_archive)!r}, {str(out)!r})"
    found = output(MODULES, made).split()
    assert "plotly" in found and not [name for name in found if name.startswith("plotly.")]
    assert out.stat().st_size > 2_000_000


def test_doctor_asks_three_questions(demo_archive):
    cost = cost_of(command("doctor", demo_archive))
    assert len(cost.starting("FROM")) == 3 and cost.connections == 1
    stages = cost.starting(
        "CREATE TABLE findings_", "DROP TABLE IF EXISTS findings_",
        "CREATE TABLE shared.", "CREATE MACRO shared.",
    )  # fmt: skip
    opened = cost_of(f"import hta_sql; hta_sql.open({str(demo_archive)!r}).temporal_breakdown()")
    assert len(cost.statements) - len(stages) - len(opened.statements) <= 20


def test_doctor_of_a_small_trace(trace, new_cache):
    """It starts no process and draws nothing, and it reads the trace once."""
    found = output(MODULES, command("doctor", trace)).split()
    assert "hta_sql.ingestion.trace" in found
    assert not {"multiprocessing.popen_spawn_posix", "plotly", "ray", "fsspec"} & set(found)
    again = cost_of(command("doctor", trace))
    assert (
        not again.starting("INSERT INTO events", "COPY (", "COPY events") and again.connections <= 2
    )
    # Nobody opens its archive in a shell.
    assert not list(new_cache.rglob("hta.duckdb")) and not (new_cache / "archives").exists()
