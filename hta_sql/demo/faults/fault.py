"""A fault of a made-up job, and how large it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hta_sql.demo.operators import Op
from hta_sql.demo.recipe import Extra, always

if TYPE_CHECKING:
    from hta_sql.demo.plan import Job
    from hta_sql.demo.trainer import Trainer


@dataclass(frozen=True, slots=True)
class Fault:
    """A pattern of a rule, on these ranks or on all, that adds about this share of a step.

    A repaired fault has the same work, done as the rule advises.
    """

    rule: str
    ranks: tuple[int, ...] | None
    share: float
    is_repaired: bool = False

    def repaired(self) -> Fault:
        """The same work without the fault."""
        return replace(self, is_repaired=True)

    def size_ns(self, job: Job) -> int:
        """About the time that this fault adds to a step."""
        return int(self.share * job.healthy_ns)

    def on(self, job: Job) -> list[Trainer]:
        """The ranks that have the fault."""
        return [rank for rank in job.ranks if self.ranks is None or rank.number in self.ranks]

    def adds(self, job: Job, op: Op, in_step=always) -> None:
        """Let the ranks run this after the wait of each step, while the device is idle."""
        for rank in self.on(job):
            rank.recipe.after_sync.append(Extra(self.rule, op, in_step))

    def parts(self, job: Job, part_ns: int, at_least: int = 1) -> tuple[int, int]:
        """In how many parts of about `part_ns` the fault is made, and what one takes exactly."""
        size_ns = self.size_ns(job)
        count = max(at_least, round(size_ns / part_ns))
        return count, size_ns // count

    def extends_layers(self, job: Job, ops: tuple[Op, ...], count: int) -> None:
        """Let the layers run these operators so often, after their own."""
        for rank in self.on(job):
            layers = rank.recipe.layers
            rank.recipe.layers = [
                layer + ops * len(range(number, count, len(layers)))
                for number, layer in enumerate(layers)
            ]
