"""What workers do in the tests of engines: they import it by name."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import pyarrow as pa

from hta_sql.archive import Archive
from hta_sql.catalogue.catalog import Catalog
from hta_sql.engines.engine import Share
from hta_sql.fleet.by_jobs import is_by_job, limit

REQUIRED: dict[str, dict[str, Any]] = {
    "kernel_sequences": {"operator": "aten::linear"},
    "call_stack": {"of_event": 100},
    "under_operator": {"of_name": "aten::%"},
    "after_event": {"of_name": "aten::%"},
    "before_event": {"of_name": "aten::%"},
    "between_events": {"first_name": "aten::%", "second_name": "aten::%"},
}


def squared(number: int, share: Share) -> int:
    """Fails for 3."""
    if number == 3:
        raise ValueError("not three")
    return number * number


def mortal(number: int, share: Share) -> int:
    """Dies of 3, whenever it meets it."""
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def dies_once(marker: Path, share: Share) -> int:
    """The process that does it first dies; how often it began."""
    with marker.open("a") as file:
        file.write("begun\n")
    count = len(marker.read_text().splitlines())
    if count == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return count


def timed(number: int, share: Share) -> tuple[float, float, Share]:
    """From when to when it ran, and on what share."""
    began = time.time()
    time.sleep(0.1)
    return began, time.time(), share


def marked(marker: Path, share: Share) -> None:
    marker.touch()


def endless_but_for_one(marker: Path, share: Share) -> None:
    """Writes its process's number to a file; one ends when another has done so."""
    if marker.name == "one":
        while not (marker.with_name("endless").exists()):
            time.sleep(0.02)
        return
    marker.with_suffix(".new").write_text(str(os.getpid()))
    marker.with_suffix(".new").rename(marker)
    time.sleep(600)


def all_results(one: tuple[Path, str], share: Share) -> dict[str, pa.Table]:
    """Of one job by each query that can be asked job by job, as query_jobs does one."""
    root, job = one
    with Archive(root, only_jobs=[job]) as archive:
        limit(archive, share, str(root.parent / "spill"))
        return by_query(archive)


def by_query(archive: Archive) -> dict[str, pa.Table]:
    return {
        str(query): archive.query(query.name, query.version, **REQUIRED.get(query.name, {}))
        for query in Catalog.load().queries
        if is_by_job(query)
    }
