"""What one rank does in a step, beside its collectives. A fault changes the recipe of its ranks."""

from collections.abc import Callable
from dataclasses import dataclass, field

from hta_sql.demo.operators import Copy, Differentiable, Kernel, Op, python
from hta_sql.demo.workload import ADAM, EMBED, INPUTS, LOSS, PROJECT, block_with

# How long the loader takes to hand over inputs that it has already loaded.
FETCH_NS = (55_000, 70_000)
ADAMW = python("torch/optim/optimizer.py(484): wrapper")


def always(_: int) -> bool:
    """True for each step."""
    return True


@dataclass(frozen=True, slots=True)
class Extra:
    """An operator or Python function that a fault adds to some steps, and the fault's name."""

    rule: str
    op: Op
    in_step: Callable[[int], bool] = always


@dataclass(slots=True)
class Recipe:
    """What one rank does in a step.

    `after_sync` runs while the device is idle: after the only wait of a healthy step, before the
    optimizer. All the host does there delays the step. The first launches of the job take
    `first_hold_ns` longer, and all launches `hold_ns`.
    """

    layers: list[tuple[Differentiable | Op, ...]]
    fetch_ns: tuple[int, int] = FETCH_NS
    inputs: list[Op] = field(default_factory=lambda: [INPUTS])
    before_loss: list[Extra] = field(default_factory=list)
    after_sync: list[Extra] = field(default_factory=list)
    optimizer: tuple[Op, ...] = (ADAM,)
    experts: Op | None = None
    recomputed: frozenset[int] = frozenset()
    slowdown_percent: int = 0
    hold_ns: int = 0
    first_hold_ns: int = 0


def healthy(layer_count: int, scale: int, change: str | None) -> Recipe:
    """The recipe without faults."""
    return Recipe([block_with(change) * scale] * layer_count)


def gpu_ns(part: object) -> int:
    """The mean time that the activities of an operator take; in both passes, if it has them."""
    if isinstance(part, Kernel | Copy):
        return (part.low_ns + part.high_ns) // 2 * part.time_percent // 100
    if isinstance(part, Differentiable):
        return gpu_ns(part.forward) + gpu_ns(part.backward)
    return sum(map(gpu_ns, part.body)) if isinstance(part, Op) else 0


def step_ns(recipe: Recipe) -> int:
    """About what a step takes: no other time is on its path."""
    of_layers = sum(gpu_ns(part) for layer in recipe.layers for part in layer)
    return of_layers + sum(map(gpu_ns, (EMBED, PROJECT, LOSS, *recipe.optimizer)))


def launches(part: object) -> int:
    """How many activities an operator launches; in both passes, if it has them."""
    if isinstance(part, Differentiable):
        return launches(part.forward) + launches(part.backward)
    return (
        sum(map(launches, part.body)) if isinstance(part, Op) else isinstance(part, Kernel | Copy)
    )
