"""Delays of operators' launches on real traces, against HTA."""

import csv
import math
import re
from collections import defaultdict
from decimal import Decimal

import pyarrow as pa
import pytest
from hta_cases import CASES, HTA_OUTPUTS, Case, needs_hta_outputs, raw_trace
from real_files import TRACE_FILES, TRACES

import hta_sql

pytestmark = pytest.mark.skipif(
    not TRACES.is_dir(), reason=f"no real traces: {TRACES} is no folder"
)


HTA_KERNEL_LAUNCH = re.compile(r"(cuda.*LaunchKernel)|(cuLaunchKernel)|(runFunction)")


OTHER_THREAD = {"mtia_inference"}


SAME_START = {"two_ranks"}


# No operator has such a launch, or HTA failed.
NO_DELAYS = {"amd_mi250", "mi210_gpu_only", "mi300_bert", "triton"}


def aten_cases(*folders: str) -> list:
    return [
        pytest.param(case, id=str(case))
        for case in CASES
        if not case.last_step and case.folder in folders
    ]


def hta_delays(case: Case) -> dict:
    """(rank, operator, sequence): count and the two means in ns."""
    path = HTA_OUTPUTS / case.folder / "get_aten_op_kernels_and_delay.csv"
    with open(path, newline="") as file:
        return {
            (int(row["rank"]), row["aten_op_name"], row["kernel_sequence"]): (
                int(row["occurrence_count"]),
                round(1000 * float(row["avg_aten_op_launch_delay"])),
                round(1000 * float(row["avg_runtime_delay"])),
            )
            for row in csv.DictReader(file)
        }


@pytest.fixture(scope="module")
def delays_over(real_archive):
    """op_launch_delay over other rows than those of the archive, in HTA's form."""
    with hta_sql.open(real_archive) as run:
        con = run.con  # with all queries loaded, so that none replaces the views again

        def delays(**tables: list[dict]) -> dict:
            for table, rows in tables.items():
                stub = con.sql(f"FROM {table}_schema()").to_arrow_table().schema
                con.register(f"given_{table}", pa.Table.from_pylist(rows, schema=stub))
                con.execute(f"CREATE OR REPLACE VIEW {table} AS FROM given_{table}")
            return {
                (row["rank"], row["operator"], row["sequence"].replace(" | ", " -> ")): (
                    row["count"],
                    row["mean_op_to_launch_ns"],
                    row["mean_launch_to_kernel_ns"],
                )
                for row in run.op_launch_delay().to_pylist()
            }

        yield delays


def as_hta_reads(case: Case, rows: list[dict]) -> list[dict]:
    """Times in HTA's doubles of us, where they have fractions rounded up, as it does by default."""
    if not case.in_fractions:
        return rows
    base_ns = raw_trace(case.job).base_ns

    def whole_us(ns: int | None) -> int | None:
        return ns and 1000 * math.ceil(float(Decimal(ns - base_ns) / 1000))

    times = ("start_ns", "launch_start_ns")
    return [row | {name: whole_us(row[name]) for name in times if name in row} for row in rows]


def rows_of_hta(case: Case, real_rows) -> tuple[list[dict], list[dict]]:
    """The activities of launches that HTA knows, and the operators."""
    files = [file for file in TRACE_FILES if file.job == case.job]
    activities = [
        row
        for file in files
        for row in real_rows("gpu_activities", file.job, file.rank)
        if HTA_KERNEL_LAUNCH.match(row["launch_name"] or "")
        and (case.steps is None or row["step"] in case.steps)
    ]
    ops = [row for file in files for row in real_rows("host_ops", file.job, file.rank)]
    return as_hta_reads(case, activities), as_hta_reads(case, ops)


def assert_equal_delays(ours: dict, hta: dict) -> None:
    """Both are rounded to ns, of a half up or down."""
    assert ours.keys() == hta.keys()
    assert {key: ours[key][0] for key in ours} == {key: hta[key][0] for key in hta}
    for key in hta:
        assert ours[key][1:] == pytest.approx(hta[key][1:], abs=1), key


@needs_hta_outputs
@pytest.mark.parametrize(
    "case", aten_cases(*{case.folder for case in CASES} - NO_DELAYS - OTHER_THREAD - SAME_START)
)
def test_delays_of_hta(delays_over, real_rows, case):
    activities, ops = rows_of_hta(case, real_rows)
    assert_equal_delays(delays_over(gpu_activities=activities, host_ops=ops), hta_delays(case))


@needs_hta_outputs
@pytest.mark.parametrize("case", aten_cases(*SAME_START))
def test_delays_where_operators_begin_at_once(delays_over, real_rows, case):
    """Of operators that begin in one us, HTA takes any. It adds ranks to those before them.

    Such operators have the same delays, so they are equal over all operators.
    """
    activities, ops = rows_of_hta(case, real_rows)
    ours, hta = delays_over(gpu_activities=activities, host_ops=ops), hta_delays(case)
    of_rank_0 = {key: delays for key, delays in ours.items() if key[0] == 0}
    hta_of_rank_0 = {key: delays for key, delays in hta.items() if key[0] == 0}
    assert {op for _, op, _ in hta_of_rank_0.keys() - of_rank_0.keys()} == {
        "aten::linalg_norm",
        "aten::matmul",  # around aten::linalg_vector_norm and aten::mm
    }
    both_ranks = [((0, *key[1:]), delays) for key, delays in ours.items()]
    assert_equal_sums(list(of_rank_0.items()), list(hta_of_rank_0.items()))
    assert_equal_sums(both_ranks, [((0, *k[1:]), v) for k, v in hta.items() if k[0] == 1])


def assert_equal_sums(ours: list, hta: list) -> None:
    """Over the operators of each sequence."""
    sums = []
    for delays in (ours, hta):
        sums.append(of_sequence := defaultdict(lambda: [0, 0, 0]))
        for (_, _, sequence), (count, *means) in delays:
            row = of_sequence[sequence]
            row[:] = row[0] + count, row[1] + count * means[0], row[2] + count * means[1]
    assert sums[0].keys() == sums[1].keys()
    for sequence, (count, *times) in sums[0].items():
        assert sums[1][sequence][0] == count
        assert times == pytest.approx(sums[1][sequence][1:], abs=count), sequence


@needs_hta_outputs
@pytest.mark.parametrize("case", aten_cases(*OTHER_THREAD))
def test_delays_of_another_thread(delays_over, real_rows, real_run, case):
    """HTA takes the operator that began last on whatever thread; on its own, no launch is in one.

    With that operator for the innermost one around, our figures are HTA's.
    """
    assert real_run.op_launch_delay(only_jobs=[case.job]).num_rows == 0
    activities, ops = rows_of_hta(case, real_rows)
    aten = [row for row in ops if row["name"].startswith("aten::")]
    for row in activities:
        around = [
            op
            for op in aten
            if op["start_ns"] <= row["launch_start_ns"] and row["launch_end_ns"] <= op["end_ns"]
        ]
        row["op_id"] = max(around, key=lambda op: op["start_ns"])["event_id"] if around else None
    assert_equal_delays(delays_over(gpu_activities=activities, host_ops=ops), hta_delays(case))


@needs_hta_outputs
def test_delays_of_every_trace_are_compared(delays_over, real_rows):
    written = {path.parent.name for path in HTA_OUTPUTS.glob("*/get_aten_op_kernels_and_delay.csv")}
    assert written == {case.folder for case in CASES} - NO_DELAYS
    for [case] in (param.values for param in aten_cases("amd_mi250", "mi300_bert")):
        activities, _ = rows_of_hta(case, real_rows)
        assert activities == []  # HTA fails; ours are of hipLaunchKernel and the like


def test_copies_are_activities_of_operators(real_run):
    """HTA leaves them out: 64 rows in four steps of this trace, where we have more."""
    rows = real_run.op_launch_delay(
        only_jobs=["ns_resolution"], only_steps=[101, 102, 103, 104]
    ).to_pylist()
    with_copies = [row for row in rows if "Mem" in row["sequence"]]
    assert with_copies and len(rows) > 64
