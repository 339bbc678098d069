"""The template: a database file with all macros and empty tables of a catalogue, made once.

To run the files of the catalogue takes seconds, since each macro is bound to what it reads; to copy
what came of them takes a hundredth of that. The wheel brings the template of its catalogue. For any
other one, or another DuckDB, it is made where the user's caches are, by the first who needs it.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import duckdb

from hta_sql.catalogue.catalog import Catalog
from hta_sql.database.layers import (
    comment_on_macros,
    comment_on_views,
    literal,
    load_base,
    load_queries,
)
from hta_sql.database.stored_relations import compute_stored
from hta_sql.errors import one_line
from hta_sql.version import __version__

PACKAGED = Path(__file__).parents[1] / "_template"
# DuckDB 1.5 opens it too. In what is older, DuckDB forgets which CTEs shall be materialized.
STORAGE = "v1.5.0"
# Counts the ways in which load_all has made one of the same files.
FORM = 3
# Of those in a cache, the ones used last; 2 MB each.
KEPT = 16


def copy_template(con: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    """Give a connection's empty database in memory the catalogue's macros and empty tables."""
    try:
        con.execute(f"ATTACH {literal(template(catalog))} AS hta_template (READ_ONLY)")
        con.execute("COPY FROM DATABASE hta_template TO memory (SCHEMA)")
    except (OSError, duckdb.Error):
        # Nowhere to write, or a disk that knows no locks, say: slowly, then.
        load_all(con, catalog)
    finally:
        con.execute("DETACH DATABASE IF EXISTS hta_template")


def template(catalog: Catalog) -> Path:
    """The template of a catalogue: the packaged one, one that was made before, or a new one."""
    name = name_of(catalog)
    if (PACKAGED / name).exists():
        return PACKAGED / name
    failure = None
    for folder in _cache_folders():
        file = folder / name
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if folder.stat().st_uid != os.getuid():  # whoever made it could put anything there
                continue
            if not file.exists():
                with (folder / ".lock").open("w") as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX)
                    if not file.exists():
                        make_template(catalog, file)
                        _forget_oldest(folder)
            with contextlib.suppress(OSError):
                os.utime(file)
            return file
        except OSError as error:
            failure = error
    raise failure or PermissionError("no folder for a template")


def make_template(catalog: Catalog, file: Path) -> None:
    """Write the template of a catalogue, whole or not at all."""
    with new_database(file) as con:
        load_all(con, catalog)


def load_all(con: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    """Run the files of the catalogue."""
    load_base(con, catalog)
    compute_stored(con, catalog)
    load_queries(con, catalog)
    comment_on_macros(con, catalog)
    comment_on_views(con, catalog)


@contextlib.contextmanager
def new_database(file: Path, base: Path | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to a new database, `hta`, empty or with what is in `base`; when it is left, the
    file is there as a whole."""
    new = file.with_name(f".{file.name}.{uuid.uuid4().hex}")
    try:
        if base:
            shutil.copyfile(base, new)
        with contextlib.closing(duckdb.connect()) as con:
            con.execute(f"ATTACH {literal(new)} AS hta (STORAGE_VERSION '{STORAGE}')")
            con.execute("USE hta")
            yield con
            con.execute("USE memory; DETACH hta")
        os.replace(new, file)
    except duckdb.IOException as error:
        raise OSError(one_line(error)) from error
    finally:
        new.unlink(missing_ok=True)
        new.with_name(new.name + ".wal").unlink(missing_ok=True)


def name_of(catalog: Catalog) -> str:
    """Tells the template of a catalogue, made by this hta_sql and DuckDB, from others."""
    made_by = f"{maker(catalog)}, form {FORM}, duckdb {duckdb.__version__}, storage {STORAGE}"
    return f"{__version__}-{hashlib.sha256(made_by.encode()).hexdigest()[:16]}.duckdb"


def maker(catalog: Catalog) -> str:
    """Tells this hta_sql and catalogue from others."""
    return f"hta_sql {__version__}, sql {catalog.digest[:12]}"


def _cache_folders() -> Iterator[Path]:
    """Where templates may be kept, the best first."""
    with contextlib.suppress(RuntimeError):  # no home
        told = os.environ.get("XDG_CACHE_HOME", "")
        cache = Path(told) if os.path.isabs(told) else Path.home() / ".cache"
        yield cache / "hta_sql"
    yield Path(tempfile.gettempdir(), f"hta-sql-templates-{os.getuid()}")


def _forget_oldest(folder: Path) -> None:
    """Leave the templates that were used last; only while locked. Whoever has one open keeps it."""
    found = sorted(folder.glob("*.duckdb"), key=lambda file: -file.stat().st_mtime_ns)
    # Nobody else is making one: the rest are of those who were killed.
    for file in [*found[KEPT:], *folder.glob(".*.duckdb.*")]:
        file.unlink(missing_ok=True)
