"""Faults of collectives. They concern all ranks of a group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hta_sql.demo.collectives import ALL_GATHER, ALL_REDUCE, ELEMENT_BYTES
from hta_sql.demo.faults.fault import Fault
from hta_sql.demo.recipe import gpu_ns
from hta_sql.demo.workload import EMBED, PROJECT

if TYPE_CHECKING:
    from hta_sql.demo.plan import Job

SMALL_BYTES = 65_536
# A small message takes what its steps take, not what its bytes take.
SMALL_NS = 25_000


def exposed_communication(job: Job, fault: Fault) -> dict:
    """All all-gathers are large, and each layer waits for its own."""
    if not fault.is_repaired:
        each_ns = fault.size_ns(job) / job.layer_count
        job.prefetches = False
        job.gather = ALL_GATHER.resized(each_ns / ALL_GATHER.transfer_ns(job.shard_size))
    return {"kernel": ALL_GATHER.kernel.name, "collective": ALL_GATHER.name}


def slow_collectives(job: Job, fault: Fault) -> dict:
    """The last all-reduce of each step is far slower than the others of its size."""
    if not fault.is_repaired:
        hidden_ns = gpu_ns(EMBED.backward) + gpu_ns(PROJECT.backward)
        usual_ns = ALL_REDUCE.transfer_ns(len(job.ranks))
        job.last_reduce_extra_ns = fault.size_ns(job) + max(0, hidden_ns - usual_ns)
    return {"kernel": ALL_REDUCE.kernel.name, "collective": ALL_REDUCE.name}


def small_collectives(job: Job, fault: Fault) -> dict:
    """Many small all-reduces at the end of the backward pass. Repaired, one for all."""
    count, _ = fault.parts(job, SMALL_NS)
    small = ALL_REDUCE.resized(SMALL_BYTES / ELEMENT_BYTES / ALL_REDUCE.elements_in, SMALL_NS)
    job.small_reduces += [small.resized(count)] if fault.is_repaired else [small] * count
    return {"kernel": ALL_REDUCE.kernel.name, "collective": ALL_REDUCE.name}
