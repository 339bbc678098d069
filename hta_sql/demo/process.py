"""One rank: host threads with nested events and launches, and streams that run the activities.

Times are true times until a record is made. The record has the time that the rank's clock shows. No
host event is shorter than two ticks, and none touches its neighbour. So drift can neither reduce an
event to length 0 nor make the nesting of two events ambiguous.
"""

import random

from hta_sql.demo.operators import Copy, Differentiable, Kernel, Op, Tensor
from hta_sql.demo.records import (
    AUTOGRAD,
    MAIN,
    Activity,
    Allocation,
    Call,
    Clock,
    Collective,
    GpuAnnotation,
    HostOp,
    StepRecords,
    Sync,
)

COMPUTE_STREAM, COPY_STREAM = 7, 13
NO_STREAM = -1
# Extra duration of a launch with the bottleneck `launch`.
SLOW_LAUNCH_NS = 150_000


class _Frame:
    """An event that has begun and not yet ended.

    `spans` of an annotation has its first start and last end on each stream. `annotations` has the
    spans of all annotations that are open at the event, including its own.
    """

    __slots__ = ("annotations", "index", "flow", "id", "op", "op_id", "python_id", "spans", "start")


class Rank:
    """A process of the job: its host threads, its streams and its random numbers."""

    def __init__(
        self,
        number: int,
        seed: int,
        clock: Clock,
        slowdown_percent: int = 0,
        bottleneck: str | None = None,
    ):
        self.number = number
        self.clock = clock
        self.now = clock.reference_ns
        self.free = {COMPUTE_STREAM: 0, COPY_STREAM: 0}
        self.records = StepRecords(None)
        self.tape: list[tuple[Differentiable, int, int]] = []
        self._slowdown_percent = slowdown_percent
        self._launch_hold_ns = SLOW_LAUNCH_NS if bottleneck == "launch" else 0
        self._bits = random.Random(f"{seed}/{number}").getrandbits
        self._read = clock.read
        self._tick = clock.tick_ns
        self._thread = MAIN
        self._stacks: tuple[list[_Frame], list[_Frame]] = ([], [])
        self._stack = self._stacks[MAIN]
        self._annotated: list[_Frame] = []
        self._tensors: list[tuple[int, int]] = []
        self._allocated = 8 << 30
        self._external_id = self._python_id = self._sequence = 0
        self._correlation = 1000

    def draw(self, low_ns: int, high_ns: int) -> int:
        """A random duration in whole ticks, at least two."""
        ns = low_ns + (self._bits(16) * (high_ns - low_ns) >> 16)
        return max(ns - ns % self._tick, 2 * self._tick)

    def switch_to(self, thread: int) -> None:
        """Continue in the other host thread. The first one waits with its events open."""
        self.now += self.draw(12_000, 30_000)
        self._thread, self._stack = thread, self._stacks[thread]

    # Host events

    def open(self, op: Op, sequence: int = 0, flow: int = 0, collective=None) -> _Frame:
        """Begin an event inside those that are open on this thread."""
        self.now += self.draw(250, 900)
        frame = _Frame()
        parent = self._stack[-1] if self._stack else None
        frame.op, frame.start = op, self.now
        frame.flow = (sequence, flow, collective)
        frame.op_id, frame.python_id, frame.annotations = 0, 0, ()
        if parent:
            frame.op_id, frame.python_id = parent.op_id, parent.python_id
            frame.annotations = parent.annotations
        if op.category == "python_function":
            self._python_id += 1
            frame.id = frame.python_id = self._python_id
        else:
            self._external_id += 1
            frame.id = self._external_id
            if op.category == "cpu_op":
                frame.op_id = frame.id
            else:
                frame.spans = {}
                frame.annotations += (frame.spans,)
        # An event is recorded when it ends, but at the place of its start, as in Kineto's order.
        frame.index = len(self.records.host_ops)
        self.records.host_ops.append(None)
        self._stack.append(frame)
        return frame

    def close(self) -> None:
        """End the innermost open event."""
        self.now += self.draw(250, 1_100)
        frame = self._stack.pop()
        parent_python_id = self._stack[-1].python_id if self._stack else 0
        self.records.host_ops[frame.index] = HostOp(
            frame.op,
            self._thread,
            self._read(frame.start),
            self._read(self.now),
            len(self._stack),
            frame.id,
            parent_python_id,
            *frame.flow,
        )
        if frame.op.category == "user_annotation":
            self._annotated.append(frame)

    def run(self, op: Op, stream: int = COMPUTE_STREAM, sequence: int = 0, flow: int = 0) -> None:
        """Run an operator with everything inside it."""
        self.open(op, sequence, flow)
        for part in op.body:
            if type(part) is Op:
                # Inside `evaluate_function` is the node that the forward operator points to.
                node = self._thread == AUTOGRAD and len(self._stack) == 1
                self.run(part, stream, sequence if node else 0, sequence if node else 0)
            elif type(part) is Tensor:
                self.allocate(part.bytes)
            else:
                self.launch(part, stream)
        self.close()

    def forward(self, pair: Differentiable) -> None:
        """Run a forward operator and remember it for the backward pass."""
        self._sequence += 1
        self.tape.append((pair, self._sequence, len(self._tensors)))
        self.run(pair.forward, sequence=self._sequence, flow=self._sequence)

    def backward(self) -> None:
        """Run the node of the last forward operator on the tape, and free the tensors of both."""
        pair, sequence, tensors_before = self.tape.pop()
        self.run(pair.backward, sequence=sequence)
        while len(self._tensors) > tensors_before:
            self.release()

    def allocate(self, size: int) -> None:
        """Take memory for a tensor."""
        self.now += self.draw(200, 500)
        address = 0x7F00_0000_0000 + len(self._tensors) * 0x1000_0000
        self._tensors.append((address, size))
        self._record_memory(address, size)

    def release(self) -> None:
        """Free the memory of the newest tensor."""
        self.now += self.draw(200, 500)
        address, size = self._tensors.pop()
        self._record_memory(address, -size)

    def _record_memory(self, address: int, size: int) -> None:
        self._allocated += size
        self.records.allocations.append(
            Allocation(self._thread, self._read(self.now), address, size, self._allocated)
        )

    # Launches and streams

    def call(self, name: str, low_ns=1_500, high_ns=3_500, launches=False, until=0) -> Call:
        """A runtime or driver call that returns no earlier than `until`."""
        self.now += self.draw(250, 900)
        start = self.now
        self.now = max(start, until) + self.draw(low_ns, high_ns)
        self.now += self._launch_hold_ns if launches else 0
        self._correlation += 1
        op_id = self._stack[-1].op_id if self._stack else 0
        call = Call(
            name,
            self._thread,
            self._read(start),
            self._read(self.now),
            len(self._stack),
            op_id,
            self._correlation,
            launches,
        )
        self.records.calls.append(call)
        return call

    def launch(self, work: Kernel | Copy, stream: int, after: int = 0) -> None:
        """Launch an activity. It starts when the stream is free, but not before `after`."""
        earliest = self.now + self._launch_hold_ns + self.draw(4_500, 8_500)
        call = self.call(work.call, 2_500, 4_500, launches=True)
        start = max(earliest, self.free[stream] + self._between_kernels(), after)
        dur = self._percent(work.time_percent, self.draw(work.low_ns, work.high_ns))
        if work.kind == "computation":
            dur += self._percent(self._slowdown_percent, dur)
        annotations = self._stack[-1].annotations
        self._record_activity(work, stream, start, start + dur, call, None, annotations)

    def _percent(self, percent: int, ns: int) -> int:
        """`percent` of a duration, in whole ticks."""
        return ns * percent // (100 * self._tick) * self._tick

    def _between_kernels(self) -> int:
        """The gap between kernels on a busy stream. One in eight kernels follows without a gap."""
        return self.draw(500, 1_300) if self._bits(3) else 0

    def _record_activity(self, work, stream, start, end, call, collective, annotations) -> None:
        self.free[stream] = end
        self.records.activities.append(
            Activity(
                work,
                stream,
                self._read(start),
                self._read(end),
                call.external_id,
                call.correlation,
                collective,
            )
        )
        for spans in annotations:
            first = spans.setdefault(stream, (start, end))[0]
            spans[stream] = (first, end)

    def launch_collective(self, collective: Collective, ops: tuple[Op, Op, Op], after: int):
        """Launch a collective. Returns its start on this rank and a function to record its end."""
        stream = collective.group.stream
        for op in ops:
            self.open(op, collective=collective if op.name == "record_param_comms" else None)
        # A prefetch does not wait for the compute stream: the event has happened long before.
        self.make_wait(stream, COMPUTE_STREAM, is_recorded=after > 0)
        earliest = self.now + self._launch_hold_ns + self.draw(5_500, 9_500)
        call = self.call(collective.kernel.call, 3_000, 5_000, launches=True)
        start = max(earliest, self.free.get(stream, 0) + self._between_kernels(), after)
        annotations = self._stack[-1].annotations
        for _ in ops:
            self.close()

        def finish(end: int) -> None:
            self._record_activity(
                collective.kernel, stream, start, end, call, collective, annotations
            )

        return start, finish

    def make_wait(self, waiting: int, awaited: int, is_recorded: bool = True) -> None:
        """The calls and rows that make a stream wait for an event of another stream.

        The profiler does not record a wait for an event that has already happened.
        """
        recorded = self.call("cudaEventRecord").correlation
        call = self.call("cudaStreamWaitEvent")
        if not is_recorded:
            return
        self.records.syncs.append(
            Sync(
                "Stream Wait Event",
                waiting,
                call.start_ns,
                call.end_ns,
                call.external_id,
                call.correlation,
                (awaited, recorded),
            )
        )

    def wait_for(self, other: int) -> None:
        """Make the compute stream wait for everything that is on another stream now."""
        self.make_wait(COMPUTE_STREAM, other)
        self.free[COMPUTE_STREAM] = max(self.free[COMPUTE_STREAM], self.free.get(other, 0))

    def synchronise(self, name: str, kind: str, stream: int) -> None:
        """A call that blocks the host until a stream, or with `NO_STREAM` the device, is idle."""
        idle = max(self.free.values()) if stream == NO_STREAM else self.free[stream]
        call = self.call(name, 3_000, 6_000, until=idle)
        self.records.syncs.append(
            Sync(kind, stream, call.start_ns, call.end_ns, call.external_id, call.correlation, None)
        )

    def take_records(self, following: int | None) -> StepRecords:
        """Return the records so far, and begin those of the step `following`."""
        taken, self.records = self.records, StepRecords(following)
        for frame in self._annotated:
            for stream, (start, end) in frame.spans.items():
                taken.gpu_annotations.append(
                    GpuAnnotation(frame.op, stream, self._read(start), self._read(end), frame.id)
                )
        self._annotated.clear()
        return taken
