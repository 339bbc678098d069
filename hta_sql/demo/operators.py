"""Parts of a model: operators, the kernels and copies that they launch, and memory."""

from dataclasses import dataclass, replace
from typing import ClassVar

# How long a launch call takes.
CALL_NS = (2_500, 4_500)


@dataclass(frozen=True, eq=False, slots=True)
class Kernel:
    """A kernel with its shape. Its duration on a healthy GPU is drawn from `low_ns` to `high_ns`.

    It takes `time_percent` of the drawn duration. A slowed kernel thus draws the same numbers as
    the healthy one. Its launch call takes `call_ns`, and `hold_ns` longer than that; the kernel
    starts as much later. It starts `stall_ns` later than that, though its launch has returned.
    """

    category: ClassVar[str] = "kernel"
    name: str
    low_ns: int
    high_ns: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int] = (128, 1, 1)
    registers: int = 32
    shared_bytes: int = 0
    call: str = "cudaLaunchKernel"
    kind: str = "computation"
    time_percent: int = 100
    call_ns: tuple[int, int] = CALL_NS
    hold_ns: int = 0
    stall_ns: int = 0


@dataclass(frozen=True, eq=False, slots=True)
class Copy:
    """A memcpy or memset of `bytes`. If it blocks, its call returns when the copy is done."""

    kind: ClassVar[str] = "memory"
    time_percent: ClassVar[int] = 100
    call_ns: ClassVar[tuple[int, int]] = CALL_NS
    hold_ns: ClassVar[int] = 0
    stall_ns: ClassVar[int] = 0
    category: str
    name: str
    bytes: int
    low_ns: int
    high_ns: int
    call: str
    blocks: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Tensor:
    """Memory from the caching allocator for the result of the enclosing operator."""

    bytes: int


@dataclass(frozen=True, eq=False, slots=True)
class Busy:
    """Time in which the host does something that has no event of its own."""

    low_ns: int
    high_ns: int


@dataclass(frozen=True, eq=False, slots=True)
class HostCall:
    """A runtime call that launches nothing. If it waits, it begins its work on an idle device."""

    name: str
    low_ns: int
    high_ns: int
    waits: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Overhead:
    """Time that the profiler takes from the host."""

    name: str
    low_ns: int
    high_ns: int


@dataclass(frozen=True, eq=False, slots=True)
class StreamSync:
    """A wait of the host for the stream of the operators."""


@dataclass(frozen=True, eq=False, slots=True)
class Op:
    """A host event, and what happens inside it, in order. `dims` are the sizes of its inputs."""

    name: str
    body: tuple = ()
    dims: tuple[tuple[int, ...], ...] = ()
    category: str = "cpu_op"
    dtype: str = "c10::BFloat16"


@dataclass(frozen=True, eq=False, slots=True)
class Differentiable:
    """A forward operator and the autograd node that runs for it in the backward pass."""

    forward: Op
    backward: Op


def annotation(name: str) -> Op:
    """A `record_function` block."""
    return Op(name, category="user_annotation")


def python(name: str, *body) -> Op:
    """A Python function, or a call of an `nn.Module` if its name says so."""
    return Op(name, body, category="python_function")


def differentiable(forward: Op, node: str, *body) -> Differentiable:
    """A forward operator with its autograd node, wrapped as the autograd engine does."""
    inner = Op(node, body, forward.dims[:1])
    return Differentiable(forward, Op(f"autograd::engine::evaluate_function: {node}", (inner,)))


def rebuilt(part, change):
    """The same operators, or lists of them, with each operator, kernel and copy changed."""
    if isinstance(part, list | tuple):
        return type(part)(rebuilt(inside, change) for inside in part)
    if isinstance(part, Differentiable):
        return Differentiable(rebuilt(part.forward, change), rebuilt(part.backward, change))
    if isinstance(part, Op):
        part = replace(part, body=rebuilt(part.body, change))
    return change(part)
