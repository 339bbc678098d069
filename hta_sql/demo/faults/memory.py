"""Faults of memory: allocations, and copies that need not be."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hta_sql.demo.faults.fault import Fault
from hta_sql.demo.kernels import COPY_KERNEL, FFN, HIDDEN, around, moving
from hta_sql.demo.operators import Copy, HostCall, Op
from hta_sql.demo.recipe import gpu_ns
from hta_sql.demo.workload import GRADIENT_NORM, empty

if TYPE_CHECKING:
    from hta_sql.demo.plan import Job

ALLOCATION_NS = 1_000_000
# Bytes per ns of a copy to the device.
PAGEABLE_GBPS, PINNED_GBPS = 5, 53
WEIGHT_BYTES = 2 * HIDDEN * FFN
# A transpose reads or writes across the rows, and reaches less than half of the bandwidth.
TRANSPOSE = replace(
    COPY_KERNEL,
    low_ns=moving(4 * WEIGHT_BYTES)[0],
    high_ns=moving(4 * WEIGHT_BYTES)[1],
    grid=(HIDDEN * FFN // 512, 1, 1),
)


def memory_thrash(job: Job, fault: Fault) -> dict:
    """The allocator has no memory left: it gives some back, and takes it again."""
    if not fault.is_repaired:
        count, each_ns = fault.parts(job, 2 * ALLOCATION_NS)
        call_ns = around(each_ns // 2)
        retry = Op(
            "aten::empty",
            (HostCall("cudaFree", *call_ns, waits=True), HostCall("cudaMalloc", *call_ns)),
            ((),),
        )
        for _ in range(count):
            fault.adds(job, Op("aten::zeros_like", (retry,), ((4096,),)))
            fault.adds(job, GRADIENT_NORM)
    return {"operator": "aten::empty", "host_call": "cudaFree, cudaMalloc"}


def pageable_copies(job: Job, fault: Fault) -> dict:
    """Each step begins with a large copy from pageable memory. Repaired, the memory is pinned."""
    size = fault.size_ns(job) * PAGEABLE_GBPS
    speed, memory = (PINNED_GBPS, "Pinned") if fault.is_repaired else (PAGEABLE_GBPS, "Pageable")
    name = f"Memcpy HtoD ({memory} -> Device)"
    copy = Copy("gpu_memcpy", name, size, *around(size // speed), "cudaMemcpyAsync")
    copy = replace(copy, blocks=not fault.is_repaired)
    dims = ((size // 4,),)
    op = Op("aten::to", (Op("aten::copy_", (copy,), dims * 2, dtype="float"),), dims, dtype="float")
    for rank in fault.on(job):
        rank.recipe.inputs = [*rank.recipe.inputs, op]
    return {"operator": "aten::copy_", "copy": "Memcpy HtoD (Pageable -> Device)"}


def layout_copies(job: Job, fault: Fault) -> dict:
    """Transposed weights are copied before they are used."""
    if not fault.is_repaired:
        dims = ((FFN, HIDDEN),)
        copy = Op("aten::copy_", (TRANSPOSE,), dims * 2)
        clone = Op("aten::clone", (Op("aten::empty_like", (empty(FFN, HIDDEN),), dims), copy), dims)
        count, _ = fault.parts(job, gpu_ns(TRANSPOSE))
        fault.extends_layers(job, (Op("aten::contiguous", (clone,), dims),), count)
    return {"operator": "aten::contiguous", "kernel": TRANSPOSE.name}
