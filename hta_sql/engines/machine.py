"""The cores and the memory that this process may use."""

import os


def core_count() -> int:
    """The number of cores of its affinity, since a job scheduler may give it only some cores."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return cores or 1


def free_bytes() -> float:
    """The free memory of the machine; infinite if the system does not report it."""
    try:
        with open("/proc/meminfo") as lines:
            fields = (line.split() for line in lines)
            return next(int(f[1]) * 1024 for f in fields if f[0] == "MemAvailable:")
    except (OSError, StopIteration):
        return float("inf")
