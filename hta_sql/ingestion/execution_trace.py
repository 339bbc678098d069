"""Turns one PyTorch execution trace into a Parquet file of its nodes, in a worker process."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from hta_sql.database.sql_files import SqlFiles
from hta_sql.ingestion.attempts import Parsed
from hta_sql.ingestion.described import as_text, keys_as_json
from hta_sql.ingestion.find import shown
from hta_sql.ingestion.kinds import NODES
from hta_sql.ingestion.parse import PieceParser
from hta_sql.ingestion.quarantine import Quarantine
from hta_sql.ingestion.stream import TraceStream
from hta_sql.ingestion.trace import MEMORY_LIMIT, IngestedTrace, connect, metadata_of, status_of
from hta_sql.places.storage import Place, stamp
from hta_sql.version import SCHEMA_VERSION

FILES = SqlFiles("ingest")


def ingest_execution_trace(
    path: Place, staging: Path, progress: Callable[[int], None] = lambda bytes_read: None
) -> IngestedTrace:
    """Read `path` once and write `staging/execution_nodes.parquet`.

    `facts` are the columns of `attachments` that come from the file itself.
    """
    staging.mkdir(parents=True, exist_ok=True)
    size, modified_ns = stamp(path)
    stream = TraceStream(path, NODES)
    con = connect(staging)
    FILES.run(con, "nodes/parsed_nodes")  # here, since other traces do not need it
    files = {table: staging / f"{table}.parquet" for table in ("execution_nodes", "quarantine")}
    quarantine = Quarantine(files["quarantine"], path)
    row_count = 0
    writer = None
    with closing(NodeParser(con, staging, quarantine, MEMORY_LIMIT)) as parser:
        for table in parser.tables(stream):
            table = table.drop_columns(["problem"])
            if writer is None:
                writer = pq.ParquetWriter(
                    files["execution_nodes"], table.schema, compression="zstd", compression_level=1
                )
            writer.write_table(table)
            row_count += len(table)
            progress(stream.bytes.bytes_read)
    writer.close()
    con.close()
    quarantine.close()
    if not quarantine.count:
        del files["quarantine"]
    metadata = metadata_of(stream)
    facts = {
        "path": shown(path),
        "file_bytes": size,
        "modified_ns": modified_ns,
        "fingerprint": stream.bytes.fingerprint,
        "status": status_of(stream),
        "row_count": row_count,
        "quarantined_count": quarantine.count,
        "format": as_text(metadata.get("schema")),
        "pid": as_text(metadata.get("pid")),
        "metadata": keys_as_json(metadata),
        "schema_version": SCHEMA_VERSION,
    }
    return IngestedTrace(files, facts, metadata)


class NodeParser(PieceParser):
    """Reads the nodes of one execution trace."""

    number = "position"

    def _parsed(self, data) -> Parsed:
        return Parsed(self._parsed_with_care(data))

    def _parsed_with_care(self, data) -> pa.Table:
        return self._readers.query(data, "nodes_of({piece})")
