"""annotation_stats and annotated_kernels on real traces: in plain Python, and against HTA 0.6.1.

HTA's figures are facts to compare with, not truth; see test_hta_figures.
"""

import re
from collections import Counter, defaultdict

import pytest
from hta_cases import CASES, Case, close, needs_hta_outputs
from queries import brute_annotations
from queries.brute_annotations import over_on_stream, place
from raw_json import HTA_OUTPUTS, TRACES, TraceFile

import hta_sql

pytestmark = pytest.mark.skipif(
    not TRACES.is_dir(), reason=f"no real traces: {TRACES} is no folder"
)

GPU_ANNOTATIONS = "(FROM events WHERE cat = 'gpu_user_annotation')"
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


@pytest.fixture
def run_over(real_archive):
    """The archive with other rows in a table: call it with the table and these rows' SQL."""
    with hta_sql.open(real_archive) as run:

        def over(table: str, sql: str):
            con = run.con  # with all queries loaded, so that none replaces the view again
            con.execute(f"CREATE TEMP TABLE other_rows AS {sql}")
            con.execute(f"CREATE OR REPLACE VIEW {table} AS FROM other_rows")
            return run

        yield over


def rows_of(run, query: str, job: str, steps=None, **given) -> list[dict]:
    return run.query(query, only_jobs=[job], only_steps=steps, **given).to_pylist()


def rows_of_case(run, query: str, case: Case, **given) -> list[dict]:
    return rows_of(run, query, case.job, case.steps and list(case.steps), **given)


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


def has(case: Case, method: str) -> bool:
    return (
        not case.last_step
        and (HTA_OUTPUTS / case.folder / "no_rounding" / f"{method}.csv").exists()
    )


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


KEPT_BY_HTA = """
    FROM events
    WHERE cat = 'gpu_user_annotation' AND job = 'ns_resolution'
      AND start_ns < (SELECT max(start_ns) FROM steps WHERE job = 'ns_resolution')
"""


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


# HTA's get_gpu_kernels_with_user_annotations


def hta_short(name: str) -> str:
    """HTA shows names without what is in brackets."""
    return re.sub(r"\([^()]*\)", "", name)


ANNOTATED = [case for case in CASES if has(case, "get_gpu_kernels_with_user_annotations_rank0")]


@needs_hta_outputs
@pytest.mark.parametrize("case", ANNOTATED, ids=str)
def test_annotated_kernels(real_run, case):
    """HTA goes by overlap on the stream and we by launch; on these traces they agree."""
    rows = rows_of_case(real_run, "annotated_kernels", case)
    hta_rows = case.csv("get_gpu_kernels_with_user_annotations_rank0")
    assert {row["event_id"]: hta_short(row["annotation"] or "") for row in rows} == {
        int(hta["index"]): hta["s_user_annotation"] for hta in hta_rows
    }


@needs_hta_outputs
def test_every_annotated_trace_of_hta_is_compared():
    """HTA fails on the two others that have GPU annotations, for which the next tests are."""
    assert {case.folder for case in ANNOTATED} == {
        "amd_mi250",
        "b200_eager",
        "h100_bert",
        "mi300_bert",
    }


def whole_us(row: dict, base_ns: int) -> tuple[int, int]:
    """A span as HTA rounds it: inwards."""
    return -((base_ns - row["start_ns"]) // 1000), (row["end_ns"] - base_ns) // 1000


def test_hta_loses_short_kernels(real_run, real_rows):
    """Its figures for nccl: 733 of 900 kernels of the forward pass, as the others are empty.

    They are in hta-semantics.md 9.2, not among its outputs.
    """
    [first] = real_run.sql("SELECT base_ns FROM traces WHERE job = 'nccl'").to_pylist()
    activities = [row for row in real_rows("gpu_activities", "nccl", 0) if row["step"] in (4, 5)]
    events = defaultdict(list)
    for row in real_rows(GPU_ANNOTATIONS, "nccl", 0):
        events[place(row)].append((*whole_us(row, first["base_ns"]), row["name"]))

    def by_hta(row):
        start, end = whole_us(row, first["base_ns"])
        overlapping = [
            (until - since, name)
            for since, until, name in events["nccl", 0, row["device"], row["stream"]]
            if start < end and start < until and since < end
        ]
        return min(overlapping)[1] if overlapping else None

    assert Counter(map(by_hta, activities)) == {
        None: 1742,
        "DistributedDataParallel.forward": 733,
        "Optimizer.step#SGD.step": 18,
        "nccl:all_reduce": 10,
        "## backward ##": 9,
        "nccl:broadcast": 4,
    }
    rows = rows_of(real_run, "annotated_kernels", "nccl", [4, 5])
    assert Counter(row["annotation"] for row in rows) == {
        None: 1572,
        "DistributedDataParallel.forward": 900,
        "Optimizer.step#SGD.step": 18,
        "nccl:all_reduce": 10,
        "## backward ##": 12,
        "nccl:broadcast": 4,
    }


def test_hta_loses_annotations_of_the_last_steps(real_run, real_rows, run_over):
    """What HTA's own tests assert of ns_resolution: 4876 activities, 27 in an optimizer's step."""
    activities = real_rows("gpu_activities", "ns_resolution", 0)
    launches = {row["event_id"]: row["correlation"] for row in activities}
    steps = [101, 102, 103, 104]
    rows = rows_of(real_run, "annotated_kernels", "ns_resolution", steps)
    assert len(rows) == 4876
    assert Counter(row["annotation"] for row in rows) == {
        None: 2976,
        "DistributedDataParallel.forward": 1840,
        "Optimizer.step#SGD.step": 36,
        "## backward ##": 24,
    }
    by_correlation = {launches[row["event_id"]]: row for row in rows}
    assert (by_correlation[135139]["annotation"], by_correlation[135139]["name"]) == (
        "DistributedDataParallel.forward",
        "Memcpy DtoD (Device -> Device)",
    )
    assert by_correlation[164926]["annotation"] == "Optimizer.step#SGD.step"
    assert "multi_tensor_apply_kernel" in by_correlation[164926]["name"]

    by_place = defaultdict(list)
    for row in run_over("events", KEPT_BY_HTA).sql("FROM events").to_pylist():
        by_place[place(row)].append(row)
    on_stream = Counter(
        path[-1]["name"]
        for row in activities
        if row["step"] in steps and (path := over_on_stream(by_place, row))
    )
    assert on_stream["Optimizer.step#SGD.step"] == 27
    assert len(on_stream) == 3  # and no annotation: HTA's four
