"""What of the machine this process may use."""

import os


def core_count() -> int:
    """How many cores: those of its affinity, where a job scheduler gives it only some."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return cores or 1


def free_bytes() -> float:
    """What is left of its memory; infinite where that cannot be told."""
    try:
        with open("/proc/meminfo") as lines:
            fields = (line.split() for line in lines)
            return next(int(f[1]) * 1024 for f in fields if f[0] == "MemAvailable:")
    except (OSError, StopIteration):
        return float("inf")
