"""Archives of rows, written without ingest."""

from collections.abc import Iterable
from functools import cache
from itertools import groupby
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from s3 import bucket, fs, s3, s3_server  # noqa: F401 - fixtures

from hta_sql import SCHEMA_VERSION, __version__
from hta_sql.catalogue.catalog import Catalog
from hta_sql.catalogue.root import sql_root
from hta_sql.database.layers import load_base

Rows = Iterable[dict]


@cache
def table_schemas() -> dict[str, pa.Schema]:
    """The published tables as Arrow schemas, from their stubs."""
    only_tables = Catalog(sql_root(), ())
    with duckdb.connect() as con:
        load_base(con, only_tables)
        return {
            path.stem: con.sql(f"FROM {path.stem}_schema()").to_arrow_table().schema
            for path in only_tables.tables
        }


def write_archive(root: Path, **tables: Rows) -> Path:
    """An archive with these rows; columns left out are NULL, `job` is 'job' and `rank` 0.

    end_ns follows from start_ns and dur_ns, as in any archive. `traces` gets a row a rank.
    """
    schemas = table_schemas()
    ranks: dict[tuple[str, int], str] = {}
    spans: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for name, rows in tables.items():
        in_file = [f for f in schemas[name] if f.name not in ("job", "rank", "end_ns")]

        def of_rank(row: dict) -> tuple[str, int]:
            return row.get("job", "job"), row.get("rank", 0)

        for (job, rank), group in groupby(sorted(rows, key=of_rank), key=of_rank):
            trace_id = ranks.setdefault((job, rank), f"{job}-{rank}")
            folder = root / name / f"job={job}" / f"rank={rank}"
            folder.mkdir(parents=True)
            of_rank_alone = list(group)
            spans.setdefault((job, rank), []).extend(
                (row["start_ns"], row["start_ns"] + row["dur_ns"])
                for row in of_rank_alone
                if {"start_ns", "dur_ns"} <= row.keys()
            )
            table = pa.Table.from_pylist(of_rank_alone, schema=pa.schema(in_file))
            pq.write_table(table, folder / f"{trace_id}.parquet")
    root.mkdir(parents=True, exist_ok=True)
    traces = [
        {
            "job": job,
            "rank": rank,
            "trace_id": trace_id,
            "status": "complete",
            "hta_sql_version": __version__,
            "schema_version": SCHEMA_VERSION,
            "start_ns": min((start for start, _ in spans[job, rank]), default=None),
            "end_ns": max((end for _, end in spans[job, rank]), default=None),
        }
        for (job, rank), trace_id in ranks.items()
    ]
    pq.write_table(pa.Table.from_pylist(traces, schema=schemas["traces"]), root / "traces.parquet")
    return root


def activity(**given) -> dict:
    """A row of gpu_activities: 10 ns of computation on stream 7, unless told."""
    return {
        "device": 0,
        "stream": 7,
        "event_id": 0,
        "cat": "kernel",
        "kind": "computation",
        "name": "gemm",
        "short_name": "gemm",
        "start_ns": 0,
        "dur_ns": 10,
    } | given
