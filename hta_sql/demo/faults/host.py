"""Faults of the host: it does something else, mostly while the device has nothing to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hta_sql.demo.faults.fault import Fault
from hta_sql.demo.kernels import around
from hta_sql.demo.operators import Busy, Overhead, python
from hta_sql.demo.recipe import gpu_ns, launches
from hta_sql.demo.workload import GRADIENT_NORM, ITEM

if TYPE_CHECKING:
    from hta_sql.demo.plan import Job

FETCH_NAME = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
SLOW_FUNCTION = "model.py(301): update_schedule"
LOGGING = "train.py(131): log_gradient_norms"
SYNC_NS = 150_000
# What a small operator and the wait for it take.
AROUND_SYNC_NS = 25_000
LONG_STEP_EVERY, LONG_STEP_TIMES = 4, 2.5
COLLECT = "<built-in function collect>"
WARM_UP_STEPS = 2
# What the profiler itself takes of a step, in percent.
OVERHEAD_PERCENT = 6
OVERHEADS = "Activity Buffer Request", "Buffer Flush"


def host_bound(job: Job, fault: Fault) -> dict:
    """A slow Python function for each layer, and little to do for the device."""
    if not fault.is_repaired:
        body = python(SLOW_FUNCTION, Busy(*around(fault.size_ns(job) // job.layer_count)))
        for _ in range(job.layer_count):
            fault.adds(job, python("train.py(96): schedule", body, GRADIENT_NORM))
    return {"python_function": SLOW_FUNCTION}


def data_loading(job: Job, fault: Fault) -> dict:
    """The loader takes longer than the device has work from the last step."""
    if not fault.is_repaired:
        for rank in fault.on(job):
            work = sum(map(gpu_ns, rank.recipe.optimizer))
            rank.recipe.fetch_ns = around(work + fault.size_ns(job))
    return {"annotation": FETCH_NAME}


def gpu_sync(job: Job, fault: Fault) -> dict:
    """The norms of all gradients are read one by one, and each is logged."""
    if not fault.is_repaired:
        count, each_ns = fault.parts(job, SYNC_NS, at_least=job.layer_count)
        logged = Busy(*around(max(10_000, each_ns - AROUND_SYNC_NS)))
        fault.adds(job, python(LOGGING, *(GRADIENT_NORM, ITEM, logged) * count))
    return {"operator": ITEM.name, "python_function": LOGGING, "host_call": "cudaStreamSynchronize"}


def step_variance(job: Job, fault: Fault) -> dict:
    """Every fourth step takes longer: Python collects garbage."""
    if not fault.is_repaired:
        longer_ns = int(LONG_STEP_TIMES * fault.size_ns(job))
        collect = python(COLLECT, Busy(*around(longer_ns)))
        frame = python("train.py(170): maybe_collect", collect)
        fault.adds(job, frame, lambda step: step % LONG_STEP_EVERY == 2)
    return {"python_function": COLLECT}


def warm_up(job: Job, fault: Fault) -> dict:
    """All launches of the first step are slow, so that it takes three times as long."""
    if not fault.is_repaired:
        for rank in fault.on(job):
            count = sum(launches(part) for layer in rank.recipe.layers for part in layer)
            rank.recipe.first_hold_ns = WARM_UP_STEPS * job.healthy_ns // count
    return {"host_call": "cudaLaunchKernel"}


def profiler_overhead(job: Job, fault: Fault) -> dict:
    """The profiler stops the host in each layer, to ask for buffers and to write them."""
    if not fault.is_repaired:
        each_ns = job.healthy_ns * OVERHEAD_PERCENT // (100 * job.layer_count * len(OVERHEADS))
        pauses = (Overhead(name, *around(each_ns)) for name in OVERHEADS)
        op = python("train.py(180): profile", *pauses)
        fault.extends_layers(job, (op,), job.layer_count)
    return {"overhead": ", ".join(OVERHEADS)}
