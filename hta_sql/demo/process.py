"""One rank: what its host threads run, and the streams that run the activities they launch."""

from hta_sql.demo.operators import (
    Busy,
    Copy,
    Differentiable,
    HostCall,
    Kernel,
    Op,
    Overhead,
    StreamSync,
    Tensor,
)
from hta_sql.demo.recipe import Recipe
from hta_sql.demo.records import AUTOGRAD, Activity, Clock, Collective, Sync
from hta_sql.demo.threads import Threads

COMPUTE_STREAM, COPY_STREAM = 7, 13
NO_STREAM = -1


class Rank(Threads):
    """A process of the job: its host threads, its streams and what it does in a step."""

    def __init__(self, number: int, seed: int, clock: Clock, recipe: Recipe):
        super().__init__(number, seed, clock)
        self.free = {COMPUTE_STREAM: 0, COPY_STREAM: 0}
        self.recipe = recipe
        # How much longer all launches take in this step.
        self.hold_ns = 0
        self._sequence = 0

    def run(
        self,
        op: Op,
        stream: int = COMPUTE_STREAM,
        sequence: int = 0,
        forward_thread: int = 0,
        flow: int = 0,
    ) -> None:
        """Run an operator with everything inside it."""
        self.open(op, sequence, forward_thread, flow)
        for part in op.body:
            kind = type(part)
            if kind is Op:
                # Inside `evaluate_function` is the node that the forward operator points to.
                node = sequence if forward_thread and self.is_in_node() else 0
                self.run(part, stream, node, forward_thread if node else 0, node)
            elif kind is Tensor:
                self.allocate(part.bytes)
            elif kind is Kernel or kind is Copy:
                self.launch(part, stream)
            elif kind is Busy:
                self.now += self.draw(part.low_ns, part.high_ns)
            elif kind is HostCall:
                idle = max(self.free.values()) if part.waits else 0
                self.call(part.name, part.low_ns, part.high_ns, until=idle)
            elif kind is Overhead:
                self.pause(part)
            elif kind is StreamSync:
                self.synchronise("cudaStreamSynchronize", "Stream Sync", stream)
        self.close()

    def forward(self, pair: Differentiable) -> None:
        """Run a forward operator and remember it for the backward pass."""
        self._sequence += 1
        self.tape.append((pair, self._sequence, len(self._tensors)))
        self.run(pair.forward, sequence=self._sequence, flow=self._sequence)

    def recompute(self, pair: Differentiable) -> None:
        """Run a forward operator once more. Its graph is thrown away."""
        self._sequence += 1
        self.run(pair.forward, sequence=self._sequence)

    def backward(self) -> None:
        """Run the node of the last forward operator on the tape, and free the tensors of both."""
        pair, sequence, tensors_before = self.tape.pop()
        self.run(pair.backward, sequence=sequence, forward_thread=AUTOGRAD)
        while len(self._tensors) > tensors_before:
            self.release()

    def launch(self, work: Kernel | Copy, stream: int, after: int = 0) -> None:
        """Launch an activity. It starts when the stream is free, but not before `after`."""
        hold = self.hold_ns + work.hold_ns
        earliest = self.now + hold + work.stall_ns + self.draw(4_500, 8_500)
        start = max(earliest, self.free[stream] + self._between_kernels(), after)
        dur = self._percent(work.time_percent, self.draw(work.low_ns, work.high_ns))
        if work.kind == "computation":
            dur += self._percent(self.recipe.slowdown_percent, dur)
        done = start + dur if type(work) is Copy and work.blocks else 0
        call = self.call(work.call, *work.call_ns, launches=True, until=done, hold_ns=hold)
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
        earliest = self.now + self.hold_ns + self.draw(5_500, 9_500)
        call = self.call(collective.kernel.call, 3_000, 5_000, launches=True, hold_ns=self.hold_ns)
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
