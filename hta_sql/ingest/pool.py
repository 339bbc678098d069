"""Traces to worker processes, a trace each; a worker that dies takes no other trace with it."""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.connection
import os
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

from ..machine import core_count, free_bytes

# What a worker may take, whatever the size of its trace.
WORKER_BYTES = 1 << 30

_bytes_read = None  # in a worker: what each task has read so far, shared with the parent


def run_tasks(
    tasks: list, workers: int | None, progress: Callable[[int, int], None]
) -> Iterator[tuple]:
    """(task, IngestedTrace or the text of an error, seconds) as the tasks finish."""
    sizes = [task.path.stat().st_size for task in tasks]
    cores = workers or core_count()
    workers = min(workers or default_workers(), len(tasks))
    # More than four gain little.
    threads = max(1, min(cores // max(workers, 1), 4))
    if workers <= 1:
        yield from run_here(tasks, sizes, progress, threads)
        return
    counts = multiprocessing.get_context("spawn").Array("q", len(tasks), lock=False)
    waiting = list(range(len(tasks)))
    while waiting:
        waiting = yield from run_pool(
            tasks, waiting, workers, threads, counts, sum(sizes), progress
        )
        # A dead worker breaks its pool; those that shared it go on one by one, so that the
        # culprit dies alone.
        workers = 1


def run_here(
    tasks: list, sizes: list[int], progress: Callable[[int, int], None], threads: int
) -> Iterator:
    done = 0
    for task, size in zip(tasks, sizes, strict=True):
        base = done
        result, seconds = run(
            task, lambda read, base=base: progress(base + read, sum(sizes)), threads
        )
        done += size
        progress(done, sum(sizes))
        yield task, result, seconds


def run_pool(
    tasks: list, waiting: list[int], workers: int, threads: int, counts, total: int, progress
) -> Iterator:
    """Run tasks in one pool; returns those that have to be run again because it broke."""
    context = multiprocessing.get_context("spawn")
    again: list[int] = []
    with ProcessPoolExecutor(
        workers, mp_context=context, initializer=share, initargs=(counts,)
    ) as pool:
        # The largest first, so that no core waits for one late giant.
        order = sorted(waiting, key=lambda at: -tasks[at].path.stat().st_size)
        first = order[:1] if workers == 1 else order
        with callers_script_hidden():
            futures = {
                pool.submit(run_shared, at, tasks[at], threads): at for at in first
            }
        rest = order[len(first) :]
        while futures:
            finished, _ = wait(futures, timeout=0.2, return_when=FIRST_COMPLETED)
            progress(sum(counts), total)
            for future in finished:
                at = futures.pop(future)
                try:
                    result, seconds = future.result()
                except BrokenProcessPool:
                    if workers == 1:
                        yield tasks[at], "its worker died, perhaps for want of memory", 0.0
                    else:
                        again.append(at)
                    continue
                yield tasks[at], result, seconds
    return sorted([*again, *rest])


@contextlib.contextmanager
def callers_script_hidden() -> Iterator[None]:
    """Keep new processes from running the caller's script again, as spawn otherwise does.

    They need nothing of it, and a script without a `__main__` guard would ingest once more.
    """
    script = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


def share(counts) -> None:
    global _bytes_read
    _bytes_read = counts
    threading.Thread(target=end_with_parent, daemon=True).start()


def end_with_parent() -> None:
    """Where the parent is killed, nobody else would end its workers."""
    multiprocessing.connection.wait([multiprocessing.parent_process().sentinel])
    os._exit(1)


def run_shared(at: int, task, threads: int):
    def progress(bytes_read: int) -> None:
        _bytes_read[at] = bytes_read

    return run(task, progress, threads)


def run(task, progress: Callable[[int], None], threads: int):
    """(IngestedTrace or the text of an error, seconds)."""
    from hta_sql.ingest.attachments import reader_of
    from hta_sql.ingest.stream import NotATrace

    begin = time.perf_counter()
    try:
        result = reader_of(task.kind, threads)(task.path, task.staging, progress)
    except NotATrace as error:
        result = str(error)
    except Exception as error:  # whatever is wrong with one trace, the others go on
        result = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    return result, time.perf_counter() - begin


def default_workers() -> int:
    """One a core, as far as free memory goes."""
    return max(1, min(core_count(), int(free_bytes() // WORKER_BYTES)))
