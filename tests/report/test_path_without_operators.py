"""Time on the critical path outside operators: the report says of which call it is."""

import pytest
from hand_written import span, trace_text

import hta_sql
from hta_sql.report.parts import Table
from hta_sql.report.path import with_path
from hta_sql.report.sections import critical_path
from hta_sql.report.subject import Subject

pytestmark = pytest.mark.queries


def activity(name: str, ts: int, dur: int, correlation: int) -> dict:
    return span(name, ts, dur, "kernel", pid=0, tid=7, device=0, stream=7, correlation=correlation)


# host      [add [launch]] [cudaGraphLaunch] [wait =========================]
# stream 7         [add]                     [replayed ][replayed] [unknown]
EVENTS = [
    span("ProfilerStep#1", 0, 200, "user_annotation"),
    span("aten::add", 0, 20),
    span("cudaLaunchKernel", 5, 10, "cuda_runtime", correlation=1),
    activity("add", 18, 10, 1),
    span("cudaGraphLaunch", 30, 10, "cuda_runtime", correlation=2),
    activity("replayed", 45, 50, 2),
    activity("replayed", 95, 60, 2),
    activity("unknown", 155, 30, 3),
    span("cudaDeviceSynchronize", 45, 150, "cuda_runtime", correlation=4),
]


def test_rows_without_an_operator_name_their_call(tmp_path):
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "rank_0.json").write_text(trace_text(EVENTS))
    hta_sql.ingest(tmp_path / "traces", tmp_path / "archive", workers=1)
    with hta_sql.open(tmp_path / "archive") as run:
        subject = Subject.of(run, "traces", None, None)
        with with_path(subject):
            what_if, operators = (
                part for part in critical_path.parts(subject) if isinstance(part, Table)
            )
            [row] = run.critical_path_ops().to_pylist()[:1]
    times = {row["operator"]: row["gpu_ns"] for row in operators.answer.rows}
    assert times["no operator, graph launch: cudaGraphLaunch"] == 110_000
    assert times["no operator: the launch is not in the trace"] == 30_000
    # The query has both in one row.
    assert (row["operator"], row["gpu_ns"]) == (None, 140_000)
    assert sum(row["time_frac"] for row in operators.answer.rows) == pytest.approx(1)
    assert what_if.heads["new_step_ns"] == "then the step takes"
