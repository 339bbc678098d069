"""Gives traces to workers, one trace each. A worker that dies loses only its own trace."""

from __future__ import annotations

import contextlib
import shutil
import socket
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from hta_sql.engines.engine import WORKER_BYTES, Engine, Share
from hta_sql.engines.lean import be_lean
from hta_sql.engines.local import LocalEngine, shares
from hta_sql.errors import HtaSqlError, IngestError
from hta_sql.ingestion.stream import NotATrace
from hta_sql.ingestion.tasks import Task
from hta_sql.places.storage import Place, is_remote
from hta_sql.store.checksums import described
from hta_sql.store.layout import partition

# Starting a process takes as long as reading this many bytes of gzipped traces.
BYTES_FOR_A_WORKER = 2 << 20

_bytes_read = None  # in a worker: bytes read so far by each task, shared with the parent


def run_tasks(
    tasks: list[Task], workers: int | None, progress: Callable[[int, int], None], engine: Engine
) -> Iterator[tuple]:
    """Give (task, IngestedTrace or the text of an error, seconds) as the tasks finish."""
    # The largest first, so that cores do not wait for a large trace that starts last.
    tasks = sorted(tasks, key=lambda task: -task.file_bytes)
    total = sum(task.file_bytes for task in tasks)
    if not isinstance(engine, LocalEngine):
        found = run_apart(engine, tasks, workers, total, progress)
    else:
        share, workers = hands_for(tasks, workers)
        if workers == 1:
            yield from run_here(tasks, total, progress, share.threads)
            return
        found = run_in_processes(tasks, workers, share, total, progress)
    for task, result in found:
        if isinstance(result, Exception):
            result = text_of(result), 0.0
        yield task, *result


def hands_for(tasks: list[Task], workers: int | None) -> tuple[Share, int]:
    """The share of the machine for each task, and the number of processes. The default is at most
    as many processes as pay for their start."""
    parts = len(tasks)
    if workers is None:
        total = sum(task.file_bytes for task in tasks)
        parts = min(parts, max(1, total // BYTES_FOR_A_WORKER))
    return shares(parts, workers)


def hands(tasks: list[Task], workers: int | None, engine: Engine) -> str:
    """In words: the workers and threads that run_tasks uses for these tasks; "" for one core."""
    if not isinstance(engine, LocalEngine):
        return "a Ray cluster"
    share, workers = hands_for(tasks, workers)
    each = f"{share.threads} threads" if share.threads > 1 else ""
    if workers == 1:
        return each
    return f"{workers} workers" + (f" with {each} each" if each else "")


def run_here(
    tasks: list[Task], total: int, progress: Callable[[int, int], None], threads: int
) -> Iterator[tuple]:
    done = 0
    for task in tasks:
        result, seconds = do_task(
            task, lambda read, base=done: progress(base + read, total), threads
        )
        done += task.file_bytes
        progress(done, total)
        yield task, result, seconds


def run_in_processes(
    tasks: list[Task], workers: int, share: Share, total: int, progress: Callable[[int, int], None]
) -> Iterator[tuple]:
    """The result of each task. Processes count the bytes they read in shared memory."""
    # Not at the top: a few small traces need no other process.
    import multiprocessing

    from hta_sql.engines.processes import map_in_processes

    counts = multiprocessing.get_context("spawn").Array("q", len(tasks), lock=False)
    found = map_in_processes(
        run_counted,
        list(enumerate(tasks)),
        workers,
        share,
        begin=begin_worker,
        arguments=(counts,),
        poll=lambda: progress(sum(counts), total),
    )
    with contextlib.closing(found):
        for (at, task), result in found:
            counts[at] = task.file_bytes
            yield task, result


def begin_worker(counts) -> None:
    global _bytes_read
    be_lean()
    _bytes_read = counts


def run_counted(numbered: tuple[int, Task], share: Share):
    at, task = numbered

    def progress(bytes_read: int) -> None:
        _bytes_read[at] = bytes_read

    return do_task(task, progress, share.threads)


def run_apart(
    engine: Engine,
    tasks: list[Task],
    workers: int | None,
    total: int,
    progress: Callable[[int, int], None],
) -> Iterator[tuple]:
    """The result of each task, which may run on another machine."""
    done = 0
    found = engine.map(run_anywhere, tasks, workers=workers, memory_bytes=WORKER_BYTES)
    with contextlib.closing(found):
        for task, result in found:
            done += task.file_bytes
            progress(done, total)
            yield task, result


def run_anywhere(task: Task, share: Share):
    """Do a task in a folder of its own. If a machine only seems to be lost, another machine does
    the same task at the same time."""
    quietly = partial(do_task, progress=lambda bytes_read: None, threads=share.threads)
    check_seen(task.path, "the file")
    if is_remote(task.archive):
        return quietly(replace(task, staging=Path(own_folder().name, uuid.uuid4().hex)))
    check_seen(task.staging.parent, f"the archive {task.archive}")
    # DuckDB's own folder is next to it, named by the process id. So machines need own parents.
    folder = task.staging.parent / socket.gethostname()
    return quietly(replace(task, staging=folder / uuid.uuid4().hex))


@cache
def own_folder() -> tempfile.TemporaryDirectory:
    """A folder that lasts as long as this process, so that DuckDB's own folder in it does, too."""
    return tempfile.TemporaryDirectory(prefix="hta-sql-")


def check_seen(path: Place, what: str) -> None:
    """Raise IngestError if this machine does not share the disk that has the path."""
    if not is_remote(path) and not path.exists():
        raise IngestError(
            f"{socket.gethostname()} does not see {what}; put traces and archive where all "
            "machines of the cluster see them: on a shared disk or in object storage"
        )


def do_task(task: Task, progress: Callable[[int], None], threads: int):
    """Do a task; returns (IngestedTrace or the text of an error, seconds).

    In object storage, its files are then in their final place. On disk they are in staging, from
    where the parent moves them at once.
    """
    from hta_sql.ingestion.attachments import ingester_of
    from hta_sql.ingestion.trace import database, put_in_place

    begin = time.perf_counter()
    try:
        result = ingester_of(task, threads)(task.path, task.staging, progress)
        where = partition(task.job, task.rank)
        result.facts["files"] = [
            described(file, f"{table}/{where}/{task.file_id}.parquet")
            for table, file in result.files.items()
        ]
        if is_remote(task.archive):
            put_in_place(result, task.archive, task.job, task.rank, task.file_id)
    except Exception as error:  # an error in one trace does not stop the others
        database.cache_clear()
        if str(error) == "Query interrupted":  # DuckDB's text for it
            raise KeyboardInterrupt from error
        result = text_of(error)
    if is_remote(task.archive):
        shutil.rmtree(task.staging, ignore_errors=True)
    return result, time.perf_counter() - begin


def text_of(error: Exception) -> str:
    """Why a trace has failed, in one line."""
    if isinstance(error, NotATrace | HtaSqlError):
        return str(error)
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
