"""The archive and its queries on real traces, against their JSON recomputed in plain Python."""

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
import raw_json
from raw_json import TRACE_FILES, TRACES, RawTrace, TraceFile, whole_number

import hta_sql
from hta_sql.catalogue.catalog import Catalog

pytestmark = pytest.mark.skipif(
    not TRACES.is_dir(), reason=f"no real traces: {TRACES} is no folder"
)

# All events are compared in traces up to this size, every eleventh in larger ones; the times of
# their activities and host operations all the same.
ALL_EVENTS_UP_TO = 30_000
BRUTE_FORCE = [
    "temporal_breakdown",
    "step_breakdown",
    "comm_comp_overlap",
    "kernel_kind_breakdown",
    "kernel_stats",
    "profiler_steps",
]
QUERIES = [(query.name, query.version) for query in Catalog.load().queries if not query.required]


@pytest.fixture(scope="module", params=TRACE_FILES, ids=lambda file: f"{file.job}-{file.rank}")
def trace(request) -> RawTrace:
    return RawTrace(request.param)


def rows_of(run, table: str, file: TraceFile, columns: list[str]) -> list[dict]:
    """A table's rows of one trace by event_id, without job and rank."""
    wanted = ", ".join(f'"{column}"' for column in columns)
    return run.sql(
        f"SELECT {wanted} FROM {table} WHERE job = $job AND rank = $rank ORDER BY event_id",
        {"job": file.job, "rank": file.rank},
    ).to_pylist()


@pytest.fixture(scope="module")
def results(real_run) -> dict:
    """What queries say of the whole archive: rows by query and then (job, rank)."""
    found = {}
    for query in BRUTE_FORCE:
        found[query] = defaultdict(list)
        for row in real_run.query(query).to_pylist():
            found[query][row.pop("job"), row.pop("rank")].append(row)
    return found


def test_every_trace_is_read(real_run):
    files = {
        path.relative_to(TRACES).as_posix()
        for pattern in ("*.json", "*.json.gz")
        for path in TRACES.rglob(pattern)
    }
    assert files == {file.path for file in TRACE_FILES} | raw_json.OTHER_FILES
    read = real_run.sql("SELECT job, rank FROM traces ORDER BY ALL").to_pylist()
    assert [(row["job"], row["rank"]) for row in read] == [file[:2] for file in TRACE_FILES]


def test_traces(real_run, trace):
    [row] = real_run.sql(
        "FROM traces WHERE job = $job AND rank = $rank",
        {"job": trace.file.job, "rank": trace.file.rank},
    ).to_pylist()
    distributed = trace.metadata.get("distributedInfo", {})
    devices = trace.metadata.get("deviceProperties", [])
    expected = {
        "path": str(TRACES / trace.file.path),
        "file_bytes": (TRACES / trace.file.path).stat().st_size,
        "status": "complete",
        "event_count": len(trace.events),
        "quarantined_count": 0,
        "gpu_activity_count": len(trace.activities),
        "host_op_count": len(trace.host_ops),
        "start_ns": min(span.start_ns for span in trace.spans),
        "end_ns": max(span.end_ns for span in trace.spans),
        "base_ns": trace.base_ns,
        "world_size": distributed.get("world_size"),
        "backend": distributed.get("backend"),
        "device_name": devices[0]["name"] if devices else None,
        "device_count": len(devices) or None,
    }
    assert {column: row[column] for column in expected} == expected
    assert raw_json.parse(row["metadata"]) == trace.metadata
    if "rank" in distributed:
        assert int(distributed["rank"]) == row["rank"]


def test_every_element_is_an_event_or_in_quarantine(real_run, trace):
    ids = [row["event_id"] for row in rows_of(real_run, "events", trace.file, ["event_id"])]
    bad = [row["event_id"] for row in rows_of(real_run, "quarantine", trace.file, ["event_id"])]
    assert sorted(ids + bad) == list(range(len(trace.events)))


def as_text(value) -> str | None:
    """A JSON scalar in a column of text: words as they are, anything else as JSON has it."""
    return value if value is None or isinstance(value, str) else json.dumps(value)


TEXTS = ["ph", "cat", "name", "pid", "tid", "id", "bp", "s"]


def expected_event(trace: RawTrace, event_id: int) -> dict:
    event = trace.events[event_id]
    args = event.get("args")
    row = {"event_id": event_id} | {column: as_text(event.get(column)) for column in TEXTS}
    row["start_ns"] = trace.start_ns(event) if event["ph"] != "M" else None
    row["dur_ns"] = raw_json.nanoseconds(event["dur"]) if event["ph"] == "X" else None
    row["end_ns"] = row["start_ns"] + row["dur_ns"] if event["ph"] == "X" else None
    for column, argument in [
        ("correlation", "correlation"),
        ("external_id", "External id"),
        ("device", "device"),
    ]:
        row[column] = whole_number((args or {}).get(argument))
    return row | {"args": args}


def test_events(real_run, trace):
    each = 1 if len(trace.events) <= ALL_EVENTS_UP_TO else 11
    wanted = [expected_event(trace, at) for at in range(0, len(trace.events), each)]
    found = rows_of(
        real_run, f"(FROM events WHERE event_id % {each} = 0)", trace.file, list(wanted[0])
    )
    for row in found:
        row["args"] = None if row["args"] is None else raw_json.parse(row["args"])
    assert len(found) == len(wanted)
    assert [pair for pair in zip(found, wanted, strict=True) if pair[0] != pair[1]] == []


ACTIVITY_COLUMNS = [
    "event_id",
    "cat",
    "name",
    "kind",
    "device",
    "stream",
    "start_ns",
    "dur_ns",
    "end_ns",
    "launch_id",
    "step",
    "op_id",
    "annotation_id",
]


def test_gpu_activities(real_run, trace):
    assert bool(trace.activities) == trace.file.has_gpu
    found = rows_of(real_run, "gpu_activities", trace.file, ACTIVITY_COLUMNS)
    assert [row["event_id"] for row in found] == [row["event_id"] for row in trace.activities]
    wrong = [pair for pair in zip(found, trace.activities, strict=True) if pair[0] != pair[1]]
    assert wrong == []


def test_launches(real_run, trace):
    found = rows_of(
        real_run,
        "gpu_activities",
        trace.file,
        [
            "launch_id",
            "launch_name",
            "launch_pid",
            "launch_tid",
            "launch_start_ns",
            "launch_end_ns",
        ],
    )
    calls = {span.event_id: span for span in trace.launches.values()}
    for row in found:
        if row["launch_id"] is None:
            assert set(row.values()) == {None}
            continue
        call = calls[row["launch_id"]]
        assert list(row.values()) == [
            call.event_id,
            call.name,
            str(call.pid),
            str(call.tid),
            call.start_ns,
            call.end_ns,
        ]


HOST_COLUMNS = [
    "event_id",
    "cat",
    "name",
    "start_ns",
    "dur_ns",
    "parent_id",
    "depth",
    "root_id",
    "op_id",
    "annotation_id",
    "module_id",
    "caller_id",
    "is_backward",
    "forward_id",
    "step",
]


def test_host_ops(real_run, trace):
    found = rows_of(real_run, "host_ops", trace.file, HOST_COLUMNS)
    wanted = [{column: row[column] for column in HOST_COLUMNS} for row in trace.host_ops]
    assert [row["event_id"] for row in found] == [row["event_id"] for row in wanted]
    wrong = [pair for pair in zip(found, wanted, strict=True) if pair[0] != pair[1]]
    assert wrong == []


def test_equal_stacks_have_equal_hashes(real_run, trace):
    found = rows_of(real_run, "host_ops", trace.file, ["event_id", "stack_hash"])
    pairs = {
        (row["stack_hash"], wanted["names"])
        for row, wanted in zip(found, trace.host_ops, strict=True)
    }
    assert len({names for _, names in pairs}) == len({one for one, _ in pairs}) == len(pairs)


def test_launched_activities_have_one_chain_of_owners(real_run, trace):
    """From the launch through its callers, each one row, to the outermost."""
    ops = rows_of(real_run, "host_ops", trace.file, ["event_id", "parent_id", "depth", "root_id"])
    by_id = {row["event_id"]: row for row in ops}
    assert len(by_id) == len(ops)
    launched = [
        row
        for row in rows_of(real_run, "gpu_activities", trace.file, ACTIVITY_COLUMNS)
        if row["launch_id"] is not None
    ]
    assert len(launched) == sum(row["launch_id"] is not None for row in trace.activities)
    for activity in launched:
        at = launch = by_id[activity["launch_id"]]
        chain = []
        while at["parent_id"] is not None:
            chain.append(at["parent_id"])
            at = by_id[at["parent_id"]]
            assert at["depth"] == launch["depth"] - len(chain)
        assert len(set(chain)) == len(chain) == launch["depth"]
        assert at["event_id"] == launch["root_id"]


# (forward operator, its backward operator) as the profiler itself drew them.
FLOWS = {"nccl": 543, "amd_mi250": 4, "ns_resolution": 905}


def test_forward_operators_are_those_of_the_flows(real_run, trace):
    """Found by autograd's numbers, they are the same as by the arrows that PyTorch draws."""
    begins, ends = {}, {}
    for event in trace.events:
        if event.get("cat") == "fwdbwd":
            place = (str(event["pid"]), str(event["tid"]), trace.start_ns(event))
            (begins if event["ph"] == "s" else ends)[event["id"]] = place
    assert len(begins) == len(ends) == FLOWS.get(trace.file.job, 0)
    ops = rows_of(
        real_run,
        "(FROM host_ops WHERE cat = 'cpu_op')",
        trace.file,
        ["event_id", "pid", "tid", "start_ns", "forward_id"],
    )
    beginning = {}
    for row in ops:
        beginning.setdefault((row["pid"], row["tid"], row["start_ns"]), []).append(row)
    for flow, place in ends.items():
        forward = {row["event_id"] for row in beginning[begins[flow]]}
        assert {row["forward_id"] for row in beginning[place]} & forward


ARGUMENTS = {
    "record_function_id": "Record function id",
    "sequence_number": "Sequence number",
    "fwd_thread_id": "Fwd thread id",
    "input_dims": "Input Dims",
    "input_types": "Input type",
    "concrete_inputs": "Concrete Inputs",
}


def test_arguments_of_operators(real_run, trace):
    found = rows_of(real_run, "host_ops", trace.file, ["event_id", *ARGUMENTS])
    for row in found:
        args = trace.events[row["event_id"]].get("args") or {}
        for column, argument in ARGUMENTS.items():
            value, wanted = row[column], args.get(argument)
            if argument in ("Input Dims", "Input type", "Concrete Inputs"):
                value = value and raw_json.parse(value)
            else:
                wanted = whole_number(wanted)
            assert value == wanted, column


@pytest.mark.parametrize("query", BRUTE_FORCE)
def test_query(results, trace, query):
    wanted = getattr(raw_json, query)(trace)
    found = results[query][trace.file[:2]]
    columns = list(wanted[0]) if wanted else []
    assert [{column: row[column] for column in columns} for row in found] == wanted


def test_queries_have_rows_of_no_other_trace(results):
    traces = {file[:2] for file in TRACE_FILES}
    assert all(found.keys() <= traces for found in results.values())


@pytest.mark.parametrize(("query", "version"), QUERIES)
def test_promises_of_the_header(real_archive, query, version):
    with hta_sql.open(real_archive) as run:
        assert run.check(query, version) == []


def test_an_archive_answers_after_a_check(real_archive):
    with hta_sql.open(real_archive) as run:
        assert run.check("temporal_breakdown") == []
        assert run.temporal_breakdown(only_jobs=["two_ranks"]).num_rows == 2


# Steps are the host's; and one of these traces has hardware counters, but no kernels.
WITHOUT_A_GPU = {"profiler_steps": 3, "hardware_counters": 693}


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
