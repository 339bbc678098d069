"""Faults of one rank that the others wait for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hta_sql.demo.collectives import ALL_TO_ALL, MESSAGE
from hta_sql.demo.faults.fault import Fault
from hta_sql.demo.kernels import FFN, HIDDEN, PEAK_BF16, TOKENS, around
from hta_sql.demo.operators import Kernel, Op, python
from hta_sql.demo.recipe import Extra

if TYPE_CHECKING:
    from hta_sql.demo.plan import Job

# How many times as long the same kernel takes on the rank with the most work.
IMBALANCE = 3
BAG_NAME = (
    "void at::native::(anonymous namespace)::EmbeddingBag_updateOutputKernel_sum_mean<"
    "c10::BFloat16, long>(long const*, long const*, c10::BFloat16 const*, c10::BFloat16*, "
    "long*, long, long, int, long, long)"
)
GROUPED_NAME = (
    "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<"
    "cutlass::gemm::GroupProblemShape<cute::tuple<int, int, int> >, cutlass::bfloat16_t> >"
    "(cutlass::gemm::kernel::GemmUniversal<cutlass::gemm::GroupProblemShape<"
    "cute::tuple<int, int, int> >, cutlass::bfloat16_t>::Params)"
)
EXPERTS = 8
# Operations for a token, and what a grouped product reaches of the peak.
EXPERT_FLOPS, GROUPED_PERCENT = 4 * HIDDEN * FFN, 60
# A larger fault delays messages on both ways.
BOTH_WAYS_SHARE = 0.3


def straggler(job: Job, fault: Fault) -> dict:
    """All kernels of a rank take longer."""
    if not fault.is_repaired:
        for rank in fault.on(job):
            rank.recipe.slowdown_percent += round(100 * fault.share)
    return {}


def _shares(job: Job, fault: Fault, is_repaired: bool) -> list[float]:
    """The work of each rank, in that of a rank without the fault. Repaired, all have the mean."""
    slow = {rank.number for rank in fault.on(job)}
    shares = [float(IMBALANCE if rank.number in slow else 1) for rank in job.ranks]
    return [sum(shares) / len(shares)] * len(shares) if is_repaired else shares


def load_imbalance(job: Job, fault: Fault) -> dict:
    """A rank has three times the rows of an embedding. Repaired, all have the same share."""
    uneven = _shares(job, fault, is_repaired=False)
    # The excess over the mean is what the fault takes.
    unit_ns = fault.size_ns(job) / (IMBALANCE - sum(uneven) / len(uneven))
    for rank, share in zip(job.ranks, _shares(job, fault, fault.is_repaired), strict=True):
        kernel = Kernel(BAG_NAME, *around(int(unit_ns * share)), (1056, 1, 1), (32, 8, 1), 40)
        bag = Op("aten::_embedding_bag", (kernel,), ((4_000_000, 256), (64 * TOKENS,), (TOKENS,)))
        rank.recipe.before_loss.append(Extra(fault.rule, python("nn.Module: EmbeddingBag_0", bag)))
    return {"operator": "aten::_embedding_bag", "kernel": BAG_NAME}


def expert_imbalance(job: Job, fault: Fault) -> dict:
    """After each layer, a rank's experts get three times the tokens. Repaired, the same share."""
    uneven, shares = _shares(job, fault, is_repaired=False), _shares(job, fault, fault.is_repaired)
    mean = sum(shares) / len(shares)
    unit_ns = fault.size_ns(job) / job.layer_count / (max(uneven) - mean)
    unit_rows = unit_ns * PEAK_BF16 * GROUPED_PERCENT / 100 / EXPERT_FLOPS
    for rank, share in zip(job.ranks, shares, strict=True):
        # The product there is as long as the one back.
        half = Kernel(GROUPED_NAME, *around(int(unit_ns * share / 2)), (132, 1, 1), (384, 1, 1))
        rows = int(unit_rows * share)
        products = (
            Op("aten::_grouped_mm", (half,), ((rows, inner), (EXPERTS, inner, outer), (EXPERTS,)))
            for inner, outer in ((HIDDEN, FFN), (FFN, HIDDEN))
        )
        rank.recipe.experts = python("nn.Module: Experts_0", *products)
    # Each rank sends the tokens of all experts, and gets them back.
    sent = tuple(int(unit_rows * share / len(shares)) * HIDDEN for share in shares)
    there = (sent,) * len(shares)
    back = tuple(zip(*there, strict=True))
    job.experts = replace(ALL_TO_ALL, splits=there), replace(ALL_TO_ALL, splits=back)
    return {"operator": "aten::_grouped_mm", "kernel": GROUPED_NAME, "collective": ALL_TO_ALL.name}


def pipeline_bubble(job: Job, fault: Fault) -> dict:
    """The first stage sends its micro-batches when it has computed all.

    A large fault also does so on the way back.
    """
    job.make_stages()
    is_large = fault.share >= BOTH_WAYS_SHARE
    job.late_messages = (not fault.is_repaired, is_large and not fault.is_repaired)
    return {"kernel": MESSAGE.kernel.name, "collective": "recv"}
