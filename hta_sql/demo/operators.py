"""Parts of a model: operators, the kernels and copies that they launch, and memory."""

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, eq=False, slots=True)
class Kernel:
    """A kernel with its shape. Its duration on a healthy GPU is drawn from `low_ns` to `high_ns`.

    It takes `time_percent` of the drawn duration. A slowed kernel thus draws the same numbers as
    the healthy one.
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
    """Memory from the caching allocator for the result of the enclosing operator."""

    bytes: int


@dataclass(frozen=True, eq=False, slots=True)
class Op:
    """A host event, and what happens inside it, in order. `dims` are the sizes of its inputs."""

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
    """A Python function, or a call of an `nn.Module` if its name says so."""
    return Op(name, category="python_function")


def differentiable(forward: Op, node: str, *body) -> Differentiable:
    """A forward operator with its autograd node, wrapped as the autograd engine does."""
    inner = Op(node, body, forward.dims[:1])
    return Differentiable(forward, Op(f"autograd::engine::evaluate_function: {node}", (inner,)))
