"""Copies of real traces: against plain Python, and against HTA's figures.

HTA's series has a row for every beginning and every end of a copy, those of one instant in whatever
order its sort leaves them. With ends before beginnings its rule gives our figures on every trace.
"""

import math
from collections import defaultdict
from itertools import pairwise

import pytest
import real_files
from hta_cases import CASES, needs_hta_outputs, ours, raw_trace
from queries import brute_memory_bandwidth as brute
from raw_json import RawTrace
from real_files import HTA_OUTPUTS, TRACE_FILES, TraceFile

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(
        not real_files.TRACES.is_dir(), reason=f"no real traces: {real_files.TRACES} is no folder"
    ),
]

FIGURES = {  # ours: HTA's
    "count": "count",
    "mean": "mean",
    "stddev": "std",
    "min": "min",
    "p25": "25%",
    "p50": "50%",
    "p75": "75%",
    "max": "max",
}
HTA_CASES = [pytest.param(case, id=str(case)) for case in CASES if not case.last_step]
ORDER = "HTA has copies begin before others end at the same instant; residues of doubles then stay"
KNOWN_DIFFERENCES = {("trace_diff_test", 1, "Memcpy DtoD"): ORDER}
# Copies of which the trace gives no bandwidth. HTA takes it for 0, and drops what is not above 0.
NOT_IN_HTA = {("amd_mi250", 0, "Memcpy HtoD"), ("mtia_inference", 0, "Memcpy Unknown")}


def close(one, other) -> bool:
    """To nine digits: fixed point of 1e-15 keeps twelve of the slowest copy, 1.6e-4 GB/s."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9)
    return one == other and type(one) is type(other)


@pytest.fixture(scope="session")
def results(real_run) -> dict:
    """What the queries say of the whole archive: rows by query and then (job, rank)."""
    found = {}
    for query in ("memory_bandwidth_series", "memory_bandwidth_summary"):
        found[query] = defaultdict(list)
        for row in real_run.query(query).to_pylist():
            found[query][row["job"], row["rank"]].append(row)
    return found


@pytest.fixture(scope="session")
def file(trace_file: TraceFile) -> TraceFile:
    return trace_file


@pytest.mark.parametrize("query", ["memory_bandwidth_series", "memory_bandwidth_summary"])
def test_recomputed(results, real_rows, file, query):
    wanted = list(getattr(brute, query)(real_rows("gpu_activities", file.job, file.rank)))
    found = results[query][file.job, file.rank]
    assert len(found) == len(wanted)
    wrong = [
        (row, other)
        for row, other in zip(found, wanted, strict=True)
        if row.keys() != other.keys() or not all(close(row[c], other[c]) for c in row)
    ]
    assert wrong[:1] == []


def test_real_copies_are_worth_it(results, real_rows):
    rows = [
        row
        for file in TRACE_FILES
        for row in real_rows("gpu_activities", file.job, file.rank)
        if row["kind"] == "memory"
    ]
    assert len(rows) == 11_488
    assert {brute.copy_kind(row["name"]) for row in rows} == {
        "Memcpy HtoD",
        "Memcpy DtoH",
        "Memcpy DtoD",
        "Memset",
        "Memcpy Unknown",
    }
    # What HTA takes for 1 us does not come up.
    assert sum(row["dur_ns"] == 0 for row in rows) == 0
    for series in results["memory_bandwidth_series"].values():
        for before, row in pairwise([*series, None]):
            if row is None or row["copy_kind"] != before["copy_kind"]:
                assert before["bandwidth_gbps"] == 0  # exactly, after the last copy


# HTA's figures.


def hta_series(trace: RawTrace, steps, beginnings_first: bool) -> dict[str, list[float]]:
    """By HTA's rule and in its doubles: the running sum at each beginning and end, by copy kind."""
    said = {span.event_id: span.args for span in trace.spans}
    changes = defaultdict(list)
    for row in trace.activities:
        if row["kind"] == "memory" and (steps is None or row["step"] in steps):
            gbps = float(said[row["event_id"]].get("memory bandwidth (GB/s)", 0))
            end_ns = row["start_ns"] + (row["dur_ns"] or 1000)
            changes[brute.copy_kind(row["name"])] += [
                (row["start_ns"], not beginnings_first, gbps),
                (end_ns, beginnings_first, -gbps),
            ]
    series = {}
    for kind, of_kind in changes.items():
        running, series[kind] = 0.0, []
        for _, _, change in sorted(of_kind, key=lambda change: change[:2]):
            running += change
            series[kind].append(running)
    return series


def hta_summary(case) -> dict[tuple[int, str], dict[str, float]]:
    """As HTA wrote it; where it wrote none it failed, for want of copies."""
    if not (HTA_OUTPUTS / case.folder / "no_rounding/get_memory_bw_summary.csv").exists():
        return {}
    return {
        (int(row["rank"]), row["name"]): {
            name: float(row[f"memory_bw_gbps__{hta}"] or 0)  # no deviation of one: ours is 0
            for name, hta in FIGURES.items()
        }
        for row in case.csv("get_memory_bw_summary")
    }


def differences(hta: dict[str, float], row: dict) -> list[str]:
    return [
        f"{name}: {hta[name]}, {row[name]}"
        for name in FIGURES
        if not math.isclose(hta[name], row[name], rel_tol=1e-9)
    ]


@needs_hta_outputs
@pytest.mark.parametrize("case", HTA_CASES)
def test_summary_is_htas(real_run, case):
    hta = hta_summary(case)
    rows = {
        (row["rank"], row["copy_kind"]): row
        for row in ours(real_run, "memory_bandwidth_summary", case)
    }
    assert {(case.folder, *key) for key in rows.keys() - hta.keys()} == {
        key for key in NOT_IN_HTA if key[0] == case.folder
    }
    assert all(rows[key]["count"] == 0 for key in rows.keys() - hta.keys())
    assert hta.keys() <= rows.keys()
    for key, figures in hta.items():
        found = differences(figures, rows[key])
        if (case.folder, *key) in KNOWN_DIFFERENCES:
            assert found, "no longer different"
        else:
            assert found == []


@needs_hta_outputs
def test_every_summary_of_hta_is_compared():
    written = {path.parents[1].name for path in HTA_OUTPUTS.glob("*/*/get_memory_bw_summary.csv")}
    assert written <= {case.folder for case in CASES}
    assert sum(len(hta_summary(case.values[0])) for case in HTA_CASES) == 30


@needs_hta_outputs
@pytest.mark.parametrize(("folder", "rank", "kind"), KNOWN_DIFFERENCES)
def test_known_differences_are_those_of_order(real_run, folder, rank, kind):
    """Of 3,840 copies, 36 begin when another ends."""
    [case] = [case for case in CASES if case.folder == folder and not case.last_step]
    hta = hta_summary(case)[rank, kind]
    [row] = [
        row
        for row in ours(real_run, "memory_bandwidth_summary", case)
        if (row["rank"], row["copy_kind"]) == (rank, kind)
    ]
    trace = raw_trace(case.job)
    ends_first = [v for v in hta_series(trace, case.steps, False)[kind] if v > 0]
    assert (len(ends_first), max(ends_first)) == (row["count"], row["max"])
    assert math.isclose(math.fsum(ends_first) / len(ends_first), row["mean"], rel_tol=1e-9)
    beginnings_first = [v for v in hta_series(trace, case.steps, True)[kind] if v > 0]
    assert len(ends_first) < hta["count"] < len(beginnings_first)
    assert row["max"] < hta["max"] < max(beginnings_first)
    # HTA's highest point is two copies of which one begins when the other ends; its lowest is a
    # residue.
    said = {span.event_id: span.args for span in trace.spans}
    copies = [
        row
        for row in trace.activities
        if row["kind"] == "memory"
        and brute.copy_kind(row["name"]) == kind
        and row["step"] in case.steps
    ]
    gbps = [float(said[row["event_id"]]["memory bandwidth (GB/s)"]) for row in copies]
    beginning = {row["start_ns"]: value for row, value in zip(copies, gbps, strict=True)}
    met = [
        value + beginning[row["end_ns"]]
        for row, value in zip(copies, gbps, strict=True)
        if row["end_ns"] in beginning
    ]
    assert (len(met), len(copies)) == (36, 3840)
    assert any(math.isclose(sum_of_two, hta["max"], rel_tol=1e-9) for sum_of_two in met)
    assert hta["min"] < 1e-12 < min(gbps)


@pytest.mark.parametrize("case", HTA_CASES)
def test_series_by_htas_rule_with_ends_first(real_run, case):
    """On every trace, and point by point."""
    trace_rows = defaultdict(list)
    for row in ours(real_run, "memory_bandwidth_series", case):
        trace_rows[row["rank"], row["copy_kind"]].append(row["bandwidth_gbps"])
    for file in TRACE_FILES:
        if file.job != case.job:
            continue
        trace = RawTrace(file)
        for kind, points in hta_series(trace, case.steps, beginnings_first=False).items():
            above = [point for point in points if point > 0]
            found = [gbps for gbps in trace_rows[file.rank, kind] if gbps > 0]
            assert len(above) == len(found)
            assert all(math.isclose(a, b, rel_tol=1e-9) for a, b in zip(above, found, strict=True))


@pytest.mark.parametrize(
    ("job", "kind", "count", "mean"),
    [("simple_add", "Memcpy HtoD", 16, 4.823488), ("alexnet", "Memcpy HtoD", 16, 4.108898)],
)
def test_golden_summaries(real_run, job, kind, count, mean):
    rows = real_run.memory_bandwidth_summary(only_jobs=[job]).to_pylist()
    [row] = [row for row in rows if row["copy_kind"] == kind]
    assert (row["count"], round(row["mean"], 6)) == (count, mean)
