"""Processes of this machine; one that dies takes no other's work with it."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import types
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for
from typing import Any

from hta_sql.engines.engine import WORKER_BYTES, Share, WorkerDied, threads_each
from hta_sql.engines.machine import core_count, free_bytes


class LocalEngine:
    """An Engine; one worker is this process itself."""

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
            yield from map_in_processes(function, items, workers, share)
            return
        for item in items:
            try:
                result = function(item, share)
            except Exception as error:  # whatever is wrong with one, the others go on
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
    """What each of so many parts may take, and how many are done at a time: one a core, as far as
    free memory goes, unless told."""
    cores, free = workers or core_count(), free_bytes()
    if not workers:
        workers = max(1, min(cores, int(free // (memory_bytes or WORKER_BYTES))))
    workers = max(1, min(workers, parts))
    each = memory_bytes or max(WORKER_BYTES, int(min(free, 1 << 50) // workers))
    return Share(threads_each(cores, workers), each), workers


def map_in_processes(
    function: Callable[[Any, Share], Any],
    items: Sequence[Any],
    workers: int,
    share: Share,
    begin: Callable[..., None] | None = None,
    arguments: tuple = (),
    poll: Callable[[], None] = lambda: None,
) -> Iterator[tuple[Any, Any]]:
    """As Engine.map; each process runs `begin` first, and `poll` is called now and then."""
    waiting = deque(items)
    while waiting:
        suspects = yield from run_pool(function, waiting, workers, share, (begin, arguments), poll)
        # A dead worker breaks its pool; those that were in it go on one by one, so that the
        # culprit dies alone.
        for item in suspects:
            yield from run_pool(function, deque([item]), 1, share, (begin, arguments), poll)


def run_pool(
    function: Callable[[Any, Share], Any],
    waiting: deque,
    workers: int,
    share: Share,
    beginning: tuple,
    poll: Callable[[], None],
) -> Iterator[tuple[Any, Any]]:
    """Do the items that wait in one pool; returns those that were in it when it broke, if it did.

    When it is closed early, or by Ctrl-C, its workers end at once.
    """
    context = multiprocessing.get_context("spawn")
    ended, end = context.Pipe(duplex=False)
    futures: dict[Future, Any] = {}
    again: list[Any] = []
    pool = ProcessPoolExecutor(
        workers, mp_context=context, initializer=begun, initargs=(ended, *beginning)
    )
    try:
        while futures or (waiting and not again):
            # No more than keeps all busy: of thousands, each wait would look at all.
            while waiting and not again and len(futures) < 2 * workers:
                item = waiting.popleft()
                try:
                    with callers_script_hidden():
                        futures[pool.submit(function, item, share)] = item
                except BrokenProcessPool:
                    again.append(item)
            finished, _ = wait(futures, timeout=0.2, return_when=FIRST_COMPLETED)
            poll()
            for future in finished:
                item = futures.pop(future)
                try:
                    result = future.result()
                except BrokenProcessPool:
                    if workers > 1:
                        again.append(item)
                        continue
                    result = WorkerDied("its worker died, perhaps for want of memory")
                except Exception as error:
                    result = error
                yield item, result
        pool.shutdown()
    finally:
        end.close()
        pool.shutdown(cancel_futures=True)
        ended.close()
    return again


@contextlib.contextmanager
def callers_script_hidden() -> Iterator[None]:
    """Keep new processes from running the caller's script again, as spawn otherwise does.

    They need nothing of it, and a script without a `__main__` guard would begin once more.
    """
    script = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


def begun(ended: Connection, begin: Callable[..., None] | None, arguments: tuple) -> None:
    """What a new process does first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all; the parent decides
    threading.Thread(target=end_with_pool, args=(ended,), daemon=True).start()
    if begin:
        begin(*arguments)


def end_with_pool(ended: Connection) -> None:
    """Where the parent is killed or gives up, nobody else would end its workers."""
    wait_for([multiprocessing.parent_process().sentinel, ended])
    os._exit(1)
