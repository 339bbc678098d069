"""op_stats and op_calls on real traces: in plain Python, and against HTA's call graph.

HTA's figures are facts to compare with, not truth; see test_hta_figures.
"""

import json
from collections import Counter, defaultdict
from functools import cmp_to_key, lru_cache

import pytest
from queries import brute_ops
from raw_json import (
    TRACE_FILES,
    TRACES,
    TraceFile,
    in_order,
    is_activity,
    is_host_op,
    is_over,
    nanoseconds,
    read,
    whole_number,
)

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
KERNEL_COLUMNS = ("num_kernels", "kernel_dur_sum_ns", "kernel_span_ns")


@pytest.fixture(scope="session")
def trace(trace_file: TraceFile) -> TraceFile:
    return trace_file


def rows_of(run, query, trace, **given) -> list[dict]:
    only = {"only_jobs": [trace.job], "only_ranks": [trace.rank]}
    return run.query(query, **only, **given).to_pylist()


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
    assert rows_of(real_run, query, trace, **given) == wanted


@pytest.mark.parametrize(("query", "given"), QUERIES[1:])
def test_plain_python_says_the_same_of_a_step(real_run, real_rows, trace, query, given):
    activities, ops = (
        real_rows(table, trace.job, trace.rank) for table in ("gpu_activities", "host_ops")
    )
    steps = sorted({row["step"] for row in ops} - {None})[:1]
    wanted = list(getattr(brute_ops, query)(activities, ops, only_steps=steps, **given))
    assert rows_of(real_run, query, trace, only_steps=steps, **given) == wanted


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


# HTA's call graph: CallGraph of hta.common.trace_call_graph, over Trace(...).parse_traces() with
# HTA_DISABLE_NS_ROUNDING=1. With its rounding it fails on half of these traces; on those that
# TraceAnalysis has aligned its spans are of no use, all of 10^15 us.

# Of operators: those with kernels, and the sums of num_kernels, kernel_dur_sum, kernel_span in us.
# Written by HTA 0.5.0.
HTA_FIGURES = {
    ("alexnet", 0): (164, 422, 202247.0, 40355542.0),
    ("b200_eager", 0): (1052, 1523, 16606.462, 40368.69751),
    ("backward_thread", 0): (3, 3, 135.0, 135.0),
    ("event_sync", 0): (8, 11, 46.0, 79.0),
    ("event_sync_multi_stream", 0): (6, 12, 744.0, 868.0),
    ("execution_trace", 0): (6, 6, 26.0, 26.0),
    ("h100_bert", 0): (110, 110, 627.067, 627.068359),
    ("nccl", 0): (6144, 9540, 486550.359, 508429.569336),
    ("ns_resolution", 0): (10170, 15375, 1435529.441, 1440798.0),
    ("sglang_prefill", 0): (1451, 1560, 1831724.154, 1831724.240234),
    ("simple_add", 0): (164, 422, 153115.0, 53173059.0),
    ("trace_diff/control", 3): (15792, 23190, 1128316.0, 1279605.0),
    ("trace_diff/test", 1): (16338, 35100, 2029753.0, 2445431.0),
    ("triton", 0): (1, 1, 1.76, 1.759766),
    ("two_ranks", 0): (2325, 3366, 1439292.0, 1675958.0),
    ("two_ranks", 1): (2298, 3301, 1599195.0, 1820296.0),
    ("vllm_decode_capture", 0): (14, 14, 37.986, 37.984375),
}
SYNCHRONISATIONS = "HTA takes synchronisations for kernels"
STREAM_0 = "HTA takes nothing on stream 0 for a kernel, and AMD's run there"
ON_STREAM = "HTA leaves out operators with an argument `stream`, which Triton's have"
ROUNDED = (
    "HTA's stamps since 1970 are to a quarter of a us, in which an operator of 39 ns begins as it"
    " ends; where it ends first, this ends the operator around it, and it has that one's kernels"
    " itself. Which ones do depends on the sort: 26 here, 20 in HTA's own run"
)
# And for how many operators the figures are not the same.
KNOWN_DIFFERENCES = {
    "alexnet": (SYNCHRONISATIONS, 56),
    "amd_mi250": (STREAM_0, 35),
    "b200_eager": (ON_STREAM, 1),
    "event_sync": (SYNCHRONISATIONS, 3),
    "mi300_bert": (STREAM_0, 110),
    "ns_resolution": (ROUNDED, 26),
    "simple_add": (SYNCHRONISATIONS, 56),
    "torch_compile_triton": (STREAM_0, 14),
    "triton": (ON_STREAM, 1),
    "vllm_decode": (STREAM_0, 18),
}


class Node:
    """An event as HTA has it, in us as doubles; mended, in whole ns."""

    def __init__(self, index: int, event: dict, mended: bool) -> None:
        args = event.get("args") or {}
        self.index, self.cat, self.name = index, event["cat"], event["name"]
        self.thread = event["pid"], event["tid"]
        time_of = nanoseconds if mended else float
        self.ts, self.dur = time_of(event["ts"]), time_of(event["dur"])
        self.end = self.ts + self.dur
        stream = whole_number(args.get("stream"))  # of AMD's launches, an address as text
        self.stream = -1 if stream is None else stream
        self.correlation = whole_number(args.get("correlation", -1))
        self.caller: Node | None = None
        self.kernels: list[Node] = []

    @property
    def is_of_gpu(self) -> bool:
        on_stream = self.stream >= 0 and self.correlation >= 0
        return on_stream or self.name in ("Event Sync", "Context Sync")


def comes_first(one: tuple, other: tuple) -> bool:
    """Whether HTA takes an edge before another; an edge is (instant, whether it ends, node)."""
    (at, ends, node), (other_at, other_ends, other_node) = one, other
    if at != other_at:
        return at < other_at
    if node is other_node:
        return other_ends
    if node.dur == 0 < other_node.dur:  # the empty one is inside
        return other_ends
    if other_node.dur == 0 < node.dur:
        return not ends
    if ends != other_ends:
        return ends if node.dur else other_ends
    if node.dur != other_node.dur:
        return (node.dur > other_node.dur) != ends
    return (node.index < other_node.index) != ends


def in_hta_order(one: tuple, other: tuple) -> int:
    return -1 if comes_first(one, other) else 1


def build_stack(nodes: list[Node]) -> None:
    """Tell callers; whatever ends, HTA takes the last to begin from the stack."""
    edges = [(node.ts, False, node) for node in nodes] + [(node.end, True, node) for node in nodes]
    edges.sort(key=lambda edge: edge[0])
    stack: list[Node] = []
    for _, ends, node in sorted(edges, key=cmp_to_key(in_hta_order)):
        if ends:
            stack.pop()
        else:
            node.caller = stack[-1] if stack else None
            stack.append(node)


@lru_cache(maxsize=2)
def by_hta(file, mended=False) -> dict[int, Node]:
    """HTA's call graph: the operators with the kernels under them, by event_id.

    Mended, it is exact, and an event's category tells whether it is of the host or a kernel.
    """
    nodes = [
        Node(index, event, mended)
        for index, event in enumerate(read(file).events)
        if "dur" in event and event.get("cat") not in (None, "Trace")
    ]
    threads = defaultdict(list)
    for node in nodes:
        threads[node.thread].append(node)
    stacks, placed = defaultdict(list), set()
    for (pid, tid), of_thread in threads.items():
        of_host = [
            node for node in of_thread if (is_host_op(node.cat) if mended else node.stream == -1)
        ]
        if pid == 0 or tid == 0 or all(node.stream > 0 for node in of_thread):
            continue
        build_stack(of_host)
        placed |= set(of_host)
        names = [node.name for node in of_thread]
        label = (
            "main"
            if any(name.startswith("ProfilerStep#") for name in names)
            else "backward"
            if any("autograd::" in name for name in names)
            else names[0]
        )
        stacks[label].append(of_host)

    if len(stacks["main"]) == len(stacks["backward"]) == 1:
        [main], [backward] = stacks["main"], stacks["backward"]
        around = [node for node in main if node.name.startswith("## backward ##")] or [
            node for node in main if node.name.startswith("ProfilerStep#")
        ]
        outermost = [node for node in backward if node.caller is None]
        for outer in around:
            for node in outermost:
                if outer.ts <= node.ts and node.end <= outer.end:
                    node.caller = outer

    launches = {node.correlation: node for node in nodes if not node.is_of_gpu}
    for kernel in nodes:
        is_kernel = is_activity(kernel.cat) if mended else kernel.is_of_gpu and kernel.stream > 0
        if is_kernel and kernel.correlation > -1:
            node = launches.get(kernel.correlation)
            node = node if node in placed and node.index > 0 else None
            while node:
                node.kernels.append(kernel)
                node = node.caller
    return {node.index: node for node in nodes if node.cat in ("cpu_op", "Operator")}


def figures(node: Node) -> tuple[int, float, float]:
    """num_kernels, kernel_dur_sum, kernel_span."""
    if not node.kernels:
        return 0, 0.0, 0.0
    return (
        len(node.kernels),
        sum(kernel.dur for kernel in node.kernels),
        max(kernel.end for kernel in node.kernels) - min(kernel.ts for kernel in node.kernels),
    )


def totals(all_figures) -> tuple:
    of_some = [one for one in all_figures if one[0] > 0]
    return len(of_some), *(sum(one[column] for one in of_some) for column in range(3))


def test_hta_rules_give_its_figures(trace):
    """So the next test compares with what HTA says of each operator."""
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
