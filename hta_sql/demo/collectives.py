"""The collectives of a step."""

from dataclasses import dataclass

from hta_sql.demo.kernels import HIDDEN
from hta_sql.demo.operators import Kernel, Op, annotation


@dataclass(frozen=True, slots=True)
class CollectiveKind:
    """A collective of the workload: its operators, its kernel, and the elements that it moves."""

    name: str
    ops: tuple[Op, Op, Op]
    kernel: Kernel
    elements_in: int
    elements_out: int
    low_ns: int
    high_ns: int


def _collective(name, op, note, kernel, elements, elements_out, low_ns, high_ns):
    ops = (
        Op(op, dims=((elements,),)),
        Op("record_param_comms", dims=((elements,),)),
        annotation(note),
    )
    name_of_kernel = f"ncclDevKernel_{kernel}(ncclDevKernelArgsStorage<4096ul>)"
    device = Kernel(
        name_of_kernel,
        low_ns,
        high_ns,
        (24, 1, 1),
        (544, 1, 1),
        96,
        88_360,
        "cudaLaunchKernelExC",
        "communication",
    )
    return CollectiveKind(name, ops, device, elements, elements_out, low_ns, high_ns)


_SHARD = HIDDEN * HIDDEN
ALL_GATHER = _collective(
    "_allgather_base",
    "c10d::_allgather_base_",
    "nccl:_all_gather_base",
    "AllGather_RING_LL",
    _SHARD,
    2 * _SHARD,
    260_000,
    320_000,
)
REDUCE_SCATTER = _collective(
    "_reduce_scatter_base",
    "c10d::_reduce_scatter_base_",
    "nccl:_reduce_scatter_base",
    "ReduceScatter_Sum_bf16_RING_LL",
    2 * _SHARD,
    _SHARD,
    300_000,
    380_000,
)
ALL_REDUCE = _collective(
    "allreduce",
    "c10d::allreduce_",
    "nccl:all_reduce",
    "AllReduce_Sum_bf16_RING_LL",
    _SHARD,
    _SHARD,
    240_000,
    330_000,
)
