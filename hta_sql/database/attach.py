"""Lets a DuckDB connection read the files of archives."""

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import duckdb

from hta_sql.catalogue.catalog import Catalog, FileView
from hta_sql.database.layers import at_line, literal
from hta_sql.errors import DAMAGED, ArchiveError, one_line
from hta_sql.store.checksums import remedy
from hta_sql.store.lists import Lists, lists
from hta_sql.store.sources import FILES_ARE_THERE, PATTERNS, Source, whereabouts
from hta_sql.version import SCHEMA_VERSION


def without_progress_bar(con: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """The connection, with DuckDB's progress bar off.

    In a notebook without ipywidgets there is no progress bar, and turning it off is an error.
    """
    if con.execute("SELECT current_setting('enable_progress_bar')").fetchall() == [(True,)]:
        con.execute("SET enable_progress_bar = false")
    return con


def _were(count: int) -> str:
    return f"{count} {'trace was' if count == 1 else 'traces were'}"


class Schemas(NamedTuple):
    """The jobs with a file of another schema version, the numbers of ranks with an older and with
    a newer one."""

    mixed: set[str]
    older: int
    newer: int

    def warnings(self) -> Iterator[str]:
        """What a user of the archives should know."""
        if self.newer:
            yield (
                f"{_were(self.newer)} ingested by a newer hta_sql: columns that this "
                "version does not know are left out; update hta_sql"
            )
        if self.older:
            yield (
                f"{_were(self.older)} ingested by an earlier hta_sql: columns that it did not "
                "write are NULL, and some queries read that as no data; derive them with `hta-sql "
                "refresh ARCHIVE`"
            )


def schemas(con: duckdb.DuckDBPyConnection, sources: Sequence[Source]) -> Schemas:
    """The schema versions of archives.

    Raises ArchiveError if a rank is in two archives.
    """
    mixed: set[str] = set()
    older, newer = set(), set()
    for table, what in (("traces", "''"), ("attachments", "kind")):
        roots = {file: source.root for source in sources for file in source.manifest(table)}
        files = list(roots)
        if not files:
            continue
        rows = (
            f"read_parquet({literal(files)}, hive_partitioning = false, "
            "union_by_name = true, filename = true)"
        )
        try:
            twice = con.execute(
                f"SELECT job, rank, {what} AS what, min(nth), max(nth) FROM (SELECT *, "
                f"list_position({literal(files)}, filename) AS nth FROM {rows}) "
                "GROUP BY ALL HAVING min(nth) < max(nth) ORDER BY ALL LIMIT 1"
            ).fetchall()
            found = con.execute(
                f"SELECT DISTINCT job, rank, coalesce(schema_version, 0) FROM {rows} "
                f"WHERE schema_version IS DISTINCT FROM {SCHEMA_VERSION}"
            ).fetchall()
        except duckdb.Error as error:
            where = ", ".join(str(source.root) for source in sources)
            raise ArchiveError(
                f"{where}: {table}.parquet cannot be read: {one_line(error)}"
            ) from error
        if twice:
            job, rank, what, *nth = twice[0]
            one, other = (roots[files[n - 1]] for n in nth)
            of = f"the {what.replace('_', ' ')} of " if what else ""
            raise ArchiveError(
                f"{of}job {job!r} rank {rank} is in {one} and in {other}; open only one of them, "
                "or ingest one again under another name with --job"
            )
        mixed.update(job for job, _, _ in found)
        for job, rank, version in found:
            (older if version < SCHEMA_VERSION else newer).add((job, rank))
    return Schemas(mixed, len(older), len(newer))


def load_sources(
    con: duckdb.DuckDBPyConnection,
    catalog: Catalog,
    sources: Sequence[Source],
    mixed: bool,
    only_jobs: Collection[str] | None,
    reading: set[str],
    *,
    is_live: bool,
    no_links: bool = False,
) -> Lists:
    """Make the views read the archives' Parquet files. A table without files is an empty stub.

    `mixed` says that some files lack columns of the stubs. `only_jobs` leaves out all other jobs.
    `reading` has the views of this connection that read files; it is updated. A view whose files
    are not as the manifests list them now is an error; with `no_links`, so is a view with a file
    that a link leads to outside its archive. With `is_live`, the views also see files that are
    added later.

    Returns the files.
    """
    tables = [path.stem for path in catalog.tables]
    found = lists(con, sources, tables, only_jobs, no_links=no_links)
    if is_live:
        found = Lists(whereabouts(sources, tables, only_jobs), found.faults, byte_counts=None)
    otherwise = dict.fromkeys(PATTERNS, "NULL")
    put_sources(con, catalog, found, texts_of(found), otherwise, mixed, only_jobs, reading)
    return found


# Separates the names in a list of files: no path has it. DuckDB plans one long text much faster
# than a list of thousands of texts.
_BETWEEN = chr(31)


def _split(files: Sequence[str]) -> str:
    """A list of files in SQL."""
    return f"string_split({literal(_BETWEEN.join(files))}, {literal(_BETWEEN)})"


def texts_of(found: Lists) -> dict[tuple[str, str], str]:
    """The files of each macro and table, in SQL."""
    return {
        (macro, table): _split(files)
        for macro, of_tables in found.files.items()
        for table, files in of_tables.items()
        if files
    }


def _put_macros(
    con: duckdb.DuckDBPyConnection,
    texts: Mapping[tuple[str, str], str],
    otherwise: Mapping[str, str],
) -> None:
    """Make the macros that return the files of a table: `texts` has what each returns, in SQL."""
    for macro, other in otherwise.items():
        cases = "".join(
            f"WHEN {literal(table)} THEN {text} "
            for (of, table), text in texts.items()
            if of == macro
        )
        # A CASE needs at least one branch; no table has this name.
        cases = cases or "WHEN '' THEN [''] "
        con.execute(
            f"CREATE OR REPLACE MACRO {macro}(of_table) AS CASE of_table {cases}ELSE {other} END"
        )


def put_sources(
    con: duckdb.DuckDBPyConnection,
    catalog: Catalog,
    found: Lists,
    texts: dict[tuple[str, str], str],
    otherwise: Mapping[str, str],
    mixed: bool,
    only_jobs: Collection[str] | None,
    reading: set[str],
) -> bool:
    """Make the views of sql/tables whose tables have files, and stubs for the others.

    A view with a fault of `found`, or with a file that DuckDB cannot open, is an error if it is
    read: its macro fails before anything is planned. To make the view, its macro gives any Parquet
    file. Returns whether all views can be read.

    If the manifests list all files, views do not look them up there again (`is_listed` in
    sql/tables). If no file lacks a column either, they are planned without the stubs.
    """
    any_file = _split(found.files["archive_manifest"]["traces"])
    # Only hta.duckdb has patterns: it is read long after its views were made.
    has_patterns = otherwise is PATTERNS
    are_there = FILES_ARE_THERE if has_patterns else "true"
    # To look up files in the manifests takes as long to plan and to run as to read them.
    is_exact = found.byte_counts is not None and not has_patterns
    is_listed = "true" if is_exact else "files_are_there(of_table) AND by_manifest"
    chosen = None if only_jobs is None else list(only_jobs)
    con.execute(
        f"CREATE OR REPLACE MACRO archive_is_mixed() AS {literal(mixed)};"
        f"CREATE OR REPLACE MACRO files_are_there(of_table) AS {are_there};"
        f"CREATE OR REPLACE MACRO is_listed(of_table, by_manifest) AS {is_listed};"
        f"CREATE OR REPLACE MACRO archive_jobs() AS {literal(chosen)}::VARCHAR[]"
    )
    _put_macros(con, texts, otherwise)
    is_plain = is_exact and not mixed
    whole, failing = set(), {}
    for view, source in catalog.sources.items():
        place = source.macro, source.table
        if place not in found.faults and not found.files.get(source.macro, {}).get(source.table):
            if view in reading:
                con.execute(source.stub)
                reading.remove(view)
            continue
        reading.add(view)
        fault = found.faults.get(place)
        try:
            if not fault:
                _put_view(con, source, is_plain)
                whole.add(view)
                continue
        except (duckdb.ParserException, duckdb.CatalogException) as error:
            raise at_line(catalog, source.path, error) from error
        except duckdb.Error as error:
            file = _unreadable(con, found.files[source.macro][source.table])
            name = "/".join((file or source.table).split("/")[-4:])
            fault = f"{file or source.table} cannot be read ({one_line(error)}); {remedy(name)}"
        _put_macros(con, texts | {place: any_file}, otherwise)
        con.execute(
            f"{source.stub.rstrip(';')} UNION ALL BY NAME SELECT NULL::VARCHAR AS job "
            f"FROM read_parquet({source.macro}({literal(source.table)}))"
        )
        failing[place] = f"error({literal(DAMAGED + fault)})::VARCHAR[]"
    _put_joined(con, catalog, reading, whole if is_plain else ())
    if failing:
        _put_macros(con, texts | failing, otherwise)
    return not failing


def _put_view(con: duckdb.DuckDBPyConnection, source: FileView, is_plain: bool) -> None:
    """Make a view that reads files; `is_plain`: they have all columns, unless they are not as
    hta_sql writes them."""
    if is_plain:
        with contextlib.suppress(duckdb.BinderException):
            con.execute(source.plain)
            return
    con.execute(source.sql)


def _put_joined(
    con: duckdb.DuckDBPyConnection, catalog: Catalog, reading: set[str], whole: Collection[str]
) -> None:
    """Let the view of a table read one of the two that it joins, if the other reads no files and
    the first is in `whole`. `reading` has the tables for which that is so; it is updated."""
    for table, (statement, views) in catalog.joined.items():
        there = [view for view in views if view in reading]
        if len(there) == 1 and there[0] in whole:
            reading.add(table)
            con.execute(f"CREATE OR REPLACE VIEW {table} AS FROM {there[0]}")
        elif table in reading:
            con.execute(statement)
            reading.remove(table)


def _unreadable(con: duckdb.DuckDBPyConnection, files: Sequence[str]) -> str | None:
    """The first file that DuckDB cannot open, if there is one."""
    for file in files:
        try:
            con.execute("SELECT count(*) FROM parquet_file_metadata($1)", [file]).fetchall()
        except duckdb.Error:
            return file
    return None
