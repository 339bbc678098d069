"""Several threads work on pieces of a file; the results come in the order of the pieces."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item, Result = TypeVar("Item"), TypeVar("Result")
END = object()


def in_order(
    items: Iterator[Item], work: Callable[[Item], Result], threads: int
) -> Iterator[tuple[Item, Result]]:
    """Each item and the result of `work` for it. `threads` work ahead, and one takes the items.

    If an error ends it, here or in the caller, no thread stays behind.
    """
    if threads == 1:
        for item in items:
            yield item, work(item)
        return
    with ThreadPoolExecutor(threads + 1) as pool:
        begun: deque[tuple[Item, Future]] = deque()
        taking: Future | None = pool.submit(next, items, END)
        try:
            while begun or taking:
                if taking and len(begun) <= threads:
                    item = taking.result()
                    taking = None if item is END else pool.submit(next, items, END)
                    if item is not END:
                        begun.append((item, pool.submit(work, item)))
                else:
                    item, result = begun.popleft()
                    yield item, result.result()
        finally:
            for _, result in begun:
                result.cancel()


class Aside:
    """Makes one call after the other in a second thread, or at once if there is only one thread.

    Leaving it waits for all calls, and raises what one of the last calls raised.
    """

    # Writing a row group takes longer than making the next rows. A call that only collects rows
    # takes less.
    MOST_AHEAD = 2

    def __init__(self, threads: int):
        self._pool = ThreadPoolExecutor(1) if threads > 1 else None
        self._begun: deque[Future] = deque()

    def do(self, work: Callable[..., object], *arguments: object) -> None:
        """Begin the call once those before are done; raises what one of them raised."""
        if self._pool is None:
            work(*arguments)
            return
        self._wait_for_all_but(self.MOST_AHEAD - 1)
        self._begun.append(self._pool.submit(work, *arguments))

    def _wait_for_all_but(self, count: int) -> None:
        while len(self._begun) > count:
            self._begun.popleft().result()

    def __enter__(self) -> Aside:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._wait_for_all_but(0)
        finally:
            if self._pool is not None:
                self._pool.shutdown()
