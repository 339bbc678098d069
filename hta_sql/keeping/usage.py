"""The size of each job in an archive."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from hta_sql.database.roots import archive_root
from hta_sql.store.files import NamedFiles, files_of
from hta_sql.store.layout import folder_for
from hta_sql.store.manifest import Manifest

if TYPE_CHECKING:
    import os

    from hta_sql.places.storage import Place

OWN_COLUMNS = ("events", "host_ops", "gpu_activities")
SCHEMA = pa.schema(
    [
        ("part", pa.string()),
        ("job", pa.string()),
        ("rank_count", pa.int64()),
        ("file_count", pa.int64()),
        *((f"{table}_bytes", pa.int64()) for table in OWN_COLUMNS),
        ("other_bytes", pa.int64()),
        ("total_bytes", pa.int64()),
        ("source_bytes", pa.int64()),
        ("of_source_frac", pa.float64()),
        ("last_ingested_at", pa.timestamp("us")),
    ]
)


def usage(archive: str | os.PathLike[str] | Place) -> pa.Table:
    """The size of each job in an archive, largest first, and the size of all other files.

    The column `part` says what the files of a row are: `job` (files of one job), `results` (stored
    results of many jobs), `unnamed` (data files that the archive does not use: an ingest is still
    writing them, or was killed) or `rest` (manifests, hta.duckdb and files that are being written).
    `source_bytes` is the size of the traces and of the files attached to them; `of_source_frac` is
    the job's size divided by `source_bytes`.

    Args:
        archive: The archive, a folder or URL.

    Returns:
        pyarrow.Table, with one row per job and per other part; sizes in bytes.

    Raises:
        ArchiveError: `archive` is no archive.

    Examples:
        >>> hta_sql.usage("archive").select(["job", "total_bytes"]).to_pylist()
    """
    archive = archive_root(archive)
    found = list(files_of(archive))
    named = NamedFiles(archive)
    rows: dict[tuple[str, str | None], dict] = {}
    for table in ("traces", "attachments"):
        for row in Manifest(archive, table).rows():
            of_job = rows.setdefault(("job", row["job"]), _empty("job", row["job"]))
            of_job["rank_count"] += table == "traces"
            of_job["source_bytes"] += row["file_bytes"] or 0
            of_job["last_ingested_at"] = max(
                filter(None, (of_job["last_ingested_at"], row["ingested_at"])), default=None
            )
    jobs = {folder_for(job): job for _, job in rows}
    for file in found:
        part, job = "rest", None
        if file in named and file.folder in jobs:
            part, job = "job", jobs[file.folder]
        elif file.file_id:
            part = "unnamed"
        elif file.name.startswith("results/"):
            part = "results"
        row = rows.setdefault((part, job), _empty(part, job))
        row["file_count"] += 1
        row["total_bytes"] += file.bytes
        column = f"{file.table}_bytes" if file.table in OWN_COLUMNS else "other_bytes"
        row[column] += file.bytes
    for row in rows.values():
        if row["source_bytes"]:
            row["of_source_frac"] = row["total_bytes"] / row["source_bytes"]

    def order(row: dict) -> tuple:
        return row["part"] != "job", -row["total_bytes"], row["job"] or ""

    return pa.Table.from_pylist(sorted(rows.values(), key=order), schema=SCHEMA)


def _empty(part: str, job: str | None) -> dict:
    counts = dict.fromkeys(SCHEMA.names[3:9], 0)
    of_job = 0 if part == "job" else None
    return {
        "part": part,
        "job": job,
        "rank_count": of_job,
        "source_bytes": of_job,
        "of_source_frac": None,
        "last_ingested_at": None,
    } | counts
