"""Files of stored results, and the rows that make them count."""

from __future__ import annotations

import contextlib
import uuid
from collections import defaultdict
from itertools import accumulate
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hta_sql.database.attach import write_database
from hta_sql.places.storage import age_seconds, is_remote, place, put, reader_of, sizes_below, stamp
from hta_sql.store.layout import on_disk
from hta_sql.store.manifest import Manifest
from hta_sql.store.moves import say_moved
from hta_sql.store.staging import in_use, staging_of

if TYPE_CHECKING:
    from pathlib import Path

    from hta_sql.places.storage import Place

MANIFEST = "stored_results"
# A query's files are opened one by one: of more, the smaller ones become one.
MOST_FILES = 8
LARGE_BYTES = 32 << 20
# A file that no row names may be about to be named, or still be read.
UNNAMED_SECONDS = 3600


def put_result(staging: Path, root: Place, name: str, file_id: str, table: pa.Table) -> None:
    written = staging / f"{name}.parquet"
    pq.write_table(table, written, compression="zstd")
    put(written, file_of(root, name, file_id))


def file_of(root: Place, name: str, file_id: str) -> Place:
    return root / "results" / on_disk(f"stored_{name}") / f"{file_id}.parquet"


def publish(root: Place, rows: list[dict]) -> None:
    """Make files count for the jobs and queries of these rows, in place of earlier ones."""
    if not rows:
        return
    manifest = Manifest(root, MANIFEST)
    is_first = not is_remote(root) and not manifest.path.exists()
    with manifest.locked():
        manifest.add(rows)
    if is_first:  # for a shell, which so far has found no such tables
        write_database(root)


def merge_small_files(root: Place) -> None:
    """Make one file of many small ones of a query, and of what in them still counts."""
    manifest = Manifest(root, MANIFEST)
    with manifest.locked():
        files: defaultdict[str, defaultdict[str, list[dict]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for row in manifest.rows():
            files[row["query"]][row["file_id"]].append(row)
        for query, by_file in files.items():
            # Else another run has merged them in the meantime, and a later one deleted them.
            with contextlib.suppress(FileNotFoundError):
                merge_files_of(root, manifest, query, by_file)


def merge_files_of(
    root: Place, manifest: Manifest, query: str, by_file: dict[str, list[dict]]
) -> None:
    """Merge files of a query; `by_file` has the rows that name each. Only while locked."""
    name = name_of(query)
    small = small_files({file_id: file_of(root, name, file_id) for file_id in by_file})
    if len(small) <= MOST_FILES:
        return
    table = pa.concat_tables(
        rows_of_jobs(file_of(root, name, file_id), [row["job"] for row in by_file[file_id]])
        for file_id in small
    )
    merged = uuid.uuid4().hex[:16]
    with in_use(staging := staging_of(root)):
        put_result(staging, root, name, merged, table)
    manifest.move((row, merged) for file_id in small for row in by_file[file_id])


def small_files(files: dict[str, Place]) -> list[str]:
    """The smallest ones that make no large one together."""
    sizes = sorted((stamp(file)[0], file_id) for file_id, file in files.items())
    together = accumulate(size for size, _ in sizes)
    return [
        file_id for (_, file_id), total in zip(sizes, together, strict=True) if total <= LARGE_BYTES
    ]


def rows_of_jobs(file: Place, jobs: list[str]) -> pa.Table:
    table = pq.read_table(reader_of(file.read_bytes()))
    return table.filter(pc.is_in(table["job"], pa.array(jobs, pa.string())))


def remove_unnamed(root: Place) -> None:
    """Delete the rows of jobs that are gone, and files that have had no row for a while."""
    manifest = Manifest(root, MANIFEST)
    with manifest.locked():
        rows = manifest.rows()
        gone = {row["job"] for row in rows} - {row["job"] for row in Manifest(root).rows()}
        if gone:
            manifest.change(lambda row: row["job"] not in gone)
        named = {
            (on_disk(f"stored_{name_of(row['query'])}"), row["file_id"])
            for row in rows
            if row["job"] not in gone
        }
        old = [
            file
            for file in result_files(root)
            if (file.parent.name, file.stem) not in named and age_seconds(file) > UNNAMED_SECONDS
        ]
        if old:
            say_moved(root)  # rows may have named them until a moment ago
        for file in old:
            file.unlink(missing_ok=True)
    if old and not is_remote(root):  # for a shell, in which a table without files fails
        write_database(root)


def result_files(root: Place) -> list[Place]:
    if is_remote(root):
        files = sizes_below(root / "results")
        return [place(file) for file in files if file.endswith(".parquet")]
    return list(root.glob("results/*/*.parquet"))


def name_of(query: str) -> str:
    """A query's name, of its name with the version."""
    return query.rpartition("_v")[0]
