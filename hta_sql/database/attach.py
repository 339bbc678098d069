"""Lets a DuckDB connection read the files of archives, and writes hta.duckdb."""

import os
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from hta_sql.catalogue.catalog import Catalog
from hta_sql.database.layers import at_line, comment_on_views, literal
from hta_sql.database.own_rules import put_own_rules
from hta_sql.database.roots import archive_root
from hta_sql.database.stored_relations import choose_stored
from hta_sql.database.template import maker, new_database, template
from hta_sql.errors import ArchiveError, one_line
from hta_sql.store.sources import PATTERNS, Source, whereabouts
from hta_sql.version import SCHEMA_VERSION

if TYPE_CHECKING:
    pass

# The number of attempts to read if files change while they are read.
ATTEMPTS = 5


# If DuckDB expects few rows, it plans a quadratic ASOF join, and its estimate is often wrong.
NO_LOOP_JOINS = "SET GLOBAL asof_loop_join_threshold = 0"


def without_progress_bar(con: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """The connection, with DuckDB's progress bar off.

    In a notebook without ipywidgets there is no progress bar, and turning it off is an error.
    """
    if con.execute("SELECT current_setting('enable_progress_bar')").fetchall() == [(True,)]:
        con.execute("SET enable_progress_bar = false")
    return con


def schemas(con: duckdb.DuckDBPyConnection, sources: Sequence[Source]) -> tuple[set[str], int]:
    """The jobs with a file of another schema version, and the number of ranks with an older one.

    Raises ArchiveError if a rank is in two archives.
    """
    mixed: set[str] = set()
    older = []
    for table, what in (("traces", "''"), ("attachments", "kind")):
        roots = {file: source.root for source in sources for file in source.manifest(table)}
        files = list(roots)
        if not files:
            continue
        rows = (
            f"read_parquet({literal(files)}, hive_partitioning = false, "
            "union_by_name = true, filename = true)"
        )
        for left in reversed(range(ATTEMPTS)):
            try:
                twice = con.execute(
                    f"SELECT job, rank, {what} AS what, min(filename), max(filename) FROM {rows} "
                    "GROUP BY ALL HAVING min(filename) < max(filename) ORDER BY ALL LIMIT 1"
                ).fetchall()
                found = con.execute(
                    f"SELECT DISTINCT job, rank, coalesce(schema_version, 0) FROM {rows} "
                    f"WHERE schema_version IS DISTINCT FROM {SCHEMA_VERSION}"
                ).fetchall()
                break
            except duckdb.Error as error:
                if left:  # the file was replaced between the reads of its footer and its rows
                    time.sleep(0.01)
                    continue
                where = ", ".join(str(source.root) for source in sources)
                raise ArchiveError(
                    f"{where}: {table}.parquet cannot be read: {one_line(error)}"
                ) from error
        if twice:
            job, rank, what, one, other = twice[0]
            of = f"the {what.replace('_', ' ')} of " if what else ""
            raise ArchiveError(
                f"{of}job {job!r} rank {rank} is in {roots[one]} and in "
                f"{roots[other]}; open only one of them, or ingest one again under another name "
                "with --job"
            )
        mixed.update(job for job, _, _ in found)
        older += [(job, rank) for job, rank, version in found if version < SCHEMA_VERSION]
    return mixed, len(set(older))


def load_sources(
    con: duckdb.DuckDBPyConnection,
    catalog: Catalog,
    sources: Sequence[Source],
    mixed: bool,
    only_jobs: Collection[str] | None,
    reading: set[str],
) -> None:
    """Make the views read the archives' Parquet files. A table without files is an empty stub.

    `mixed` says that some files lack columns of the stubs. `only_jobs` leaves out all other jobs.
    `reading` has the views of this connection that read files; it is updated.
    """
    found = _whereabouts(catalog, sources, only_jobs)
    macros = []
    for macro, files in found.items():
        cases = " ".join(
            f"WHEN {literal(table)} THEN {literal(files)}"
            for table, files in files.items()
            if files
        )
        # A CASE needs at least one branch; no table has this name.
        macros.append(
            f"CREATE OR REPLACE MACRO {macro}(of_table) AS CASE of_table {cases} "
            "WHEN '' THEN [''] END;"
        )
    con.execute("".join(macros))
    where = ", ".join(str(source.root) for source in sources)
    _put_sources(con, catalog, found, mixed, only_jobs, reading, where)


def _whereabouts(
    catalog: Catalog, sources: Sequence[Source], only_jobs: Collection[str] | None
) -> dict[str, dict[str, list[str]]]:
    return whereabouts(sources, [path.stem for path in catalog.tables], only_jobs)


def _put_sources(
    con: duckdb.DuckDBPyConnection,
    catalog: Catalog,
    found: Mapping[str, Mapping[str, Sequence[str]]],
    mixed: bool,
    only_jobs: Collection[str] | None,
    reading: set[str],
    where: str,
) -> None:
    """Make the views of sql/tables whose tables have files, and stubs for the others."""
    chosen = None if only_jobs is None else list(only_jobs)
    con.execute(
        f"CREATE OR REPLACE MACRO archive_is_mixed() AS {literal(mixed)};"
        f"CREATE OR REPLACE MACRO archive_jobs() AS {literal(chosen)}::VARCHAR[]"
    )
    for view, source in catalog.sources.items():
        if found[source.macro][source.table]:
            try:
                con.execute(source.sql)
                reading.add(view)
                continue
            except (duckdb.ParserException, duckdb.CatalogException) as error:
                raise at_line(catalog, source.path, error) from error
            except duckdb.Error as error:
                # Files may be deleted in the meantime; the query that reads them gets an error.
                if "No files found" not in str(error):
                    raise ArchiveError(f"{where}: {one_line(error)}") from error
        if view in reading:
            con.execute(source.stub)
            reading.remove(view)


def write_database(archive: str | os.PathLike[str]) -> Path:
    """Write hta.duckdb into the archive, atomically. It has views and macros, but no data."""
    root = archive_root(archive)
    write_database_to(root, root / "hta.duckdb")
    return root / "hta.duckdb"


def write_database_to(root: Path, target: Path) -> None:
    """Write such a database to any file: the template, with views for tables that have files."""
    catalog, source = Catalog.load(), Source(root)
    with new_database(target, template(catalog)) as con:
        mixed, _ = schemas(con, [source])
        for macro, pattern in PATTERNS.items():
            con.execute(f"CREATE OR REPLACE MACRO {macro}(of_table) AS {pattern}")
        con.execute(f"SET file_search_path = {literal(str(root))}")
        found = _whereabouts(catalog, [source], None)
        reading: set[str] = set()
        _put_sources(con, catalog, found, bool(mixed), None, reading, str(root))
        put_own_rules(con, [root])
        choose_stored(con, catalog, reading, may_change=True)
        comment_on_views(con, catalog, reading)
        con.execute(f"CREATE VIEW hta_version AS SELECT {literal(maker(catalog))} AS made_by")
