"""Kineto traces read and measured in plain Python: slow, exact, and sharing nothing with hta_sql.

Numbers with a fraction are kept as written (Decimal), so that every nanosecond counts. What events
mean is told here a second time, in the words of the catalogue: kinds, launches, steps, devices,
call stacks. Time is measured by walking from instant to instant.
"""

import gzip
import json
import re
from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

SHARED = Path(__file__).resolve().parents[2] / "shared"
TRACES = SHARED / "traces"
HTA_OUTPUTS = SHARED / "reference" / "hta-outputs"

KINDS = ("communication", "computation", "memory")  # in alphabetical order


class TraceFile(NamedTuple):
    job: str
    rank: int
    path: str  # from the folder of traces
    has_gpu: bool = True


# What each file is, as its README and its own `distributedInfo` say; 0 where no rank is told.
TRACE_FILES = (
    TraceFile("alexnet", 0, "alexnet/trace.json.gz"),
    TraceFile("amd_mi250", 0, "amd_mi250/mi250_minitoy_train.json.gz"),
    TraceFile("b200_eager", 0, "b200_eager/rank0.json.gz"),
    TraceFile("backward_thread", 0, "backward_thread/backward_thread.json"),
    TraceFile("cpu_only", 34, "cpu_only/rank-34.pt.trace.json.gz", has_gpu=False),
    TraceFile("cupti_counters", 0, "cupti_counters/trace.json.gz", has_gpu=False),
    TraceFile("event_sync", 0, "event_sync/trace.json.gz"),
    TraceFile("event_sync_multi_stream", 0, "event_sync_multi_stream/trace.json.gz"),
    TraceFile("execution_trace", 0, "execution_trace/simple_add_trace.json.gz"),
    TraceFile("h100_bert", 0, "h100_bert/trace.json.gz"),
    TraceFile("mi210_gpu_only", 0, "mi210_gpu_only/trace.json.gz"),
    TraceFile("mi300_bert", 0, "mi300_bert/trace.json.gz"),
    TraceFile("mtia_inference", 0, "mtia_inference/rank_0.json.gz"),
    TraceFile("nccl", 0, "nccl/rank0.json.gz"),
    TraceFile("no_gpu_events", 0, "no_gpu_events/rank_non_gpu.json.gz", has_gpu=False),
    TraceFile("ns_resolution", 0, "ns_resolution/rank-0.pt.trace.json.gz"),
    TraceFile("rank_missing", 0, "rank_missing/rank_not_found.json.gz", has_gpu=False),
    TraceFile("sglang_prefill", 0, "sglang_prefill/sglang_Qwen3-8B_prefilldecode.json.gz"),
    TraceFile("simple_add", 0, "simple_add/trace.json.gz"),
    TraceFile("torch_compile_triton", 0, "torch_compile_triton/trace.json.gz"),
    TraceFile("trace_compare/base", 1, "trace_compare/base/base.json.gz"),
    TraceFile("trace_compare/test", 1, "trace_compare/test/test.json.gz"),
    TraceFile("trace_diff/control", 3, "trace_diff/control/rank3.json.gz"),
    TraceFile("trace_diff/test", 1, "trace_diff/test/rank1.json.gz"),
    TraceFile("triton", 0, "triton/triton_example.json.gz"),
    TraceFile("two_ranks", 0, "two_ranks/sampled_rank-0.json.gz"),
    TraceFile("two_ranks", 1, "two_ranks/sampled_rank-1.json.gz"),
    TraceFile("vllm_decode", 0, "vllm_decode/graph_execution.json.gz"),
    TraceFile(
        "vllm_decode_capture",
        0,
        "vllm_decode_capture/graph_capture_rank_0.1773709742341309550.pt.trace.json.gz",
    ),
)
# The jobs of a quick run: small ones, of each vendor, with and without a GPU, of one rank and two.
QUICK = {
    "amd_mi250",
    "backward_thread",
    "cpu_only",
    "cupti_counters",
    "event_sync_multi_stream",
    "h100_bert",
    "torch_compile_triton",
    "trace_compare/base",
    "trace_compare/test",
    "two_ranks",
}
# Found beside them, but no traces.
OTHER_FILES = {"execution_trace/et/simple_add_et.json.gz"}


def parse(text: str | bytes):
    """JSON with fractions as written."""
    return json.loads(text, parse_float=Decimal)


def nanoseconds(us) -> int:
    """Microseconds as the trace has them to nanoseconds; these traces have no finer ones."""
    if isinstance(us, int):
        return us * 1000
    ns = Decimal(us) * 1000
    assert ns == int(ns), f"{us} us is no whole number of nanoseconds"
    return int(ns)


def whole_number(value) -> int | None:
    """A JSON value that is a number, also in quotes, as older profilers write them."""
    if isinstance(value, str):
        return int(value) if re.fullmatch(r"-?\d+", value) else None
    return None if value is None else int(value)


def is_runtime_call(cat: str | None) -> bool:
    return cat == "Runtime" or (cat or "").endswith(("_runtime", "_driver"))


def is_activity(cat: str | None) -> bool:
    return cat in {"kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset"} or (
        cat == "mtia_ccp_events"
    )


OPERATORS = {"cpu_op", "Operator"}


def is_module(span: "Span") -> bool:
    return span.cat == "python_function" and span.name.startswith("nn.Module: ")


def is_host_op(cat: str | None) -> bool:
    return is_runtime_call(cat) or cat in {
        "cpu_op",
        "Operator",
        "user_annotation",
        "python_function",
    }


def kind_of(cat: str, name: str, args: dict) -> str:
    """The first rule of the catalogue that applies."""
    if cat in {"gpu_memcpy", "gpu_memset", "Memcpy", "Memset"}:
        return "memory"
    if args.get("Collective name"):
        return "communication"
    function = name.removeprefix("void ")
    plain = name.lower().replace("_", "")
    if function.startswith(("nccl", "rccl", "hccl")):
        return "communication"
    if any(word in name for word in ("ncclKernel", "ncclDevKernel", "cross_device_reduce")):
        return "communication"
    if any(word in plain for word in ("oneccl", "msccl", "nvshmem", "deepep")):
        return "communication"
    if any(word in plain for word in ("allreduce", "allgather", "reducescatter", "alltoall")):
        return "communication"
    if name.startswith(("Memcpy", "Memset", "hipMemcpy", "hipMemset", "dma")):
        return "memory"
    if name.startswith(
        ("CopyDeviceToDevice", "__amd_rocclr_copyBuffer", "__amd_rocclr_fillBuffer")
    ):
        return "memory"
    return "computation"


@dataclass(slots=True)
class Span:
    event_id: int
    cat: str | None
    name: str | None
    pid: object
    tid: object
    start_ns: int
    end_ns: int
    args: dict


class RawTrace:
    """One trace file."""

    def __init__(self, file: TraceFile) -> None:
        self.file = file
        path = TRACES / file.path
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        self.metadata = parse(data)
        self.events: list[dict] = self.metadata.pop("traceEvents")
        self.base_ns = int(self.metadata.get("baseTimeNanoseconds", 0))

    def start_ns(self, event: dict) -> int:
        return self.base_ns + nanoseconds(event["ts"])

    @cached_property
    def spans(self) -> list[Span]:
        spans = []
        for event_id, event in enumerate(self.events):
            if event["ph"] == "X":
                start_ns = self.start_ns(event)
                spans.append(
                    Span(
                        event_id,
                        event.get("cat"),
                        event.get("name"),
                        event.get("pid"),
                        event.get("tid"),
                        start_ns,
                        start_ns + nanoseconds(event["dur"]),
                        event.get("args") or {},
                    )
                )
        return spans

    @cached_property
    def step_marks(self) -> list[tuple[int, Span]]:
        """(N, span) of the host annotations ProfilerStep#N."""
        return [
            (int(match[1]), span)
            for span in self.spans
            if span.cat in {"user_annotation", "cpu_op", "Operator"}
            if (match := re.fullmatch(r"ProfilerStep#(\d+)", span.name))
        ]

    def step_at(self, at_ns: int) -> int | None:
        """N of the step in whose span this instant lies; of the one that began last."""
        around = [
            (span.start_ns, span.event_id, step)
            for step, span in self.step_marks
            if span.start_ns <= at_ns < span.end_ns
        ]
        return max(around)[2] if around else None

    @cached_property
    def launches(self) -> dict[int, Span]:
        """The outermost runtime or driver call of each correlation id."""
        calls = defaultdict(list)
        for span in self.spans:
            if is_runtime_call(span.cat) and "correlation" in span.args:
                calls[whole_number(span.args["correlation"])].append(span)
        return {
            correlation: min(of_id, key=lambda c: (c.start_ns, c.start_ns - c.end_ns, c.event_id))
            for correlation, of_id in calls.items()
        }

    @cached_property
    def activities(self) -> list[dict]:
        rows = []
        for span in self.spans:
            if not is_activity(span.cat):
                continue
            args = span.args
            launch = self.launches.get(whole_number(args.get("correlation")))
            device, stream = whole_number(args.get("device")), whole_number(args.get("stream"))
            rows.append(
                {
                    "event_id": span.event_id,
                    "cat": span.cat,
                    "name": span.name,
                    "kind": kind_of(span.cat, span.name, args),
                    "device": whole_number(span.pid) if device is None else device,
                    "stream": whole_number(span.tid) if stream is None else stream,
                    "start_ns": span.start_ns,
                    "dur_ns": span.end_ns - span.start_ns,
                    "end_ns": span.end_ns,
                    "launch_id": launch and launch.event_id,
                    "step": launch and self.step_at(launch.start_ns),
                    "op_id": launch and self.places[launch.event_id]["op_id"],
                    "annotation_id": launch and self.places[launch.event_id]["annotation_id"],
                }
            )
        return rows

    @cached_property
    def host_ops(self) -> list[dict]:
        threads = defaultdict(list)
        for span in self.spans:
            if is_host_op(span.cat):
                threads[span.pid, span.tid].append(span)
        rows = []
        for spans in threads.values():
            around = {
                name: around_each([span for span in spans if span.cat in cats], spans)
                for name, cats in (("op_id", OPERATORS), ("annotation_id", {"user_annotation"}))
            }
            around["module_id"] = around_each([s for s in spans if is_module(s)], spans)
            around_backward = around_each(
                [span for span in spans if self.begins_backward(span)], spans
            )
            for span, callers in walked(spans):
                backward_id = around_backward[span.event_id]
                if self.begins_backward(span):
                    backward_id = span.event_id
                rows.append(
                    {
                        "event_id": span.event_id,
                        "cat": span.cat,
                        "name": span.name,
                        "start_ns": span.start_ns,
                        "dur_ns": span.end_ns - span.start_ns,
                        "parent_id": callers[-1].event_id if callers else None,
                        "depth": len(callers),
                        "root_id": (callers or [span])[0].event_id,
                        "op_id": around["op_id"][span.event_id],
                        "annotation_id": around["annotation_id"][span.event_id],
                        "module_id": around["module_id"][span.event_id],
                        "caller_id": None if callers else self.caller_on_main_thread(span),
                        "is_backward": backward_id is not None,
                        "forward_id": self.forward_ops.get(backward_id),
                        "names": tuple(caller.name for caller in callers) + (span.name,),
                        "step": self.step_at(span.start_ns),
                    }
                )
        return sorted(rows, key=lambda row: row["event_id"])

    @cached_property
    def forward_ops(self) -> dict[int, int]:
        """Of backward operators the forward one: by autograd's numbers, else by flows."""
        forward, backward = defaultdict(list), []
        for span in self.spans:
            number = whole_number(span.args.get("Sequence number"))
            if span.cat not in OPERATORS or number is None or number < 0:
                continue
            if whole_number(span.args.get("Fwd thread id")):
                backward.append((whole_number(span.args["Fwd thread id"]), number, span))
            else:
                forward[span.pid, span.tid, number].append(span)
        threads = {key[:2] for key in forward}

        def before(thread: tuple, number: int, span: Span) -> list[Span]:
            return [
                one for one in forward.get((*thread, number), ()) if one.start_ns < span.start_ns
            ]

        thread_of = {}
        for fwd_thread in {each[0] for each in backward}:
            thread_of[fwd_thread] = max(
                threads,
                default=None,
                key=lambda thread: sum(
                    bool(before(thread, *each[1:])) for each in backward if each[0] == fwd_thread
                ),
            )
        found = {}
        for fwd_thread, number, span in backward:
            thread = thread_of[fwd_thread]
            if thread and (candidates := before(thread, number, span)):
                found[span.event_id] = max(candidates, key=in_order).event_id
        return found

    def begins_backward(self, span: Span) -> bool:
        return span.cat in OPERATORS and (
            (whole_number(span.args.get("Fwd thread id")) or 0) > 0
            or span.name.startswith("autograd::engine::evaluate_function")
            or span.event_id in self.forward_ops
        )

    @cached_property
    def main_annotations(self) -> list[Span]:
        """What outermost spans of autograd's threads may belong to."""
        annotations = [span for span in self.spans if span.cat == "user_annotation"]
        main = {(s.pid, s.tid) for s in annotations if s.name.startswith("ProfilerStep#")}
        on_main = [s for s in annotations if {(s.pid, s.tid)} == main]
        return [s for s in on_main if s.name.startswith("## backward ##")] or [
            s for s in on_main if s.name.startswith("ProfilerStep#")
        ]

    @cached_property
    def autograd_threads(self) -> set[tuple]:
        return {(s.pid, s.tid) for s in self.spans if s.cat in OPERATORS and "autograd::" in s.name}

    def caller_on_main_thread(self, span: Span) -> int | None:
        """The annotation of the main thread that an outermost span of an autograd thread is in."""
        thread = (span.pid, span.tid)
        steps = {(mark.pid, mark.tid) for mark in self.main_annotations}
        if thread not in self.autograd_threads or thread in steps:
            return None
        around = [
            a
            for a in self.main_annotations
            if a.start_ns <= span.start_ns and span.end_ns <= a.end_ns
        ]
        return max(around, key=in_order).event_id if around else None

    @cached_property
    def places(self) -> dict[int, dict]:
        return {row["event_id"]: row for row in self.host_ops}


# Two: the largest take half a GB, and tests are in the order of traces.
@lru_cache(maxsize=2)
def read(file: TraceFile) -> RawTrace:
    return RawTrace(file)


def in_order(span: Span) -> tuple:
    return span.start_ns, -span.end_ns, span.event_id


def around_each(outer: list[Span], spans: list[Span]) -> dict[int, int | None]:
    """Of each span the last of `outer` to begin before it that is open and ends no sooner."""
    found = {}
    waiting = sorted(outer, key=in_order, reverse=True)
    begun: list[Span] = []
    for span in sorted(spans, key=in_order):
        while waiting and in_order(waiting[-1]) < in_order(span):
            begun.append(waiting.pop())
        begun = [earlier for earlier in begun if not is_over(earlier, span)]
        found[span.event_id] = next(
            (one.event_id for one in reversed(begun) if one.end_ns >= span.end_ns), None
        )
    return found


def walked(spans: list[Span]):
    """Each span of one thread with its callers, outermost first.

    A span that outlives the one it began in ends that one's time on the stack.
    """
    stack: list[Span] = []
    for span in sorted(spans, key=lambda s: (s.start_ns, -s.end_ns, s.event_id)):
        while stack and (is_over(stack[-1], span) or stack[-1].end_ns < span.end_ns):
            stack.pop()
        yield span, list(stack)
        stack.append(span)


def is_over(earlier: Span, span: Span) -> bool:
    """Whether one has ended when the other begins; two empty ones at one instant nest."""
    both_empty = earlier.start_ns == earlier.end_ns == span.start_ns == span.end_ns
    return earlier.end_ns <= span.start_ns and not both_empty


# What the queries say, from rows as RawTrace.activities gives them.


def stretches(rows: list[dict]):
    """(set of kinds, ns) from each instant at which something changes to the next."""
    changes: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for row in rows:
        changes[row["start_ns"]].append((row["kind"], 1))
        changes[row["end_ns"]].append((row["kind"], -1))
    running = dict.fromkeys(KINDS, 0)
    instants = sorted(changes)
    for at, until in zip(instants, instants[1:], strict=False):
        for kind, change in changes[at]:
            running[kind] += change
        yield {kind for kind in KINDS if running[kind]}, until - at


def time_with(rows: list[dict], wanted) -> int:
    return sum(ns for kinds, ns in stretches(rows) if wanted(kinds))


def span_of(rows: list[dict]) -> int:
    return max(row["end_ns"] for row in rows) - min(row["start_ns"] for row in rows)


def fraction(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def grouped(rows: list[dict], *columns: str) -> list[tuple[dict, list[dict]]]:
    groups = defaultdict(list)
    for row in rows:
        groups[tuple(row[column] for column in columns)].append(row)
    return [(dict(zip(columns, key, strict=True)), groups[key]) for key in sorted(groups)]


def breakdown(rows: list[dict]) -> dict:
    span, busy = span_of(rows), time_with(rows, bool)
    compute = time_with(rows, lambda kinds: "computation" in kinds)
    return {
        "span_ns": span,
        "busy_ns": busy,
        "idle_ns": span - busy,
        "compute_ns": compute,
        "non_compute_ns": busy - compute,
        "communication_ns": time_with(rows, lambda kinds: "communication" in kinds),
        "memory_ns": time_with(rows, lambda kinds: "memory" in kinds),
        "exposed_communication_ns": time_with(
            rows, lambda kinds: "communication" in kinds and "computation" not in kinds
        ),
        "exposed_memory_ns": time_with(rows, lambda kinds: kinds == {"memory"}),
        "idle_frac": fraction(span - busy, span),
        "compute_frac": fraction(compute, span),
        "non_compute_frac": fraction(busy - compute, span),
    }


def temporal_breakdown(trace: RawTrace) -> list[dict]:
    return [key | breakdown(rows) for key, rows in grouped(trace.activities, "device")]


def step_breakdown(trace: RawTrace) -> list[dict]:
    in_steps = [row for row in trace.activities if row["step"] is not None]
    return [key | breakdown(rows) for key, rows in grouped(in_steps, "device", "step")]


def comm_comp_overlap(trace: RawTrace) -> list[dict]:
    result = []
    for key, rows in grouped(trace.activities, "device"):
        communication = time_with(rows, lambda kinds: "communication" in kinds)
        overlap = time_with(rows, lambda kinds: {"communication", "computation"} <= kinds)
        result.append(
            key
            | {
                "communication_ns": communication,
                "overlap_ns": overlap,
                "overlap_frac": fraction(overlap, communication),
            }
        )
    return result


def kernel_kind_breakdown(trace: RawTrace) -> list[dict]:
    result = []
    for key, rows in grouped(trace.activities, "device"):
        times = defaultdict(int)
        for kinds, ns in stretches(rows):
            if kinds:
                times["+".join(sorted(kinds))] += ns
        busy = sum(times.values())
        for kinds, ns in sorted(times.items(), key=lambda item: (-item[1], item[0])):
            result.append(key | {"kinds": kinds, "time_ns": ns, "time_frac": ns / busy})
    return result


def kernel_stats(trace: RawTrace) -> list[dict]:
    result = []
    for kind, of_kind in grouped(trace.activities, "kind"):
        names = []
        for name, calls in grouped(of_kind, "name"):
            times = [row["dur_ns"] for row in calls]
            names.append(
                kind
                | name
                | {
                    "count": len(times),
                    "total_ns": sum(times),
                    "mean_ns": (2 * sum(times) + len(times)) // (2 * len(times)),  # halves up
                    "min_ns": min(times),
                    "max_ns": max(times),
                    "total_frac": fraction(sum(times), sum(row["dur_ns"] for row in of_kind)),
                }
            )
        names.sort(key=lambda row: (-row["total_ns"], row["name"]))
        result += [row | {"position": at} for at, row in enumerate(names, 1)]
    return result


def profiler_steps(trace: RawTrace) -> list[dict]:
    by_step = defaultdict(list)
    for step, span in trace.step_marks:
        by_step[step].append(span)
    activities, ops = defaultdict(list), defaultdict(int)
    for row in trace.activities:
        activities[row["step"]].append(row)
    for row in trace.host_ops:
        ops[row["step"]] += row["cat"] in {"cpu_op", "Operator"}
    result = []
    for step, marks in sorted(by_step.items()):
        start_ns = min(mark.start_ns for mark in marks)
        launched = activities[step]
        result.append(
            {
                "step": step,
                "start_ns": start_ns,
                "dur_ns": max(mark.end_ns for mark in marks) - start_ns,
                "gpu_busy_ns": time_with(launched, bool),
                "gpu_span_ns": span_of(launched) if launched else 0,
                "kernel_count": len(launched),
                "op_count": ops[step],
            }
        )
    return result
