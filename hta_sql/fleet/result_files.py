"""The files of stored results, and the rows of stored_results that name them."""

from __future__ import annotations

import contextlib
import uuid
from collections import defaultdict
from itertools import accumulate
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hta_sql.database.shell_database import write_database
from hta_sql.places.storage import age_seconds, is_remote, place, put, reader_of, sizes_below, stamp
from hta_sql.store.checksums import described
from hta_sql.store.layout import result_path, unversioned
from hta_sql.store.manifest import Manifest
from hta_sql.store.moves import say_moved
from hta_sql.store.staging import in_use, staging_of

if TYPE_CHECKING:
    from pathlib import Path

    from hta_sql.places.storage import Place

MANIFEST = "stored_results"
# Each file of a query takes time to open. If there are more, the small ones are merged.
MOST_FILES = 8
LARGE_BYTES = 32 << 20
# Files that no row names are kept this long: they may get a row, or a query may still read them.
UNNAMED_SECONDS = 3600


def put_result(staging: Path, root: Place, name: str, file_id: str, table: pa.Table) -> list[dict]:
    """Write a file of results; returns the column `files` of its rows."""
    written, target = staging / f"{name}.parquet", result_path(name, file_id)
    pq.write_table(table, written, compression="zstd")
    files = [described(written, target)]
    put(written, root / target)
    return files


def publish(root: Place, rows: list[dict]) -> None:
    """Add rows of stored_results, in place of earlier rows of the same jobs and queries."""
    if not rows:
        return
    manifest = Manifest(root, MANIFEST)
    with manifest.locked():
        manifest.add(rows)


def merge_small_files(root: Place) -> None:
    """Merge the small files of each query into one, without rows that no longer count."""
    manifest = Manifest(root, MANIFEST)
    with manifest.locked():
        files: defaultdict[str, defaultdict[str, list[dict]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for row in manifest.rows():
            files[row["query"]][row["file_id"]].append(row)
        for query, by_file in files.items():
            # A file is missing if another run merged it in the meantime and a later one deleted it.
            with contextlib.suppress(FileNotFoundError):
                merge_files_of(root, manifest, query, by_file)


def merge_files_of(
    root: Place, manifest: Manifest, query: str, by_file: dict[str, list[dict]]
) -> None:
    """Merge the files of a query; `by_file` has the rows that name each file. Needs the lock."""
    name = unversioned(query)
    small = small_files({file_id: root / result_path(name, file_id) for file_id in by_file})
    if len(small) <= MOST_FILES:
        return
    tables = [
        rows_of_jobs(root / result_path(name, file_id), [row["job"] for row in by_file[file_id]])
        for file_id in small
    ]
    # A file of an earlier hta_sql can lack columns.
    table = pa.concat_tables(tables, promote_options="default")
    merged = uuid.uuid4().hex[:16]
    with in_use(staging := staging_of(root)):
        named = {"file_id": merged, "files": put_result(staging, root, name, merged, table)}
    manifest.move((row, named) for file_id in small for row in by_file[file_id])


def small_files(files: dict[str, Place]) -> list[str]:
    """The smallest files, as many as are together no larger than LARGE_BYTES."""
    sizes = sorted((stamp(file)[0], file_id) for file_id, file in files.items())
    together = accumulate(size for size, _ in sizes)
    return [
        file_id for (_, file_id), total in zip(sizes, together, strict=True) if total <= LARGE_BYTES
    ]


def rows_of_jobs(file: Place, jobs: list[str]) -> pa.Table:
    table = pq.read_table(reader_of(file.read_bytes()))
    return table.filter(pc.is_in(table["job"], pa.array(jobs, pa.string())))


def remove_unnamed(root: Place) -> None:
    """Delete rows of jobs that no longer exist, and old files that no row names."""
    manifest = Manifest(root, MANIFEST)
    with manifest.locked():
        rows = manifest.rows()
        gone = {row["job"] for row in rows} - {row["job"] for row in Manifest(root).rows()}
        if gone:
            manifest.change(lambda row: row["job"] not in gone)
        named = {
            result_path(unversioned(row["query"]), row["file_id"])
            for row in rows
            if row["job"] not in gone
        }
        old = [
            file
            for file in result_files(root)
            if "/".join(file.parts[-3:]) not in named and age_seconds(file) > UNNAMED_SECONDS
        ]
        if old:
            say_moved(root)  # rows may have named them a moment ago
        for file in old:
            file.unlink(missing_ok=True)
    if old and not is_remote(root):  # since a table without files fails in a shell
        write_database(root)


def result_files(root: Place) -> list[Place]:
    if is_remote(root):
        files = sizes_below(root / "results")
        return [place(file) for file in files if file.endswith(".parquet")]
    return list(root.glob("results/*/*.parquet"))
