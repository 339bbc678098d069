"""The plan of a job: its steps, with all ranks in lockstep because of the collectives.

All ranks carry out an instruction before any of them begins the next one. A collective ends on all
members at the same instant: the arrival of the last member, plus the transfer time.
"""

import hashlib
import random
from collections.abc import Iterator
from itertools import cycle, islice

from hta_sql.demo.collectives import ALL_GATHER, ALL_REDUCE, REDUCE_SCATTER, CollectiveKind
from hta_sql.demo.operators import Op, annotation, python
from hta_sql.demo.process import COMPUTE_STREAM, COPY_STREAM, NO_STREAM, Rank
from hta_sql.demo.records import AUTOGRAD, MAIN, Clock, Collective, Group, StepRecords
from hta_sql.demo.workload import (
    ADAM,
    INPUTS,
    LABELS,
    LOSS,
    OFFLOAD,
    SCALAR,
    ZERO_GRADIENTS,
    block_with,
)

QUARTER_NS = 7_889_238_000_000_000
"""Kineto counts time from a multiple of three mean months, so that `ts` keeps few digits."""
BASE_NS = 225 * QUARTER_NS
START_NS = BASE_NS + 12 * 86_400_000_000_000
MICROSECOND = 1_000
FIRST_STREAM = 20
STRAGGLER_SLOWDOWN_PERCENT = 20
# Bottlenecks that can be added, and how many times longer two of them take.
BOTTLENECKS = ("launch", "compute", "communication", "data_loading")
SLOW_TRANSFER_TIMES = 20
SLOW_FETCH_TIMES = 10
# Changes that can be added to one of two jobs, to compare them.
CHANGES = ("slow_kernel", "inserted_op", "other_shapes", "other_kernel")


FETCH = annotation("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__")
OPTIMIZER_STEP = annotation("Optimizer.step#AdamW.step")
OPTIMIZER_ZERO = annotation("Optimizer.zero_grad#AdamW.zero_grad")
# A name with quotes, braces and a comma, to test readers that split JSON without parsing it.
LOSS_NOTE = annotation('## loss {"reduction": "mean"}, {"scale": 1.0} ##')
TRAIN_STEP, BACKWARD, ADAMW = (
    python("train.py(57): train_step"),
    python("torch/_tensor.py(570): backward"),
    python("torch/optim/optimizer.py(484): wrapper"),
)
FRAMES = (
    "torch/nn/modules/module.py(1769): _wrapped_call_impl",
    "torch/nn/modules/module.py(1780): _call_impl",
    "model.py(214): forward",
    "torch/utils/_contextlib.py(116): decorate_context",
    "<built-in method __enter__ of autocast>",
    "torch/nn/functional.py(2916): layer_norm",
    "<built-in method type of type object>",
    "torch/_jit_internal.py(102): is_scripting",
)
ITEM, LOCAL_SCALAR = Op("aten::item", dims=((),)), Op("aten::_local_scalar_dense", dims=((),))
ACCUMULATE = Op("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad")


class Job:
    """The plan of a job; `steps()` yields it step by step, for every rank."""

    def __init__(
        self,
        *,
        ranks,
        steps,
        layers,
        seed,
        scale,
        tick_ns,
        straggler,
        python_frames,
        bottleneck,
        change,
    ):
        self.step_count = steps
        self.layer_count = layers
        self.block = block_with(bottleneck, change) * scale
        self.frames = [python(name) for name in islice(cycle(FRAMES), python_frames)]
        self.modules = [python(f"nn.Module: TransformerBlock_{i}") for i in range(layers)]
        self.random = random.Random(f"{seed}/job")
        self.tick_ns = tick_ns
        self.transfer_times = SLOW_TRANSFER_TIMES if bottleneck == "communication" else 1
        self.fetch_times = SLOW_FETCH_TIMES if bottleneck == "data_loading" else 1
        self.collectives = 0
        self.ranks = [
            Rank(
                number,
                seed,
                self._clock(number),
                STRAGGLER_SLOWDOWN_PERCENT if number == straggler else 0,
                bottleneck,
            )
            for number in range(ranks)
        ]
        everyone = tuple(range(ranks))
        self.world = (Group("0", "default_pg", everyone, FIRST_STREAM),)
        self.shards = self.world
        if ranks >= 4:
            # Pairs; an odd rank joins the last one.
            cuts = [*range(0, ranks - 1, 2), ranks]
            self.shards = tuple(
                Group("1", "mesh_shard", everyone[low:high], FIRST_STREAM + 4)
                for low, high in zip(cuts, cuts[1:], strict=False)
            )
        self.groups = tuple(dict.fromkeys((*self.world, *self.shards)))
        self._seqs = dict.fromkeys(self.groups, 0)

    def _clock(self, rank: int) -> Clock:
        """Rank 0 has the true time. The other clocks are up to 2 ms off and drift up to 20 ppm."""
        offset = self.random.randint(-2_000, 2_000) * MICROSECOND
        drift = self.random.choice((-1, 1)) * self.random.randint(1, 20)
        if rank == 0:
            offset = drift = 0
        return Clock(offset, drift, START_NS, self.tick_ns)

    def steps(self) -> Iterator[list[StepRecords]]:
        """The records of all ranks, by rank: one list per step, and one for the end of the job."""
        for rank in self.ranks:
            rank.take_records(0)
        for number in range(self.step_count):
            self._step(number)
            following = number + 1 if number + 1 < self.step_count else None
            yield [rank.take_records(following) for rank in self.ranks]
        for rank in self.ranks:
            rank.synchronise("cudaDeviceSynchronize", "Context Sync", NO_STREAM)
        yield [rank.take_records(None) for rank in self.ranks]

    def _step(self, number: int) -> None:
        self._each(self._begin, annotation(f"ProfilerStep#{number}"))
        self._meet(ALL_GATHER, self.shards, after_compute=True)
        for layer in range(self.layer_count):
            self._each(self._wait_for_shards)
            if layer + 1 < self.layer_count:
                # The next layer's parameters arrive while this layer computes.
                self._meet(ALL_GATHER, self.shards, after_compute=False)
            self._each(self._forward, layer)
        self._each(self._loss)
        for _ in range(self.layer_count):
            self._each(self._backward)
            for kind, groups in ((REDUCE_SCATTER, self.shards), (ALL_REDUCE, self.world)):
                self._each(lambda rank: rank.open(ACCUMULATE))
                self._meet(kind, groups, after_compute=True)
                self._each(Rank.close)
        self._each(self._finish)

    def _each(self, instruction, *arguments) -> None:
        for rank in self.ranks:
            instruction(rank, *arguments)

    def _meet(self, kind: CollectiveKind, groups: tuple[Group, ...], after_compute: bool) -> None:
        """All members of each group launch a collective. It ends on all at the same instant."""
        for group in groups:
            self._seqs[group] = seq = self._seqs[group] + 1
            collective = Collective(
                self.collectives,
                kind.name,
                kind.kernel,
                group,
                seq,
                comms_id(group, seq),
                kind.elements_in,
                kind.elements_out,
            )
            self.collectives += 1
            arrivals = []
            for member in group.members:
                rank = self.ranks[member]
                after = rank.free[COMPUTE_STREAM] if after_compute else 0
                arrivals.append(rank.launch_collective(collective, kind.ops, after))
            transfer = self.random.randint(kind.low_ns, kind.high_ns) * self.transfer_times
            end = max(start for start, _ in arrivals) + transfer - transfer % self.tick_ns
            for _, finish in arrivals:
                finish(end)

    # Instructions: what one rank does between two collectives

    def _begin(self, rank: Rank, step: Op) -> None:
        rank.open(step)
        rank.open(TRAIN_STEP)
        rank.open(FETCH)
        # Nothing is launched here. The GPU finishes the last optimizer and is then idle.
        rank.now += rank.draw(3_000_000, 3_300_000) * self.fetch_times
        rank.close()
        # The inputs follow the last step on the compute stream, and the rest of this step follows
        # the inputs. So activities of different steps never overlap.
        rank.run(INPUTS)
        rank.free[COPY_STREAM] = rank.free[COMPUTE_STREAM]
        rank.run(LABELS, COPY_STREAM)
        rank.open(OPTIMIZER_ZERO)
        rank.run(ZERO_GRADIENTS)
        rank.close()

    def _wait_for_shards(self, rank: Rank) -> None:
        rank.wait_for(self.shards[0].stream)

    def _forward(self, rank: Rank, layer: int) -> None:
        rank.open(self.modules[layer])
        for pair in self.block:
            for frame in self.frames:
                rank.open(frame)
            rank.forward(pair)
            for _ in self.frames:
                rank.close()
        if layer == 0:
            # It begins after this layer, and so overlaps the next one.
            rank.free[COPY_STREAM] = max(rank.free[COPY_STREAM], rank.free[COMPUTE_STREAM])
            rank.run(OFFLOAD, COPY_STREAM)
        rank.close()

    def _loss(self, rank: Rank) -> None:
        rank.wait_for(COPY_STREAM)
        rank.open(LOSS_NOTE)
        rank.forward(LOSS)
        rank.close()
        rank.open(BACKWARD)
        rank.switch_to(AUTOGRAD)
        rank.backward()

    def _backward(self, rank: Rank) -> None:
        for _ in self.block:
            rank.backward()

    def _finish(self, rank: Rank) -> None:
        rank.switch_to(MAIN)
        rank.close()
        for stream in sorted({self.world[0].stream, self.shards[0].stream}):
            rank.wait_for(stream)
        for op in (ITEM, LOCAL_SCALAR):
            rank.open(op)
        rank.launch(SCALAR, COMPUTE_STREAM)
        rank.synchronise("cudaStreamSynchronize", "Stream Sync", COMPUTE_STREAM)
        for _ in (ITEM, LOCAL_SCALAR):
            rank.close()
        rank.open(ADAMW)
        rank.open(OPTIMIZER_STEP)
        rank.run(ADAM)
        rank.close()
        rank.close()
        rank.close()  # train_step
        rank.close()  # ProfilerStep


def comms_id(group: Group, seq: int) -> int:
    """A hash that is equal on all members. It is above 2^53, where a double loses digits."""
    key = f"{group.name}/{group.members}/{seq}".encode()
    return int.from_bytes(hashlib.blake2b(key, digest_size=8).digest()) | 1 << 60
