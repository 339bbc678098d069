"""Bottlenecks that no rule is named after: they slow down everything of a kind."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hta_sql.demo.faults.fault import Fault
from hta_sql.demo.kernels import FLASH_KERNEL, MEMORY_EFFICIENT_KERNEL
from hta_sql.demo.operators import rebuilt

if TYPE_CHECKING:
    from hta_sql.demo.plan import Job

ATTENTION = FLASH_KERNEL.name, MEMORY_EFFICIENT_KERNEL.name
SLOW_LAUNCH_NS = 150_000
SLOW_ATTENTION_TIMES = 60
SLOW_TRANSFER_TIMES = 20


def launch(job: Job, fault: Fault) -> dict:
    """Each launch takes longer."""
    if not fault.is_repaired:
        for rank in fault.on(job):
            rank.recipe.hold_ns += SLOW_LAUNCH_NS
    return {"host_call": "cudaLaunchKernel"}


def compute(job: Job, fault: Fault) -> dict:
    """The forward attention kernel takes longer."""

    def slowed(part):
        if getattr(part, "name", None) in ATTENTION:
            return replace(part, time_percent=part.time_percent * SLOW_ATTENTION_TIMES)
        return part

    if not fault.is_repaired:
        for rank in fault.on(job):
            rank.recipe.layers = rebuilt(rank.recipe.layers, slowed)
    return {"kernel": FLASH_KERNEL.name}


def communication(job: Job, fault: Fault) -> dict:
    """All transfers take longer."""
    if not fault.is_repaired:
        job.transfer_times = SLOW_TRANSFER_TIMES
    return {}
