"""The cores and the memory that this process may use.

Environment variables limit them, since worker processes get these from their parent.
"""

from __future__ import annotations

import os
import re
import resource

from hta_sql.errors import BadParameter

THREADS = "HTA_SQL_THREADS"
MEMORY_LIMIT = "HTA_SQL_MEMORY_LIMIT"
# For SQL of strangers, if the caller sets no limits.
SAFE_SECONDS = 60
SAFE_BYTES = 4 * 1000**3

_UNITS = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3, "t": 1000**4}
_BINARY = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def core_count() -> int:
    """The number of cores of its affinity, since a job scheduler may give it only some cores."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    given = os.environ.get(THREADS)
    if given and not (given.isdecimal() and int(given)):
        raise BadParameter(f"{THREADS} is {given!r}; give a number of threads")
    return min(cores or 1, int(given or cores or 1))


def free_bytes() -> float:
    """The free memory that this process may use; infinite if nothing is known of it."""
    limit = memory_limit() or float("inf")
    try:
        with open("/proc/meminfo") as lines:
            fields = (line.split() for line in lines)
            return min(limit, next(int(f[1]) * 1024 for f in fields if f[0] == "MemAvailable:"))
    except (OSError, StopIteration):
        return limit


def memory_limit() -> int | None:
    """The memory that was given to this process and its workers; None if there is no limit."""
    given = os.environ.get(MEMORY_LIMIT)
    return bytes_of(given) if given else None


def limit_own_memory(size: int) -> None:
    """Let the system refuse memory beyond this, and what Python and Arrow need, to this process."""
    try:
        with open("/proc/self/status") as lines:
            fields = (line.split() for line in lines)
            now = next(int(f[1]) * 1024 for f in fields if f[0] == "VmData:")
    except (OSError, StopIteration):  # not Linux
        return
    resource.setrlimit(resource.RLIMIT_DATA, (now + size + _BESIDE_BYTES,) * 2)


def bytes_of(text: str) -> int:
    """The bytes of a size such as 4GB or 512MiB; raises BadParameter."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", text.strip().lower())
    if found:
        units = _BINARY if found[3] else _UNITS
        size = int(float(found[1]) * units.get(found[2], 0))
        if size >= _LEAST:
            return size
    raise BadParameter(f"{text!r} is not a size of at least 64MB, such as 512MB, 4GB or 4GiB")


# For Python, Arrow and threads.
_BESIDE_BYTES = 1 << 30
# With less, DuckDB cannot read one row group.
_LEAST = 64 * 1000**2
