"""A fault of the optimizer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hta_sql.demo.faults.fault import Fault
from hta_sql.demo.kernels import ADAM_KERNEL, around, elementwise, moving
from hta_sql.demo.operators import Op
from hta_sql.demo.recipe import gpu_ns
from hta_sql.demo.workload import ADAM

if TYPE_CHECKING:
    from hta_sql.demo.plan import Job

PARAMETER = (1024, 1024)
PARAMETER_BYTES = 4 * 1024 * 1024
# What AdamW does to each parameter, one by one: operators, tensors read and scalars, functors.
ADAMW_OPS = (
    ("aten::mul_", 1, 1, "at::native::AUnaryFunctor<float, float, float>"),
    ("aten::mul_", 1, 1, "at::native::AUnaryFunctor<float, float, float>"),
    ("aten::add_", 2, 1, "at::native::CUDAFunctor_add<float>"),
    ("aten::mul_", 1, 1, "at::native::AUnaryFunctor<float, float, float>"),
    ("aten::addcmul_", 3, 1, "at::native::addcmul_cuda_kernel<float>"),
    ("aten::sqrt", 1, 0, "at::native::sqrt_kernel_cuda<float>"),
    ("aten::add_", 1, 2, "at::native::CUDAFunctorOnSelf_add<float>"),
    ("aten::addcdiv_", 3, 1, "at::native::addcdiv_cuda_kernel<float>"),
)
# Fused, parameter and moments are read and written, and the gradient is read.
FUSED_TENSORS = 7
# The host needs longer for a small operator than the device.
HOST_NS = 5_500


def unfused_optimizer(job: Job, fault: Fault) -> dict:
    """Small operators for each parameter. Repaired, fused kernels for all."""
    ops = tuple(
        Op(
            name,
            (elementwise(functor, reads + 1, (reads + 1) * PARAMETER_BYTES),),
            (PARAMETER,) * reads + ((),) * scalars,
            dtype="float",
        )
        for name, reads, scalars, functor in ADAMW_OPS
    )
    fused_ns = sum(moving(FUSED_TENSORS * PARAMETER_BYTES)) // 2
    unfused_ns = sum(max(HOST_NS, gpu_ns(op) + 900) for op in ops)
    count, _ = fault.parts(job, unfused_ns - fused_ns)
    low_ns, high_ns = around(fused_ns * count // len(ADAM.body))
    fused = replace(ADAM_KERNEL, low_ns=low_ns, high_ns=high_ns)
    repaired = (replace(ADAM, body=(fused,) * len(ADAM.body)),)
    for rank in fault.on(job):
        rank.recipe.optimizer = repaired if fault.is_repaired else ops * count
    return {"operator": ADAMW_OPS[0][0], "annotation": "Optimizer.step#AdamW.step"}
