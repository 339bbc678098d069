"""What queries need from an archive: the names in the header key `needs`, and what they mean.

A query has no rows for a job that lacks what the query needs. The macros in
sql/relations/quality/archive_needs.sql find what each rank has.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_REQUIREMENT = re.compile(r"([a-z_]+)(?: if ([a-z_]+) = (\w+))?")


@dataclass(frozen=True)
class Need:
    """Something that a query may need.

    `macro` finds it. `lack` is what those without it have. `remedy` is what to do. `whole` and
    `lack` together say that no trace of the archive has it.
    """

    macro: str
    lack: str
    remedy: str
    whole: str = "the traces have"


@dataclass(frozen=True)
class Requirement:
    """An entry of the header key: a need, always or only if a parameter has a value."""

    need: str
    parameter: str | None = None
    value: str | None = None

    @staticmethod
    def read(text: str) -> Requirement:
        """Parse `name` or `name if parameter = value`; ValueError if it is neither."""
        found = _REQUIREMENT.fullmatch(text)
        if not found:
            raise ValueError(f"{text!r} is not a need (NAME, or NAME if PARAMETER = VALUE)")
        if found[1] not in NEEDS:
            raise ValueError(f"no need {found[1]!r}; there are {', '.join(NEEDS)}")
        return Requirement(*found.groups())

    def applies(self, values: Mapping[str, Any], defaults: Mapping[str, str | None]) -> bool:
        """Whether a call with these values needs it; `defaults` are those of the query, as SQL."""
        if self.parameter is None:
            return True
        default = (defaults.get(self.parameter) or "").strip("'")
        return values.get(self.parameter, default) == self.value

    def __str__(self) -> str:
        return (
            self.need
            if self.parameter is None
            else (f"{self.need} if {self.parameter} = {self.value}")
        )


# The macro of what is known without reading the events of traces.
ARCHIVE = "needs_of_archive"
_ACTIVITIES, _HOST_OPS, _EVENTS = "needs_of_activities", "needs_of_host_ops", "needs_of_events"
_WHOLE = "the archive has"
NEEDS = {
    "traces": Need(ARCHIVE, "no traces", "`hta-sql ingest TRACES ARCHIVE` adds some", _WHOLE),
    "ranks": Need(
        ARCHIVE,
        "only one rank",
        "ingest the traces of all ranks of a job together; rank_collectives measures the "
        "communication of one rank",
        "each job has",
    ),
    "earlier_runs": Need(
        ARCHIVE,
        "no two runs with the same kind of GPU and the same number of ranks",
        "ingest more runs of the program",
        _WHOLE,
    ),
    "events": Need(_EVENTS, "no events", "record again"),
    "host_ops": Need(
        _HOST_OPS, "no operators or calls of the host", "record with ProfilerActivity.CPU"
    ),
    "operators": Need(_HOST_OPS, "no operators", "record with ProfilerActivity.CPU"),
    "host_annotations": Need(
        _HOST_OPS,
        "no annotations of the host",
        "mark parts of the program with torch.profiler.record_function",
    ),
    "steps": Need(
        _HOST_OPS,
        "no annotations that mark steps",
        "call the profiler's step() after each step of the program, or name other annotations with "
        "`hta-sql refresh ARCHIVE --steps REGEX`",
    ),
    "shapes": Need(
        _HOST_OPS, "no shapes of the inputs of operators", "record with record_shapes=True"
    ),
    "nn_modules": Need(
        _HOST_OPS, "no calls of nn.Modules in Python", "record with with_stack=True"
    ),
    "gpu_activities": Need(
        _ACTIVITIES, "no GPU activities", "record with ProfilerActivity.CUDA on a GPU"
    ),
    "launches": Need(
        _ACTIVITIES,
        "no GPU activities with a launch",
        "record with ProfilerActivity.CPU as well as CUDA",
    ),
    "copies": Need(
        _ACTIVITIES, "no copies or memsets", "record while the program moves data to the GPU"
    ),
    "communication": Need(
        _ACTIVITIES,
        "no communication kernels",
        "record a program whose ranks communicate on the GPU",
    ),
    "collectives": Need(
        _ACTIVITIES,
        "no communication kernels with the arguments of a collective",
        "record torch.distributed with PyTorch 2.2 or newer",
    ),
    "messages": Need(
        _ACTIVITIES,
        "no sends or receives between ranks",
        "record a program with pipeline stages, with PyTorch 2.2 or newer",
    ),
    "all_to_alls": Need(
        _ACTIVITIES,
        "no all-to-alls",
        "record a program with all-to-alls, with PyTorch 2.2 or newer",
    ),
    "gpu_annotations": Need(
        _EVENTS,
        "no annotations on the GPU",
        "choose the source host (--source host) to measure those of the host",
    ),
    "counters": Need(
        _EVENTS,
        "no hardware counters (cuda_profiler_range)",
        "record with profiler_metrics in experimental_config",
    ),
    "memory_instants": Need(_EVENTS, "no [memory] events", "record with profile_memory=True"),
    "execution_trace": Need(
        ARCHIVE,
        "no execution trace",
        "record one with ExecutionTraceObserver, and ingest it together with the trace",
        _WHOLE,
    ),
    "memory_timeline": Need(
        ARCHIVE,
        "no memory timeline",
        'write one with export_memory_timeline("….raw.json.gz"), and ingest it with the trace',
        _WHOLE,
    ),
    "critical_paths": Need(
        ARCHIVE, "no critical path", "`hta-sql critical-path ARCHIVE` computes it", _WHOLE
    ),
    "stored_results": Need(
        ARCHIVE, "no stored results", "`hta-sql materialize ARCHIVE` stores them", _WHOLE
    ),
}
