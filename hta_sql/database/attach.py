"""Archives inside DuckDB: let a connection read their files, write hta.duckdb, run a shell."""

import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from hta_sql.catalogue.catalog import Catalog
from hta_sql.database.layers import at_line, comment_on_views, literal
from hta_sql.database.stored import choose_stored
from hta_sql.database.template import maker, new_database, template
from hta_sql.errors import ArchiveError, HtaSqlError, one_line
from hta_sql.places.storage import absolute, holds_archive, is_remote
from hta_sql.store.sources import PATTERNS, Source, whereabouts
from hta_sql.version import SCHEMA_VERSION

if TYPE_CHECKING:
    from hta_sql.places.storage import Place

# A question is asked so often before it is given up, where files keep changing.
ATTEMPTS = 5
# In a path, DuckDB takes these for patterns or a list of paths.
UNSEARCHABLE = "*?[],\\"


# Where DuckDB expects few rows, it plans an ASOF join that is quadratic; it is often wrong.
NO_LOOP_JOINS = "SET GLOBAL asof_loop_join_threshold = 0"


def without_progress_bar(con: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """The connection, which draws none. In a notebook without ipywidgets there is none to turn off,
    and DuckDB refuses to be told so."""
    if con.execute("SELECT current_setting('enable_progress_bar')").fetchall() == [(True,)]:
        con.execute("SET enable_progress_bar = false")
    return con


def archive_root(archive: "str | os.PathLike[str] | Place") -> "Place":
    """Where an archive is, from anywhere; ArchiveError if there is none."""
    root = absolute(archive)
    if is_remote(root):
        if not holds_archive(root):
            raise ArchiveError(
                f"{archive}: no archive there; `hta-sql ingest TRACES ARCHIVE` makes one"
            )
        check_searchable(root)
        return root
    if not root.exists():
        raise ArchiveError(f"{archive}: no such folder; `hta-sql ingest TRACES ARCHIVE` makes one")
    if not (root / "traces.parquet").is_file() and not (root / "traces").is_dir():
        what = "holds no traces.parquet" if root.is_dir() else "is a file"
        raise ArchiveError(
            f"{archive}: not an archive, it {what}; `hta-sql ingest TRACES ARCHIVE` makes one"
        )
    check_searchable(root)
    return root


def check_searchable(root: "Place") -> None:
    """ArchiveError for a path in which DuckDB finds no files."""
    text = os.fsencode(str(root)).decode(errors="backslashreplace")
    if text != str(root):
        raise ArchiveError(f"{text}: an archive's path has to be UTF-8; rename the folder")
    if bad := sorted(set(text) & set(UNSEARCHABLE)):
        raise ArchiveError(
            f"{text}: DuckDB cannot search a path with {' '.join(bad)} in it; "
            "move the archive or rename the folder"
        )


def schemas(con: duckdb.DuckDBPyConnection, sources: Sequence[Source]) -> tuple[set[str], int]:
    """The jobs of which some file was ingested under another schema, and of how many ranks an
    older one.

    ArchiveError for a rank in two archives.
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
                if left:  # replaced between its footer and its rows, which DuckDB opens apart
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
                f"{roots[other]}; open one of them, or ingest one again under another name "
                "(--job)"
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
    """Let views read the archives' Parquet. A table without files is a stub.

    `mixed`: the files have not all the columns of the stubs. `only_jobs` leaves out all others.
    `reading` has the views of this connection that read files, before and afterwards.
    """
    found = _whereabouts(catalog, sources, only_jobs)
    macros = []
    for macro, files in found.items():
        cases = " ".join(
            f"WHEN {literal(table)} THEN {literal(files)}"
            for table, files in files.items()
            if files
        )
        # A CASE needs one, and no table has this name.
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
    """Make the views of sql/tables that have files: a view is bound when it is made."""
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
                # Files may go in between; who reads then is told.
                if "No files found" not in str(error):
                    raise ArchiveError(f"{where}: {one_line(error)}") from error
        if view in reading:
            con.execute(source.stub)
            reading.remove(view)


def write_database(archive: str | os.PathLike[str]) -> Path:
    """Write hta.duckdb into the archive, atomically: views and macros, which hold no data."""
    root = archive_root(archive)
    _write_database(root, root / "hta.duckdb")
    return root / "hta.duckdb"


def run_shell(archive: str | os.PathLike[str], commands: Iterable[str] = ()) -> int:
    """Run DuckDB's command line on an archive, or only `commands`; its exit status."""
    root = archive_root(archive)
    if is_remote(root):
        raise HtaSqlError(
            f"{root}: a shell reads archives on disk; copy it (aws s3 cp --recursive "
            "URL FOLDER), or ask it by `hta-sql sql`"
        )
    shell = _shell_program()
    with tempfile.TemporaryDirectory(prefix="hta-sql-") as scratch:
        database = root / "hta.duckdb"
        if _made_by(database) != maker(Catalog.load()):
            try:
                write_database(root)
            except OSError:  # the archive may be read, not written
                database = Path(scratch) / "hta.duckdb"
                _write_database(root, database)
        line = [
            shell,
            "-readonly",
            str(database),
            "-cmd",
            NO_LOOP_JOINS,
            "-cmd",
            f"SET file_search_path = {literal(str(root))}",
        ]
        for command in commands:
            line += ["-c", command]
        with _leaving_interrupts_to_child():
            status = subprocess.run(line).returncode
    return status if status >= 0 else 128 - status


def _write_database(root: Path, target: Path) -> None:
    """The template with the views of those tables that have files."""
    catalog, source = Catalog.load(), Source(root)
    with new_database(target, template(catalog)) as con:
        mixed, _ = schemas(con, [source])
        for macro, pattern in PATTERNS.items():
            con.execute(f"CREATE OR REPLACE MACRO {macro}(of_table) AS {pattern}")
        con.execute(f"SET file_search_path = {literal(str(root))}")
        found = _whereabouts(catalog, [source], None)
        reading: set[str] = set()
        _put_sources(con, catalog, found, bool(mixed), None, reading, str(root))
        choose_stored(con, catalog, reading, may_change=True)
        comment_on_views(con, catalog, reading)
        con.execute(f"CREATE VIEW hta_version AS SELECT {literal(maker(catalog))} AS made_by")


def _made_by(database: Path) -> str | None:
    """The maker of an hta.duckdb; None if it is missing or does not open."""
    if not database.exists():
        return None
    try:
        with closing(duckdb.connect(str(database), read_only=True)) as con:
            return con.execute("SELECT made_by FROM hta_version").fetchone()[0]
    except duckdb.Error:
        return None


def _shell_program() -> str:
    """DuckDB's command line: the one that duckdb-cli brings, else one on the PATH.

    Not by the script that duckdb-cli installs: a Ctrl-C would end that script.
    """
    package = importlib.util.find_spec("duckdb_cli")
    beside = os.path.dirname(package.origin) if package and package.origin else None
    program = shutil.which("duckdb", path=beside) if beside else None
    program = program or shutil.which("duckdb")
    if not program:
        raise HtaSqlError("no duckdb command line found; pip install 'hta-sql[shell]' brings it")
    return program


@contextmanager
def _leaving_interrupts_to_child():
    """Ctrl-C in the shell cancels a query there; it must not end this process."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
