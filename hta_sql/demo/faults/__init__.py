"""The faults that a made-up job can have: the patterns that findings name, one function each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hta_sql.catalogue.query import did_you_mean
from hta_sql.demo.faults import (
    communication,
    compute,
    host,
    launches,
    memory,
    optimizer,
    plain,
    ranks,
)
from hta_sql.demo.faults.fault import Fault

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hta_sql.demo.plan import Job

__all__ = ["FAULTS", "PLAIN", "Fault", "named_faults", "plant"]

PLAIN = ("launch", "compute", "communication")
FAULTS = {
    function.__name__: function
    for function in (
        host.host_bound,
        launches.launch_overhead,
        launches.slow_launches,
        launches.stalled_after_launch,
        host.data_loading,
        host.gpu_sync,
        memory.memory_thrash,
        communication.exposed_communication,
        communication.slow_collectives,
        communication.small_collectives,
        ranks.straggler,
        ranks.load_imbalance,
        compute.full_precision,
        compute.far_from_roofline,
        compute.unfused_elementwise,
        optimizer.unfused_optimizer,
        memory.pageable_copies,
        memory.layout_copies,
        compute.recompute,
        host.step_variance,
        host.warm_up,
        host.profiler_overhead,
        ranks.pipeline_bubble,
        ranks.expert_imbalance,
        plain.launch,
        plain.compute,
        plain.communication,
    )
}
# By default these are on the last rank, and need another one to compare it with.
ON_ONE_RANK = ("straggler", "load_imbalance", "expert_imbalance")
# These are faults of all ranks.
OF_GROUPS = (
    "exposed_communication",
    "slow_collectives",
    "small_collectives",
    "pipeline_bubble",
    "communication",
)
OF_SEVERAL_RANKS = (*ON_ONE_RANK, "pipeline_bubble")
OF_SEVERAL_LAYERS = ("slow_collectives", "pipeline_bubble")
# They warn of the window, and have no gain.
WITHOUT_GAIN = ("warm_up", "profiler_overhead")
# By how much of a step the faults of a job make it longer, in their order; and the first ones that
# differ from that. The loader then takes more than half of the step.
SHARES = (0.40, 0.16, 0.10)
FIRST_SHARES = {"data_loading": 1.6, "straggler": 0.25}


def named_faults(names: Sequence[str], rank_count: int, layer_count: int) -> list[Fault]:
    """The faults with these names: `RULE`, or `RULE@RANK` for one rank."""
    faults: list[Fault] = []
    for number, word in enumerate(names):
        rule, at, rank = word.partition("@")
        if rule not in FAULTS:
            guess = did_you_mean(rule, FAULTS, "; ", "?")
            raise ValueError(f"bottleneck {word!r} is none of {', '.join(FAULTS)}{guess}")
        if rule in (fault.rule for fault in faults):
            raise ValueError(f"bottleneck {rule} is named twice")
        if rule in OF_SEVERAL_RANKS and rank_count == 1:
            raise ValueError(f"bottleneck {rule} needs at least two ranks")
        if rule in OF_SEVERAL_LAYERS and layer_count == 1:
            raise ValueError(f"bottleneck {rule} needs at least two layers")
        if at and rule in OF_GROUPS:
            raise ValueError(f"bottleneck {rule} is a fault of all ranks, not of one")
        if at and not (rank.isdecimal() and int(rank) < rank_count):
            raise ValueError(f"bottleneck {word!r}: the ranks are 0 to {rank_count - 1}")
        share = SHARES[min(number, len(SHARES) - 1)]
        if number == 0:
            share = FIRST_SHARES.get(rule, share)
        last = rank_count - 1 if rule in ON_ONE_RANK else None
        only = int(rank) if at else last
        faults.append(Fault(rule, None if only is None else (only,), share))
    return faults


def plant(job: Job, fault: Fault) -> dict:
    """Change the job so that it has the fault; return what the fault names."""
    return FAULTS[fault.rule](job, fault)
