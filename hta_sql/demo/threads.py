"""The host threads of a rank: nested events, memory, and the random numbers of their times.

Times are true times until a record is made. The record has the time that the rank's clock shows. No
host event is shorter than two ticks, and none touches its neighbour. So drift can neither reduce an
event to length 0 nor make the nesting of two events ambiguous.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager

from hta_sql.demo.operators import Differentiable, Op, Overhead
from hta_sql.demo.records import (
    AUTOGRAD,
    MAIN,
    Allocation,
    Call,
    Clock,
    GpuAnnotation,
    HostOp,
    Pause,
    StepRecords,
)


class Frame:
    """An event that has begun and not yet ended.

    `spans` of an annotation has its first start and last end on each stream. `annotations` has the
    spans of all annotations that are open at the event, including its own.
    """

    __slots__ = (
        "annotations",
        "id",
        "index",
        "links",
        "op",
        "op_id",
        "python_id",
        "spans",
        "start",
    )


class Threads:
    """The two host threads of a rank. Only one of them runs at a time."""

    def __init__(self, number: int, seed: int, clock: Clock):
        self.number = number
        self.clock = clock
        self.now = clock.reference_ns
        self.records = StepRecords(None)
        self.tape: list[tuple[Differentiable, int, int]] = []
        self._seed = seed
        self._bits = random.Random(f"{seed}/{number}").getrandbits
        self._bits_apart = {}
        self._read = clock.read
        self._tick = clock.tick_ns
        self._thread = MAIN
        self._stacks: tuple[list[Frame], list[Frame]] = ([], [])
        self._stack = self._stacks[MAIN]
        self._annotated: list[Frame] = []
        self._tensors: list[tuple[int, int]] = []
        self._allocated = 8 << 30
        self._external_id = self._python_id = 0
        self._correlation = 1000

    def draw(self, low_ns: int, high_ns: int) -> int:
        """A random duration in whole ticks, at least two."""
        ns = low_ns + (self._bits(16) * (high_ns - low_ns) >> 16)
        return max(ns - ns % self._tick, 2 * self._tick)

    @contextmanager
    def apart(self, name: str) -> Iterator[None]:
        """Draw from other random numbers, so that those of the job stay the same without this."""
        before = self._bits
        if name not in self._bits_apart:
            seed = f"{self._seed}/{self.number}/{name}"
            self._bits_apart[name] = random.Random(seed).getrandbits
        self._bits = self._bits_apart[name]
        yield
        self._bits = before

    def switch_to(self, thread: int) -> None:
        """Continue in the other host thread. The first one waits with its events open."""
        self.now += self.draw(12_000, 30_000)
        self._thread, self._stack = thread, self._stacks[thread]

    def open(
        self, op: Op, sequence: int = 0, forward_thread: int = 0, flow: int = 0, collective=None
    ) -> Frame:
        """Begin an event inside those that are open on this thread."""
        self.now += self.draw(250, 900)
        frame = Frame()
        parent = self._stack[-1] if self._stack else None
        frame.op, frame.start = op, self.now
        frame.links = (sequence, forward_thread, flow, collective)
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
            *frame.links,
        )
        if frame.op.category == "user_annotation":
            self._annotated.append(frame)

    def is_in_node(self) -> bool:
        """Whether the innermost open event is a node of the backward pass."""
        return self._thread == AUTOGRAD and len(self._stack) == 1

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

    def call(
        self, name: str, low_ns=1_500, high_ns=3_500, launches=False, until=0, hold_ns=0
    ) -> Call:
        """A runtime or driver call: from `until` on, the drawn time and `hold_ns`."""
        self.now += self.draw(250, 900)
        start = self.now
        self.now = max(start, until) + self.draw(low_ns, high_ns) + hold_ns
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

    def pause(self, overhead: Overhead) -> None:
        """The profiler takes its time."""
        start = self.now
        self.now += self.draw(overhead.low_ns, overhead.high_ns)
        self.records.pauses.append(Pause(overhead.name, self._read(start), self._read(self.now)))

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
