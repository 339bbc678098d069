"""What an engine is: who does the same to many items, with several workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from hta_sql.errors import HtaSqlError

# What a worker may take unless told, whatever the size of its part.
WORKER_BYTES = 1 << 30
# More than as many threads gain a part little.
MOST_THREADS = 4

Item = TypeVar("Item")


@dataclass(frozen=True)
class Share:
    """What one part of the work may take of its machine."""

    threads: int
    memory_bytes: int


class WorkerDied(HtaSqlError):
    """The process that did a part of the work ended without a word."""


class Engine(Protocol):
    """Does the same function to many items, with several workers."""

    @property
    def cores(self) -> int:
        """How many cores it has for all its workers."""

    def map(
        self,
        function: Callable[[Item, Share], Any],
        items: Sequence[Item],
        *,
        workers: int | None = None,
        memory_bytes: int | None = None,
    ) -> Iterator[tuple[Item, Any]]:
        """(item, what the function returned for it, or the Exception that it raised) as they
        finish; WorkerDied where its process did not live to tell.

        They begin in the order of `items`: give the largest first. At most `workers` are done at a
        time (default: what the cores and the memory allow); each needs `memory_bytes`, or gets
        the part of a machine's memory that is a core's. The function gets an item and its Share,
        and is sent by name: one of a module's own, or functools.partial of one. It may be called
        twice with one item.

        Closing the iterator ends what is under way.
        """

    def close(self) -> None:
        """End what was started for it."""

    def __enter__(self) -> Engine: ...

    def __exit__(self, *_: object) -> None: ...


def threads_each(cores: int, parts: int) -> int:
    """How many threads each of so many parts gets, done at a time."""
    return max(1, min(cores // max(parts, 1), MOST_THREADS))
