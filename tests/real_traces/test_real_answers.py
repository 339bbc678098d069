"""Queries on real traces, against their JSON recomputed in plain Python."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import raw_queries
from real_files import TRACE_FILES, TRACES
from real_traces.rows import BRUTE_FORCE, QUERIES

import hta_sql
from hta_sql.catalogue.catalog import Catalog

pytestmark = pytest.mark.skipif(
    not TRACES.is_dir(), reason=f"no real traces: {TRACES} is no folder"
)


@pytest.mark.parametrize("query", BRUTE_FORCE)
def test_query(results, trace, query):
    wanted = getattr(raw_queries, query)(trace)
    found = results[query][trace.file[:2]]
    columns = list(wanted[0]) if wanted else []
    assert [{column: row[column] for column in columns} for row in found] == wanted


def test_queries_have_rows_of_no_other_trace(results):
    traces = {file[:2] for file in TRACE_FILES}
    assert all(found.keys() <= traces for found in results.values())


@pytest.mark.real
@pytest.mark.parametrize(("query", "version"), QUERIES)
def test_promises_of_the_header(real_archive, query, version):
    with hta_sql.open(real_archive) as run:
        assert run.check(query, version) == []


def test_an_archive_answers_after_a_check(real_archive):
    with hta_sql.open(real_archive) as run:
        assert run.check("temporal_breakdown") == []
        assert run.temporal_breakdown(only_jobs=["two_ranks"]).num_rows == 2


# Steps are the host's; and one of these traces has hardware counters, but no kernels.
WITHOUT_A_GPU = {"profiler_steps": 3, "job_phases": 3, "hardware_counters": 693}


@pytest.mark.parametrize(
    "query", [query.name for query in Catalog.load().newest.values() if query.theme == "gpu"]
)
def test_jobs_without_a_gpu_have_no_rows(real_run, query):
    jobs = [file.job for file in TRACE_FILES if not file.has_gpu]
    assert len(jobs) == 4
    required = {"operator": "aten::"} if query == "kernel_sequences" else {}
    result = real_run.query(query, only_jobs=jobs, **required)
    assert result.num_rows == WITHOUT_A_GPU.get(query, 0)
    declared = [column.name for column in Catalog.load().find(query).columns]
    assert result.column_names == declared
    assert real_run.query(query, **required).schema == result.schema


def test_two_ranks_are_one_job(real_run):
    rows = real_run.temporal_breakdown(only_jobs=["two_ranks"]).to_pylist()
    assert [(row["job"], row["rank"]) for row in rows] == [("two_ranks", 0), ("two_ranks", 1)]
    distribution = real_run.kernel_distribution(only_jobs=["two_ranks"]).to_pylist()
    assert {row["rank_count"] for row in distribution} == {1, 2}


@pytest.mark.processes
@pytest.mark.parametrize("given_as", ["file", "input"])
def test_a_plain_script_can_ingest(tmp_path, given_as):
    """Two worker processes, from a script that does not ask whether it is __main__."""
    text = (
        "import hta_sql\n"
        f"found = hta_sql.ingest([{str(TRACES / 'two_ranks')!r}], 'archive', workers=2)\n"
        "print([(trace.rank, trace.status) for trace in found.traces])\n"
    )
    script = tmp_path / "script.py"
    script.write_text(text)
    done = subprocess.run(
        [sys.executable, script if given_as == "file" else "-"],
        input=text,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | {"PYTHONPATH": str(Path(hta_sql.__file__).parents[1])},
    )
    assert done.stdout.splitlines()[-1:] == ["[(0, 'ingested'), (1, 'ingested')]"], done.stderr


def test_sixteen_digit_stamps_keep_their_nanoseconds(real_run):
    """Stamps copied from the file, where they end in .047 us and so on."""
    stamps = {
        0: 1712195495519689_047,
        1: 1712195495519695_812,
        5000: 1712195495607293_948,
        20000: 1712195495645371_048,
        25790: 1712195495505582_988,
        40000: 1712195495663909_278,
        60000: 1712195495807193_250,
        68691: 1712195496004644_183,
    }
    as_doubles = {event_id: round(ns / 1000 * 1000) for event_id, ns in stamps.items()}
    assert all(as_doubles[event_id] != ns for event_id, ns in stamps.items())
    found = real_run.sql(
        "SELECT event_id, start_ns FROM events WHERE job = 'ns_resolution'"
    ).to_pylist()
    starts = {row["event_id"]: row["start_ns"] for row in found}
    assert {event_id: starts[event_id] for event_id in stamps} == stamps


def test_triton_starts_at_its_base(real_run):
    """HTA's tests have this start; they leave out the profiler's own row, which begins earlier."""
    [row] = real_run.sql(
        "SELECT min(start_ns) AS start_ns FROM events "
        "WHERE job = 'triton' AND ph = 'X' AND cat <> 'Trace'"
    ).to_pylist()
    assert row["start_ns"] == 2413669096090100 + 1727743122000000000


def test_cpu_only_is_rank_34_of_300(real_run):
    [row] = real_run.sql(
        "SELECT rank, rank_source, world_size, backend FROM traces WHERE job = 'cpu_only'"
    ).to_pylist()
    assert row == {
        "rank": 34,
        "rank_source": "distributedInfo",
        "world_size": 300,
        "backend": "gloo",
    }
