"""Faults of launches: the device waits for kernels that are on their way."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hta_sql.demo.faults.fault import Fault
from hta_sql.demo.kernels import ADD, NORM_KERNEL, around, elementwise
from hta_sql.demo.operators import Op, python
from hta_sql.demo.workload import SCALAR

if TYPE_CHECKING:
    from hta_sql.demo.plan import Job

SMALL_DIMS = ((512, 64), (512, 64), ())
SMALL_KERNEL_NS, SMALL_CALL_NS = 2_000, (6_600, 7_400)
# From one small operator's launch to the next one's.
BETWEEN_LAUNCHES_NS = 8_900
LOADING_NS, STALL_NS = 1_500_000, 2_000_000
# The operators whose kernels are loaded when they are first called.
LOADED = ("aten::linalg_vector_norm", "aten::stack", "aten::clamp", "aten::mul")


def launch_overhead(job: Job, fault: Fault) -> dict:
    """Hundreds of small operators. Repaired, one kernel does the work of all."""
    small = elementwise(ADD, 3, 1)
    gap_ns = BETWEEN_LAUNCHES_NS - SMALL_KERNEL_NS
    count = max(1, fault.size_ns(job) // gap_ns)
    times = count if fault.is_repaired else 1
    low, high = around(SMALL_KERNEL_NS * times)
    kernel = replace(small, low_ns=low, high_ns=high, call_ns=SMALL_CALL_NS, grid=(64, 1, 1))
    op = Op("aten::add", (kernel,), SMALL_DIMS)
    calls = 1 if fault.is_repaired else count
    fault.adds(job, python("train.py(140): update_statistics", *(op,) * calls))
    return {"operator": op.name, "kernel": kernel.name}


def slow_launches(job: Job, fault: Fault) -> dict:
    """Launch calls that load a module first."""
    count, each_ns = fault.parts(job, LOADING_NS)
    kernel = replace(NORM_KERNEL, hold_ns=0 if fault.is_repaired else each_ns)
    names = [LOADED[number % len(LOADED)] for number in range(count)]
    ops = [Op(name, (kernel,), ((4096,),)) for name in names]
    fault.adds(job, python("train.py(150): clip_gradients", *ops))
    return {"operator": LOADED[0], "kernel": kernel.name, "host_call": kernel.call}


def stalled_after_launch(job: Job, fault: Fault) -> dict:
    """Kernels that start long after their launch, while the host waits in a copy."""
    count, each_ns = fault.parts(job, STALL_NS)
    kernel = replace(NORM_KERNEL, stall_ns=0 if fault.is_repaired else each_ns)
    stalled = Op("aten::linalg_vector_norm", (kernel,), ((4096,),))
    copied = Op("aten::to", (Op("aten::copy_", (replace(SCALAR, blocks=True),), ((), ())),), ((),))
    fault.adds(job, python("train.py(160): read_statistics", *(stalled, copied) * count))
    return {"operator": stalled.name, "kernel": kernel.name, "host_call": SCALAR.call}
