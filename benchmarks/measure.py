"""Run a command in a process of its own and say what it cost."""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

# As installed packages are: compiled once, not by every process.
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
LOAD_ROUNDS = 3
COLD_ROUNDS = 3
GROWTH_REPEATS = 3
HTA_SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hta_child.py")
CHILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "child.py")


class Failed(Exception):
    """A measured process ended badly; the text is the last line it wrote."""


@dataclass(frozen=True)
class Cost:
    """What a process cost from its start to its end, with all the processes it waited for."""

    wall_s: float
    cpu_s: float  # user and system
    peak_bytes: int  # resident memory, of the largest process
    said: Any = field(default=None, repr=False)  # the JSON in its last line, if it was our child

    def plain(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self).items() if key != "said"}


def run(command: Sequence[str], *, one_core: bool = True, limit_s: float | None = None) -> Cost:
    """Run a command to its end, on one core unless told otherwise; its output goes nowhere.

    A command that is not done after `limit_s` is killed, and so has failed.
    """
    # Output to files: a pipe that nobody reads would stop the process.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begin = time.perf_counter()
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env=ENVIRONMENT,
            preexec_fn=pin if one_core else None,
        )
        limit = threading.Timer(limit_s or threading.TIMEOUT_MAX, process.kill)
        limit.start()
        _, status, usage = os.wait4(process.pid, 0)
        limit.cancel()
        wall_s = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if limit_s and wall_s >= limit_s:
            raise Failed(f"not done after {limit_s:.0f} s")
        if process.returncode:
            raise Failed(f"exit {process.returncode}: {last_line(err) or 'it wrote no error'}")
        unit = 1 if sys.platform == "darwin" else 1024
        cpu_s = usage.ru_utime + usage.ru_stime
        return Cost(wall_s, cpu_s, usage.ru_maxrss * unit, said_in(last_line(out)))


def run_child(
    task: str,
    *,
    python: str = sys.executable,
    script: str = CHILD,
    one_core: bool = True,
    limit_s: float | None = None,
    **arguments: Any,
) -> Cost:
    """Run a task of child.py, or of another script with its interpreter."""
    command = [python, script, task, json.dumps(arguments)]
    return run(command, one_core=one_core, limit_s=limit_s)


def best(costs: list[Cost]) -> Cost:
    """The least time and, since noise does not add memory, the highest peak of several runs."""
    return Cost(
        min(cost.wall_s for cost in costs),
        min(cost.cpu_s for cost in costs),
        max(cost.peak_bytes for cost in costs),
        costs[-1].said,
    )


def pin() -> None:
    """Keep this process and its children on one core, where the system can."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def last_line(file: Any) -> str:
    file.seek(0)
    lines = file.read().decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""


def said_in(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None
