"""The catalogue inside DuckDB: load its layers into a connection, write hta.duckdb, run a shell."""

import hashlib
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Collection, Iterable, Sequence
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from . import SCHEMA_VERSION, __version__
from .catalog import Catalog, column_comments, comment_of
from .errors import ArchiveError, CatalogError, HtaSqlError, one_line
from .sources import PATTERNS, Source, whereabouts
from .storage import absolute, holds_archive, is_remote

if TYPE_CHECKING:
    from .storage import Place

_VIEW = re.compile(r"^CREATE OR REPLACE VIEW (\w+)", re.MULTILINE)

# A question is asked so often before it is given up, where files keep changing.
ATTEMPTS = 5
# In a path, DuckDB takes these for patterns or a list of paths.
UNSEARCHABLE = "*?[],\\"


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
            raise ArchiveError(f"{archive}: no archive there; `hta-sql ingest TRACES ARCHIVE` "
                               "makes one")
        check_searchable(root)
        return root
    if not root.exists():
        raise ArchiveError(f"{archive}: no such folder; `hta-sql ingest TRACES ARCHIVE` makes one")
    if not (root / "traces.parquet").is_file() and not (root / "traces").is_dir():
        what = "holds no traces.parquet" if root.is_dir() else "is a file"
        raise ArchiveError(f"{archive}: not an archive, it {what}; "
                           "`hta-sql ingest TRACES ARCHIVE` makes one")
    check_searchable(root)
    return root


def check_searchable(root: "Place") -> None:
    """ArchiveError for a path in which DuckDB finds no files."""
    text = os.fsencode(str(root)).decode(errors="backslashreplace")
    if text != str(root):
        raise ArchiveError(f"{text}: an archive's path has to be UTF-8; rename the folder")
    if bad := sorted(set(text) & set(UNSEARCHABLE)):
        raise ArchiveError(f"{text}: DuckDB cannot search a path with {' '.join(bad)} in it; "
                           "move the archive or rename the folder")


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
        rows = (f"read_parquet({_literal(files)}, hive_partitioning = false, "
                "union_by_name = true, filename = true)")
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


def load_base(con: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    """Schema, macros and views: the published tables as empty stubs and what reads them."""
    for layer in ("schema", "macros", "views"):
        load_layer(con, catalog, layer)
    rows = [
        (q.name, q.version, q.theme, q.summary, ", ".join(map(str, q.parameters)))
        for q in catalog.queries
    ]
    values = [f"({', '.join(map(_literal, row))})" for row in rows or [("", 0, "", "", "")]]
    con.execute(
        f"CREATE OR REPLACE VIEW hta_queries AS FROM (VALUES {', '.join(values)}) "
        f"AS queries (name, version, theme, summary, parameters) LIMIT {len(rows)}"
    )


def load_layer(con: duckdb.DuckDBPyConnection, catalog: Catalog, layer: str) -> None:
    for path in catalog.files(layer):
        _run_file(con, catalog, path, path.read_text(encoding="utf-8"))


def load_queries(
    con: duckdb.DuckDBPyConnection, catalog: Catalog, names: Iterable[str] | None = None
) -> None:
    """The macros of these names, numbered or bare; all unless told."""
    for name in catalog.macros if names is None else names:
        query, sql = catalog.macros[name]
        _run_file(con, catalog, query.path, sql)


def load_sources(
    con: duckdb.DuckDBPyConnection,
    catalog: Catalog,
    sources: Sequence[Source],
    mixed: bool,
    only_jobs: Collection[str] | None = None,
) -> None:
    """Put the archives' Parquet in place of the stubs; a table without files stays a stub.

    `mixed`: the files have not all the columns of the stubs. `only_jobs` leaves out all others.
    """
    tables = [path.stem for path in catalog.files("schema")]
    for macro, files in whereabouts(sources, tables, only_jobs).items():
        cases = " ".join(f"WHEN {_literal(table)} THEN {_literal(found)}"
                         for table, found in files.items() if found)  # fmt: skip
        # Of no files DuckDB says what a pattern without any makes it say.
        con.execute(f"CREATE OR REPLACE MACRO {macro}(of_table) AS CASE of_table {cases} "
                    "WHEN '' THEN [''] ELSE []::VARCHAR[] END")  # fmt: skip
    _put_sources(con, catalog, mixed, only_jobs, ", ".join(str(s.root) for s in sources))


def _put_sources(
    con: duckdb.DuckDBPyConnection,
    catalog: Catalog,
    mixed: bool,
    only_jobs: Collection[str] | None,
    where: str,
) -> None:
    """Run the files of sql/sources, which ask macros where the files are."""
    chosen = None if only_jobs is None else list(only_jobs)
    con.execute(f"CREATE OR REPLACE MACRO archive_is_mixed() AS {_literal(mixed)}")
    con.execute(f"CREATE OR REPLACE MACRO archive_jobs() AS {_literal(chosen)}::VARCHAR[]")
    load_layer(con, catalog, "schema")
    for path in catalog.files("sources"):
        try:
            con.execute(path.read_text(encoding="utf-8"))
        except (duckdb.ParserException, duckdb.CatalogException) as error:
            raise _at(catalog, path, error) from error
        except duckdb.Error as error:
            if "No files found" not in str(error) and "at least one file" not in str(error):
                raise ArchiveError(f"{where}: {one_line(error)}") from error


def write_database(archive: str | os.PathLike[str]) -> Path:
    """Write hta.duckdb into the archive, atomically: views and macros, which hold no data."""
    root = archive_root(archive)
    _write_database(root, root / "hta.duckdb")
    return root / "hta.duckdb"


def add_sources(archive: str | os.PathLike[str]) -> None:
    """Let hta.duckdb see tables that had no files so far; much faster than to write it."""
    root = archive_root(archive)
    database = root / "hta.duckdb"
    if _made_by(database) == maker():
        _write_database(root, database, database.read_bytes())
    else:
        write_database(root)


def run_shell(archive: str | os.PathLike[str], commands: Iterable[str] = ()) -> int:
    """Run DuckDB's command line on an archive, or only `commands`; its exit status."""
    root = archive_root(archive)
    if is_remote(root):
        raise HtaSqlError(f"{root}: a shell reads archives on disk; copy it (aws s3 cp --recursive "
                          "URL FOLDER), or ask it by `hta-sql sql`")
    shell = _shell_program()
    with tempfile.TemporaryDirectory(prefix="hta-sql-") as scratch:
        database = root / "hta.duckdb"
        if _made_by(database) != maker():
            try:
                write_database(root)
            except OSError:  # the archive may be read, not written
                database = Path(scratch) / "hta.duckdb"
                _write_database(root, database)
        line = [shell, "-readonly", str(database),
                "-cmd", f"SET file_search_path = {_literal(str(root))}"]
        for command in commands:
            line += ["-c", command]
        with _leaving_interrupts_to_child():
            status = subprocess.run(line).returncode
    return status if status >= 0 else 128 - status


def _run_file(con: duckdb.DuckDBPyConnection, catalog: Catalog, path: Path, sql: str) -> None:
    try:
        con.execute(sql)
    except duckdb.Error as error:
        raise _at(catalog, path, error) from error


def _at(catalog: Catalog, path: Path, error: duckdb.Error) -> CatalogError:
    """The error with its place. DuckDB counts lines from varying starts, but quotes the line."""
    number = 1
    if told := re.search(r"^LINE (\d+): (.*)$", str(error), re.MULTILINE):
        lines = path.read_text(encoding="utf-8").splitlines()
        alike = [n for n, line in enumerate(lines, start=1) if line == told[2]]
        number = min(alike, key=lambda n: abs(n - int(told[1])), default=1)
    shown = path.relative_to(catalog.root.parent).as_posix()
    return CatalogError(f"{shown}:{number}: {one_line(error)}")


def _write_database(root: Path, target: Path, base: bytes | None = None) -> None:
    """Put the archive's sources into `base`, a database that has all the rest."""
    catalog = Catalog.load()
    new = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
    try:
        new.write_bytes(base or _database_of_no_archive(maker()))
        with _attached(new) as con:
            mixed, _ = schemas(con, [Source(root)])
            for macro, pattern in PATTERNS.items():
                con.execute(f"CREATE OR REPLACE MACRO {macro}(of_table) AS {pattern}")
            con.execute(f"SET file_search_path = {_literal(str(root))}")
            _put_sources(con, catalog, bool(mixed), None, str(root))
            _comment_on_views(con, catalog)
        os.replace(new, target)
    except duckdb.IOException as error:
        raise OSError(one_line(error)) from error
    finally:
        new.unlink(missing_ok=True)
        new.with_name(new.name + ".wal").unlink(missing_ok=True)


@cache
def _database_of_no_archive(made_by: str) -> bytes:
    """An hta.duckdb without sources. Kept, as binding all queries takes most of its time."""
    catalog = Catalog.load()
    with tempfile.TemporaryDirectory(prefix="hta-sql-") as scratch:
        file = Path(scratch) / "hta.duckdb"
        with _attached(file) as con:
            load_base(con, catalog)
            load_queries(con, catalog)
            for name, (query, _) in catalog.macros.items():
                con.execute(f"COMMENT ON MACRO TABLE {name} IS {_literal(query.summary)}")
            con.execute(f"CREATE VIEW hta_version AS SELECT {_literal(made_by)} AS made_by")
        return file.read_bytes()


@contextmanager
def _attached(file: Path):
    """A connection to a database file, whole when it is left."""
    with closing(duckdb.connect()) as con:
        # Older storage, so that the 1.5 shell opens it too; no lower, or DuckDB cannot keep the
        # types of macro parameters.
        con.execute(f"ATTACH {_literal(str(file))} AS hta (STORAGE_VERSION 'v1.4.0')")
        con.execute("USE hta")
        yield con
        con.execute("USE memory; DETACH hta")


def _comment_on_views(con: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    """What the files say of their tables, where a shell's user finds it."""
    for path in [*catalog.files("schema"), *catalog.files("views")]:
        text = path.read_text(encoding="utf-8")
        for view in _VIEW.findall(text):
            con.execute(f"COMMENT ON VIEW {view} IS {_literal(comment_of(path))}")
            for column, comment in column_comments(path).items():
                con.execute(f"COMMENT ON COLUMN {view}.{column} IS {_literal(comment)}")


def maker() -> str:
    """Tells this hta_sql and catalogue from others."""
    files = sorted(Catalog.load().root.rglob("*.sql"))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
    return f"hta_sql {__version__}, sql {digest[:12]}"


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


def _literal(value: object) -> str:
    """A value as an SQL literal, where DuckDB binds none: SET, ATTACH, COMMENT and CREATE."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, int):
        return str(value)
    return "'" + str(value).replace("'", "''") + "'"
