"""Where an archive's files are, by job and rank. This module does not need Arrow."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

if TYPE_CHECKING:
    from hta_sql.places.storage import Place

LONGEST_FOLDER_BYTES = 255
# A data file of a job, and a file with stored results.
DATA_FILE = re.compile(r"(\w+)/(job=[^/]+)/(rank=\d+|ranks)/([^/]+)\.parquet")
RESULT_FILE = re.compile(r"results/(kept_\w+)/[^/]+\.parquet")
# The manifests, and the columns that identify a row of each, besides its source file.
KEYS = {
    "traces": ("job", "rank"),
    "attachments": ("job", "rank", "kind"),
    "critical_paths": ("job", "path_window"),
    "stored_results": ("job", "query"),
}
# The tables of traces and of files attached to them, and the tables of critical paths.
TRACE_TABLES = (
    "events",
    "host_ops",
    "gpu_activities",
    "step_marks",
    "captured_ops",
    "graph_replays",
    "quarantine",
    "execution_nodes",
    "memory_events",
)
# The tables whose ranks may share a file, and the column of `traces` with their numbers of rows.
COUNTS = {
    "events": "event_count",
    "host_ops": "host_op_count",
    "gpu_activities": "gpu_activity_count",
}
# Tables of traces whose files keep the trace's id as their name if `compact` merges ranks.
ALONE = frozenset({"quarantine", "step_marks", "captured_ops", "graph_replays"})
PATH_TABLES = ("path_edges", "job_path_edges", "what_if_times")
# Columns of manifests that name files in folders of ranks.
FILE_NAMES = {
    "traces": ("trace_id", "file_id"),
    "attachments": ("file_id",),
    "critical_paths": ("path_id",),
}


def on_disk(table: str) -> str:
    """The name of a table's files. In the first archives, stored results were called kept."""
    return f"kept_{table.removeprefix('stored_')}" if table.startswith("stored_") else table


def in_sql(name: str) -> str:
    """The table whose files have this name; the opposite of on_disk."""
    return f"stored_{name.removeprefix('kept_')}" if name.startswith("kept_") else name


# All names that may be in an archive's folder.
_MANIFESTS = {on_disk(table) for table in KEYS}
NAMES = {*TRACE_TABLES, *PATH_TABLES, *_MANIFESTS, *(f"{name}.parquet" for name in _MANIFESTS)} | {
    "hta.duckdb",
    "results",
}


def folder_for(job: str) -> str:
    """The folder of a job below each table's. Any job name makes a valid folder name."""
    return f"job={quote(job, safe=' ')}"


def partition(job: str, rank: int) -> str:
    """The folder of a rank below each table's."""
    return f"{folder_for(job)}/rank={rank}"


def unversioned(query: str) -> str:
    """The name of a query without its version."""
    return query.rpartition("_v")[0]


def result_path(name: str, file_id: str) -> str:
    """A file with stored results of a query, relative to the archive's root."""
    return f"results/{on_disk(f'stored_{name}')}/{file_id}.parquet"


def job_of(name: str) -> str | None:
    """The job of a data file, from its path in the archive; None for stored results."""
    of_job = DATA_FILE.fullmatch(name)
    return unquote(of_job[2].removeprefix("job=")) if of_job else None


def in_job(row: dict, job: str, ids: Mapping[str, str] | None = None) -> dict:
    """A row of a manifest for the same files in the folder of another job; with `ids`, the names
    of the files change too."""

    def path(before: str) -> str:
        table, _, below, file = before.split("/")
        file_id = file.removesuffix(".parquet")
        return f"{table}/{folder_for(job)}/{below}/{(ids or {}).get(file_id, file_id)}.parquet"

    files = row.get("files") and [file | {"path": path(file["path"])} for file in row["files"]]
    return row | {"job": job, "files": files}


def file_of(row: dict) -> str:
    """The id of a trace's files; earlier versions had only the id of the trace."""
    return row.get("file_id") or row["trace_id"]


def place_of(row: dict, table: str) -> str:
    """The file with a trace's rows of a table, relative to the archive's root."""
    is_alone = file_of(row) == row["trace_id"]
    where = partition(row["job"], row["rank"]) if is_alone else f"{folder_for(row['job'])}/ranks"
    return f"{table}/{where}/{file_of(row)}.parquet"


def has_changes(archive: Place) -> bool:
    """Whether an archive on disk has manifests in parts, as in a copy from object storage."""
    return any(
        (archive / name).is_dir() and any((archive / name).glob("*.parquet"))
        for name in map(on_disk, KEYS)
    )
