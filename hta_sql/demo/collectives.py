"""The collectives of a step, and how long their transfers take."""

from dataclasses import dataclass
from functools import cache

from hta_sql.demo.kernels import HIDDEN, TOKENS
from hta_sql.demo.operators import Kernel, Op, annotation

ELEMENT_BYTES = 2
# Bus bandwidth of all collectives, in bytes per ns (GB/s), and its spread. A rank on its own copies
# its data in its memory: it reads and writes them.
BUS_GBPS, OWN_COPY_GBPS = 350, 1_300
SPREAD_PER_MILLE = 15


@dataclass(frozen=True, slots=True)
class CollectiveKind:
    """A collective of the workload: its operators, its kernel, and the elements that it moves.

    In a ring of n ranks, all data pass each link `rounds` * (n - 1) / n times. However few they
    are, that takes `least_ns`. `splits` are the elements that each member of
    an all-to-all sends to each.
    """

    name: str
    ops: tuple[Op, Op, Op]
    kernel: Kernel
    elements_in: int
    elements_out: int
    rounds: int = 1
    least_ns: int = 0
    splits: tuple[tuple[int, ...], ...] = ()

    def transfer_ns(self, group_size: int) -> int:
        """How long the transfer takes in a group of so many ranks."""
        if self.splits:
            return _busiest(self.splits) * ELEMENT_BYTES // BUS_GBPS
        moved = max(self.elements_in, self.elements_out) * ELEMENT_BYTES
        if group_size == 1:
            return max(self.least_ns, moved // OWN_COPY_GBPS)
        links = moved * self.rounds * (group_size - 1) // (group_size * BUS_GBPS)
        return max(self.least_ns, links)

    def resized(self, factor: float, least_ns: int = 0) -> "CollectiveKind":
        """The same collective with `factor` times as many elements."""
        sizes = int(self.elements_in * factor), int(self.elements_out * factor)
        least_ns = least_ns or self.least_ns
        return _collective(self.name, self.ops, self.kernel, *sizes, self.rounds, least_ns)


def _collective(name, ops, kernel, elements, elements_out, rounds=1, least_ns=0) -> CollectiveKind:
    sized = _sized(ops, elements)
    return CollectiveKind(name, sized, kernel, elements, elements_out, rounds, least_ns)


def _sized(ops: tuple[Op, ...], elements: int) -> tuple[Op, ...]:
    """Operators of a collective with so many elements, and their annotation."""
    *calls, note = [op.name for op in ops]
    return (*(Op(call, dims=((elements,),)) for call in calls), annotation(note))


def _busiest(splits: tuple[tuple[int, ...], ...]) -> int:
    """The elements that pass the busiest link of an all-to-all."""
    sent = [sum(row) - row[at] for at, row in enumerate(splits)]
    received = [sum(column) - column[at] for at, column in enumerate(zip(*splits, strict=True))]
    return max(*sent, *received)


def _kernel(name: str) -> Kernel:
    # The plan sets when it ends.
    return Kernel(
        f"ncclDevKernel_{name}(ncclDevKernelArgsStorage<4096ul>)",
        0,
        0,
        (24, 1, 1),
        (544, 1, 1),
        96,
        88_360,
        "cudaLaunchKernelExC",
        "communication",
    )


def _ops(op: str, note: str) -> tuple[Op, ...]:
    return Op(op), Op("record_param_comms"), annotation(note)


_SHARD = HIDDEN * HIDDEN
ALL_GATHER = _collective(
    "_allgather_base",
    _ops("c10d::_allgather_base_", "nccl:_all_gather_base"),
    _kernel("AllGather_RING_LL"),
    _SHARD,
    2 * _SHARD,
)
REDUCE_SCATTER = _collective(
    "_reduce_scatter_base",
    _ops("c10d::_reduce_scatter_base_", "nccl:_reduce_scatter_base"),
    _kernel("ReduceScatter_Sum_bf16_RING_LL"),
    2 * _SHARD,
    _SHARD,
)
ALL_REDUCE = _collective(
    "allreduce",
    _ops("c10d::allreduce_", "nccl:all_reduce"),
    _kernel("AllReduce_Sum_bf16_RING_LL"),
    _SHARD,
    _SHARD,
    rounds=2,
)
ALL_TO_ALL = _collective(
    "all_to_allv",
    _ops("c10d::alltoall_base_", "nccl:all_to_all"),
    _kernel("SendRecv"),
    _SHARD,
    _SHARD,
)
_STATES = TOKENS * HIDDEN
# The whole message passes the link, as twice the half that a ring of two ranks passes on.
MESSAGE = _collective("send", _ops("c10d::send", ""), _kernel("SendRecv"), _STATES, _STATES, 2)


@cache
def message_ops(source: int, target: int) -> tuple[tuple[Op, ...], tuple[Op, ...]]:
    """The operators of a message on the rank that sends it, and on the one that receives it."""
    sends = _ops("c10d::send", f"nccl:send {source}->{target}")
    receives = _ops("c10d::recv_", f"nccl:recv {target}<-{source}")
    return _sized(sends, _STATES), _sized(receives, _STATES)
