"""Reads the rows of ranks, which may share a file with others."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hta_sql.places.storage import is_remote
from hta_sql.store.layout import place_of
from hta_sql.store.row_groups import ROW_GROUP_ROWS

if TYPE_CHECKING:
    from hta_sql.places.storage import Place


def tables_of(archive: Place, table: str, rows: list[dict], copy: Path) -> Iterator[pa.Table]:
    """The rows of these ranks with a column `rank`, up to a row group at a time."""
    for name, of_file in groupby(rows, key=lambda row: place_of(row, table)):
        ranks = [row["rank"] for row in of_file]
        path = archive / name
        if is_remote(archive):
            archive.fs.get_file(path.path, str(copy))
            path = copy
        with pq.ParquetFile(path) as file:
            is_shared = "rank" in file.schema_arrow.names
            for batch in file.iter_batches(ROW_GROUP_ROWS, use_threads=False):
                found = pa.Table.from_batches([batch])
                if is_shared:
                    wanted = pc.is_in(found["rank"], pa.array(ranks, pa.int32()))
                    yield found.filter(wanted)
                else:
                    yield found.append_column(
                        "rank", pa.repeat(pa.scalar(ranks[0], pa.int32()), len(found))
                    )
