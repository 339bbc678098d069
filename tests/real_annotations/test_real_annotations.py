"""Annotations of real traces: in plain Python, and against HTA's breakdown."""

import pytest
from hta_cases import CASES, Case, close, needs_hta_outputs
from queries import brute_annotations
from real_annotations.rows import GPU_ANNOTATIONS, KEPT_BY_HTA, has, rows_of, rows_of_case
from real_files import HTA_OUTPUTS, TRACES, TraceFile

pytestmark = pytest.mark.skipif(
    not TRACES.is_dir(), reason=f"no real traces: {TRACES} is no folder"
)


# All traces with GPU annotations, and how many activities these have.
ANNOTATED_ON_GPU = {
    "amd_mi250": 16,
    "b200_eager": 929,
    "h100_bert": 61,
    "mi300_bert": 61,
    "nccl": 3774,
    "ns_resolution": 6095,
    "torch_compile_triton": 12,
    "vllm_decode_capture": 10,
}


@pytest.fixture(scope="session")
def trace(trace_file: TraceFile) -> TraceFile:
    return trace_file


@pytest.fixture
def tables(real_rows, trace):
    return [
        real_rows(table, trace.job, trace.rank)
        for table in ("gpu_activities", "host_ops", GPU_ANNOTATIONS)
    ]


@pytest.mark.parametrize(
    ("query", "given"),
    [("annotated_kernels", {}), ("annotation_stats", {}), ("annotation_stats", {"source": "host"})],
    ids=["annotated_kernels", "annotation_stats-gpu", "annotation_stats-host"],
)
def test_plain_python_says_the_same(real_run, trace, tables, query, given):
    steps = sorted({row["step"] for row in tables[1]} - {None})
    only = {"only_jobs": [trace.job], "only_ranks": [trace.rank]}
    for more in ({}, *([{"only_steps": steps[:1]}] if steps else [])):
        wanted = list(getattr(brute_annotations, query)(*tables, **given, **more))
        found = real_run.query(query, **given, **more, **only).to_pylist()
        columns = list(wanted[0]) if wanted else []
        assert [{column: row[column] for column in columns} for row in found] == wanted


@pytest.mark.parametrize("job", ANNOTATED_ON_GPU)
def test_launches_and_streams_tell_the_same(real_run, run_over, job):
    """Kineto drew the GPU's annotations from the launches, so both rules find the same ones."""
    run_by_stream = run_over(
        "gpu_activities", "SELECT * REPLACE (NULL::BIGINT AS annotation_id) FROM gpu_activities"
    )
    by_launch = rows_of(real_run, "annotated_kernels", job)
    by_stream = rows_of(run_by_stream, "annotated_kernels", job)
    assert len(by_launch) == ANNOTATED_ON_GPU[job]
    assert [(row["event_id"], row["annotation"]) for row in by_launch] == [
        (row["event_id"], row["annotation"]) for row in by_stream
    ]
    assert {row["annotation_source"] for row in by_launch} <= {"host", None}
    assert {row["annotation_source"] for row in by_stream} <= {"gpu", None}


def test_all_traces_with_gpu_annotations_are_known(real_run):
    rows = real_run.sql(f"SELECT DISTINCT job FROM {GPU_ANNOTATIONS}").to_pylist()
    assert {row["job"] for row in rows} == ANNOTATED_ON_GPU.keys()


# HTA's get_gpu_user_annotation_breakdown

SUFFIXES = {"gpu": "gpu", "host": "cpu"}


TRIMMED = (
    "HTA takes GPU annotations for host events and drops those that begin after the last step does"
    " on the host, though it keeps the activities in them"
)


KNOWN_DIFFERENCES = {("ns_resolution", "gpu"): TRIMMED}


def differences(case: Case, source: str, rows: list[dict]) -> list[str]:
    """The lines of HTA's table that our rows do not agree with."""
    hta_rows = {
        (int(hta["rank"]), hta["name"]): hta
        for hta in case.csv(f"get_gpu_user_annotation_breakdown_{SUFFIXES[source]}")
    }
    our_rows = {(row["rank"], row["name"]): row for row in rows}
    assert len(hta_rows) <= 1000  # all names kept, so that the figures are of annotations
    found = [f"{key}: only one has it" for key in hta_rows.keys() ^ our_rows.keys()]
    for key in hta_rows.keys() & our_rows.keys():
        for hta_column, column, within_ns in [
            ("sum (us)", "total_ns", 0),
            ("max (us)", "max_ns", 0),
            ("min (us)", "min_ns", 0),
            ("mean (us)", "mean_ns", 0.5),
            ("stddev", "stddev_ns", 0.5),  # ours are rounded to ns
        ]:
            hta, row = hta_rows[key], our_rows[key]
            if not close(hta[hta_column], row[column], within_ns):
                found.append(f"{key}: {hta_column} {hta[hta_column]}, {row[column]} ns")
    return found


BREAKDOWNS = [
    (case, source)
    for case in CASES
    for source in SUFFIXES
    if has(case, f"get_gpu_user_annotation_breakdown_{SUFFIXES[source]}")
]


@needs_hta_outputs
@pytest.mark.parametrize(
    ("case", "source"), BREAKDOWNS, ids=[f"{case}-{source}" for case, source in BREAKDOWNS]
)
def test_annotation_stats(real_run, case, source):
    rows = rows_of_case(real_run, "annotation_stats", case, source=source)
    found = differences(case, source, rows)
    if (case.folder, source) in KNOWN_DIFFERENCES:
        assert found, f"no longer different: {KNOWN_DIFFERENCES[case.folder, source]}"
    else:
        assert found == []


@needs_hta_outputs
def test_annotation_stats_of_what_hta_keeps(run_over):
    [case] = [case for case in CASES if case.folder == "ns_resolution"]
    rows = rows_of(run_over("events", KEPT_BY_HTA), "annotation_stats", case.job)
    assert differences(case, "gpu", rows) == []


@needs_hta_outputs
def test_every_breakdown_of_hta_is_compared():
    def written(suffix):
        return {
            path.parents[1].name
            for path in HTA_OUTPUTS.glob(
                f"*/no_rounding/get_gpu_user_annotation_breakdown_{suffix}.csv"
            )
        }

    compared = {(case.folder, source) for case, source in BREAKDOWNS}
    assert compared >= {(folder, "gpu") for folder in written("gpu")}
    # These two have no GPU activities, and so are not among the cases; a test of their own follows.
    assert written("cpu") - {folder for folder, source in compared if source == "host"} == {
        "cpu_only",
        "cupti_counters",
    }
    assert len(BREAKDOWNS) == 20


@needs_hta_outputs
@pytest.mark.parametrize("folder", ["cpu_only", "cupti_counters"])
def test_annotation_stats_without_a_gpu(real_run, folder):
    case = Case(folder, folder)
    rows = rows_of_case(real_run, "annotation_stats", case, source="host")
    assert differences(case, "host", rows) == []
    assert {row["gpu_busy_ns"] for row in rows} == {0}
