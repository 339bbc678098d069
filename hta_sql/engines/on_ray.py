"""Runs work on a Ray cluster, one task per item, with just enough tasks to keep it busy."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import socket
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import ray
from ray.exceptions import (
    NodeDiedError,
    OutOfMemoryError,
    RayError,
    RayTaskError,
    WorkerCrashedError,
)

from hta_sql.engines.engine import WORKER_BYTES, Share, WorkerDied, threads_each
from hta_sql.engines.machine import core_count
from hta_sql.errors import HtaSqlError, one_line

# The attempts per item, since a worker may die because of other workers or with its machine.
MOST_ATTEMPTS = 3
# Enough for a cluster with this many cores, and for an autoscaler to see the demand.
MOST_IN_FLIGHT = 1000
# The object store of a cluster on this machine. Ray writes results that do not fit to disk.
OBJECT_STORE_BYTES = 256 << 20
CONNECT_SECONDS = 10
CANCEL_SECONDS = 10
MISSING = re.compile(r"ModuleNotFoundError: (No module named '[^']+')")


class RayEngine:
    """An Engine on the Ray cluster at `address` or $RAY_ADDRESS, or on a new local cluster."""

    def __init__(self, address: str | None = None) -> None:
        self._address = address or os.environ.get("RAY_ADDRESS")
        self._connected = self._is_ours = False

    @property
    def cores(self) -> int:
        return max(1, sum(cores for cores, _ in self._machines()))

    def map(
        self,
        function: Callable[[Any, Share], Any],
        items: Sequence[Any],
        *,
        workers: int | None = None,
        memory_bytes: int | None = None,
    ) -> Iterator[tuple[Any, Any]]:
        items = list(items)
        if not items:
            return
        share = self._share(min(workers or len(items), len(items)), workers, memory_bytes)
        # If memory runs out, Ray retries without limit, so this code counts the attempts.
        task = ray.remote(num_cpus=share.threads, memory=share.memory_bytes, max_retries=0)(perform)
        begin = lambda at: task.remote(function, items[at], share, own_make())  # noqa: E731
        waiting = iter(range(len(items)))
        in_flight: dict[Any, tuple[int, int]] = {}
        try:
            while True:
                while len(in_flight) < (workers or MOST_IN_FLIGHT):
                    if (at := next(waiting, None)) is None:
                        break
                    in_flight[begin(at)] = at, 1
                if not in_flight:
                    return
                [done], _ = ray.wait(list(in_flight))
                at, attempts = in_flight.pop(done)
                try:
                    result = ray.get(done)
                except RayTaskError as error:
                    result = as_raised(error)
                except RayError as error:
                    if attempts < MOST_ATTEMPTS:
                        in_flight[begin(at)] = at, attempts + 1
                        continue
                    result = died(error)
                del done  # Ray keeps a result as long as there is a reference
                yield items[at], result
        finally:
            # Ctrl-C is often noticed just when a task ends. To cancel such a task may end this
            # process in the core of Ray 2.60: "Tried to complete task that was not pending".
            if in_flight:
                every = {"num_returns": len(in_flight), "fetch_local": False}
                _, running = ray.wait(list(in_flight), **every, timeout=0)
                for reference in running:
                    ray.cancel(reference, force=True)
                # The caller may remove the files that the tasks write.
                ray.wait(running, num_returns=len(running), timeout=CANCEL_SECONDS)

    def close(self) -> None:
        if self._is_ours:
            ray.shutdown()
        self._connected = self._is_ours = False

    def __enter__(self) -> RayEngine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _connect(self) -> None:
        """Connect to the cluster, or start one, unless the caller is already connected."""
        if self._connected:
            return
        # Otherwise Ray asks for permission on the terminal, and sends usage data.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        if not ray.is_initialized():
            quietly = {"log_to_driver": False, "logging_level": logging.ERROR}
            # Ray would print messages on dead workers to stdout, among our results.
            ray._private.worker._worker_logs_enabled = False
            try:
                if self._address:
                    check_answers(self._address)
                    ray.init(self._address, **quietly)
                else:
                    ray.init(
                        "local",
                        num_cpus=core_count(),
                        object_store_memory=OBJECT_STORE_BYTES,
                        include_dashboard=False,
                        **quietly,
                    )
            except (ImportError, OSError, RuntimeError, ValueError) as error:
                where = f"the Ray cluster at {self._address}" if self._address else "Ray"
                raise HtaSqlError(f"cannot use {where}: {one_line(error)}") from error
            self._is_ours = True
        self._connected = True

    def _machines(self) -> list[tuple[int, int]]:
        """The cores, and the bytes of memory that Ray may assign, for each machine."""
        self._connect()
        return [
            (int(node["Resources"].get("CPU", 0)), int(node["Resources"].get("memory", 0)))
            for node in ray.nodes()
            if node["Alive"]
        ]

    def _share(self, at_a_time: int, workers: int | None, memory_bytes: int | None) -> Share:
        """The share per task: at most what the largest machine has, or Ray would wait forever."""
        machines = [(cores, memory) for cores, memory in self._machines() if cores]
        if not machines:  # an autoscaler may start some when there is work
            return Share(1, memory_bytes or WORKER_BYTES)
        threads = min(
            threads_each(workers or self.cores, at_a_time), max(cores for cores, _ in machines)
        )
        of_a_core = min(memory // cores for cores, memory in machines)
        wanted = memory_bytes or max(WORKER_BYTES, of_a_core * threads)
        return Share(threads, min(wanted, max(memory for _, memory in machines)))


def perform(function: Callable[[Any, Share], Any], item: Any, share: Share, make: str) -> Any:
    """Call the function. This runs in a worker."""
    if own_make() != make:
        raise HtaSqlError(
            f"{socket.gethostname()} has {own_make()}, but this machine has {make}; "
            "install the same version on all machines of the cluster"
        )
    return function(item, share)


@cache
def own_make() -> str:
    from hta_sql.catalogue.catalog import Catalog
    from hta_sql.database.template import maker

    return maker(Catalog.load())


def as_raised(error: RayTaskError) -> Exception:
    """The error that the function raised, or the reason why it could not be called."""
    if missing := MISSING.search(str(error)):
        return HtaSqlError(
            f"{missing[1]} on a machine of the cluster; install hta-sql there as on this machine"
        )
    return error.cause if isinstance(error.cause, Exception) else error


def died(error: Exception) -> WorkerDied:
    """The reason why there is no result after all attempts."""
    if isinstance(error, OutOfMemoryError):
        why = "because memory ran out"
    elif isinstance(error, WorkerCrashedError | NodeDiedError):
        why = "perhaps because memory ran out"
    else:
        why = one_line(error)
    return WorkerDied(f"its worker process died {MOST_ATTEMPTS} times, {why}")


def check_answers(address: str) -> None:
    """Raise OSError if no process listens at host:port: Ray would wait, or end this process."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdecimal():
        with contextlib.closing(socket.create_connection((host, int(port)), CONNECT_SECONDS)):
            pass
