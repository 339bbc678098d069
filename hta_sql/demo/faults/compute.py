"""Faults of the computation: the device is busy, but with more than it has to be."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hta_sql.demo.faults.fault import Fault
from hta_sql.demo.kernels import (
    FFN,
    FFN_BYTES,
    HIDDEN,
    PEAK_FP32,
    TOKENS,
    TRITON_KERNEL,
    elementwise,
    gemm,
    moving,
    multiplying,
)
from hta_sql.demo.operators import Differentiable, Kernel, Op, rebuilt
from hta_sql.demo.recipe import gpu_ns
from hta_sql.demo.trainer import RECOMPUTE
from hta_sql.demo.workload import empty

if TYPE_CHECKING:
    from hta_sql.demo.plan import Job

SQUARE_DIMS = ((TOKENS, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN,))
SQUARE_FLOPS = 2 * TOKENS * HIDDEN * HIDDEN
FP32_PERCENT, AWKWARD_PERCENT = 80, 12
FP32_KERNEL = Kernel(
    "ampere_sgemm_128x64_tn",
    *multiplying(SQUARE_FLOPS, FP32_PERCENT, PEAK_FP32),
    (32, 16, 1),
    (128, 1, 1),
    122,
    12_544,
)
AWKWARD_NAME = "cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x1_tn_align1"
AWKWARD_KERNEL = Kernel(
    f"void cutlass::Kernel2<{AWKWARD_NAME}>({AWKWARD_NAME}::Params)",
    *multiplying(SQUARE_FLOPS, AWKWARD_PERCENT),
    (256, 64, 1),
    (32, 1, 1),
    96,
    9_216,
)
WIDE_DIMS = ((TOKENS, FFN),)
# A chain of pointwise operators: names, other arguments, functors of their kernels.
CHAIN = (
    ("aten::mul", ((),), "at::native::BUnaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16>"),
    ("aten::add", ((), ()), "at::native::CUDAFunctorOnSelf_add<c10::BFloat16>"),
    ("aten::tanh", (), "at::native::tanh_kernel_cuda(at::TensorIteratorBase&)::{lambda()#1}"),
    ("aten::sigmoid", (), "at::native::sigmoid_kernel_cuda(at::TensorIteratorBase&)::{lambda()#1}"),
)
CHAIN_LENGTH = 8


def full_precision(job: Job, fault: Fault) -> dict:
    """A linear layer of some blocks works in FP32; of a small fault, only its forward pass."""
    fp32_ns = gpu_ns(FP32_KERNEL) - gpu_ns(gemm("", SQUARE_FLOPS))
    count = min(job.layer_count, int(fault.size_ns(job) / (3 * fp32_ns) + 0.35))

    def in_fp32(part):
        if isinstance(part, Op):
            return replace(part, dtype="float")
        if isinstance(part, Kernel):
            if "gemm" in part.name:
                return FP32_KERNEL
            return replace(part, name=part.name.replace("c10::BFloat16", "float"))
        return part

    def of_layer(part):
        if not isinstance(part, Differentiable) or part.forward.dims != SQUARE_DIMS:
            return part
        forward = rebuilt(part.forward, in_fp32)
        return Differentiable(forward, rebuilt(part.backward, in_fp32) if count else part.backward)

    if not fault.is_repaired:
        for rank in fault.on(job):
            layers = rank.recipe.layers
            cut = max(1, count)
            slow = [tuple(map(of_layer, layer)) for layer in layers[:cut]]
            rank.recipe.layers = slow + layers[cut:]
    return {"operator": "aten::addmm", "kernel": FP32_KERNEL.name}


def far_from_roofline(job: Job, fault: Fault) -> dict:
    """Matrix products whose inner dimension is odd. Repaired, it is a multiple of 8."""
    good = gemm("128x128x64", SQUARE_FLOPS)
    count, _ = fault.parts(job, gpu_ns(AWKWARD_KERNEL) - gpu_ns(good))
    kernel, inner = (good, HIDDEN) if fault.is_repaired else (AWKWARD_KERNEL, HIDDEN + 1)
    product = Op("aten::mm", (empty(TOKENS, HIDDEN), kernel), ((TOKENS, inner), (inner, HIDDEN)))
    fault.extends_layers(job, (Op("aten::matmul", (product,), product.dims),), count)
    return {"operator": "aten::mm", "kernel": AWKWARD_KERNEL.name}


def unfused_elementwise(job: Job, fault: Fault) -> dict:
    """Chains of pointwise operators. Repaired, one kernel reads and writes once."""
    parts = [CHAIN[number % len(CHAIN)] for number in range(CHAIN_LENGTH)]
    chain = tuple(
        Op(name, (empty(TOKENS, FFN), elementwise(functor, 2, 2 * FFN_BYTES)), WIDE_DIMS + others)
        for name, others, functor in parts
    )
    low_ns, high_ns = moving(2 * FFN_BYTES)
    fused = replace(TRITON_KERNEL, name="triton_poi_fused_add_mul_sigmoid_tanh_1")
    fused = replace(fused, low_ns=low_ns, high_ns=high_ns)
    once = Op(fused.name, (empty(TOKENS, FFN), fused), WIDE_DIMS)
    count, _ = fault.parts(job, sum(map(gpu_ns, chain)) - gpu_ns(once))
    fault.extends_layers(job, (once,) if fault.is_repaired else chain, count)
    return {"operator": CHAIN[0][0]}


def recompute(job: Job, fault: Fault) -> dict:
    """The backward pass of some layers begins with their forward pass."""
    if not fault.is_repaired:
        for rank in fault.on(job):
            layer = rank.recipe.layers[0]
            forward = [part.forward for part in layer if isinstance(part, Differentiable)]
            count, _ = fault.parts(job, sum(map(gpu_ns, forward)))
            rank.recipe.recomputed = frozenset(range(min(count, job.layer_count)))
    return {"python_function": RECOMPUTE[-1].name}
