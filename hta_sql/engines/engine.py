"""Where work is done that falls into parts: in processes of this machine, or on a Ray cluster.

    with start("ray", address="auto") as engine:
        for item, result in engine.map(function, items):
            ...

This module imports neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from hta_sql.errors import BadParameter, HtaSqlError

ENGINES = ("local", "ray")
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


def start(engine: str = "local", address: str | None = None) -> Engine:
    """The engine of a name; HtaSqlError where it is not known or not installed.

    `address` is of a Ray cluster, as Ray takes it; without one, `RAY_ADDRESS` tells it, or a small
    cluster on this machine is started at the first use and ended by close().
    """
    if engine not in ENGINES:
        raise BadParameter(f"no engine {engine!r}; there is {' and '.join(ENGINES)}")
    if engine == "local":
        if address is not None:
            raise BadParameter(f"address {address!r} is of a Ray cluster: it needs engine 'ray'")
        from hta_sql.engines.local import LocalEngine

        return LocalEngine()
    try:
        from hta_sql.engines.on_ray import RayEngine
    except ImportError as error:
        raise HtaSqlError(
            f"the engine 'ray' needs more: pip install 'hta-sql[fleet]' ({error})"
        ) from error
    return RayEngine(address)


def threads_each(cores: int, parts: int) -> int:
    """How many threads each of so many parts gets, done at a time."""
    return max(1, min(cores // max(parts, 1), MOST_THREADS))
