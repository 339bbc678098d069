"""Figures of HTA on real traces, against ours."""

from collections.abc import Iterator
from itertools import groupby

import pyarrow as pa
import pytest
import raw_queries
from hta_cases import (
    CASES,
    Case,
    close,
    hta_activities,
    needs_hta_outputs,
    ours,
    percentage,
    raw_trace,
)
from real_files import HTA_OUTPUTS

import hta_sql

pytestmark = needs_hta_outputs


SYNCHRONISATIONS = "HTA takes rows of cuda_sync that carry a stream for busy time"


HOST_ROWS = "HTA takes Triton's host row, which carries stream 0, for a kernel"


CUSTOM_COLLECTIVE = "HTA takes multimem_all_reduce_kernel for computation; " + HOST_ROWS


OTHERS = "HTA takes pe_exe for neither computation nor anything else"


KNOWN_DIFFERENCES = {
    ("alexnet", "temporal_breakdown"): SYNCHRONISATIONS,
    ("event_sync", "temporal_breakdown"): SYNCHRONISATIONS,
    ("event_sync_multi_stream", "temporal_breakdown"): SYNCHRONISATIONS,
    ("simple_add", "temporal_breakdown"): SYNCHRONISATIONS,
    ("b200_eager", "temporal_breakdown"): CUSTOM_COLLECTIVE,
    ("b200_eager", "kernel_kind_breakdown"): CUSTOM_COLLECTIVE,
    ("b200_eager", "kernel_stats"): CUSTOM_COLLECTIVE,
    ("mtia_inference", "temporal_breakdown"): OTHERS,
    ("mtia_inference", "kernel_kind_breakdown"): OTHERS,
    ("mtia_inference", "kernel_stats"): OTHERS,
    ("triton", "temporal_breakdown"): HOST_ROWS,
    ("triton", "kernel_kind_breakdown"): HOST_ROWS,
    ("triton", "kernel_stats"): HOST_ROWS,
}


# Nothing in HTA's table is per call: over ten names of each kind.
NO_CALLS = {"mi210_gpu_only"}


def cases_of(figure: str) -> list:
    return [
        pytest.param(case, id=str(case))
        for case in CASES
        if (figure, case.folder) not in {("kernel_stats", job) for job in NO_CALLS}
    ]


@pytest.fixture(scope="module")
def query_over(real_archive):
    """Call a query over other rows than those of gpu_activities."""
    with hta_sql.open(real_archive) as run:
        con = run.con  # with all queries loaded, so that none replaces the view again

        def query(name: str, rows: list[dict]) -> list[dict]:
            stub = con.sql("FROM gpu_activities_schema()").to_arrow_table().schema
            con.register("rows_of_hta", pa.Table.from_pylist(rows, schema=stub))
            con.execute("CREATE OR REPLACE VIEW gpu_activities AS FROM rows_of_hta")
            return run.query(name).to_pylist()

        yield query


# Each figure: the lines of HTA's table that our rows do not agree with.


def temporal_breakdown(case: Case, rows: list[dict]) -> Iterator[str]:
    hta_rows = case.csv("get_temporal_breakdown")
    assert [int(hta["rank"]) for hta in hta_rows] == [row["rank"] for row in rows]
    for hta, row in zip(hta_rows, rows, strict=True):
        for name, column in [
            ("idle_time", "idle"),
            ("compute_time", "compute"),
            ("non_compute_time", "non_compute"),
            ("kernel_time", "span"),
        ]:
            # The span has two instants. What runs alone has its exact duration; too little of
            # these traces overlaps to matter beside.
            if not close(hta[f"{name}(us)"], row[f"{column}_ns"], 2 * case.instant_ns):
                yield f"{name}: {hta[f'{name}(us)']} us, {row[f'{column}_ns']} ns"
            if name != "kernel_time" and not percentage(
                hta[f"{name}_pctg"], row[f"{column}_frac"], 2
            ):
                yield f"{name}: {hta[f'{name}_pctg']} %, {row[f'{column}_frac']}"


def comm_comp_overlap(case: Case, rows: list[dict]) -> Iterator[str]:
    hta_rows = case.csv("get_comm_comp_overlap")
    assert [int(hta["rank"]) for hta in hta_rows] == [row["rank"] for row in rows]
    for hta, row in zip(hta_rows, rows, strict=True):
        if not percentage(hta["comp_comm_overlap_pctg"], row["overlap_frac"], 2):
            yield f"{hta['comp_comm_overlap_pctg']} %, {row['overlap_frac']}"


def kernel_kind_breakdown(
    case: Case, rows: list[dict], activities: list[dict] | None
) -> Iterator[str]:
    """HTA adds up ranks, and cuts each stretch to whole us: `activities` tell what that loses."""
    sums: dict[str, int] = {}
    for row in rows:
        sums[row["kinds"]] = sums.get(row["kinds"], 0) + row["time_ns"]
    hta_sums = {
        "+".join(sorted(hta["kernel_type"].lower().split(" overlapping "))): hta
        for hta in case.csv("get_gpu_kernel_breakdown_part0")
    }
    cut = cut_to_us(activities or [])
    for kinds in sums.keys() | hta_sums.keys():
        if kinds not in hta_sums or kinds not in sums:
            yield f"{kinds}: only one has it"
            continue
        hta = hta_sums[kinds]
        if float(hta["sum"]) * 1000 != sums[kinds] - cut.get(kinds, 0):
            yield f"{kinds}: {hta['sum']} us, {sums[kinds]} ns of which {cut.get(kinds, 0)} cut"
        if not cut and not percentage(hta["percentage"], sums[kinds] / sum(sums.values()), 1):
            yield f"{kinds}: {hta['percentage']} %"


def cut_to_us(activities: list[dict]) -> dict[str, int]:
    """By kinds: what is lost where each stretch of them is cut to whole us."""
    cut: dict[str, int] = {}
    for kinds, same in groupby(raw_queries.stretches(activities), key=lambda stretch: stretch[0]):
        name = "+".join(sorted(kinds))
        cut[name] = cut.get(name, 0) + sum(ns for _, ns in same) % 1000
    return cut


def kernel_stats(case: Case, rows: list[dict]) -> Iterator[str]:
    """Only where HTA keeps all names of a kind; else its figures are not those of calls."""
    hta_rows = case.csv("get_gpu_kernel_breakdown_part1")
    compared = 0
    for rank in sorted({hta["rank"] for hta in hta_rows}):
        for kind in ("COMMUNICATION", "COMPUTATION", "MEMORY"):
            hta_names = {
                hta["name"]: hta
                for hta in hta_rows
                if (hta["rank"], hta["kernel_type"]) == (rank, kind)
            }
            if not hta_names or "others" in hta_names:
                continue
            compared += 1
            our_names = {
                row["name"]: row
                for row in rows
                if (row["rank"], row["kind"]) == (int(rank), kind.lower())
            }
            if hta_names.keys() != our_names.keys():
                yield f"{kind}: not the same names"
            for name in hta_names.keys() & our_names.keys():
                hta, row = hta_names[name], our_names[name]
                for hta_column, column, within_ns in [
                    ("sum (us)", "total_ns", 0),
                    ("max (us)", "max_ns", 0),
                    ("min (us)", "min_ns", 0),
                    ("mean (us)", "mean_ns", 0.5),
                    ("stddev", "stddev_ns", 0.5),  # ours are rounded to ns
                ]:
                    if not close(hta[hta_column], row[column], within_ns):
                        yield f"{name}: {hta_column} {hta[hta_column]}, {row[column]} ns"
    assert compared


def check(case: Case, figure: str, differences: Iterator[str]) -> None:
    found = list(differences)
    if (case.folder, figure) in KNOWN_DIFFERENCES:
        assert found, f"no longer different: {KNOWN_DIFFERENCES[case.folder, figure]}"
    else:
        assert found == []


@pytest.mark.parametrize("case", cases_of("temporal_breakdown"))
def test_temporal_breakdown(real_run, case):
    rows = ours(real_run, "temporal_breakdown", case)
    check(case, "temporal_breakdown", temporal_breakdown(case, rows))


@pytest.mark.parametrize("case", cases_of("comm_comp_overlap"))
def test_comm_comp_overlap(real_run, case):
    rows = ours(real_run, "comm_comp_overlap", case)
    check(case, "comm_comp_overlap", comm_comp_overlap(case, rows))


@pytest.mark.parametrize("case", cases_of("kernel_kind_breakdown"))
def test_kernel_kind_breakdown(real_run, case):
    rows = ours(real_run, "kernel_kind_breakdown", case)
    activities = None
    if case.in_fractions:
        activities = [
            row
            for row in raw_trace(case.job).activities
            if case.steps is None or row["step"] in case.steps
        ]
    check(case, "kernel_kind_breakdown", kernel_kind_breakdown(case, rows, activities))


@pytest.mark.parametrize("case", cases_of("kernel_stats"))
def test_kernel_stats(real_run, case):
    check(case, "kernel_stats", kernel_stats(case, ours(real_run, "kernel_stats", case)))


@pytest.mark.parametrize(
    ("folder", "figure"), KNOWN_DIFFERENCES, ids=[f"{f}-{t}" for t, f in KNOWN_DIFFERENCES]
)
def test_known_differences_are_those_of_the_activities(query_over, folder, figure):
    """Over what HTA takes for activities, our queries say what HTA says."""
    [case] = [case for case in CASES if case.folder == folder]
    others_as = "memory" if figure == "temporal_breakdown" else None  # busy, but not computing
    activities = hta_activities(raw_trace(case.job), others_as)
    rows = query_over(figure, activities)
    if figure == "kernel_kind_breakdown":
        differences = kernel_kind_breakdown(case, rows, activities)
    else:
        differences = {"temporal_breakdown": temporal_breakdown, "kernel_stats": kernel_stats}[
            figure
        ](case, rows)
    assert list(differences) == []


def test_every_breakdown_of_hta_is_compared():
    """All give HTA's figures: nine traces as they are, seven over what HTA counts."""
    written = {
        path.parents[1].name
        for path in HTA_OUTPUTS.glob("*/no_rounding/get_temporal_breakdown.csv")
    }
    assert written == {case.folder for case in CASES}
    different = {trace for trace, figure in KNOWN_DIFFERENCES if figure == "temporal_breakdown"}
    assert len(written - different) == 9


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=str(case))
        for case in (
            *(case for case in CASES if not case.last_step),
            Case("cpu_only", "cpu_only"),
            Case("cupti_counters", "cupti_counters"),
        )
    ],
)
def test_profiler_steps(real_run, case):
    """HTA lists each number once, over all ranks, and drops the last one where there are more."""
    hta = [int(row["value"]) for row in case.csv("get_profiler_steps")]
    rows = real_run.profiler_steps(only_jobs=[case.job]).to_pylist()
    # HTA knows no other steps.
    steps = sorted({row["step"] for row in rows if row["marked_by"] == "PyTorch"})
    assert hta == (steps[:-1] if len(steps) > 1 else steps)


@pytest.mark.parametrize("job", ["cpu_only", "cupti_counters"])
def test_traces_without_a_gpu(real_run, job):
    case = Case(job, job)
    assert case.csv("get_gpu_kernel_breakdown_part0") == []
    assert [row["comp_comm_overlap_pctg"] for row in case.csv("get_comm_comp_overlap")] == [""]
    for query in ("kernel_kind_breakdown", "comm_comp_overlap", "temporal_breakdown"):
        assert ours(real_run, query, case) == []
