"""Turns one trace file into the Parquet files of one rank, in a worker process.

The trace's base is added to times at the end, since older traces give it after their events. All
files are written to a staging folder and then moved to their final names. No view reads them before
`traces.parquet` names them.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import duckdb
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from hta_sql.catalogue.root import sql_root
from hta_sql.database.attach import without_progress_bar
from hta_sql.database.planning import PLANNING
from hta_sql.errors import HtaSqlError, one_line
from hta_sql.ingestion.captures import Captures, stamped
from hta_sql.ingestion.clock import LATEST_NS
from hta_sql.ingestion.described import as_int
from hta_sql.ingestion.enrich import enrich
from hta_sql.ingestion.event_parser import EventParser
from hta_sql.ingestion.find import shown
from hta_sql.ingestion.long_names import any_long
from hta_sql.ingestion.metadata import LONGEST_KEYS_BYTES
from hta_sql.ingestion.own_steps import NOT_NAMED, OwnSteps
from hta_sql.ingestion.quarantine import Quarantine
from hta_sql.ingestion.side_by_side import Aside
from hta_sql.ingestion.stream import TraceStream
from hta_sql.places.storage import Place, put, stamp
from hta_sql.store.layout import partition
from hta_sql.store.row_groups import RowGroups
from hta_sql.version import SCHEMA_VERSION

# The limit of DuckDB's own memory; it spills the rest to disk. Sorts and joins may take half. If
# they took all, there would be no room for the tables that they read and write.
MEMORY_LIMIT = "400MB"
OPERATOR_MEMORY_LIMIT = "200MB"
# DuckDB's estimates of sizes change with its version, and so does the memory of a join. With this,
# a join holds its right side as written, which is the narrow one.
JOINS_AS_WRITTEN = "join_order,build_side_probe_side,projection_pullup"
TABLES = (
    "events",
    "host_ops",
    "gpu_activities",
    "step_marks",
    "captured_ops",
    "graph_replays",
    "quarantine",
)
# The macros of sql/relations that ingest needs. All of them would take 0.1 s per trace.
MACROS = (
    "names/categories",
    "names/demangled_name",
    "names/kernel_kind",
    "names/kernel_words",
    "names/short_name",
    "steps/step_number",
    "steps/step_rules",
)


@dataclass
class IngestedTrace:
    """A trace that has been read: its Parquet files, still in staging, and its facts."""

    files: dict[str, Path]
    facts: dict
    metadata: dict = field(repr=False)


class WrittenEvents(NamedTuple):
    """The number of events, what their stamps count from, and whether some names are too long to
    join and sort."""

    count: int
    base_ns: int | None
    has_long_names: bool


@contextmanager
def plain_memory() -> Iterator[None]:
    """Let Arrow take its memory from malloc meanwhile. Its own allocators return a piece's memory
    and ask for it again with the next piece, page by page, which takes 1/20 of the time."""
    before = pa.default_memory_pool()
    pa.set_memory_pool(pa.system_memory_pool())
    try:
        yield
    finally:
        pa.set_memory_pool(before)


@plain_memory()
def ingest_trace(
    path: Place,
    staging: Path,
    progress: Callable[[int], None] = lambda bytes_read: None,
    threads: int = 1,
    steps: OwnSteps = NOT_NAMED,
    captures: Sequence[Place] = (),
) -> IngestedTrace:
    """Read `path` once and write its tables as `staging/<table>.parquet`.

    Parsing and enrichment use this many `threads`; if more than one, reading and writing have one
    more each. `steps` is what the user says of steps, and `captures` are the capture
    traces of its graphs. `facts` are the columns of `traces` that come from the file itself. Raises
    NotATrace or OSError.
    """
    staging.mkdir(parents=True, exist_ok=True)
    size, modified_ns = stamp(path)
    stream = TraceStream(path)
    con = connect(staging)
    files = {table: staging / f"{table}.parquet" for table in TABLES}
    quarantine = Quarantine(files["quarantine"], path)
    with closing(EventParser(con, staging, quarantine, MEMORY_LIMIT, threads)) as parser:
        written = write_events(stream, parser, files["events"], progress, threads)
    quarantine.close()
    if not quarantine.count:
        del files["quarantine"]
    recorded = Recorded(captures, staging)
    counts = enrich(con, files, staging, threads, written.has_long_names, steps, recorded.read)
    con.close()
    recorded.remove()
    facts = counts | {
        "path": shown(path),
        "file_bytes": size,
        "modified_ns": modified_ns,
        "fingerprint": stream.bytes.fingerprint,
        "status": status_of(stream),
        "event_count": written.count,
        "quarantined_count": quarantine.count,
        "time_format": parser.time_format(has_base=written.base_ns is not None),
        "base_ns": written.base_ns or 0,
        "schema_version": SCHEMA_VERSION,
        "steps_pattern": steps.pattern,
        "graph_captures": recorded.as_json(),
    }
    return IngestedTrace(files, facts, metadata_of(stream))


class Recorded:
    """The capture traces of a trace, read if they are needed. One that cannot be read is left out,
    and its status says why."""

    def __init__(self, paths: Sequence[Place], staging: Path):
        self._paths, self._staging = paths, staging
        self._folders: list[Path] = []
        self.facts = [stamped(path) for path in paths]

    def read(self) -> Captures:
        captures = []
        for facts, path in zip(self.facts, self._paths, strict=True):
            folder = self._staging.with_name(f"{self._staging.name}-capture-{len(self._folders)}")
            self._folders.append(folder)
            try:
                done = ingest_trace(path, folder)
            except (HtaSqlError, OSError) as error:
                facts["status"] = f"failed: {one_line(error)}"
                continue
            facts |= {name: done.facts[name] for name in ("status", "quarantined_count")}
            captures.append((path, done.files))
        return captures

    def remove(self) -> None:
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)

    def as_json(self) -> str | None:
        return orjson.dumps(self.facts).decode() if self.facts else None


def connect(staging: Path) -> duckdb.DuckDBPyConnection:
    """A connection for one file, with tables of its own; it starts with one thread."""
    con = database(staging.parent / f"spill-{os.getpid()}").cursor()
    without_progress_bar(con)
    con.execute("SET threads = 1")
    con.execute(f"SET operator_memory_limit = '{OPERATOR_MEMORY_LIMIT}'")
    return con


@lru_cache(maxsize=1)
def database(spill: Path) -> duckdb.DuckDBPyConnection:
    """A database in memory with the macros that ingest needs.

    A worker process reuses it for its next file: making it takes 1/5 of the time of a small trace.
    """
    con = duckdb.connect(
        config={"threads": 1, "memory_limit": MEMORY_LIMIT, "temp_directory": str(spill)}
        | PLANNING
        | {"disabled_optimizers": JOINS_AS_WRITTEN}
    )
    files = [sql_root() / "relations" / f"{name}.sql" for name in MACROS]
    for file in [*files, *sorted((sql_root() / "ingest/macros").glob("*.sql"))]:
        con.execute(file.read_text())
    return con


def write_events(
    stream: TraceStream,
    parser: EventParser,
    path: Path,
    progress: Callable[[int], None],
    threads: int = 1,
) -> WrittenEvents:
    """Write the events as they come.

    An older trace gives the base of its times after its events. Until the base is known, the events
    wait uncompressed in another file.
    """
    count, has_long_names = 0, False
    base_ns = base_of(stream.head.keys)
    spool = path.with_suffix(".spool")
    writer = None
    with Aside(threads) as aside:
        for table in parser.tables(stream):
            table = table.drop_columns(["stamp_ns", "problem"])
            if writer is None:
                spooled = base_ns is None and not parser.is_absolute
                # A base in a trace with stamps that count from 1970 can only be a mistake.
                base_ns = None if parser.is_absolute else base_ns
                schema = table.schema
                writer = pa.ipc.new_file(spool, schema) if spooled else RowGroups(path, schema)
            aside.do(writer.write_table, table if spooled else shifted(table, base_ns))
            count += len(table)
            has_long_names = has_long_names or any_long(table)
            progress(stream.bytes.bytes_read)
    writer.close()
    if spooled:
        base_ns = base_of(metadata_of(stream))
        with pa.OSFile(str(spool)) as file, closing(RowGroups(path, schema)) as writer:
            batches = pa.ipc.open_file(file)
            for at in range(batches.num_record_batches):
                table = pa.Table.from_batches([batches.get_batch(at)])
                writer.write_table(shifted(table, base_ns))
        spool.unlink()
    return WrittenEvents(count, base_ns, has_long_names)


def metadata_of(stream: TraceStream) -> dict:
    return stream.head.keys | (stream.tail.keys if stream.tail else {})


def base_of(metadata: dict) -> int | None:
    """What relative stamps count from, in Unix nanoseconds; None if the trace does not say."""
    base = as_int(metadata.get("baseTimeNanoseconds"))
    return base if base is not None and 0 <= base <= LATEST_NS else None


def status_of(stream: TraceStream) -> str:
    if stream.given_up:
        return stream.given_up
    if stream.coarse_from is not None:
        return (
            f"damaged: broken {stream.kind.element}s behind byte {stream.coarse_from:,} are "
            "not told apart, since there are too many"
        )
    if stream.bytes.damage:
        return f"truncated: {stream.bytes.damage}"
    if stream.tail is None:
        return f"truncated: the file ends before its list of {stream.kind.element}s does"
    if stream.tail.has_more:
        return "damaged: more behind its end"
    if stream.tail.is_cut:
        return "truncated: the file ends before its last keys do"
    if stream.is_array and not stream.tail.is_whole:
        return f"damaged: more behind its list of {stream.kind.element}s"
    if stream.head.is_long or stream.tail.is_long:
        return (
            f"damaged: of the keys around the {stream.kind.element}s, which are over "
            f"{LONGEST_KEYS_BYTES >> 20} MB, only some are read"
        )
    if not (stream.head.is_whole and stream.tail.is_whole):
        return f"damaged: the keys around the {stream.kind.element}s are broken JSON"
    return "complete"


def shifted(table: pa.Table, base_ns: int | None) -> pa.Table:
    """The same events with the base added to every time stamp."""
    if not base_ns:
        return table
    times = pc.add(table["start_ns"], base_ns)
    return table.set_column(table.schema.get_field_index("start_ns"), "start_ns", times)


def put_in_place(trace: IngestedTrace, archive: Place, job: str, rank: int, file_id: str) -> None:
    """Move a trace's files to their final names. Nothing reads them there yet."""
    for table, file in trace.files.items():
        put(file, archive / table / partition(job, rank) / f"{file_id}.parquet")
