"""Runs work on this machine: in this process, or in several. See processes.py for those."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hta_sql.engines.engine import WORKER_BYTES, Share, threads_each
from hta_sql.engines.machine import core_count, free_bytes
from hta_sql.errors import is_interrupt


class LocalEngine:
    """An Engine with processes of this machine. A single worker runs in this process."""

    cores = property(lambda self: core_count())

    def map(
        self,
        function: Callable[[Any, Share], Any],
        items: Sequence[Any],
        *,
        workers: int | None = None,
        memory_bytes: int | None = None,
    ) -> Iterator[tuple[Any, Any]]:
        items = list(items)
        share, workers = shares(len(items), workers, memory_bytes)
        if workers > 1:
            # Not at the top: most commands start no process.
            from hta_sql.engines.processes import map_in_processes

            yield from map_in_processes(function, items, workers, share)
            return
        for item in items:
            try:
                result = function(item, share)
            except Exception as error:  # an error of one item does not stop the others
                if is_interrupt(error):
                    raise KeyboardInterrupt from error
                result = error
            yield item, result

    def close(self) -> None:
        pass

    def __enter__(self) -> LocalEngine:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def shares(
    parts: int, workers: int | None, memory_bytes: int | None = WORKER_BYTES
) -> tuple[Share, int]:
    """The share of each part, and how many parts run at the same time.

    Without `workers`, that is one part per core, or fewer if there is less free memory.
    """
    cores, free = workers or core_count(), free_bytes()
    if not workers:
        workers = max(1, min(cores, int(free // (memory_bytes or WORKER_BYTES))))
    workers = max(1, min(workers, parts))
    each = memory_bytes or max(WORKER_BYTES, int(min(free, 1 << 50) // workers))
    return Share(threads_each(cores, workers), each), workers
