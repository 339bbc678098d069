"""Derives the tables of one rank again from its events in the archive, in a worker process."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from hta_sql.errors import IngestError
from hta_sql.ingestion.enrich import enrich
from hta_sql.ingestion.long_names import any_long
from hta_sql.ingestion.tasks import Task
from hta_sql.ingestion.trace import TABLES, IngestedTrace, connect
from hta_sql.places.storage import Place, is_remote
from hta_sql.store.layout import ALONE, file_of, partition
from hta_sql.store.row_groups import RowGroups
from hta_sql.store.shared_files import tables_of
from hta_sql.version import SCHEMA_VERSION

# Events of schemas before 4 lack it, and others that ingest reads from events.
FIRST_COLUMN = "sequence_number"


def refresh_trace(
    task: Task, progress: Callable[[int], None] = lambda bytes_read: None, threads: int = 1
) -> IngestedTrace:
    """Derive the tables of one rank, in a worker. Raises IngestError if its events are not there
    or too old."""
    row, staging = task.row, task.staging
    staging.mkdir(parents=True, exist_ok=True)
    files = {table: staging / f"{table}.parquet" for table in TABLES}
    if not take_events(task, files["events"]):
        raise IngestError("the archive has no events of this rank; ingest its trace again")
    if FIRST_COLUMN not in pq.read_schema(files["events"]).names:
        raise IngestError(
            f"its events are of schema {row['schema_version']}, and have less than what the other "
            "tables need; ingest its trace again"
        )
    take_alone(task, "captured_ops", files["captured_ops"])
    if not take_alone(task, "quarantine", files["quarantine"]):
        del files["quarantine"]
    con = connect(staging)
    has_long = has_long_names(files["events"])
    counts = enrich(con, files, staging, threads, has_long, task.steps)
    con.close()
    progress(task.file_bytes)
    facts = counts | {"schema_version": SCHEMA_VERSION, "steps_pattern": task.steps.pattern}
    return IngestedTrace(files, row | facts, {})


def take_events(task: Task, target: Path) -> bool:
    """Put the rank's events into a file of its own; returns whether there are any."""
    if not task.row["event_count"]:
        return False
    source = task.path
    if file_of(task.row) == task.row["trace_id"]:
        return copied(source, target)
    tables = tables_of(task.archive, "events", [task.row], target.with_suffix(".read"))
    writer = None
    for table in tables:
        table = table.drop_columns(["rank"])
        writer = writer or RowGroups(target, table.schema)
        writer.write_table(table)
    if writer:
        writer.close()
    target.with_suffix(".read").unlink(missing_ok=True)
    return writer is not None


def take_alone(task: Task, table: str, target: Path) -> bool:
    """Copy the rank's file of a table that is never merged, if there is one."""
    where = partition(task.job, task.rank)
    assert table in ALONE
    return copied(task.archive / table / where / f"{task.row['trace_id']}.parquet", target)


def copied(source: Place, target: Path) -> bool:
    """Copy a file, or link it on the same disk; returns whether there is one."""
    try:
        if is_remote(source):
            source.fs.get_file(source.path, str(target))
            return True
        try:
            os.link(source, target)
        except FileNotFoundError:
            return False
        except OSError:  # a file system without links
            shutil.copyfile(source, target)
    except FileNotFoundError:
        return False
    return True


def has_long_names(events: Path) -> bool:
    with pq.ParquetFile(events) as file:
        return any(
            any_long(pa.Table.from_batches([batch]))
            for batch in file.iter_batches(columns=["name", "pid", "tid"])
        )
