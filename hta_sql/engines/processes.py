"""Runs work in processes of this machine. If a process dies, only its own work is lost."""

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

from hta_sql.engines.engine import Share, WorkerDied


def map_in_processes(
    function: Callable[[Any, Share], Any],
    items: Sequence[Any],
    workers: int,
    share: Share,
    begin: Callable[..., None] | None = None,
    arguments: tuple = (),
    poll: Callable[[], None] = lambda: None,
) -> Iterator[tuple[Any, Any]]:
    """As Engine.map. Each process calls `begin` first; this process calls `poll` regularly."""
    waiting = deque(items)
    while waiting:
        suspects = yield from run_pool(function, waiting, workers, share, (begin, arguments), poll)
        # If a worker dies, its pool breaks. The items that were in it run again one by one, so that
        # only the one that kills its worker fails.
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
    """Run the waiting items in one pool; returns the items that were in it if the pool broke.

    If the iterator is closed early, or by Ctrl-C, the workers end at once.
    """
    context = multiprocessing.get_context("spawn")
    ended, end = context.Pipe(duplex=False)
    futures: dict[Future, Any] = {}
    again: list[Any] = []
    with signals_held():
        pool = ProcessPoolExecutor(
            workers, mp_context=context, initializer=begun, initargs=(ended, *beginning)
        )
    try:
        while futures or (waiting and not again):
            # Only enough items to keep all workers busy, since wait() looks at each of them.
            while waiting and not again and len(futures) < 2 * workers:
                item = waiting.popleft()
                try:
                    with callers_script_hidden(), signals_held():
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
                    result = WorkerDied("its worker process died, perhaps because memory ran out")
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
    """Prevent new processes from running the caller's script again, as spawn does.

    They do not need it, and a script without a `__main__` guard would start from the beginning.
    """
    script = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


@contextlib.contextmanager
def signals_held() -> Iterator[None]:
    """Hold back what a terminal sends to all processes, for those that begin here, too.

    Workers take it when they can ignore it. Python's own helper process ignores Ctrl-C, and should
    outlive a closed terminal: it removes what the others leave.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGHUP])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def begun(ended: Connection, begin: Callable[..., None] | None, arguments: tuple) -> None:
    """The first thing that a new process does."""
    # A terminal sends Ctrl-C to all processes, but only the parent handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT, signal.SIGHUP])
    threading.Thread(target=end_with_pool, args=(ended,), daemon=True).start()
    if begin:
        begin(*arguments)


def end_with_pool(ended: Connection) -> None:
    """End this process when the parent ends or closes the pool, even if the parent was killed."""
    wait_for([multiprocessing.parent_process().sentinel, ended])
    os._exit(1)
