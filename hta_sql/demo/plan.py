"""The plan of a job: its steps, with all ranks in lockstep because of the collectives.

All ranks carry out an instruction before any of them begins the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from hta_sql.demo.collectives import ALL_GATHER, ALL_REDUCE, REDUCE_SCATTER, CollectiveKind
from hta_sql.demo.meetings import Meetings
from hta_sql.demo.process import NO_STREAM
from hta_sql.demo.recipe import healthy, step_ns
from hta_sql.demo.records import Clock, StepRecords
from hta_sql.demo.trainer import Trainer

QUARTER_NS = 7_889_238_000_000_000
"""Kineto counts time from a multiple of three mean months, so that `ts` keeps few digits."""
BASE_NS = 225 * QUARTER_NS
START_NS = BASE_NS + 12 * 86_400_000_000_000
MICROSECOND = 1_000
# Changes that can be added to one of two jobs, to compare them.
CHANGES = ("slow_kernel", "inserted_op", "other_shapes", "other_kernel")


class Job(Meetings):
    """The plan of a job; `steps()` yields it step by step, for every rank.

    Faults change the recipes of its ranks, and its attributes from `gather` to `experts`.
    """

    def __init__(
        self,
        *,
        ranks: int,
        steps: int,
        layers: int,
        seed: int,
        scale: int,
        tick_ns: int,
        python_frames: int,
        change: str | None,
        faults: Sequence[Callable[[Job], dict]] = (),
    ):
        super().__init__(ranks, seed, tick_ns)
        self.step_count = steps
        self.layer_count = layers
        streams = self.world[0].stream, self.shards[0].stream
        self.ranks = [
            Trainer(
                number,
                seed,
                self._clock(number),
                healthy(layers, scale, change),
                python_frames,
                streams,
            )
            for number in range(ranks)
        ]
        # About what a step takes. When the earlier step and each other one ended on the last rank.
        self.healthy_ns = step_ns(self.ranks[0].recipe)
        self.step_ends_ns: list[int] = []
        # The all-gathers, and whether they are launched a layer ahead.
        self.gather = ALL_GATHER
        self.prefetches = True
        # What is added to a step's last all-reduce.
        self.last_reduce_extra_ns = 0
        # What is reduced when all else is done.
        self.small_reduces: list[CollectiveKind] = []
        # If the ranks are stages of a pipeline, and its layers micro-batches: whether the first
        # stage's neighbour gets all messages at the end of the forward pass, and it those back.
        self.late_messages: tuple[bool, bool] | None = None
        # How the ranks exchange tokens for their experts after each layer, there and back.
        self.experts: tuple[CollectiveKind, CollectiveKind] | None = None
        # What each fault names, after it has changed the job.
        self.planted = [plant(self) for plant in faults]

    def _clock(self, rank: int) -> Clock:
        """Rank 0 has the true time. The other clocks are up to 2 ms off and drift up to 20 ppm."""
        offset = self.random.randint(-2_000, 2_000) * MICROSECOND
        drift = self.random.choice((-1, 1)) * self.random.randint(1, 20)
        if rank == 0:
            offset = drift = 0
        return Clock(offset, drift, START_NS, self.tick_ns)

    def steps(self) -> Iterator[list[StepRecords]]:
        """The records of all ranks, by rank: one list per step, and before and after them one.

        The profiler begins in an earlier step, so that the first one is like all others.
        """
        self.each(Trainer.optimize)
        self.step_ends_ns.append(max(rank.now for rank in self.ranks))
        yield [rank.take_records(0) for rank in self.ranks]
        for number in range(self.step_count):
            self._step(number)
            following = number + 1 if number + 1 < self.step_count else None
            yield [rank.take_records(following) for rank in self.ranks]
        for rank in self.ranks:
            rank.synchronise("cudaDeviceSynchronize", "Context Sync", NO_STREAM)
        yield [rank.take_records(None) for rank in self.ranks]

    def mean_step_ns(self) -> int:
        """How long a step takes from the second one on, or the only one."""
        ends = self.step_ends_ns[-self.step_count :] if self.step_count > 1 else self.step_ends_ns
        return (ends[-1] - ends[0]) // (len(ends) - 1)

    def _step(self, number: int) -> None:
        self.each(Trainer.begin, number)
        if self.prefetches:
            self.meet(self.gather, self.shards, after_compute=True)
        self.each(Trainer.stem)
        if self.late_messages:
            self._stages_forward()
        else:
            self._layers_forward()
        self.each(Trainer.loss, number)
        if self.late_messages:
            self._stages_backward()
        else:
            self._layers_backward()
        self.each(Trainer.stem_backward)
        for kind in self.small_reduces:
            self.reduce(kind, self.world)
        self.each(Trainer.finish, number)
        self.step_ends_ns.append(max(rank.now for rank in self.ranks))

    def _layers_forward(self) -> None:
        for layer in range(self.layer_count):
            self._gather_for(layer)
            self.each(Trainer.layer_forward, layer)
            self._use_experts()

    def _gather_for(self, layer: int) -> None:
        if not self.prefetches:
            self.meet(self.gather, self.shards, after_compute=True)
        self.each(Trainer.wait_for_shards)
        if self.prefetches and layer < self.layer_count - 1:
            # The next layer's parameters arrive while this layer computes.
            self.meet(self.gather, self.shards, after_compute=False)

    def _use_experts(self) -> None:
        if self.experts:
            there, back = self.experts
            self.exchange(there)
            self.each(Trainer.use_experts)
            self.exchange(back)

    def _layers_backward(self) -> None:
        for layer in reversed(range(self.layer_count)):
            self.each(Trainer.layer_backward, layer)
            self._reduce_of(layer)

    def _reduce_of(self, layer: int) -> None:
        self.reduce(REDUCE_SCATTER, self.shards)
        self.reduce(ALL_REDUCE, self.world, 0 if layer else self.last_reduce_extra_ns)

    # A pipeline. The order of its stages and micro-batches is one in which they can be computed.

    def _stages_forward(self) -> None:
        for part in range(self.layer_count):
            self._gather_for(part)
            self._use_experts()
        is_late, _ = self.late_messages
        parts, stages = range(self.layer_count), range(len(self.ranks))
        alone = stages[:1] if is_late else ()
        order = [(stage, part) for stage in alone for part in parts]
        order += [(stage, part) for part in parts for stage in stages[len(alone) :]]
        for stage, part in order:
            if stage:
                self.send(stage - 1, stage)
            self.ranks[stage].layer_forward(part)

    def _stages_backward(self) -> None:
        _, is_late = self.late_messages
        parts, stages = range(self.layer_count)[::-1], range(len(self.ranks))
        alone = stages[:1] if is_late else ()
        order = [(stage, part) for part in parts for stage in stages[len(alone) :][::-1]]
        order += [(stage, part) for stage in alone for part in parts]
        for stage, part in order:
            if stage < stages[-1]:
                self.send(stage + 1, stage)
            self.ranks[stage].layer_backward(part)
        for part in parts:
            self._reduce_of(part)
