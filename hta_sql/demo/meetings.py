"""Where the ranks of a job meet: collectives of groups, and messages from stage to stage.

A collective ends on all members at the same instant: the arrival of the last member, plus the
transfer time.
"""

import hashlib
import random
from collections import Counter

from hta_sql.demo.collectives import MESSAGE, SPREAD_PER_MILLE, CollectiveKind, message_ops
from hta_sql.demo.operators import Op
from hta_sql.demo.process import COMPUTE_STREAM
from hta_sql.demo.records import Collective, Group
from hta_sql.demo.trainer import Trainer

FIRST_STREAM = 20
ACCUMULATE = Op("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad")


class Meetings:
    """The groups of a job, and how their members meet."""

    ranks: list[Trainer]

    def __init__(self, ranks: int, seed: int, tick_ns: int):
        self.random = random.Random(f"{seed}/job")
        self.tick_ns = tick_ns
        self.collectives = 0
        # How many times as long all transfers take.
        self.transfer_times = 1
        self.everyone = tuple(range(ranks))
        self.world = (Group("0", "default_pg", self.everyone, FIRST_STREAM),)
        self.shards = self.world
        if ranks >= 4:
            # Pairs; an odd rank joins the last one.
            cuts = [*range(0, ranks - 1, 2), ranks]
            self.shards = tuple(
                Group("1", "mesh_shard", self.everyone[low:high], FIRST_STREAM + 4)
                for low, high in zip(cuts, cuts[1:], strict=False)
            )
        self.shard_size = len(self.shards[0].members)
        self.groups = list(dict.fromkeys((*self.world, *self.shards)))
        # Neighbours in a pipeline use one stream, and the next pair another one.
        self._stages = [Group("2", "mesh_pp", self.everyone, FIRST_STREAM + at) for at in (8, 12)]
        self._seqs: Counter = Counter()

    def make_stages(self) -> None:
        """The ranks also are the stages of a pipeline."""
        self.groups.append(self._stages[0])

    def each(self, instruction, *arguments) -> None:
        """All ranks carry out an instruction."""
        for rank in self.ranks:
            instruction(rank, *arguments)

    def meet(
        self,
        kind: CollectiveKind,
        groups: tuple[Group, ...],
        after_compute: bool,
        extra_ns: int = 0,
    ) -> None:
        """All members of each group launch a collective."""
        for group in groups:
            collective = self._numbered(kind, group, group.members)
            arrivals = []
            for member in group.members:
                rank = self.ranks[member]
                after = rank.free[COMPUTE_STREAM] if after_compute else 0
                arrivals.append(rank.launch_collective(collective, kind.ops, after))
            self._end(arrivals, kind.transfer_ns(len(group.members)), extra_ns)

    def reduce(self, kind: CollectiveKind, groups: tuple[Group, ...], extra_ns: int = 0) -> None:
        """All members of each group reduce gradients that they have computed."""
        self.each(lambda rank: rank.open(ACCUMULATE))
        self.meet(kind, groups, after_compute=True, extra_ns=extra_ns)
        self.each(Trainer.close)

    def exchange(self, kind: CollectiveKind) -> None:
        """All ranks exchange what they have computed, and wait for it."""
        self.meet(kind, self.world, after_compute=True)
        self.each(Trainer.wait_for, self.world[0].stream)

    def send(self, source: int, target: int) -> None:
        """A stage sends what it has computed; another one waits for it."""
        pair = min(source, target), max(source, target)
        group = self._stages[pair[0] % len(self._stages)]
        collective = self._numbered(MESSAGE, group, pair)._replace(ends=(source, target))
        sender, receiver = self.ranks[source], self.ranks[target]
        send_ops, receive_ops = message_ops(source, target)
        computed = sender.free[COMPUTE_STREAM]
        arrivals = [
            sender.launch_collective(collective, send_ops, computed),
            receiver.launch_collective(collective, receive_ops, receiver.inputs_end),
        ]
        self._end(arrivals, MESSAGE.transfer_ns(2))
        receiver.wait_for(group.stream)

    def _numbered(self, kind: CollectiveKind, group: Group, members: tuple[int, ...]) -> Collective:
        self._seqs[group.name, members] += 1
        seq = self._seqs[group.name, members]
        self.collectives += 1
        return Collective(
            self.collectives - 1,
            kind.name,
            kind.kernel,
            group,
            seq,
            comms_id(group.name, members, seq),
            kind.elements_in,
            kind.elements_out,
            kind.splits,
        )

    def _end(self, arrivals: list[tuple], transfer_ns: int, extra_ns: int = 0) -> None:
        """All that have arrived leave together."""
        spread = self.random.randint(-SPREAD_PER_MILLE, SPREAD_PER_MILLE)
        usual = transfer_ns * self.transfer_times + extra_ns
        transfer = usual + usual * spread // 1_000
        end = max(start for start, _ in arrivals) + transfer - transfer % self.tick_ns
        for _, finish in arrivals:
            finish(end)


def comms_id(name: str, members: tuple[int, ...], seq: int) -> int:
    """A hash that is equal on all members. It is above 2^53, where a double loses digits."""
    key = f"{name}/{members}/{seq}".encode()
    return int.from_bytes(hashlib.blake2b(key, digest_size=8).digest()) | 1 << 60
