"""op_stats and op_calls on real traces, in plain Python."""

import json
from collections import Counter, defaultdict

import pytest
from queries import brute_ops
from raw_events import in_order, is_host_op, is_over
from raw_json import read
from real_files import TRACES
from real_ops.rows import rows_of

pytestmark = pytest.mark.skipif(
    not TRACES.is_dir(), reason=f"no real traces: {TRACES} is no folder"
)


QUERIES = [("op_stats", {}), ("op_stats", {"by_shape": True}), ("op_calls", {})]


CROSSED = {
    "b200_eager": 13,
    "h100_bert": 5,
    "mi300_bert": 5,
    "mtia_inference": 15,
    "sglang_prefill": 7,
    "vllm_decode_capture": 232,
}  # spans


def cuts(spans) -> dict[int, int]:
    """Where another span of the thread first crosses a span, by its event_id."""
    stacks, found = defaultdict(list), {}
    for span in sorted(filter(lambda span: is_host_op(span.cat), spans), key=in_order):
        stack = stacks[span.pid, span.tid]
        while stack and (is_over(stack[-1], span) or stack[-1].end_ns < span.end_ns):
            left = stack.pop()
            if left.end_ns > span.start_ns:
                found[left.event_id] = span.start_ns
        stack.append(span)
    return found


def as_json(value) -> str | None:
    return None if value is None else json.dumps(value, separators=(",", ":"))


@pytest.mark.parametrize(("query", "given"), QUERIES)
def test_the_trace_itself_says_the_same(real_run, trace, query, given):
    """From its JSON, without our tables."""
    raw = read(trace)
    place = {"job": trace.job, "rank": trace.rank}
    args = {span.event_id: span.args for span in raw.spans}
    cut_ns = cuts(raw.spans)
    assert len(cut_ns) == CROSSED.get(trace.job, 0)
    ops = [
        row
        | place
        | {
            "end_ns": row["start_ns"] + row["dur_ns"],
            "cut_ns": cut_ns.get(row["event_id"]),
            "input_dims": as_json(args[row["event_id"]].get("Input Dims")),
            "input_types": as_json(args[row["event_id"]].get("Input type")),
        }
        for row in raw.host_ops
    ]
    activities = [row | place for row in raw.activities]
    wanted = list(getattr(brute_ops, query)(activities, ops, **given))
    assert figures(rows_of(real_run, query, trace, **given)) == figures(wanted)


@pytest.mark.parametrize(("query", "given"), QUERIES[1:])
def test_plain_python_says_the_same_of_a_step(real_run, real_rows, trace, query, given):
    activities, ops = (
        real_rows(table, trace.job, trace.rank) for table in ("gpu_activities", "host_ops")
    )
    steps = sorted({row["step"] for row in ops} - {None})[:1]
    wanted = list(getattr(brute_ops, query)(activities, ops, only_steps=steps, **given))
    found = rows_of(real_run, query, trace, only_steps=steps, **given)
    assert figures(found) == figures(wanted)


def figures(rows: list[dict]) -> list[dict]:
    """Rows without the category: the plain counterpart knows only the names that its tests draw.
    test_real_categories is about those of real traces."""
    return [{name: row[name] for name in row if name != "category"} for row in rows]


def test_self_times_add_up(real_run, real_rows, trace):
    """Each activity that an operator launched is one operator's own."""
    rows = rows_of(real_run, "op_stats", trace)
    assert sum(row["self_kernel_ns"] for row in rows) == sum(
        row["dur_ns"]
        for row in real_rows("gpu_activities", trace.job, trace.rank)
        if row["op_id"] is not None
    )
    calls = rows_of(real_run, "op_calls", trace)
    assert Counter(row["name"] for row in calls) == {row["name"]: row["count"] for row in rows}
