"""Where an archive's files are, by job and rank. This module does not need Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from hta_sql.places.storage import Place

LONGEST_FOLDER_BYTES = 255
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
