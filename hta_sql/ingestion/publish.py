"""Makes finished files part of the archive: first their tables get their names, then come the rows.

It publishes several files at a time, since a change of a manifest costs more if it has more rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime

from hta_sql.ingestion.described import describe
from hta_sql.ingestion.ranks import REFRESH, TRACE
from hta_sql.ingestion.tasks import Outcome, Task, failure
from hta_sql.ingestion.trace import IngestedTrace, put_in_place
from hta_sql.places.storage import Place, is_remote, remove
from hta_sql.store.files import delete_file
from hta_sql.store.layout import ALONE, FILE_NAMES, TRACE_TABLES, folder_for, partition
from hta_sql.store.manifest import CHANGES_SHARE, Manifest
from hta_sql.version import __version__

# In object storage, each change is an object.
REMOTE_SECONDS = 5.0
OF_TRACES = (TRACE, REFRESH)


class Publisher:
    """Collects the files that workers have finished, and makes them part of the archive."""

    def __init__(self, archive: Place, finished: Callable[[Outcome], None]):
        self.archive = archive
        self._finished = finished
        self._waiting: list[tuple[Task, IngestedTrace, float]] = []
        self._next = 0.0

    def take(self, task: Task, result: IngestedTrace | str, seconds: float) -> None:
        """Take the result of a task, which is the text of an error if it failed."""
        if isinstance(result, str):
            self._finished(failure(task.path, task.job, task.rank, result, seconds, task.kind))
            return
        self._waiting.append((task, result, seconds))
        if time.monotonic() >= self._next:
            self.flush()

    def flush(self) -> None:
        """Make all finished files part of the archive."""
        began = time.monotonic()
        waiting, self._waiting = self._waiting, []
        self.publish(waiting)
        took = time.monotonic() - began
        wait = CHANGES_SHARE * took
        self._next = time.monotonic() + (
            max(wait, REMOTE_SECONDS) if is_remote(self.archive) else wait
        )

    def publish(self, finished: list[tuple[Task, IngestedTrace, float]]) -> None:
        """Make these files part of the archive, all traces at once."""
        for table in ("traces", "attachments"):
            is_of_traces = table == "traces"
            of_table = [item for item in finished if (item[0].kind in OF_TRACES) == is_of_traces]
            if of_table:
                self._publish(Manifest(self.archive, table), of_table)

    def _publish(
        self, manifest: Manifest, finished: list[tuple[Task, IngestedTrace, float]]
    ) -> None:
        rows = [row_of(task, result) for task, result, _ in finished]
        with manifest.locked():
            if not is_remote(self.archive):  # there, workers have put files in place
                for task, result, _ in finished:
                    put_in_place(result, self.archive, task.job, task.rank, task.file_id)
            displaced = manifest.add(rows)
            remove_unnamed(self.archive, rows, displaced)
        keys = {manifest.key(row) for row in displaced}
        paths = {(row["job"], row["path"]) for row in displaced}
        for (task, _, seconds), row in zip(finished, rows, strict=True):
            is_new = manifest.key(row) not in keys and (row["job"], row["path"]) not in paths
            status = "ingested" if is_new else "replaced"
            self._finished(
                Outcome(
                    task.path,
                    task.job,
                    task.rank,
                    "refreshed" if task.kind == REFRESH else status,
                    seconds,
                    row,
                    kind=task.kind,
                )
            )


def row_of(task: Task, result: IngestedTrace) -> dict:
    """A file's row of `traces` or `attachments`."""
    if task.kind == REFRESH:
        ids = {"trace_id": task.file_id, "file_id": task.file_id}
        return result.facts | ids | {"hta_sql_version": __version__}
    row = result.facts | {
        "job": task.job,
        "rank": task.rank,
        "rank_source": task.rank_source,
        "file_id": task.file_id,
        "hta_sql_version": __version__,
        "ingested_at": datetime.now(UTC).replace(tzinfo=None),
    }
    if task.kind != TRACE:
        return row | {"kind": task.kind}
    return row | describe(result.metadata) | {"trace_id": task.file_id, "tags": dict(task.tags)}


def remove_unnamed(archive: Place, rows: Iterable[dict], gone: Iterable[dict]) -> None:
    """Delete the files of `gone` that no row names any more.

    On disk, also delete what a killed ingest left for the ranks of `rows`. In object storage that
    stays, since another ingest may be about to name it. Only while locked.
    """
    named = {
        row[column]
        for table, columns in FILE_NAMES.items()
        for row in (Manifest(archive, table).rows() if gone or not is_remote(archive) else [])
        for column in columns
    }
    if is_remote(archive):
        files = [file for row in gone for file in remote_files(archive, row)]
        remove(file for file in files if file.stem not in named)
        return
    ranks = {partition(row["job"], row["rank"]) for row in [*rows, *gone]}
    folders = ranks | {f"{folder_for(row['job'])}/ranks" for row in gone}
    for folder in folders:
        for file in archive.glob(f"*/{folder}/*.parquet"):
            if file.stem not in named:
                delete_file(archive, file)


def remote_files(archive: Place, row: dict) -> Iterator[Place]:
    """All places in object storage where files of a row may be."""
    where = partition(row["job"], row["rank"])
    for table in TRACE_TABLES:
        yield archive / table / where / f"{row['file_id']}.parquet"
        yield archive / table / folder_for(row["job"]) / "ranks" / f"{row['file_id']}.parquet"
    if "trace_id" in row:
        for table in ALONE:
            yield archive / table / where / f"{row['trace_id']}.parquet"
