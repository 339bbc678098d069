"""The interface of engines, which apply a function to many items with several workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from hta_sql.errors import HtaSqlError

# The memory that a worker may use at least, if the caller gives no limit.
WORKER_BYTES = 1 << 30
# With more threads, a part is hardly faster.
MOST_THREADS = 4

Item = TypeVar("Item")


@dataclass(frozen=True)
class Share:
    """The threads and the memory that one part of the work may use."""

    threads: int
    memory_bytes: int


class WorkerDied(HtaSqlError):
    """The process of a worker ended without a result or an error."""


class Engine(Protocol):
    """Applies a function to many items, with several workers."""

    @property
    def cores(self) -> int:
        """The number of cores of all workers together."""

    def map(
        self,
        function: Callable[[Item, Share], Any],
        items: Sequence[Item],
        *,
        workers: int | None = None,
        memory_bytes: int | None = None,
    ) -> Iterator[tuple[Item, Any]]:
        """(item, result) for each item, as they finish. The result is what the function returned,
        the Exception that it raised, or WorkerDied if its process died.

        Items begin in the order of `items`, so put the largest first. At most `workers` items run
        at the same time (default: as many as cores and memory allow). Each gets `memory_bytes`, or
        else the machine's memory per core. The function gets an item and its Share. It is sent by
        name, so it has to be a function of a module, or functools.partial of one. It may be called
        twice with the same item.

        Closing the iterator stops the items that are running.
        """

    def close(self) -> None:
        """Stop everything that the engine started."""

    def __enter__(self) -> Engine: ...

    def __exit__(self, *_: object) -> None: ...


def threads_each(cores: int, parts: int) -> int:
    """The number of threads per part, if `parts` parts run at the same time."""
    return max(1, min(cores // max(parts, 1), MOST_THREADS))
