"""Folders that all workers of a test run share: the first who needs one makes it."""

import fcntl
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """The folder `name` of this run, filled by `make`. Tests only read it: who changes something
    takes a copy."""
    of_run = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        of_run = of_run.parent
    folder = of_run / "shared" / name
    made = folder.with_name(f"{name}.made")
    folder.parent.mkdir(exist_ok=True)
    with folder.with_name(f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            shutil.rmtree(folder, ignore_errors=True)  # what one left who failed
            folder.mkdir()
            make(folder)
            made.touch()
    return folder


def group_ends(group: int) -> bool:
    """Whether no process of a group is left within some seconds."""
    for _ in range(200):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False
