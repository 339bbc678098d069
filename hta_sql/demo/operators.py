"""What a model is made of: operators, the kernels and copies that they launch, memory."""

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, eq=False, slots=True)
class Kernel:
    """A kernel with its shape; `low_ns` to `high_ns` is its run time on a healthy GPU.

    It takes `time_percent` of what is drawn, so that a planted one draws like the healthy one.
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


@dataclass(frozen=True, eq=False, slots=True)
class Copy:
    """A memcpy or memset of `bytes`."""

    kind: ClassVar[str] = "memory"
    time_percent: ClassVar[int] = 100
    category: str
    name: str
    bytes: int
    low_ns: int
    high_ns: int
    call: str


@dataclass(frozen=True, eq=False, slots=True)
class Tensor:
    """Memory taken from the caching allocator for the result of the operator around it."""

    bytes: int


@dataclass(frozen=True, eq=False, slots=True)
class Op:
    """A host event and what happens inside it, in order. `dims` are those of its inputs."""

    name: str
    body: tuple = ()
    dims: tuple[tuple[int, ...], ...] = ()
    category: str = "cpu_op"


@dataclass(frozen=True, eq=False, slots=True)
class Differentiable:
    """A forward operator and the autograd node that runs for it in the backward pass."""

    forward: Op
    backward: Op


def annotation(name: str) -> Op:
    """A `record_function` block."""
    return Op(name, category="user_annotation")


def python(name: str) -> Op:
    """A Python function, or an `nn.Module` when named so."""
    return Op(name, category="python_function")


def differentiable(forward: Op, node: str, *body) -> Differentiable:
    """Pair a forward operator with its node, wrapped as the autograd engine does."""
    inner = Op(node, body, forward.dims[:1])
    return Differentiable(forward, Op(f"autograd::engine::evaluate_function: {node}", (inner,)))
