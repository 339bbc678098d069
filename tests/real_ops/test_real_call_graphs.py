"""op_calls on real traces, against HTA's call graph."""

import pytest
from real_files import TRACE_FILES, TRACES
from real_ops.hta_call_graph import (
    HTA_FAILS,
    HTA_FIGURES,
    KNOWN_DIFFERENCES,
    Node,
    by_hta,
    figures,
    totals,
)
from real_ops.rows import KERNEL_COLUMNS, rows_of

pytestmark = pytest.mark.skipif(
    not TRACES.is_dir(), reason=f"no real traces: {TRACES} is no folder"
)


def test_hta_rules_give_its_figures(trace):
    """So the next test compares with what HTA says of each operator."""
    if trace.job in HTA_FAILS:
        pytest.skip(f"HTA fails on {trace.job}: {HTA_FAILS[trace.job]}")
    found = totals(figures(node) for node in by_hta(trace).values())
    wanted = HTA_FIGURES.get((trace.job, trace.rank), (0, 0, 0, 0))
    assert found == pytest.approx(wanted, rel=1e-9, abs=1e-6)


def how_many_differ(rows: list[dict], hta: dict[int, Node], unit_ns: int, within_ns: float) -> int:
    assert {row["event_id"] for row in rows} == hta.keys()
    different = 0
    for row in rows:
        number, total, span = figures(hta[row["event_id"]])
        number_is, total_is, span_is = (row[column] for column in KERNEL_COLUMNS)
        different += (
            number != number_is
            or abs(unit_ns * total - total_is) > 0.001
            or abs(unit_ns * span - span_is) > within_ns
        )
    return different


def test_calls_have_the_kernels_that_they_have_for_hta(real_run, trace):
    rows = rows_of(real_run, "op_calls", trace)
    # Starts, ends and their difference are each off by up to half of the step of doubles.
    within_ns = 500 if trace.job == "ns_resolution" else 2
    different = how_many_differ(rows, by_hta(trace), 1000, within_ns)
    assert different == KNOWN_DIFFERENCES.get(trace.job, (None, 0))[1]


def test_nothing_else_is_different(real_run, trace):
    rows = rows_of(real_run, "op_calls", trace)
    assert how_many_differ(rows, by_hta(trace, mended=True), 1, 0) == 0


def test_a_backward_thread(real_run):
    """Of the operators in hta-semantics.md 9.1: one kernel in each; HTA's depth is 2 more, as its
    ProfilerStep#552 and ## backward ## of the main thread are around them."""
    [trace] = [trace for trace in TRACE_FILES if trace.job == "backward_thread"]
    columns = ("name", "depth", "num_kernels", "kernel_dur_sum_ns", "kernel_span_ns")
    rows = [tuple(row[c] for c in columns) for row in rows_of(real_run, "op_calls", trace)]
    assert rows == [
        ("autograd::engine::evaluate_function: AddmmBackward0", 0, 1, 45_000, 45_000),
        ("AddmmBackward0", 1, 1, 45_000, 45_000),
        ("aten::mm", 2, 1, 45_000, 45_000),
    ]
