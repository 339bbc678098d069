"""What a profiler records of one rank, with the times of that rank's clock."""

from dataclasses import dataclass, field
from typing import NamedTuple

from hta_sql.demo.operators import Copy, Kernel, Op

MAIN, AUTOGRAD = 0, 1
"""The two host threads of a rank."""


class Clock(NamedTuple):
    """A rank's clock. It is off by `offset_ns` at `reference_ns`, and drifts from there."""

    offset_ns: int
    drift_ppm: int
    reference_ns: int
    tick_ns: int

    def read(self, true_ns: int) -> int:
        """The time that the clock shows at a true time. It never runs backwards."""
        gained = (true_ns - self.reference_ns) * self.drift_ppm // (1_000_000 * self.tick_ns)
        return true_ns + self.offset_ns + gained * self.tick_ns


class Group(NamedTuple):
    """A process group. Subgroups that are made together share one name, as in PyTorch."""

    name: str
    description: str
    members: tuple[int, ...]
    stream: int


class Collective(NamedTuple):
    """One collective call of a group. All members have the same record.

    `splits` are the elements that each member sends to each, if they differ. The `ends` of a
    message are the ranks that send and receive it.
    """

    number: int
    name: str
    kernel: Kernel
    group: Group
    seq: int
    comms_id: int
    elements_in: int
    elements_out: int
    splits: tuple[tuple[int, ...], ...] = ()
    ends: tuple[int, int] | None = None


class HostOp(NamedTuple):
    """An operator, annotation or Python function. `flow` links a forward operator to its node.

    Only nodes of the backward pass have a `forward_thread`.
    """

    op: Op
    thread: int
    start_ns: int
    end_ns: int
    depth: int
    external_id: int
    parent_python_id: int
    sequence: int
    forward_thread: int
    flow: int
    collective: Collective | None


class Call(NamedTuple):
    """A runtime or driver call. `launches` says whether an activity has its correlation id."""

    name: str
    thread: int
    start_ns: int
    end_ns: int
    depth: int
    external_id: int
    correlation: int
    launches: bool


class Activity(NamedTuple):
    """A kernel, memcpy or memset on a stream."""

    work: Kernel | Copy
    stream: int
    start_ns: int
    end_ns: int
    external_id: int
    correlation: int
    collective: Collective | None


class Sync(NamedTuple):
    """A `cuda_sync` row. `awaited` is (stream, correlation id of cudaEventRecord), or None."""

    kind: str
    stream: int
    start_ns: int
    end_ns: int
    external_id: int
    correlation: int
    awaited: tuple[int, int] | None


class Allocation(NamedTuple):
    """A `[memory]` instant. Negative bytes free memory."""

    thread: int
    at_ns: int
    address: int
    bytes: int
    allocated: int


class GpuAnnotation(NamedTuple):
    """An annotation on the GPU: from its first to its last activity on a stream."""

    op: Op
    stream: int
    start_ns: int
    end_ns: int
    external_id: int


class Pause(NamedTuple):
    """An `overhead` row: the profiler keeps the host from its work."""

    name: str
    start_ns: int
    end_ns: int


@dataclass(slots=True)
class StepRecords:
    """Everything that one rank did in one step. `number` is None outside steps."""

    number: int | None
    host_ops: list[HostOp] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    activities: list[Activity] = field(default_factory=list)
    syncs: list[Sync] = field(default_factory=list)
    allocations: list[Allocation] = field(default_factory=list)
    gpu_annotations: list[GpuAnnotation] = field(default_factory=list)
    pauses: list[Pause] = field(default_factory=list)
