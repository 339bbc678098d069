"""Write the rows of several ranks to files that they share."""

from __future__ import annotations

import shutil
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from hta_sql.places.storage import is_remote, put
from hta_sql.store.checksums import described, entries_of, problem_of, remedy
from hta_sql.store.layout import COUNTS, folder_for
from hta_sql.store.row_groups import ROW_GROUP_ROWS, table_writer
from hta_sql.store.shared_files import tables_of

if TYPE_CHECKING:
    from hta_sql.places.storage import Place


@dataclass
class Merged:
    """Ranks of a job with their rows in files of one id, in staging or in object storage."""

    rows: list[dict]
    file_id: str
    files: dict[str, Path]
    entries: list[dict]  # of the column `files`
    bytes: int


class Incomplete(Exception):
    """Files do not hold the rows that `traces` says they do."""


def merge(archive: Place, group: list[dict], staging: Path) -> Merged:
    """Write the files of a group; in object storage, also put them in place."""
    merged = Merged(group, uuid.uuid4().hex[:16], {}, [], 0)
    folder = staging / merged.file_id
    folder.mkdir()
    check_whole(archive, group)
    for table in COUNTS:
        sources = [row for row in group if row[COUNTS[table]] != 0]
        file = folder / f"{table}.parquet"
        held = write_ranks(archive, table, sources, file)
        for row in sources:
            wanted = row[COUNTS[table]]
            if wanted not in (None, held[row["rank"]]):
                raise Incomplete(
                    f"rank {row['rank']}: {table} holds {held[row['rank']]:,} of {wanted:,} rows; "
                    "ingest it again with --force"
                )
        if not held:
            continue
        merged.files[table] = file
        merged.entries.append(described(file, target(merged, table)))
        merged.bytes += merged.entries[-1]["bytes"]
    if is_remote(archive):
        for table, file in merged.files.items():
            put(file, archive / target(merged, table))
        shutil.rmtree(folder)
    return merged


def check_whole(archive: Place, group: list[dict]) -> None:
    """Raise Incomplete if a file to be merged is damaged: the merged file would hide it."""
    if is_remote(archive):  # there, reading everything twice costs more than it finds
        return
    for entry in entries_of(group, COUNTS):
        if problem := problem_of(archive / entry["path"], entry, is_deep=True):
            raise Incomplete(f"{entry['path']} {problem}; {remedy(entry['path'])}")


def target(merged: Merged, table: str) -> str:
    return f"{table}/{folder_for(merged.rows[0]['job'])}/ranks/{merged.file_id}.parquet"


def write_ranks(archive: Place, table: str, rows: list[dict], file: Path) -> Counter[int]:
    """Write these ranks' rows of a table, ordered by rank; returns the number of rows of each."""
    counts: Counter[int] = Counter()
    writer = None
    try:
        for piece in row_groups(tables_of(archive, table, rows, file.with_suffix(".read"))):
            if writer is None:
                writer = table_writer(file, piece.schema)
            writer.write_table(piece.cast(writer.schema), row_group_size=ROW_GROUP_ROWS)
            for found in pc.value_counts(piece["rank"].combine_chunks()).to_pylist():
                counts[found["values"]] += found["counts"]
    finally:
        if writer:
            writer.close()
    return counts


def row_groups(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """The same rows in pieces of one row group; the last piece may be shorter."""
    waiting: list[pa.Table] = []
    count = 0
    for table in tables:
        waiting.append(table)
        count += len(table)
        while count >= ROW_GROUP_ROWS:
            whole = pa.concat_tables(waiting)
            yield whole.slice(0, ROW_GROUP_ROWS)
            waiting = [whole.slice(ROW_GROUP_ROWS)]
            count -= ROW_GROUP_ROWS
    if count:
        yield pa.concat_tables(waiting)
