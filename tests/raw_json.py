"""Kineto traces read and measured in plain Python: slow, exact, and sharing nothing with hta_sql.

Numbers with a fraction are kept as written (Decimal), so that every nanosecond counts. What events
mean is told here a second time, in the words of the catalogue: kinds, launches, steps, devices,
call stacks. Time is measured by walking from instant to instant.
"""

import gzip
import re
from collections import defaultdict
from functools import cached_property, lru_cache

from raw_events import (
    OPERATORS,
    Span,
    around_each,
    in_order,
    is_activity,
    is_host_op,
    is_module,
    is_runtime_call,
    kind_of,
    nanoseconds,
    parse,
    walked,
    whole_number,
)
from real_files import TRACES, TraceFile


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
        """(N, span) of the host annotations ProfilerStep#N; if there are none, of a server's
        annotations around its iterations, which no trace here nests, in their order."""
        numbered = [
            (int(match[1]), span)
            for span in self.spans
            if span.cat in {"user_annotation", "cpu_op", "Operator"}
            if (match := re.fullmatch(r"ProfilerStep#(\d+)", span.name))
        ]
        of_servers = sorted(
            (span.start_ns, span.event_id, span)
            for span in self.spans
            if span.cat == "user_annotation" and span.name.startswith("execute_")
        )
        return numbered or [(at, span) for at, (_, _, span) in enumerate(of_servers)]

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
